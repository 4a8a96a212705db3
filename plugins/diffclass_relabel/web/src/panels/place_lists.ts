// Lists that lead to places of the scene: suggestions, contradicted labels, why a class, strokes.

import { choice, count, el, iconButton, keycap, muted, textButton } from "../base/dom";
import { pixelsOf, type Place } from "../base/raster";
import type { ContradictedStroke, StrokeShare, StrokeState } from "../session/protocol.generated";
import type { RowContents } from "../session/row_contents";
import type { Session } from "../session/session";
import { type Rule, RULES, type Suggestions } from "../session/suggestions";
import { markOf } from "./class_marks";

const MOST = 200; // strokes that are listed; more would only slow the page down
const LEAST = 0.001; // share from which a stroke is worth a line

type Go = (place: Place) => void;

/** A line of a list; a click acts. */
function line({ title = "", isChosen = false, act }: { title?: string; isChosen?: boolean; act: () => void }, ...parts: Node[]): HTMLButtonElement {
  const row = el("button", { class: "item", title, on: { click: act } }, ...parts);
  row.classList.toggle("chosen", isChosen);
  return row;
}

/** What a list calls a pixel: its place, or the row of a table there. */
function placeName(session: Session, rows: RowContents, pixel: number): string {
  const { row, column } = session.placeOf(pixel);
  return session.scene?.table ? (rows.factsOf(pixel)?.name ?? "") : `${row}, ${column}`;
}

export function suggestionPanel(session: Session, suggestions: Suggestions, rows: RowContents, { go, walk }: { go: Go; walk: (direction: 1 | -1) => void }): HTMLElement {
  const list = el("div", { class: "items" });
  const rule = choice("Rule", Object.entries(RULES).map(([name, [text, title]]) => [name, text, title]), () => {
    suggestions.rule = rule.value as Rule;
    void suggestions.ask();
  });
  rule.title = "The rule that ranks pixels";
  const ask = textButton("Suggest", "Ask for new suggestions", () => void suggestions.ask());
  const previous = iconButton("previous", "Previous suggestion (b)", () => walk(-1));
  const next = iconButton("next", "Next suggestion (n)", () => walk(1));
  const empty = el("p", { class: "muted empty" }, "Where labels would tell most. Walk through them with ", keycap("n"), " and ", keycap("b"), ".");

  const show = () => {
    const places = suggestions.places();
    ask.disabled = suggestions.busy;
    ask.textContent = suggestions.busy ? "Looking\u2026" : "Suggest";
    empty.hidden = places.length > 0;
    list.replaceChildren(...places.map(({ pixel, done }, k) => {
      const label = session.labels.shown[pixel];
      const row = line({ isChosen: k === suggestions.current, act: () => go(suggestions.select(k)) },
        el("span", { class: "key", text: String(k + 1) }),
        markOf(session, done ? label : session.mappedAt(pixel)),
        el("span", { class: "muted end", text: done ? "labelled" : placeName(session, rows, pixel) }),
      );
      row.classList.toggle("done", done);
      return row;
    }));
    list.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
  };
  suggestions.on("changed", show);
  rows.on("changed", show);
  session.on("changed", show);
  return el("div", {}, el("div", { class: "panel-bar" }, rule, ask, el("div", { class: "group" }, previous, next)), empty, list);
}

/** Strokes with pixels that all other strokes contradict, and what can be done about each. */
export class AuditPanel {
  readonly element: HTMLElement;
  readonly #list = el("div", { class: "items audit" });
  readonly #note = el("p", { class: "muted empty", text: "Labels that the diffusion from all other strokes contradicts." });
  readonly #check = textButton("Check labels", "Compare every label with what the others say", () => void this.#ask());
  #chosen = -1;
  #items: ContradictedStroke[] = [];

  constructor(private readonly session: Session, private readonly go: Go, private readonly counted: (found: number) => void) {
    this.element = el("div", {}, el("div", { class: "panel-bar" }, this.#check), this.#note, this.#list);
    session.on("changed", () => this.#show());
  }

  async #ask(): Promise<void> {
    this.#check.disabled = true;
    const answer = await this.session.ask({ ask: "audit" });
    this.#check.disabled = false;
    if (!answer) return;
    [this.#items, this.#chosen] = [answer.items, -1];
    this.#note.textContent = this.#items.length ? "" : "No label is contradicted by the others.";
    this.counted(this.#items.length);
    this.#show();
  }

  #show(): void {
    this.#note.hidden = this.#items.length > 0;
    this.#list.replaceChildren(...this.#items.map((item, k) => this.#row(item, k)));
  }

  #row(item: ContradictedStroke, k: number): HTMLElement {
    const { session } = this;
    const place = session.placeOf(item.pixel);
    const isChosen = k === this.#chosen;
    const act = () => { this.#chosen = k; this.go(place); this.#show(); };
    const margin = item.margin.toFixed(2);
    const found = line({ title: `Row ${place.row}, column ${place.column}, margin ${margin}, stroke ${item.stroke}`, isChosen, act },
      markOf(session, item.class), muted("or"), markOf(session, item.says),
      el("span", { class: "muted end", title: "contradicted pixels, largest margin" }, `${item.count} ${session.scene?.table ? "rows" : "px"}`, el("span", { class: "strength", text: ` ${margin}` })));
    return el("div", {}, found, isChosen ? this.#actions(item) : null);
  }

  #actions({ stroke, says, count, pixels }: ContradictedStroke): HTMLElement {
    const { session } = this;
    const name = session.nameOf(says);
    const button = (text: string, title: string, act: () => Promise<unknown>) => textButton(text, title, () => void act().then(() => this.#ask()), "small");
    return el("div", { class: "item-actions" },
      button(`Stroke to ${name}`, `The whole stroke ${stroke} becomes ${name}`, () => session.apply({ op: "move", stroke, class: says })),
      button(count === 1 ? "Erase pixel" : "Erase pixels", "Take the label from the contradicted pixels", () => session.paint(pixelsOf(pixels), { id: 0 })),
      button("Remove stroke", `Take all of stroke ${stroke} away`, () => session.apply({ op: "remove", stroke })));
  }
}

/** All strokes, the newest first: find one, give it to another class, take it away. */
export class StrokePanel {
  readonly element: HTMLElement;
  readonly #list = el("div", { class: "items" });
  readonly #empty = el("p", { class: "muted empty", text: "Strokes appear here as you paint." });
  readonly #more = el("p", { class: "muted empty" });
  #chosen = 0;
  #made = "";

  constructor(private readonly session: Session, private readonly go: Go) {
    this.element = el("div", {}, this.#empty, this.#list, this.#more);
    session.on("changed", () => this.show());
  }

  /** Called when the panel comes to the front, and with every change. */
  show(): void {
    const { state } = this.session;
    if (this.element.hidden || !state) return;
    const { strokes, n_strokes, classes } = state;
    const made = JSON.stringify([strokes, n_strokes, classes.map((item) => [item.id, item.name, item.color]), this.#chosen]);
    if (made === this.#made) return;
    this.#made = made;
    this.#empty.hidden = strokes.length > 0;
    this.#more.hidden = n_strokes <= MOST;
    this.#more.textContent = `and ${n_strokes - MOST} older ones`;
    this.#list.replaceChildren(...strokes.slice(-MOST).reverse().map((stroke) => this.#row(stroke)));
  }

  #row({ number, class: id, count: pixels, first }: StrokeState): HTMLElement {
    const isChosen = number === this.#chosen;
    const act = () => { this.#chosen = number; this.go(this.session.placeOf(first)); this.show(); };
    const found = line({ title: `Show stroke ${number}`, isChosen, act },
      el("span", { class: "key", text: String(number) }), markOf(this.session, id), el("span", { class: "muted end", text: `${count(pixels)} ${this.session.scene?.table ? "rows" : "px"}` }));
    return el("div", {}, found, isChosen ? this.#actions(number, id) : null);
  }

  #actions(stroke: number, id: number): HTMLElement {
    const { session } = this;
    const select = choice(`Class of stroke ${stroke}`, session.classes.map((item) => [String(item.id), item.name]), () =>
      void session.apply({ op: "move", stroke, class: Number(select.value) }));
    select.value = String(id);
    const remove = iconButton("remove", `Remove stroke ${stroke}`, () => void session.apply({ op: "remove", stroke }), "icon small");
    return el("div", { class: "item-actions" }, select, remove);
  }
}

/** Why a pixel has its class: the share of each stroke in its posterior. */
export class WhyPanel {
  readonly element: HTMLElement;
  #asked: Place | null = null; // What was asked about, and whether another map has come since: it has other answers.
  #isOld = false;
  readonly #head = el("p", { class: "why-head" });
  readonly #list = el("div", { class: "items" });
  readonly #empty = el("p", { class: "muted empty" }, "Point at a pixel and press ", keycap("w"), ", or Alt-click it, to see which strokes decided its class.");

  constructor(private readonly session: Session, private readonly go: Go) {
    this.element = el("div", {}, this.#empty, this.#head, this.#list);
    this.#head.hidden = true;
    session.on("map", () => (this.#isOld = true)); // the refined one has the version of the first
    session.on("changed", () => this.#isOld && this.#asked && !this.element.hidden && void this.ask(this.#asked));
  }

  async ask(place: Place): Promise<void> {
    const { session } = this;
    [this.#asked, this.#isOld] = [place, false];
    const pixel = session.pixelOf(place);
    const answer = await session.ask({ ask: "why", pixel });
    if (!answer) return;
    this.#empty.hidden = true;
    this.#head.hidden = false;
    this.#head.replaceChildren(markOf(session, session.mappedAt(pixel)), muted(session.scene?.table ? "" : ` at row ${place.row}, column ${place.column}`));
    const seen = answer.shares.filter(({ share }, k) => k === 0 || share >= LEAST);
    if (seen.length) this.#list.replaceChildren(...seen.map((share) => this.#row(share)));
    else this.#list.replaceChildren(el("p", { class: "muted empty", text: "No stroke has reached this pixel." }));
  }

  #row({ pixel, share, stroke, class: id }: StrokeShare): HTMLElement {
    const bar = el("span", { class: "bar" });
    bar.style.width = `${Math.max(100 * share, 0.5)}%`;
    bar.style.background = this.session.classOf(id)?.color ?? "currentColor";
    const percent = `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
    const row = line({ title: "Show this stroke", act: () => this.go(this.session.placeOf(pixel)) },
      markOf(this.session, id), muted(`stroke ${stroke}`), el("span", { class: "end", text: percent }), bar);
    row.classList.add("why");
    return row;
  }
}
