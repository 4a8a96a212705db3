// Menus at a point of the page: how they open and close, and that of a pixel.

import { el, moveFocus, textButton } from "../base/dom";
import { pixelAt, type Place } from "../base/raster";
import type { View } from "../canvas/view";
import type { Session } from "../session/session";
import type { UiState } from "../tools/ui_state";
import { swatch } from "./class_marks";

const EDGE = 8; // CSS pixels from the window's edge

export class Menu {
  // Not "auto": the browser would close that at the end of the very press that opened it.
  readonly element = el("div", { class: "menu", attributes: { popover: "manual", role: "menu" } });

  #before: HTMLElement | null = null; // What had the focus when it was opened.

  constructor(name: string) {
    this.element.setAttribute("aria-label", name);
    this.element.addEventListener("keydown", (event) => this.#move(event));
    addEventListener("pointerdown", (event) => {
      if (!this.element.contains(event.target as Node)) this.close();
    }, { capture: true });
    addEventListener("blur", () => this.close());
  }

  /** An entry that closes the menu, then acts. */
  entry(text: string, title: string, act: () => void): HTMLButtonElement {
    const button = textButton(text, title, () => {
      this.close();
      act();
    }, "menu-item");
    button.setAttribute("role", "menuitem");
    return button;
  }

  /** Shows entries with the upper left corner at a point, as far as the window has room. */
  open(entries: Node[], x: number, y: number): void {
    this.#before = document.activeElement as HTMLElement | null;
    this.element.replaceChildren(...entries);
    this.element.showPopover();
    const { offsetWidth, offsetHeight } = this.element;
    this.element.style.left = `${Math.max(Math.min(x, innerWidth - offsetWidth - EDGE), EDGE)}px`;
    this.element.style.top = `${Math.max(Math.min(y, innerHeight - offsetHeight - EDGE), EDGE)}px`;
    this.#buttons()[0]?.focus();
  }

  close(): void {
    if (!this.element.matches(":popover-open")) return;
    const focused = this.element.contains(document.activeElement);
    this.element.hidePopover();
    if (focused) this.#opener()?.focus();
  }

  /** What had the focus; by its name where its list was made anew meanwhile. */
  #opener(): HTMLElement | null {
    const before = this.#before;
    if (!before || before.isConnected || !before.ariaLabel) return before;
    return document.querySelector(`[aria-label="${CSS.escape(before.ariaLabel)}"]`);
  }

  #move(event: KeyboardEvent): void {
    event.stopPropagation(); // no key of the page while a menu is open
    if (event.key === "Escape" || event.key === "Tab") this.close();
    moveFocus(event, this.#buttons(), true);
  }

  #buttons(): HTMLButtonElement[] {
    return [...this.element.querySelectorAll<HTMLButtonElement>("button:enabled")];
  }
}

export class PixelMenu {
  readonly #menu = new Menu("Pixel");

  constructor(
    private readonly session: Session,
    private readonly ui: UiState,
    private readonly view: View,
  ) {
    document.body.append(this.#menu.element);
  }

  open(x: number, y: number, at: Place): void {
    const entries = this.view.contains(at) ? this.#ofPixel(pixelAt(at)) : [];
    this.#menu.open([...entries, ...this.#ofSession()], x, y);
  }

  #ofPixel(place: Place): Node[] {
    const { session, ui } = this;
    const menu = this.#menu;
    const item = session.classAt(place);
    const why = menu.entry("Why this class?", "Which strokes decide it (w)", () => ui.inspect(place));
    why.disabled = !session.hasMap;
    if (!item) return [why];
    const take = menu.entry(`Paint with ${item.name}`, "The class here becomes the one that is painted (j)", () => ui.setClass(item.id));
    take.prepend(swatch(item.color));
    return [take, why];
  }

  #ofSession(): Node[] {
    const { session } = this;
    const menu = this.#menu;
    const undo = menu.entry("Undo", "Ctrl+Z", () => session.undo());
    const redo = menu.entry("Redo", "Ctrl+Shift+Z", () => session.redo());
    [undo.disabled, redo.disabled] = [!session.state?.can_undo, !session.state?.can_redo];
    return [undo, redo, menu.entry("Whole scene", "h", () => this.view.fit())];
  }
}
