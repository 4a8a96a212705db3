// A menu at a point of the page; Escape, a click elsewhere or an entry closes it, arrows move in it.

import { el, textButton } from "../base/dom";

const EDGE = 8; // CSS pixels from the window's edge

export class Menu {
  // Not "auto": the browser would close that at the end of the very press that opened it.
  readonly element = el("div", { class: "menu", attributes: { popover: "manual", role: "menu" } });

  /** What had the focus when it was opened. */
  private before: HTMLElement | null = null;

  constructor(name: string) {
    this.element.setAttribute("aria-label", name);
    this.element.addEventListener("keydown", (event) => this.move(event));
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
    this.before = document.activeElement as HTMLElement | null;
    this.element.replaceChildren(...entries);
    this.element.showPopover();
    const { offsetWidth, offsetHeight } = this.element;
    this.element.style.left = `${Math.max(Math.min(x, innerWidth - offsetWidth - EDGE), EDGE)}px`;
    this.element.style.top = `${Math.max(Math.min(y, innerHeight - offsetHeight - EDGE), EDGE)}px`;
    this.buttons()[0]?.focus();
  }

  close(): void {
    if (!this.element.matches(":popover-open")) return;
    const focused = this.element.contains(document.activeElement);
    this.element.hidePopover();
    if (focused) this.opener()?.focus();
  }

  /** What had the focus; by its name where its list was made anew meanwhile. */
  private opener(): HTMLElement | null {
    const { before } = this;
    if (!before || before.isConnected || !before.ariaLabel) return before;
    return document.querySelector(`[aria-label="${CSS.escape(before.ariaLabel)}"]`);
  }

  private move(event: KeyboardEvent): void {
    event.stopPropagation(); // no key of the page while a menu is open
    if (event.key === "Escape" || event.key === "Tab") this.close();
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const buttons = this.buttons();
    const here = buttons.indexOf(document.activeElement as HTMLButtonElement);
    buttons[(here + step + buttons.length) % buttons.length]?.focus();
  }

  private buttons(): HTMLButtonElement[] {
    return [...this.element.querySelectorAll<HTMLButtonElement>("button:enabled")];
  }
}
