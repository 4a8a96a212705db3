// A map on the canvas, as areas of colour or as outlines.

import type { Window } from "../base/raster";
import type { Session } from "../session/session";
import { type Border, borderPixels, classBorders, WindowCache } from "./contours";
import { RasterImage, type Table } from "./raster_image";
import type { View } from "./view";

// CSS pixels per raster pixel from which borders are lines; below, they would hide what they bound.
const LINES_FROM = 3;

function hasLines(view: View): boolean {
  return view.scale >= LINES_FROM * view.ratio;
}

export class MapLayer {
  readonly #areas = new RasterImage();
  readonly #borders = new RasterImage();
  #ids: Uint8Array = new Uint8Array();
  readonly #lines = new WindowCache<Map<number, Border>>();

  constructor(private readonly session: Session, private readonly view: View) {}

  resize(rows: number, columns: number): void {
    this.#areas.resize(rows, columns);
    this.#borders.resize(rows, columns);
  }

  /** Takes the class of each pixel and the colour of each class; others than before lie in a window. */
  set(ids: Uint8Array, table: Table, window?: Window): void {
    const { rows, columns } = this.view;
    this.#ids = ids;
    this.#lines.forget();
    this.#areas.fill(ids, table, window);
    this.#borders.fillWhenDrawn(() => borderPixels({ ids, rows, columns }), table);
  }

  /** Draws in raster coordinates. */
  draw(context: CanvasRenderingContext2D, { opacity, asOutlines }: { opacity: number; asOutlines: boolean }): void {
    if (opacity === 0) return;
    if (asOutlines && hasLines(this.view)) return this.#drawBorders(context);
    context.globalAlpha = asOutlines ? 1 : opacity;
    context.drawImage((asOutlines ? this.#borders : this.#areas).picture, 0, 0, this.view.columns, this.view.rows);
  }

  /** Each class's border as a line of its colour just inside it, on a dark ground. */
  #drawBorders(context: CanvasRenderingContext2D): void {
    const { rows, columns, ratio, scale, window } = this.view;
    const borders = this.#lines.of(window, () => classBorders({ ids: this.#ids, rows, columns }, window));
    const width = (1.5 * ratio) / scale;
    context.globalAlpha = 1;
    context.lineCap = "square";
    for (const halo of [true, false]) {
      context.lineWidth = halo ? width * 1.8 : width;
      for (const [id, border] of borders) {
        const shown = this.session.classOf(id);
        if (!shown || shown.hidden) continue;
        context.strokeStyle = halo ? "rgb(0 0 0 / 0.55)" : shown.color;
        border.forEach((path, side) => strokeShifted(context, path, side, width / 2));
      }
    }
  }
}

function strokeShifted(context: CanvasRenderingContext2D, path: Path2D, side: number, shift: number): void {
  const dx = side === 2 ? shift : side === 3 ? -shift : 0;
  const dy = side === 0 ? shift : side === 1 ? -shift : 0;
  context.translate(dx, dy);
  context.stroke(path);
  context.translate(-dx, -dy);
}
