// What the server does before the first stroke: its steps, how far they are, and the time left.

import { el } from "../base/dom";
import type { Preparing } from "../session/protocol.generated";
import type { Socket } from "../session/socket";

const MARKS = { done: "\u2713", running: "\u2192", waiting: "" };

export class PreparationPanel {
  readonly element = el("section", { class: "preparation", attributes: { "aria-label": "Preparing the scene" } });
  private readonly title = el("h2");
  private readonly steps = el("ol");
  private readonly left = el("p", { attributes: { role: "status" } });
  private readonly hint = el("p", { class: "muted" });

  constructor(private readonly socket: Socket) {
    this.element.append(this.title, this.steps, this.left, this.hint);
    this.element.hidden = true;
    socket.on("preparing", (news) => this.show(news));
    socket.on("failed", (message) => this.fail(message));
    socket.on("start", () => (this.element.hidden = true));
    socket.on("hello", () => (this.element.hidden = true));
  }

  private show({ scene, steps, left }: Preparing): void {
    this.element.hidden = false;
    this.title.textContent = `Preparing ${scene}`;
    this.steps.replaceChildren(...steps.map((step) => this.row(step)));
    this.left.textContent = left === null ? "Looking at the scene\u2026" : timeLeft(left);
    const waiting = this.socket.pending.length;
    this.hint.textContent = waiting
      ? `${waiting === 1 ? "1 change is" : `${waiting} changes are`} kept here and sent then.`
      : "The scene can be painted as soon as it is here.";
  }

  private row(step: Preparing["steps"][number]): HTMLElement {
    const bar = el("progress", { attributes: { max: "1", "aria-label": step.name } });
    if (step.share !== null) bar.value = step.share;
    const seconds = step.is === "done" && step.seconds !== null ? `${step.seconds.toFixed(1)} s` : "";
    return el("li", { class: step.is },
      el("span", { class: "mark", text: MARKS[step.is], attributes: { "aria-hidden": "true" } }),
      el("span", { class: "step-name", text: step.name }),
      bar,
      el("span", { class: "muted", text: seconds }),
    );
  }

  private fail(message: string): void {
    this.element.hidden = false;
    this.title.textContent = "The scene could not be opened";
    this.steps.replaceChildren();
    this.left.textContent = message;
    this.hint.textContent = "The server has ended; start it again when that is mended.";
  }
}

function timeLeft(seconds: number): string {
  if (seconds < 1.5) return "Nearly there\u2026";
  if (seconds < 90) return `About ${Math.round(seconds)} s left`;
  return `About ${Math.round(seconds / 60)} min left`;
}
