// A row as the page shows it: picture, name, text and values.

import { el } from "../base/dom";
import type { RowContents } from "../session/row_contents";

/** A picture drawn into a square canvas; nothing where there is none yet. */
export function drawPicture(canvas: HTMLCanvasElement, picture: ImageBitmap | null): void {
  canvas.hidden = !picture;
  if (!picture || canvas.dataset.drawn === "yes") return;
  const side = Math.max(picture.width, picture.height);
  [canvas.width, canvas.height] = [side, side];
  canvas.getContext("2d")!.drawImage(picture, (side - picture.width) / 2, (side - picture.height) / 2);
  canvas.dataset.drawn = "yes";
}

/** The parts that show a row; to be filled again by `fillRow` when more of it has come. */
export function rowParts(): HTMLElement {
  return el("div", { class: "row-contents" },
    el("canvas", { class: "row-picture", attributes: { "aria-hidden": "true" } }),
    el("p", { class: "row-name" }), el("p", { class: "row-text" }), el("dl", { class: "row-values" }));
}

/** Fills in what is known of a row; `most` values. */
export function fillRow(parts: HTMLElement, rows: RowContents, pixel: number, most: number): void {
  const find = <E extends HTMLElement>(selector: string) => parts.querySelector<E>(selector)!;
  drawPicture(find<HTMLCanvasElement>(".row-picture"), rows.pictureOf(pixel));
  const facts = rows.factsOf(pixel);
  if (!facts || parts.dataset.row === facts.name) return;
  parts.dataset.row = facts.name;
  find(".row-name").textContent = facts.name;
  find(".row-text").textContent = facts.text ?? "";
  find(".row-text").hidden = !facts.text;
  find(".row-values").replaceChildren(...facts.values.slice(0, most).flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })]));
}
