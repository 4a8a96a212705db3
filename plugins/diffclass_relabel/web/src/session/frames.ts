// Binary messages: a JSON header and planes of one byte per pixel.

import type { Window } from "../base/raster";

/** Planes of one byte per pixel with a header that says what they are. */
export interface Frame {
  kind: "labels" | "map" | "changes" | "preview" | "compared";
  version: number;
  ms?: number;
  tau?: number;
  /** The part that it fills, where that is not the whole raster. */
  window?: Window;
  /** Of a map: what its planes are, and the pieces after it. */
  names?: ("ids" | "margin" | "probability")[];
  left?: number;
  /** Of what the map is compared with. */
  step?: number | null;
  planes: Uint8Array[];
}

/** Reads a binary message: header length, JSON header, planes of `pixels` bytes each, or as its window has. */
export function parseFrame(buffer: ArrayBuffer, pixels: number): Frame {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const planes: Uint8Array[] = [];
  const [top, left, bottom, right] = header.window ?? [0, 0, 1, pixels];
  const size = (bottom - top) * (right - left);
  for (let start = 4 + length; size && start + size <= buffer.byteLength; start += size) {
    planes.push(new Uint8Array(buffer, start, size));
  }
  return { ...header, planes, window: header.window && { top, left, bottom, right } };
}

/** Writes a plane of a window into that of the raster. */
export function writeWindow(raster: Uint8Array, columns: number, plane: Uint8Array, window: Window): void {
  const width = window.right - window.left;
  for (let row = window.top, from = 0; row < window.bottom; row++, from += width) {
    raster.set(plane.subarray(from, from + width), row * columns + window.left);
  }
}
