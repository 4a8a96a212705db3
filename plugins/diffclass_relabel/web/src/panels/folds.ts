// What of the right column is folded: by hand, or else as there is room; the class list comes first.

import { iconButton } from "../base/dom";
import type { Session } from "../session/session";
import type { UiState } from "../tools/ui_state";

/** From the style sheet: heights in CSS pixels, and the width below which the columns are one. */
const SPECTRUM = 178;
const FOLDED = 42;
const ROW = 240;
const LISTS = 140;
const STACKED = matchMedia("(max-width: 899px)");
const MOST = 0.76; // of the column, for the classes, before anything else is folded for them

/** Folds what has no room besides the classes, unless it was unfolded by hand. */
export function foldByRoom(column: HTMLElement, session: Session, ui: UiState): void {
  const fit = () => {
    const head = column.querySelector<HTMLElement>(".class-section")!;
    const list = head.querySelector<HTMLElement>(".classes")!;
    const needed = head.offsetHeight - list.offsetHeight + list.scrollHeight;
    const room = STACKED.matches ? 0 : column.clientHeight - Math.min(needed, MOST * column.clientHeight) - LISTS;
    ui.setRoom({ spectrum: room >= SPECTRUM, lists: room >= (session.scene?.table ? ROW : FOLDED) });
  };
  new ResizeObserver(fit).observe(column);
  session.on("changed", fit);
}

/** A button of narrow windows that gives the picture the room of all panels, and takes it back. */
export function panelsButton(): HTMLElement {
  const button = iconButton("panels", "Panels", () => {
    button.setAttribute("aria-expanded", String(!document.body.classList.toggle("without-panels")));
  }, "icon panels-button");
  button.setAttribute("aria-expanded", "true");
  return button;
}
