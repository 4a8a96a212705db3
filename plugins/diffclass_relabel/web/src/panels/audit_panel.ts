// Strokes with pixels that all other strokes contradict, and what can be done about each.

import { el, textButton } from "../base/dom";
import { eachPixel, type Place, type Runs } from "../base/raster";
import type { ContradictedStroke } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { className } from "./class_list";

export class AuditPanel {
  readonly element: HTMLElement;
  /** Called with the number found. */
  counted: (found: number) => void = () => {};
  private readonly list = el("div", { class: "items audit" });
  private readonly note = el("p", { class: "muted empty", text: "Labels that the diffusion from all other strokes contradicts." });
  private readonly check = textButton("Check labels", "Compare every label with what the others say", () => void this.ask());
  private chosen = -1;
  private items: ContradictedStroke[] = [];

  constructor(private readonly session: Session, private readonly go: (place: Place) => void) {
    this.element = el("div", {}, el("div", { class: "panel-bar" }, this.check), this.note, this.list);
    session.on("news", () => this.show());
  }

  async ask(): Promise<void> {
    this.check.disabled = true;
    const answer = await this.session.ask({ ask: "audit" });
    this.check.disabled = false;
    if (!answer) return;
    [this.items, this.chosen] = [answer.items, -1];
    this.note.textContent = this.items.length ? "" : "No label is contradicted by the others.";
    this.counted(this.items.length);
    this.show();
  }

  private show(): void {
    this.note.hidden = this.items.length > 0;
    this.list.replaceChildren(...this.items.map((item, k) => this.row(item, k)));
  }

  private row(item: ContradictedStroke, k: number): HTMLElement {
    const { columns } = this.session.scene!;
    const place = { row: Math.floor(item.pixel / columns), column: item.pixel % columns };
    const line = el("button", {
      class: "item",
      title: `Row ${place.row}, column ${place.column}, margin ${item.margin.toFixed(2)}, stroke ${item.stroke}`,
      attributes: { type: "button" },
      on: { click: () => { this.chosen = k; this.go(place); this.show(); } },
    }, className(this.session, item.class), el("span", { class: "muted", text: "or" }), className(this.session, item.says),
      el("span", { class: "muted end", title: "contradicted pixels, largest margin" }, `${item.count} px`, el("span", { class: "strength", text: ` ${item.margin.toFixed(2)}` })));
    line.classList.toggle("chosen", k === this.chosen);
    const box = el("div", {}, line);
    if (k === this.chosen) box.append(this.actions(item));
    return box;
  }

  private actions(item: ContradictedStroke): HTMLElement {
    const says = this.session.classOf(item.says)?.name ?? `class ${item.says}`;
    const after = (sent: Promise<unknown>) => void sent.then(() => this.ask());
    return el("div", { class: "item-actions" },
      textButton(`Stroke to ${says}`, `The whole stroke ${item.stroke} becomes ${says}`, () =>
        after(this.session.apply({ op: "move", stroke: item.stroke, class: item.says })), "small"),
      textButton(item.count === 1 ? "Erase pixel" : "Erase pixels", "Take the label from the contradicted pixels", () =>
        after(this.session.paint(pixelsOf(item.pixels), { id: 0 })), "small"),
      textButton("Remove stroke", `Take all of stroke ${item.stroke} away`, () =>
        after(this.session.apply({ op: "remove", stroke: item.stroke })), "small"),
    );
  }
}

function pixelsOf(runs: Runs): Set<number> {
  const pixels = new Set<number>();
  eachPixel(runs, (pixel) => pixels.add(pixel));
  return pixels;
}
