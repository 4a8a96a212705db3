// What was done, the newest first: a click goes back to the state after it, or forward again.

import { count, el, iconButton, moveFocus } from "../base/dom";
import { OneAtATime } from "../base/events";
import type { HistoryAnswer, HistoryStep } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { classMark } from "./class_marks";
import type { Compare } from "./compare";

const DAY = 24 * 3600 * 1000; // ms

export class HistoryPanel {
  readonly element: HTMLElement;
  readonly #list = el("div", { class: "items history", attributes: { role: "group", "aria-label": "States of the session, the newest first" } });
  readonly #more = el("p", { class: "muted empty" });
  #answer: HistoryAnswer | null = null;
  #asked = -1; // version of the session
  readonly #asking = new OneAtATime(() => this.#ask());
  #compared: number | null = null;

  constructor(private readonly session: Session, private readonly compare: Compare) {
    this.element = el("div", {}, this.#list, this.#more);
    this.#list.addEventListener("keydown", (event) => moveFocus(event, [...this.#list.querySelectorAll<HTMLElement>("[data-step]")]));
    compare.on("state", (step) => this.#markCompared(step));
    session.on("changed", () => this.show());
  }

  /** Called when the panel comes to the front, and with each state. */
  show(): void {
    if (!this.element.hidden) void this.#asking.run();
  }

  /** Marks the state that the map is compared with. */
  #markCompared(step: number | null): void {
    this.#compared = step;
    for (const button of this.#list.querySelectorAll<HTMLElement>("[data-compare]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.compare) === step));
    }
  }

  async #ask(): Promise<void> {
    const version = this.session.state?.version;
    if (version === undefined || version === this.#asked) return;
    const answer = await this.session.ask({ ask: "history" });
    if (!answer) return;
    [this.#answer, this.#asked] = [answer, version];
    this.#draw(answer);
  }

  #draw(answer: HistoryAnswer): void {
    const { steps, n_steps } = answer;
    const focused = (document.activeElement as HTMLElement | null)?.dataset.step;
    const hidden = n_steps - steps.length;
    const beginning = hidden ? [] : [this.#row(0, null)];
    this.#list.replaceChildren(...[...steps].reverse().map((step) => this.#row(step.step, step)), ...beginning);
    this.#more.hidden = hidden === 0;
    this.#more.textContent = `and ${count(hidden)} older ones, as you go back`;
    this.#list.querySelector<HTMLElement>(`[data-step="${focused}"]`)?.focus();
    this.#list.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
  }

  #row(number: number, step: HistoryStep | null): HTMLElement {
    const present = this.#answer!.step;
    const row = el("button", {
      class: "item",
      title: step ? `${step.title} \u2013 ${number === present ? "You are here" : "Go here"}; done ${new Date(1000 * step.at).toLocaleString()}` : "Before the first change",
      attributes: { "data-step": String(number) },
      on: { click: () => this.#go(number) },
    }, el("span", { class: "key", text: String(number) }), ...(step ? this.#parts(step) : [el("span", { text: "beginning" })]));
    row.classList.toggle("chosen", number === present);
    row.classList.toggle("done", number > present);
    if (number === present) row.setAttribute("aria-current", "step");
    row.tabIndex = number === present ? 0 : -1;
    const compare = iconButton("compare", `Compare state ${number} with the present map`, () => this.compare.show("state", number), "icon small");
    compare.dataset.compare = String(number);
    compare.setAttribute("aria-pressed", String(number === this.#compared));
    compare.disabled = number === present;
    return el("div", { class: "history-row" }, row, compare);
  }

  #parts(step: HistoryStep): HTMLElement[] {
    const parts = [el("span", { class: "what muted", text: step.title })];
    if (step.class) parts.unshift(this.#mark(step));
    const size = step.count === null ? "" : `${count(step.count)} px`;
    return [...parts, el("span", { class: "muted end", text: size }), el("time", { class: "muted", text: clock(step.at) })];
  }

  /** The class, by its name at that time where it is gone by now. */
  #mark(step: HistoryStep): HTMLElement {
    const item = this.session.classOf(step.class);
    return classMark(item?.color, item?.name ?? step.name);
  }

  #go(number: number): void {
    const steps = number - this.session.state!.step; // the list may be older
    if (steps) void this.session.apply({ op: steps < 0 ? "undo" : "redo", steps: Math.abs(steps) });
  }
}

/** The hour of what was done within a day, else the date. */
function clock(at: number): string {
  const time = new Date(1000 * at);
  if (Date.now() - time.getTime() < DAY) return time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
  return time.toLocaleDateString([], { day: "numeric", month: "short" });
}
