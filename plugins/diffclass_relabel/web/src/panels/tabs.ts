// The lower right: one panel at a time, chosen by tabs (arrow keys move between them); a click on
// the chosen one folds it.

import { el } from "../base/dom";
import type { UiState } from "../tools/ui_state";

interface Panel {
  name: string;
  title: string;
  element: HTMLElement;
  /** Called when it comes to the front. */
  shown?: () => void;
}

export class Tabs {
  readonly element: HTMLElement;
  readonly #buttons: HTMLButtonElement[];

  #chosen: string;

  constructor(private readonly panels: Panel[], private readonly ui: UiState) {
    this.#chosen = panels[0].name;
    this.#buttons = panels.map((panel, k) => this.#button(panel, k));
    const bar = el("div", { class: "tab-bar", attributes: { role: "tablist" } }, ...this.#buttons);
    this.element = el("div", { class: "tabs" }, bar, ...panels.map((panel) => panel.element));
    for (const panel of panels) {
      panel.element.classList.add("tab-panel");
      panel.element.setAttribute("role", "tabpanel");
      panel.element.id = `panel-${panel.name}`;
      panel.element.setAttribute("aria-labelledby", `tab-${panel.name}`);
      panel.element.tabIndex = 0; // so that keys can scroll it
    }
    ui.on("options", () => this.#draw());
    this.#draw();
  }

  /** Brings a panel to the front, unfolded. */
  show(name: string): void {
    this.#chosen = name;
    if (this.ui.isShown("lists")) this.#draw();
    else this.ui.setOptions({ lists: true });
  }

  #draw(): void {
    const isShown = this.ui.isShown("lists");
    this.element.classList.toggle("folded", !isShown);
    this.panels.forEach((panel, k) => {
      const chosen = panel.name === this.#chosen;
      const wasHidden = panel.element.hidden;
      panel.element.hidden = !chosen || !isShown;
      this.#buttons[k].setAttribute("aria-selected", String(chosen));
      this.#buttons[k].tabIndex = chosen ? 0 : -1;
      this.#buttons[k].setAttribute("aria-expanded", String(chosen && isShown));
      if (wasHidden && !panel.element.hidden) panel.shown?.();
    });
  }

  /** Writes a number after a tab's name; none for 0. */
  setCount(name: string, value: number): void {
    const k = this.panels.findIndex((panel) => panel.name === name);
    this.#buttons[k].querySelector("span")!.textContent = value ? String(value) : "";
  }

  #button(panel: Panel, k: number): HTMLButtonElement {
    return el("button", {
      text: panel.name,
      title: panel.title,
      attributes: { role: "tab", id: `tab-${panel.name}`, "aria-controls": `panel-${panel.name}`, "data-tab": panel.name },
      on: { click: () => (this.#chosen === panel.name && this.ui.isShown("lists") ? this.ui.setOptions({ lists: false }) : this.show(panel.name)), keydown: (event) => this.#move(event, k) },
    }, el("span", { class: "tab-count" }));
  }

  #move(event: KeyboardEvent, k: number): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.stopPropagation();
    const next = (k + step + this.panels.length) % this.panels.length;
    this.show(this.panels[next].name);
    this.#buttons[next].focus();
  }
}
