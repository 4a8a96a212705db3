// Borders between values of a plane: as lines where pixels are large, as pixels where they are small.

/** A part of the raster: rows top to bottom, columns left to right, ends excluded. */
export interface Window {
  top: number;
  left: number;
  bottom: number;
  right: number;
}

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

type Visit = (x0: number, y0: number, x1: number, y1: number, id: number, side: 0 | 1 | 2 | 3) => void;

/** Visits each straight run of border once for each class that it bounds. */
function eachRun({ ids, rows, columns }: Plane, window: Window, edge: boolean, visit: Visit): void {
  const { top, left, bottom, right } = window;
  const at = (row: number, column: number) =>
    row < 0 || column < 0 || row >= rows || column >= columns ? 0 : ids[row * columns + column];
  const inner = (line: number, end: number) => edge || (line > 0 && line < end);
  for (let row = top; row <= bottom; row++) {
    if (!inner(row, rows)) continue;
    joinRuns(left, right, (k) => at(row, k), (k) => at(row - 1, k), (from, to, id, after) =>
      visit(from, row, to, row, id, after ? 0 : 1));
  }
  for (let column = left; column <= right; column++) {
    if (!inner(column, columns)) continue;
    joinRuns(top, bottom, (k) => at(k, column), (k) => at(k, column - 1), (from, to, id, after) =>
      visit(column, from, column, to, id, after ? 2 : 3));
  }
}

/** Joins along a line the stretches where the values on its two sides differ. */
function joinRuns(
  first: number,
  end: number,
  after: (k: number) => number,
  before: (k: number) => number,
  visit: (from: number, to: number, id: number, after: boolean) => void,
): void {
  let start = first;
  let [a, b] = [after(first), before(first)];
  for (let k = first + 1; k <= end; k++) {
    const [nextA, nextB] = k < end ? [after(k), before(k)] : [-1, -1];
    if (nextA === a && nextB === b) continue;
    if (a !== b) {
      if (a) visit(start, k, a, true);
      if (b) visit(start, k, b, false);
    }
    [start, a, b] = [k, nextA, nextB];
  }
}
