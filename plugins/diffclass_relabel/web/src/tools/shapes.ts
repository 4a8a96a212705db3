// Pixel sets of the tools: discs along a line, insides of polygons, outlines.

import { distance, type Place } from "../base/raster";

interface Grid {
  rows: number;
  columns: number;
}

/**
 * Adds the disc of a brush at a point (raster coordinates with fractions) to a set of pixels.
 * Odd sizes are centred on a pixel, even ones on a corner, so that every size is symmetric.
 */
export function addDisc(into: Set<number>, at: Place, size: number, grid: Grid): void {
  const odd = size % 2 === 1;
  const row = odd ? Math.floor(at.row) + 0.5 : Math.round(at.row);
  const column = odd ? Math.floor(at.column) + 0.5 : Math.round(at.column);
  const radius = size / 2;
  const last = (value: number, end: number) => Math.min(Math.ceil(value), end);
  for (let r = Math.max(Math.floor(row - radius), 0); r < last(row + radius, grid.rows); r++) {
    for (let c = Math.max(Math.floor(column - radius), 0); c < last(column + radius, grid.columns); c++) {
      const distance = (r + 0.5 - row) ** 2 + (c + 0.5 - column) ** 2;
      if (distance <= radius * radius) into.add(r * grid.columns + c);
    }
  }
}

/** Adds the discs along the line from one point to another; no gap, however fast the hand. */
export function addLine(into: Set<number>, from: Place, to: Place, size: number, grid: Grid): void {
  const steps = Math.max(Math.ceil(distance(from, to) / Math.max(size / 4, 0.5)), 1);
  for (let k = 0; k <= steps; k++) {
    const part = k / steps;
    const at = {
      row: from.row + part * (to.row - from.row),
      column: from.column + part * (to.column - from.column),
    };
    addDisc(into, at, size, grid);
  }
}

/** The pixels whose centres lie inside a polygon (even-odd rule), and those of its corners. */
export function polygonPixels(corners: Place[], grid: Grid): Set<number> {
  const inside = new Set<number>();
  for (const corner of corners) addDisc(inside, corner, 1, grid);
  const rows = corners.map((corner) => corner.row);
  const first = Math.max(Math.floor(Math.min(...rows)), 0);
  const last = Math.min(Math.ceil(Math.max(...rows)), grid.rows);
  for (let row = first; row < last; row++) {
    const cuts = crossings(corners, row + 0.5);
    for (let k = 0; k + 1 < cuts.length; k += 2) {
      const from = Math.max(Math.ceil(cuts[k] - 0.5), 0);
      const to = Math.min(Math.floor(cuts[k + 1] - 0.5), grid.columns - 1);
      for (let column = from; column <= to; column++) inside.add(row * grid.columns + column);
    }
  }
  return inside;
}

function crossings(corners: Place[], height: number): number[] {
  const cuts: number[] = [];
  corners.forEach((a, k) => {
    const b = corners[(k + 1) % corners.length];
    if (a.row <= height !== b.row <= height) {
      cuts.push(a.column + ((height - a.row) / (b.row - a.row)) * (b.column - a.column));
    }
  });
  return cuts.sort((a, b) => a - b);
}

/** The pixels that are no farther from one than a tolerance; maybe only those connected with it by edges. */
export function nearPixels(distances: Uint8Array, from: number, connected: boolean, tolerance: number, { columns }: Grid): Set<number> {
  const near = new Set([from]);
  if (!connected) {
    distances.forEach((distance, pixel) => distance <= tolerance && near.add(pixel));
    return near;
  }
  for (const pixel of near) { // a set is walked through to what is added meanwhile
    const column = pixel % columns;
    const beside = [pixel - columns, pixel + columns, column > 0 ? pixel - 1 : -1, column < columns - 1 ? pixel + 1 : -1];
    for (const other of beside) if (distances[other] <= tolerance) near.add(other);
  }
  return near;
}

/** The outline of a set of pixels as a path in raster coordinates. */
export function outline(pixels: Set<number>, columns: number): Path2D {
  const path = new Path2D();
  const edge = (x0: number, y0: number, x1: number, y1: number) => {
    path.moveTo(x0, y0);
    path.lineTo(x1, y1);
  };
  for (const pixel of pixels) {
    const row = Math.floor(pixel / columns);
    const column = pixel % columns;
    if (!pixels.has(pixel - columns)) edge(column, row, column + 1, row);
    if (!pixels.has(pixel + columns)) edge(column, row + 1, column + 1, row + 1);
    if (column === 0 || !pixels.has(pixel - 1)) edge(column, row, column, row + 1);
    if (column === columns - 1 || !pixels.has(pixel + 1)) edge(column + 1, row, column + 1, row + 1);
  }
  return path;
}
