// All strokes, the newest first: find one, give it to another class, take it away.

import { count, el, iconButton } from "../base/dom";
import { ICONS } from "../base/icons";
import type { Place } from "../base/raster";
import type { StrokeState } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { className } from "./class_list";

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
    session.on("news", () => this.show());
  }

  /** Called when the panel comes to the front, and with all news. */
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
    const { columns } = this.session.scene!;
    const place = { row: Math.floor(stroke.first / columns), column: stroke.first % columns };
    const line = el("button", {
      class: "item",
      title: `Show stroke ${stroke.number}`,
      attributes: { type: "button" },
      on: { click: () => { this.chosen = stroke.number; this.go(place); this.show(); } },
    }, el("span", { class: "key", text: String(stroke.number) }), className(this.session, stroke.class),
      el("span", { class: "muted end", text: `${count(stroke.count)} px` }));
    line.classList.toggle("chosen", stroke.number === this.chosen);
    const box = el("div", {}, line);
    if (stroke.number === this.chosen) box.append(this.actions(stroke));
    return box;
  }

  private actions(stroke: StrokeState): HTMLElement {
    const select = el("select", {
      attributes: { "aria-label": `Class of stroke ${stroke.number}` },
      on: { change: () => void this.session.apply({ op: "move", stroke: stroke.number, class: Number(select.value) }) },
    });
    for (const item of this.session.classes) select.append(el("option", { text: item.name, attributes: { value: String(item.id) } }));
    select.value = String(stroke.class);
    return el("div", { class: "item-actions" }, select,
      iconButton(ICONS.remove, `Remove stroke ${stroke.number}`, () =>
        void this.session.apply({ op: "remove", stroke: stroke.number }), "icon small"));
  }
}
