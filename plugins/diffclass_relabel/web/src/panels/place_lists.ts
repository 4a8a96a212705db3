// Lists that lead to places of the scene: suggestions, contradicted labels, why a class, strokes.

import { choice, count, el, iconButton, keycap, muted, textButton } from "../base/dom";
import { ICONS } from "../base/icons";
import { pixelsOf, type Place } from "../base/raster";
import type { ContradictedStroke, StrokeShare, StrokeState } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { type Rule, RULES, type Suggestions } from "../session/suggestions";
import { markOf } from "./class_marks";

export function suggestionPanel(session: Session, suggestions: Suggestions, { go, walk }: { go: (place: Place) => void; walk: (direction: 1 | -1) => void }): HTMLElement {
  const list = el("div", { class: "items" });
  const rule = choice("Rule", Object.entries(RULES).map(([name, [text, title]]) => [name, text, title]), () => {
    suggestions.rule = rule.value as Rule;
    void suggestions.ask();
  });
  rule.title = "The rule that ranks pixels";
  const ask = textButton("Suggest", "Ask for new suggestions", () => void suggestions.ask());
  const previous = iconButton(ICONS.previous, "Previous suggestion (b)", () => walk(-1));
  const next = iconButton(ICONS.next, "Next suggestion (n)", () => walk(1));
  const empty = el("p", { class: "muted empty" }, "The pixels whose labels would tell most. Walk through them with ", keycap("n"), " and ", keycap("b"), ".");

  const show = () => {
    const places = suggestions.places();
    ask.disabled = suggestions.busy || !session.hasMap;
    ask.textContent = suggestions.busy ? "Looking\u2026" : "Suggest";
    empty.hidden = places.length > 0;
    list.replaceChildren(...places.map(({ place, pixel, done }, k) => {
      const label = session.labels.shown[pixel];
      const row = el("button", { class: "item", on: { click: () => go(suggestions.select(k)) } },
        el("span", { class: "key", text: String(k + 1) }),
        markOf(session, done ? label : (session.map?.ids[pixel] ?? 0)),
        el("span", { class: "muted end", text: done ? "labelled" : `${place.row}, ${place.column}` }),
      );
      row.classList.toggle("chosen", k === suggestions.current);
      row.classList.toggle("done", done);
      return row;
    }));
    list.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
  };
  suggestions.on("changed", show);
  session.on("changed", show);
  return el("div", {}, el("div", { class: "panel-bar" }, rule, ask, el("div", { class: "group" }, previous, next)), empty, list);
}

export class AuditPanel {
  readonly element: HTMLElement;
  private readonly list = el("div", { class: "items audit" });
  private readonly note = el("p", { class: "muted empty", text: "Labels that the diffusion from all other strokes contradicts." });
  private readonly check = textButton("Check labels", "Compare every label with what the others say", () => void this.ask());
  private chosen = -1;
  private items: ContradictedStroke[] = [];

  constructor(private readonly session: Session, private readonly go: (place: Place) => void, private readonly counted: (found: number) => void) {
    this.element = el("div", {}, el("div", { class: "panel-bar" }, this.check), this.note, this.list);
    session.on("changed", () => this.show());
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
    const place = this.session.placeOf(item.pixel);
    const line = el("button", {
      class: "item",
      title: `Row ${place.row}, column ${place.column}, margin ${item.margin.toFixed(2)}, stroke ${item.stroke}`,
      on: { click: () => { this.chosen = k; this.go(place); this.show(); } },
    }, markOf(this.session, item.class), muted("or"), markOf(this.session, item.says),
      el("span", { class: "muted end", title: "contradicted pixels, largest margin" }, `${item.count} px`, el("span", { class: "strength", text: ` ${item.margin.toFixed(2)}` })));
    line.classList.toggle("chosen", k === this.chosen);
    const box = el("div", {}, line);
    if (k === this.chosen) box.append(this.actions(item));
    return box;
  }

  private actions(item: ContradictedStroke): HTMLElement {
    const says = this.session.nameOf(item.says);
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

const LEAST = 0.001; // share from which a stroke is worth a line

export class WhyPanel {
  readonly element: HTMLElement;
  private readonly head = el("p", { class: "why-head" });
  private readonly list = el("div", { class: "items" });
  private readonly empty = el("p", { class: "muted empty" }, "Point at a pixel and press ", keycap("w"), ", or Alt-click it, to see which strokes decided its class.");

  constructor(private readonly session: Session, private readonly go: (place: Place) => void) {
    this.element = el("div", {}, this.empty, this.head, this.list);
    this.head.hidden = true;
  }

  async ask(place: Place): Promise<void> {
    const pixel = this.session.pixelOf(place);
    const answer = await this.session.ask({ ask: "why", pixel });
    if (!answer) return;
    this.empty.hidden = true;
    this.head.hidden = false;
    this.head.replaceChildren(markOf(this.session, this.session.map?.ids[pixel] ?? 0),
      muted(` at row ${place.row}, column ${place.column}`));
    const seen = answer.shares.filter(({ share }, k) => k === 0 || share >= LEAST);
    this.list.replaceChildren(...seen.map((share) => this.row(share)));
    if (!answer.shares.length) this.list.replaceChildren(el("p", { class: "muted empty", text: "No stroke has reached this pixel." }));
  }

  private row(share: StrokeShare): HTMLElement {
    const place = this.session.placeOf(share.pixel);
    const bar = el("span", { class: "bar" });
    bar.style.width = `${Math.max(100 * share.share, 0.5)}%`;
    bar.style.background = this.session.classOf(share.class)?.color ?? "currentColor";
    return el("button", {
      class: "item why",
      title: "Show this stroke",
      on: { click: () => this.go(place) },
    }, markOf(this.session, share.class), muted(`stroke ${share.stroke}`),
      el("span", { class: "end", text: percent(share.share) }), bar);
  }
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
}

const MOST = 200; // rows; more would only slow the page down

export class StrokePanel {
  readonly element: HTMLElement;
  private readonly list = el("div", { class: "items" });
  private readonly empty = el("p", { class: "muted empty", text: "Strokes appear here as you paint." });
  private readonly more = el("p", { class: "muted empty" });
  private chosen = 0;
  private made = "";

  constructor(private readonly session: Session, private readonly go: (place: Place) => void) {
    this.element = el("div", {}, this.empty, this.list, this.more);
    session.on("changed", () => this.show());
  }

  /** Called when the panel comes to the front, and with every change. */
  show(): void {
    const { state } = this.session;
    if (this.element.hidden || !state) return;
    const { strokes, n_strokes, classes } = state;
    const made = JSON.stringify([strokes, n_strokes, classes.map((item) => [item.id, item.name, item.color]), this.chosen]);
    if (made === this.made) return;
    this.made = made;
    this.empty.hidden = strokes.length > 0;
    const newest = [...strokes].reverse().slice(0, MOST);
    this.more.hidden = n_strokes <= MOST;
    this.more.textContent = `and ${n_strokes - MOST} older ones`;
    this.list.replaceChildren(...newest.map((stroke) => this.row(stroke)));
  }

  private row(stroke: StrokeState): HTMLElement {
    const place = this.session.placeOf(stroke.first);
    const line = el("button", {
      class: "item",
      title: `Show stroke ${stroke.number}`,
      on: { click: () => { this.chosen = stroke.number; this.go(place); this.show(); } },
    }, el("span", { class: "key", text: String(stroke.number) }), markOf(this.session, stroke.class),
      el("span", { class: "muted end", text: `${count(stroke.count)} px` }));
    line.classList.toggle("chosen", stroke.number === this.chosen);
    const box = el("div", {}, line);
    if (stroke.number === this.chosen) box.append(this.actions(stroke));
    return box;
  }

  private actions(stroke: StrokeState): HTMLElement {
    const select = choice(`Class of stroke ${stroke.number}`, this.session.classes.map(({ id, name }) => [String(id), name]), () =>
      void this.session.apply({ op: "move", stroke: stroke.number, class: Number(select.value) }));
    select.value = String(stroke.class);
    return el("div", { class: "item-actions" }, select,
      iconButton(ICONS.remove, `Remove stroke ${stroke.number}`, () =>
        void this.session.apply({ op: "remove", stroke: stroke.number }), "icon small"));
  }
}
