// The magic wand: pixels that are like the one under it.

import { pixelAt, type Place } from "../base/raster";
import type { ClassRef } from "../session/optimistic_state";
import { nearPixels, outline } from "./shapes";
import { Tool, type ToolContext } from "./tool";

const PER_PIXEL = 0.5; // of tolerance for each CSS pixel that it is dragged to the right

/** What the wand was put down on. */
interface Press {
  at: Place;
  pixel: number;
  painted: ClassRef;
  tolerance: number; // The tolerance before it was dragged.
  distances: Uint8Array | null; // Of all pixels from this one; null until they have come.
  isLifted: boolean;
}

export class Wand extends Tool {
  override readonly drags = true;
  readonly name = "wand";
  readonly title = "Magic wand: similar pixels; drag right for more, left for fewer";
  readonly key = "z";

  #press: Press | null = null;

  constructor(context: ToolContext) {
    super(context);
    context.session.on("similar", (distances) => this.#receive(distances));
    context.ui.on("size", () => this.#show());
  }

  override down(at: Place): void {
    const { session, ui, view } = this.context;
    this.cancel();
    const place = pixelAt(at);
    const painted = view.contains(place) ? this.classToPaint() : null;
    if (!painted) return;
    const press = (this.#press = { at, pixel: session.pixelOf(place), painted, tolerance: ui.tolerance, distances: null, isLifted: false });
    void session.ask({ ask: "similar", pixel: press.pixel }).then((answer) => {
      if (!answer && this.#press === press) this.cancel(); // the page has said why
    });
  }

  override drag(places: Place[]): void {
    const { ui, view } = this.context;
    if (!this.#press) return;
    const travel = (places.at(-1)!.column - this.#press.at.column) * (view.scale / view.ratio);
    ui.setTolerance(this.#press.tolerance + travel * PER_PIXEL);
  }

  override up(): void {
    if (!this.#press) return;
    this.#press.isLifted = true;
    this.#paint();
  }

  override cancel(): void {
    this.#press = null;
    this.#show();
  }

  #receive(distances: Uint8Array): void {
    if (!this.#press) return;
    this.#press.distances = distances;
    this.#show();
    this.#paint();
  }

  /** Paints once it is lifted and the distances have come. */
  #paint(): void {
    if (!this.#press?.isLifted || !this.#press.distances) return;
    const { painted } = this.#press;
    const pixels = this.#pixels();
    this.cancel();
    void this.context.session.paint(pixels, painted);
  }

  #show(): void {
    const { overlay, view, ui } = this.context;
    if (ui.tool !== this.name) return;
    overlay.brush = this.#press?.distances ? outline(this.#pixels(), view.columns) : null;
    overlay.request();
  }

  #pixels(): Set<number> {
    const { tolerance, connected } = this.context.ui;
    return nearPixels(this.#press!.distances!, this.#press!.pixel, connected, tolerance, this.grid);
  }
}
