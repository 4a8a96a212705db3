// The bottom line, and messages over the scene: passing ones, a lost connection, a hint.

import { count, el, keptChanges, plural } from "../base/dom";
import { debounce } from "../base/events";
import { middleOf, type Place } from "../base/raster";
import { NO_DATA, type SessionState } from "../session/protocol.generated";
import type { RowContents } from "../session/row_contents";
import type { Notice, Session } from "../session/session";
import type { UiState } from "../tools/ui_state";
import { swatch } from "./class_marks";

const FEW = { pixel: 10, row: 2 }; // labels of a class

export function statusLine(session: Session, ui: UiState, rows: RowContents): HTMLElement {
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
    pixel.textContent = hover ? nameThere(session, rows, hover) : "";
    earth.textContent = hover ? mapCoordinates(session, hover) : "";
    earth.hidden = !session.geo;
    found.replaceChildren(...(hover ? classThere(session, session.pixelOf(hover)) : []));
    label.textContent = hover ? labelThere(session, session.pixelOf(hover)) : "";
  };
  ui.on("hover", showPointer);
  rows.on("changed", showPointer);
  session.on("scene", ({ scene: { block } }) => {
    blocks.hidden = block === 1;
    blocks.textContent = `labels and map by blocks of ${block} \u00d7 ${block} pixels`;
  });
  session.on("preview", showPointer);
  session.on("changed", () => {
    const state = session.state!;
    const labelled = state.classes.reduce((sum, item) => sum + item.pixels, 0);
    const none = session.unclassified ? `, ${count(session.unclassified)} without a class` : "";
    strokes.textContent = `${plural(state.n_strokes, "stroke")}, ${plural(labelled, session.thing)} labelled${none}`;
    hint.hidden = !isThin(state, FEW[session.thing]);
    changed.textContent = state.n_changed === null || !state.strokes.length ? "" : `${plural(state.n_changed, session.thing)} changed`;
    showPointer();
  });
  return el("footer", { class: "status" }, pixel, earth, found, label, el("span", { class: "space" }), blocks, hint, changed, strokes);
}

/** Whether two classes have labels, and one of them next to none. */
function isThin({ classes }: SessionState, few: number): boolean {
  const labelled = classes.map((item) => item.pixels).filter((pixels) => pixels > 0);
  return labelled.length >= 2 && Math.min(...labelled) < few;
}

/** Where a pixel is, or what the row there is called. */
function nameThere(session: Session, rows: RowContents, place: Place): string {
  if (!session.scene!.table) return `row ${place.row}  column ${place.column}  ${tileThere(session, place)}`;
  const facts = rows.factsOf(session.pixelOf(place));
  return facts ? `row ${facts.name}` : "";
}

/** The name of the scene there, where there are several. */
function tileThere({ scene }: Session, { row, column }: Place): string {
  return scene!.tiles.find((tile) => row >= tile.row && row < tile.row + tile.rows && column >= tile.column && column < tile.column + tile.columns)?.name ?? "";
}

function mapCoordinates(session: Session, pixel: Place): string {
  if (!session.geo) return "";
  const [x0, xc, xr, y0, yc, yr] = session.geo.transform;
  const { row: r, column: c } = middleOf(pixel);
  const [x, y] = [x0 + c * xc + r * xr, y0 + c * yc + r * yr];
  // Degrees need more places than metres.
  const places = Math.abs(xc) < 0.01 ? 6 : Math.abs(xc) < 1 ? 2 : 0;
  return `E ${x.toFixed(places)}  N ${y.toFixed(places)}  ${session.geo.crs}`;
}

function classThere(session: Session, pixel: number): (Node | string)[] {
  const map = session.shownMap;
  if (!map) return [];
  const id = map.ids[pixel];
  if (id === NO_DATA) return session.scene!.table ? [] : ["no data"];
  if (id === 0) return ["no class"];
  const probability = map.probability ? `${(map.probability[pixel] / 255).toFixed(2)}, ` : "";
  return [swatch(session.classOf(id)?.color), `${session.nameOf(id)} ${probability}margin ${(map.margin[pixel] / 255).toFixed(2)}`];
}

function labelThere(session: Session, pixel: number): string {
  const id = session.labels.shown[pixel];
  return id ? `labelled ${session.nameOf(id)}` : "";
}

const SHOWN_FOR = 7000; // ms

export class StatusMessages {
  readonly element = el("div", { class: "notices" });
  readonly #message = el("div", { class: "message", attributes: { role: "status" } });
  readonly #connection = el("div", { class: "connection", attributes: { role: "alert" } });
  readonly #hint = el("div", { class: "hint" });
  readonly #hideLater = debounce(() => this.#message.replaceChildren(), SHOWN_FOR);
  #until: (() => boolean) | undefined;
  #hasEnded = false; // The server has said so, and why.

  constructor(private readonly session: Session) {
    this.element.append(this.#connection, this.#message, this.#hint);
    this.#connection.hidden = this.#hint.hidden = true;
    session.on("message", (notice) => this.#tell(notice));
    session.on("state", () => this.#until?.() && this.#message.replaceChildren());
    session.on("changed", () => this.#showHint());
    session.socket.on("failed", () => (this.#hasEnded = true));
    session.socket.on("connection", () => this.#showConnection());
    session.socket.on("pending", () => this.#showConnection());
  }

  #tell({ text, until }: Notice): void {
    this.#message.textContent = text;
    this.#until = until;
    this.#hideLater();
  }

  #showConnection(): void {
    const { connection, reason, pending, transport: { words } } = this.session.socket;
    if (connection === "open" || connection === "connecting") this.#hasEnded = false;
    this.#connection.hidden = connection === "open" || connection === "connecting" || this.#hasEnded;
    const why = reason ? ` (${reason})` : "";
    const problem =
      connection === "refused"
        ? `The server refuses this page${why}. Open the address that it printed when it started.`
        : words.silent;
    this.#connection.textContent = [problem, keptChanges(pending.length, words.kept)].filter(Boolean).join(" ");
  }

  #showHint(): void {
    const { state, socket } = this.session;
    const isEmpty = Boolean(state) && state!.strokes.length === 0 && socket.pending.length === 0;
    const isAlone = state?.classes.filter(({ pixels }) => pixels).length === 1;
    const note = this.session.hasMap && state?.map_note;
    this.#hint.hidden = !isEmpty && !isAlone && !note;
    this.#hint.textContent = isAlone
      ? "The map needs a second class: paint another."
      : note ? `${note[0].toUpperCase()}${note.slice(1)}.`
      : state?.classes.length
        ? "Choose a class and paint a few strokes; the map follows."
        : `Add a class on the right, then paint a few strokes; the map follows.${this.session.scene?.table ? " Or answer row by row (q)." : ""}`;
  }
}
