// A class as lists show it: its colour and its name.

import { el } from "../base/dom";
import type { Session } from "../session/session";

/** A small square in a class's colour. */
export function swatch(color: string | undefined): HTMLElement {
  const square = el("span", { class: "swatch" });
  square.style.background = color ?? "transparent";
  return square;
}

/** A colour and a name, which is cut short where there is no room for it. */
export function classMark(color: string | undefined, name: string): HTMLElement {
  return el("span", { class: "class-mark", title: name }, swatch(color), el("span", { text: name }));
}

/** The mark of a class of the session. */
export function markOf(session: Session, id: number): HTMLElement {
  return classMark(session.classOf(id)?.color, session.nameOf(id));
}
