// The bottom line: where the pointer is, what the map says there, what the last update changed.

import { count, el, swatch } from "../base/dom";
import { NO_DATA, type SessionState } from "../session/protocol.generated";
import type { Session } from "../session/session";
import type { Ui } from "../tools/ui";

const FEW = 10; // labelled pixels of a class

export function statusLine(session: Session, ui: Ui): HTMLElement {
  const pixel = el("span", { class: "cell pixel" });
  const earth = el("span", { class: "cell earth" });
  const found = el("span", { class: "cell found" });
  const label = el("span", { class: "cell" });
  const changed = el("span", { class: "cell end changed" });
  const strokes = el("span", { class: "cell strokes" });
  const blocks = el("span", { class: "cell blocks", title: "The scene has too many pixels to classify each while you paint. Classify the exported labels (diffclass classify) for the map of every pixel." });
  const hint = el("span", { class: "cell few", text: "few labels: Suggest (n) shows where the next tell most" });

  hint.hidden = true; // until the session says so
  const showPointer = () => {
    const { hover } = ui;
    pixel.textContent = hover ? `row ${hover.row}  column ${hover.column}` : "";
    earth.textContent = hover ? mapCoordinates(session, hover.row, hover.column) : "";
    earth.hidden = !session.geo;
    found.replaceChildren(...(hover ? classThere(session, hover.row, hover.column) : []));
    label.textContent = hover ? labelThere(session, hover.row, hover.column) : "";
  };
  ui.on("hover", showPointer);
  session.on("scene", ({ scene: { block } }) => {
    blocks.hidden = block === 1;
    blocks.textContent = `labels and map by blocks of ${block} \u00d7 ${block} pixels`;
  });
  session.on("preview", showPointer);
  session.on("news", () => {
    const state = session.state!;
    const labelled = state.classes.reduce((sum, item) => sum + item.pixels, 0);
    strokes.textContent = `${plural(state.n_strokes, "stroke")}, ${plural(labelled, "pixel")} labelled`;
    hint.hidden = !isThin(state);
    changed.textContent = state.n_changed === null || !state.strokes.length ? "" : `${plural(state.n_changed, "pixel")} changed`;
    showPointer();
  });
  return el("footer", { class: "status" }, pixel, earth, found, label, el("span", { class: "space" }), blocks, hint, changed, strokes);
}

/** Whether two classes have labels, and one of them next to none. */
function isThin({ classes }: SessionState): boolean {
  const labelled = classes.map((item) => item.pixels).filter((pixels) => pixels > 0);
  return labelled.length >= 2 && Math.min(...labelled) < FEW;
}

function mapCoordinates(session: Session, row: number, column: number): string {
  if (!session.geo) return "";
  const [x0, xc, xr, y0, yc, yr] = session.geo.transform;
  const [r, c] = [row + 0.5, column + 0.5];
  const [x, y] = [x0 + c * xc + r * xr, y0 + c * yc + r * yr];
  // Degrees need more places than metres.
  const places = Math.abs(xc) < 0.01 ? 6 : Math.abs(xc) < 1 ? 2 : 0;
  return `E ${x.toFixed(places)}  N ${y.toFixed(places)}  ${session.geo.crs}`;
}

function classThere(session: Session, row: number, column: number): (Node | string)[] {
  const map = session.shownMap;
  if (!map) return [];
  const at = row * session.scene!.columns + column;
  const id = map.ids[at];
  if (id === NO_DATA) return ["no data"];
  if (id === 0) return ["no class"];
  const item = session.classOf(id);
  const probability = map.probability ? `${(map.probability[at] / 255).toFixed(2)}, ` : "";
  return [swatch(item?.color), `${item?.name ?? `class ${id}`} ${probability}margin ${(map.margin[at] / 255).toFixed(2)}`];
}

function labelThere(session: Session, row: number, column: number): string {
  const id = session.labels.shown[row * session.scene!.columns + column];
  return id ? `labelled ${session.classOf(id)?.name ?? id}` : "";
}

function plural(value: number, thing: string): string {
  return `${count(value)} ${thing}${value === 1 ? "" : "s"}`;
}
