// One layer as a picture of one canvas pixel per raster pixel; scaled up unsmoothed when drawn.

import type { Window } from "../base/raster";
import { type Rgb, rgb } from "./colors";

/** Red, green, blue, alpha of a value, packed as the machine stores them. */
export type Table = Uint32Array;

export class RasterImage {
  readonly canvas = document.createElement("canvas");
  private context = this.canvas.getContext("2d")!;
  private image = new ImageData(1, 1);
  private words = new Uint32Array(this.image.data.buffer);

  resize(rows: number, columns: number): void {
    if (this.canvas.width === columns && this.canvas.height === rows) return;
    this.canvas.width = columns;
    this.canvas.height = rows;
    this.image = new ImageData(columns, rows);
    this.words = new Uint32Array(this.image.data.buffer);
  }

  /** Colours every pixel by its value, or those of a window. */
  fill(values: Uint8Array, table: Table, window?: Window): void {
    const { width: columns, height: rows } = this.canvas;
    const { top, left, bottom, right } = window ?? { top: 0, left: 0, bottom: rows, right: columns };
    for (let row = top; row < bottom; row++) {
      const end = row * columns + right;
      for (let k = row * columns + left; k < end; k++) this.words[k] = table[values[k]];
    }
    this.context.putImageData(this.image, 0, 0, left, top, right - left, bottom - top);
  }

  /** Colours some pixels again. */
  patch(pixels: number[], values: Uint8Array, table: Table): void {
    const columns = this.canvas.width;
    let [top, left, bottom, right] = [Infinity, Infinity, -1, -1];
    for (const pixel of pixels) {
      this.words[pixel] = table[values[pixel]];
      const row = Math.floor(pixel / columns);
      const column = pixel % columns;
      [top, bottom] = [Math.min(top, row), Math.max(bottom, row)];
      [left, right] = [Math.min(left, column), Math.max(right, column)];
    }
    if (bottom < 0) return;
    this.context.putImageData(this.image, 0, 0, left, top, right - left + 1, bottom - top + 1);
  }

  clear(): void {
    this.words.fill(0);
    this.context.putImageData(this.image, 0, 0);
  }
}

/** The picture without its colours; what is transparent stays so. */
export function greyOf(picture: ImageBitmap): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width, picture.height];
  const context = canvas.getContext("2d")!;
  context.drawImage(picture, 0, 0);
  context.globalCompositeOperation = "saturation"; // black has none
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.globalCompositeOperation = "destination-in";
  context.drawImage(picture, 0, 0);
  return canvas;
}

/** A table that colours class ids; ids that are not given stay transparent. */
export function classTable(colors: Iterable<[number, string]>): Table {
  const table = new Uint32Array(256);
  for (const [id, color] of colors) table[id] = pack(rgb(color), 255);
  return table;
}

/** A table that colours 0..255 by a scale of 0..1. */
export function scaleTable(color: (value: number) => Rgb): Table {
  return Uint32Array.from({ length: 256 }, (_, value) => pack(color(value / 255), 255));
}

/** A table with one colour for one value and nothing for the others. */
export function maskTable(value: number, color: Rgb): Table {
  const table = new Uint32Array(256);
  table[value] = pack(color, 255);
  return table;
}

function pack([red, green, blue]: Rgb, alpha: number): number {
  const bytes = new Uint8Array([red, green, blue, alpha]);
  return new Uint32Array(bytes.buffer)[0];
}
