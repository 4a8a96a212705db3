// One layer as a picture of one canvas pixel per raster pixel, and the colours of its values.

import type { Window } from "../base/raster";

type Rgb = [number, number, number];

function rgb(color: string): Rgb {
  const value = parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

// Cividis (Nunez, Anderton and Renslow 2018) at even steps: the same order for every eye.
const CIVIDIS: Rgb[] = [
  [0, 32, 77], [0, 54, 111], [57, 72, 107], [87, 91, 109], [112, 113, 115],
  [138, 134, 120], [166, 157, 117], [196, 181, 108], [228, 207, 91], [255, 234, 70],
];

/** Doubt = 1 - margin, 0..1, as a colour: dark where sure, yellow where in doubt. */
function doubtColor(doubt: number): Rgb {
  const place = Math.min(Math.max(doubt, 0), 1) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const part = place - low;
  return CIVIDIS[low].map((value, k) => Math.round(value + part * (CIVIDIS[low + 1][k] - value))) as Rgb;
}

/** The scale as a CSS gradient, for legends. */
export const DOUBT_GRADIENT = `linear-gradient(to right, ${CIVIDIS.map((c) => `rgb(${c.join(" ")})`).join(", ")})`;

/** Red, green, blue, alpha of a value, packed as the machine stores them. */
export type Table = Uint32Array;

/** A table that colours class ids; ids that are not given stay transparent. */
export function classTable(colors: Iterable<[number, string]>): Table {
  const table = new Uint32Array(256);
  for (const [id, color] of colors) table[id] = pack(rgb(color));
  return table;
}

/** A table that colours margins, 0..255 = 0..1, by their doubt. */
export function doubtTable(): Table {
  return Uint32Array.from({ length: 256 }, (_, margin) => pack(doubtColor(1 - margin / 255)));
}

/** A table with one colour for one value and nothing for the others. */
export function maskTable(value: number, color: Rgb): Table {
  const table = new Uint32Array(256);
  table[value] = pack(color);
  return table;
}

function pack([red, green, blue]: Rgb): number {
  const bytes = new Uint8Array([red, green, blue, 255]);
  return new Uint32Array(bytes.buffer)[0];
}

export class RasterImage {
  readonly #canvas = document.createElement("canvas");
  #context = this.#canvas.getContext("2d")!;
  #image = new ImageData(1, 1);
  #words = new Uint32Array(this.#image.data.buffer);
  #due: (() => void) | null = null;

  resize(rows: number, columns: number): void {
    if (this.#canvas.width === columns && this.#canvas.height === rows) return;
    this.#canvas.width = columns;
    this.#canvas.height = rows;
    this.#image = new ImageData(columns, rows);
    this.#words = new Uint32Array(this.#image.data.buffer);
  }

  /** What to draw. */
  get picture(): CanvasImageSource {
    this.#due?.();
    this.#due = null;
    return this.#canvas;
  }

  /** Colours every pixel by its value when the picture is drawn next: most maps are replaced before
   *  anybody looks at all that can be made of them. */
  fillWhenDrawn(values: () => Uint8Array, table: Table): void {
    this.#due = () => this.fill(values(), table);
  }

  /** Colours every pixel by its value, or those of a window. */
  fill(values: Uint8Array, table: Table, window?: Window): void {
    const { width: columns, height: rows } = this.#canvas;
    const { top, left, bottom, right } = window ?? { top: 0, left: 0, bottom: rows, right: columns };
    for (let row = top; row < bottom; row++) {
      const end = row * columns + right;
      for (let k = row * columns + left; k < end; k++) this.#words[k] = table[values[k]];
    }
    this.#context.putImageData(this.#image, 0, 0, left, top, right - left, bottom - top);
  }

  /** Colours some pixels again. */
  patch(pixels: number[], values: Uint8Array, table: Table): void {
    const columns = this.#canvas.width;
    let [top, left, bottom, right] = [Infinity, Infinity, -1, -1];
    for (const pixel of pixels) {
      this.#words[pixel] = table[values[pixel]];
      const row = Math.floor(pixel / columns);
      const column = pixel % columns;
      [top, bottom] = [Math.min(top, row), Math.max(bottom, row)];
      [left, right] = [Math.min(left, column), Math.max(right, column)];
    }
    if (bottom < 0) return;
    this.#context.putImageData(this.#image, 0, 0, left, top, right - left + 1, bottom - top + 1);
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
