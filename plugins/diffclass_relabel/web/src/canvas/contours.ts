// Borders between values of a plane: as lines where pixels are large, as pixels where they are small.

import type { Window } from "../base/raster";

/** Lines along which a class lies below, above, right and left of the line, in this order. */
export type Border = [Path2D, Path2D, Path2D, Path2D];

interface Plane {
  ids: Uint8Array;
  rows: number;
  columns: number;
}

/** The borders of every class within a window; the raster's own edge is none. */
export function classBorders(plane: Plane, window: Window): Map<number, Border> {
  const borders = new Map<number, Border>();
  eachRun(plane, window, false, (x0, y0, x1, y1, id, side) => {
    let border = borders.get(id);
    if (!border) borders.set(id, (border = [new Path2D(), new Path2D(), new Path2D(), new Path2D()]));
    border[side].moveTo(x0, y0);
    border[side].lineTo(x1, y1);
  });
  return borders;
}

/** All borders within a window in one path, along the raster's edge too. */
export function allBorders(plane: Plane, window: Window): Path2D {
  const path = new Path2D();
  eachRun(plane, window, true, (x0, y0, x1, y1) => {
    path.moveTo(x0, y0);
    path.lineTo(x1, y1);
  });
  return path;
}

/** The ids of pixels that have a neighbour of another id, 0 elsewhere. */
export function borderPixels({ ids, rows, columns }: Plane): Uint8Array {
  const found = new Uint8Array(ids.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const k = row * columns + column;
      const id = ids[k];
      const differs =
        (column > 0 && ids[k - 1] !== id) || (column < columns - 1 && ids[k + 1] !== id) ||
        (row > 0 && ids[k - columns] !== id) || (row < rows - 1 && ids[k + columns] !== id);
      if (differs) found[k] = id;
    }
  }
  return found;
}

/** Keeps what was made of a window until another window is asked for or it is told to forget. */
export class WindowCache<T> {
  #value: T | null = null;
  #window: Window | null = null;

  forget(): void {
    this.#value = null;
  }

  of(window: Window, make: () => T): T {
    const same = this.#window && SIDES.every((side) => this.#window![side] === window[side]);
    if (!same) this.forget();
    this.#window = window;
    return (this.#value ??= make());
  }
}

const SIDES = ["top", "left", "bottom", "right"] as const;

type Visit = (x0: number, y0: number, x1: number, y1: number, id: number, side: 0 | 1 | 2 | 3) => void;

/** Visits each straight run of border once for each class that it bounds. */
function eachRun({ ids, rows, columns }: Plane, window: Window, edge: boolean, visit: Visit): void {
  const { top, left, bottom, right } = window;
  const inner = (line: number, end: number) => edge || (line > 0 && line < end);
  for (let row = top; row <= bottom; row++) {
    if (!inner(row, rows)) continue;
    const start = row * columns + left;
    joinRuns(ids, row < rows ? start : -1, row > 0 ? start - columns : -1, 1, left, right, (from, to, id, after) =>
      visit(from, row, to, row, id, after ? 0 : 1));
  }
  for (let column = left; column <= right; column++) {
    if (!inner(column, columns)) continue;
    const start = top * columns + column;
    joinRuns(ids, column < columns ? start : -1, column > 0 ? start - 1 : -1, columns, top, bottom, (from, to, id, after) =>
      visit(column, from, column, to, id, after ? 2 : 3));
  }
}

/** Joins along a line the stretches where the values on its two sides differ; `after` and `before` are
 *  where the sides begin, -1 outside the raster, where all values are 0. */
function joinRuns(
  ids: Uint8Array,
  after: number,
  before: number,
  step: number,
  first: number,
  end: number,
  visit: (from: number, to: number, id: number, after: boolean) => void,
): void {
  let start = first;
  let [a, b] = [0, 0];
  for (let k = first, at = 0; k <= end; k++, at += step) {
    const nextA = after < 0 || k === end ? 0 : ids[after + at];
    const nextB = before < 0 || k === end ? 0 : ids[before + at];
    if (nextA === a && nextB === b) continue;
    if (a !== b) {
      if (a) visit(start, k, a, true);
      if (b) visit(start, k, b, false);
    }
    [start, a, b] = [k, nextA, nextB];
  }
}
