// What floats above the layers: the brush under the pointer, tools at work, marks of suggestions.

import { oncePerFrame } from "../base/events";
import type { Place } from "../base/raster";
import type { Suggestions } from "../session/suggestions";
import type { Layers } from "./layers";
import type { View } from "./view";

interface Sketch {
  corners: Place[]; // In raster coordinates, with fractions.
  closed: boolean;
}

export class Overlay {
  brush: Path2D | null = null; // Outline of the brush, raster coordinates.
  sketch: Sketch | null = null;
  cursor: Place | null = null; // The pixel that the keys are on.
  #target: Place | null = null;
  readonly #context: CanvasRenderingContext2D;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly view: View,
    private readonly layers: Layers,
    private readonly suggestions: Suggestions,
  ) {
    this.#context = canvas.getContext("2d")!;
    for (const source of [view, layers, suggestions]) source.on("changed", this.request);
  }

  readonly request = oncePerFrame(() => this.#paint()); // Repaints at most once per frame.

  /** Marks a pixel that a list points at; null: none. */
  mark(target: Place | null): void {
    this.#target = target;
    this.request();
  }

  #paint(): void {
    const { view } = this;
    const context = this.#context;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    const opacity = this.layers.opacity("suggestions");
    if (opacity > 0) this.#drawSuggestions(opacity);
    if (this.#target) this.#drawTarget(this.#target);
    if (this.sketch) this.#strokeTwice(this.#sketchPath(this.sketch));
    if (this.brush) this.#drawBrush(this.brush);
    if (this.cursor) this.#drawTarget(this.cursor);
  }

  #drawBrush(brush: Path2D): void {
    const { view } = this;
    const context = this.#context;
    const path = new Path2D();
    path.addPath(brush, new DOMMatrix([view.scale, 0, 0, view.scale, view.x, view.y]));
    this.#strokeTwice(path);
    context.setTransform(1, 0, 0, 1, 0, 0);
  }

  #sketchPath({ corners, closed }: Sketch): Path2D {
    const path = new Path2D();
    corners.forEach((corner, k) => {
      const { x, y } = this.view.toDevice(corner);
      if (k === 0) path.moveTo(x, y);
      else path.lineTo(x, y);
    });
    if (closed) path.closePath();
    return path;
  }

  /** White on black: seen on every picture. */
  #strokeTwice(path: Path2D, width = 1.25): void {
    const { view } = this;
    const context = this.#context;
    context.lineJoin = "round";
    for (const [color, extra] of [["rgb(0 0 0 / 0.7)", 2], ["#fff", 0]] as const) {
      context.strokeStyle = color;
      context.lineWidth = (width + extra) * view.ratio;
      context.stroke(path);
    }
  }

  #drawSuggestions(opacity: number): void {
    const { view } = this;
    const context = this.#context;
    context.globalAlpha = opacity;
    context.font = `600 ${11 * view.ratio}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    this.suggestions.places().forEach(({ place, done }, k) => {
      if (done) return;
      const { x, y } = view.deviceMiddle(place);
      this.#drawSuggestion(x, y, String(k + 1), k === this.suggestions.current);
    });
    context.globalAlpha = 1;
  }

  /** A ring around the pixel and its number at the side, so that the pixel itself stays visible. */
  #drawSuggestion(x: number, y: number, text: string, current: boolean): void {
    const { view } = this;
    const context = this.#context;
    const radius = Math.max((current ? 9 : 6) * view.ratio, 0.9 * view.scale);
    const ring = new Path2D();
    ring.arc(x, y, radius, 0, 2 * Math.PI);
    this.#strokeTwice(ring, current ? 2.5 : 1.5);
    const [tx, ty] = [x + radius + 8 * view.ratio, y - radius * 0.6];
    context.lineWidth = 3 * view.ratio;
    context.strokeStyle = "rgb(0 0 0 / 0.75)";
    context.strokeText(text, tx, ty);
    context.fillStyle = "#fff";
    context.fillText(text, tx, ty);
  }

  /** Four ticks that point at a pixel. */
  #drawTarget(place: Place): void {
    const { view } = this;
    const { x, y } = view.deviceMiddle(place);
    const near = Math.max(0.5 * view.scale, 3 * view.ratio) + 2 * view.ratio;
    const far = near + 8 * view.ratio;
    const path = new Path2D();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      path.moveTo(x + near * dx, y + near * dy);
      path.lineTo(x + far * dx, y + far * dy);
    }
    this.#strokeTwice(path, 2);
  }
}
