// The list of keys.

import { el, keycap } from "../base/dom";
import type { Shortcut, ShortcutGroup } from "./shortcuts";

export class Help {
  readonly element: HTMLDialogElement;

  constructor(groups: ShortcutGroup[]) {
    const columns = groups.map(([title, shortcuts]) => el("section", {}, el("h2", { text: title }), el("dl", {}, ...shortcuts.flatMap(line))));
    this.element = el("dialog", { class: "help", attributes: { "aria-label": "Keys", tabindex: "0" }, on: { click: () => this.element.close() } },
      el("div", { class: "key-columns" }, ...columns));
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}

function line([shown, text]: Shortcut): HTMLElement[] {
  return [el("dt", {}, ...shown.map(keycap)), el("dd", { text })];
}
