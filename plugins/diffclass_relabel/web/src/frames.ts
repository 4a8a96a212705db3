// Binary messages: a JSON header and planes of one byte per pixel.

/** Planes of one byte per pixel with a header that says what they are. */
import type { Window } from "./contours";

export interface Frame {
  kind: "labels" | "map" | "changes" | "preview" | "compared";
  version: number;
  ms?: number;
  tau?: number;
  /** Of a map: the rows and columns that it fills (top, left, bottom, right), and the pieces after it. */
  window?: [number, number, number, number];
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
  for (let start = 4 + length; start + size <= buffer.byteLength; start += size) {
    planes.push(new Uint8Array(buffer, start, size));
  }
  return { ...header, planes };
}

/** Writes a plane of a window into that of the raster. */
export function writeWindow(raster: Uint8Array, columns: number, plane: Uint8Array, window: Window): void {
  const width = window.right - window.left;
  for (let row = window.top, from = 0; row < window.bottom; row++, from += width) {
    raster.set(plane.subarray(from, from + width), row * columns + window.left);
  }
}
