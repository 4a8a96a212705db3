// Places, windows and sets of pixels of the raster.

/** Row and column, as raster coordinates with fractions where a point is meant. */
export interface Place {
  row: number;
  column: number;
}

/** The pixel that a point lies in. */
export function pixelAt({ row, column }: Place): Place {
  return { row: Math.floor(row), column: Math.floor(column) };
}

/** The middle of a pixel. */
export function middleOf({ row, column }: Place): Place {
  return { row: row + 0.5, column: column + 0.5 };
}

export function distance(a: Place, b: Place): number {
  return Math.hypot(a.row - b.row, a.column - b.column);
}

/** A part of the raster: rows top to bottom, columns left to right, ends excluded. */
export interface Window {
  top: number;
  left: number;
  bottom: number;
  right: number;
}

export function overlap(a: Window, b: Window): boolean {
  return a.top < b.bottom && b.top < a.bottom && a.left < b.right && b.left < a.right;
}

/** A set of pixels: start, length, start, length, ... over row * columns + column, rising. */
export type Runs = number[];

/** Packs pixel numbers, in any order and with repeats, into runs. */
export function toRuns(pixels: Iterable<number>): Runs {
  const sorted = Int32Array.from(pixels).sort();
  const runs: Runs = [];
  for (const pixel of sorted) {
    const end = runs.length && runs[runs.length - 2] + runs[runs.length - 1];
    if (runs.length && pixel < end) continue;
    if (runs.length && pixel === end) runs[runs.length - 1] += 1;
    else runs.push(pixel, 1);
  }
  return runs;
}

/** The pixels of some runs. */
export function pixelsOf(runs: Runs): Set<number> {
  const pixels = new Set<number>();
  eachPixel(runs, (pixel) => pixels.add(pixel));
  return pixels;
}

/** Calls `visit` for each pixel of some runs. */
export function eachPixel(runs: Runs, visit: (pixel: number) => void): void {
  for (let k = 0; k < runs.length; k += 2) {
    const end = runs[k] + runs[k + 1];
    for (let pixel = runs[k]; pixel < end; pixel++) visit(pixel);
  }
}
