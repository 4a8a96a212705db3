// The lower right: one panel at a time, chosen by tabs (arrow keys move between them).

import { el } from "../base/dom";

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

  constructor(private readonly panels: Panel[]) {
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
    this.show(panels[0].name);
  }

  show(name: string): void {
    this.panels.forEach((panel, k) => {
      const chosen = panel.name === name;
      panel.element.hidden = !chosen;
      this.#buttons[k].setAttribute("aria-selected", String(chosen));
      this.#buttons[k].tabIndex = chosen ? 0 : -1;
      if (chosen) panel.shown?.();
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
      on: { click: () => this.show(panel.name), keydown: (event) => this.#move(event, k) },
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
