// The canvas without a pointer: arrows move a cursor from pixel to pixel, and a key draws with it.

import { el } from "../base/dom";
import { middleOf, pixelAt, type Place } from "../base/raster";
import type { Tool, ToolContext } from "./tool";

const STEPS: Record<string, [number, number]> = {
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
};
const FAR = 10; // pixels of a step with Shift

export class KeyCursor {
  /** Says to screen readers what is under the cursor. */
  readonly spoken = el("div", { class: "spoken", attributes: { role: "status" } });
  #place: Place | null = null;
  #drawing = false; // The tool is down: moving draws.

  constructor(private readonly area: HTMLElement, private readonly context: ToolContext, private readonly toolInHand: () => Tool) {
    area.addEventListener("keydown", (event) => this.#key(event));
    area.addEventListener("pointermove", () => this.#leave());
    area.addEventListener("pointerdown", () => this.#leave());
    area.addEventListener("blur", () => this.#leave());
    context.ui.on("tool", () => (this.#drawing = false)); // the one before was broken off
  }

  /** Puts the tool down where the cursor is, or lifts it; what a click does, it does at once. */
  press(): void {
    this.area.focus({ preventScroll: true });
    if (!this.#place) return this.#go(this.#middle());
    if (this.#drawing) return this.#lift();
    this.#tool.down(this.#center);
    if (this.#tool.drags) this.#drawing = true;
    else this.#tool.up();
  }

  /** Lifts the tool; says whether it was down. */
  finish(): boolean {
    const was = this.#drawing;
    if (was) this.#lift();
    return was;
  }

  /** Forgets a tool that was broken off. */
  cancel(): void {
    this.#drawing = false;
  }

  #lift(): void {
    this.#drawing = false;
    this.#tool.up();
  }

  #key(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const { rows, columns } = this.context.view;
    const far = event.shiftKey ? FAR : 1;
    const from = this.#place ?? this.#middle();
    const along = (value: number, by: number, size: number) => Math.min(Math.max(value + by * far, 0), size - 1);
    this.#go(this.#place ? { row: along(from.row, step[0], rows), column: along(from.column, step[1], columns) } : from);
  }

  /** Where the pointer was last, or the middle of what is seen. */
  #middle(): Place {
    const { top, left, bottom, right } = this.context.view.window;
    return this.context.ui.hover ?? pixelAt({ row: (top + bottom) / 2, column: (left + right) / 2 });
  }

  #go(place: Place): void {
    const { view, ui, overlay } = this.context;
    this.#place = place;
    overlay.cursor = place;
    view.follow(place);
    ui.setHover(place);
    if (this.#drawing) this.#tool.drag([this.#center]);
    this.#tool.hover(this.#center);
    overlay.request();
    this.#say(place);
  }

  #leave(): void {
    if (!this.#place) return;
    if (this.#drawing) this.#lift();
    this.#place = null;
    this.context.overlay.cursor = null;
    this.context.overlay.request();
    this.spoken.textContent = "";
  }

  #say({ row, column }: Place): void {
    const { session } = this.context;
    const pixel = session.pixelOf({ row, column });
    const label = session.classOf(session.labels.shown[pixel]);
    const mapped = session.classOf(session.mappedAt(pixel));
    const parts = [`row ${row}, column ${column}`, mapped && `map ${mapped.name}`, label && `labelled ${label.name}`];
    this.spoken.textContent = parts.filter(Boolean).join(", ");
  }

  get #tool(): Tool {
    return this.toolInHand();
  }

  get #center(): Place {
    return middleOf(this.#place!);
  }
}
