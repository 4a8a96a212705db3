// The canvas without a pointer: arrows move a cursor from pixel to pixel, and a key draws with it.

import { el } from "../base/dom";
import { pixelAt, type Place } from "../base/raster";
import type { Overlay } from "../canvas/overlay";
import type { View } from "../canvas/view";
import type { Session } from "../session/session";
import type { Tool } from "./tool";
import type { Ui } from "./ui";

const STEPS: Record<string, [number, number]> = {
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
};
const FAR = 10; // pixels of a step with Shift

interface Around {
  session: Session;
  view: View;
  ui: Ui;
  overlay: Overlay;
  tool: () => Tool;
}

export class KeyCursor {
  /** Says to screen readers what is under the cursor. */
  readonly spoken = el("div", { class: "spoken", attributes: { role: "status" } });
  private place: Place | null = null;
  /** The tool is down: moving draws. */
  private drawing = false;

  constructor(private readonly area: HTMLElement, private readonly around: Around) {
    area.addEventListener("keydown", (event) => this.key(event));
    area.addEventListener("pointermove", () => this.leave());
    area.addEventListener("pointerdown", () => this.leave());
    area.addEventListener("blur", () => this.leave());
    around.ui.on("tool", () => (this.drawing = false)); // the one before was broken off
  }

  /** Puts the tool down where the cursor is, or lifts it; what a click does, it does at once. */
  press(): void {
    this.area.focus({ preventScroll: true });
    if (!this.place) return this.go(this.middle());
    if (this.drawing) return this.lift();
    this.tool.down(this.center);
    if (this.tool.drags) this.drawing = true;
    else this.tool.up();
  }

  /** Lifts the tool; says whether it was down. */
  finish(): boolean {
    const was = this.drawing;
    if (was) this.lift();
    return was;
  }

  /** Forgets a tool that was broken off. */
  cancel(): void {
    this.drawing = false;
  }

  private lift(): void {
    this.drawing = false;
    this.tool.up();
  }

  private key(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const { rows, columns } = this.around.view;
    const far = event.shiftKey ? FAR : 1;
    const from = this.place ?? this.middle();
    const along = (value: number, by: number, size: number) => Math.min(Math.max(value + by * far, 0), size - 1);
    this.go(this.place ? { row: along(from.row, step[0], rows), column: along(from.column, step[1], columns) } : from);
  }

  /** Where the pointer was last, or the middle of what is seen. */
  private middle(): Place {
    const { top, left, bottom, right } = this.around.view.window;
    return this.around.ui.hover ?? pixelAt({ row: (top + bottom) / 2, column: (left + right) / 2 });
  }

  private go(place: Place): void {
    const { view, ui, overlay } = this.around;
    this.place = place;
    overlay.cursor = place;
    view.follow(place);
    ui.setHover(place);
    if (this.drawing) this.tool.drag([this.center]);
    this.tool.hover(this.center);
    overlay.request();
    this.say(place);
  }

  private leave(): void {
    if (!this.place) return;
    if (this.drawing) this.lift();
    this.place = null;
    this.around.overlay.cursor = null;
    this.around.overlay.request();
    this.spoken.textContent = "";
  }

  private say({ row, column }: Place): void {
    const { session, view } = this.around;
    const pixel = row * view.columns + column;
    const label = session.classOf(session.labels.shown[pixel]);
    const mapped = session.classOf(session.map?.ids[pixel] ?? 0);
    const parts = [`row ${row}, column ${column}`, mapped && `map ${mapped.name}`, label && `labelled ${label.name}`];
    this.spoken.textContent = parts.filter(Boolean).join(", ");
  }

  private get tool(): Tool {
    return this.around.tool();
  }

  private get center(): Place {
    return { row: this.place!.row + 0.5, column: this.place!.column + 0.5 };
  }
}
