// Planes of one byte per pixel: as they arrive, and the labels with what is not confirmed on top.

import { eachPixel, type Runs, toRuns, type Window } from "../base/raster";
import type { ClassRef } from "./optimistic_state";
import { NO_DATA, type Operation } from "./protocol.generated";

/** Planes of one byte per pixel with a header that says what they are. */
export interface Frame {
  kind: "labels" | "map" | "changes" | "preview" | "compared" | "similar";
  version: number;
  ms?: number;
  tau?: number;
  window?: Window; // The part that it fills, where that is not the whole raster.
  names?: ("ids" | "margin" | "probability")[]; // Of a map: what its planes are, and the pieces after it.
  left?: number;
  step?: number | null; // Of what the map is compared with.
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

interface Patch extends ClassRef {
  pixels: Runs;
  confirmed: boolean;
}

export class LabelPlane {
  shown = new Uint8Array(0); // Class id of each pixel, 0 = unlabelled.
  #server = new Uint8Array(0);
  #other = new Uint8Array(0); // Takes turns with what is shown.
  #patches: Patch[] = [];
  #locked = new Set<number>();
  map: Uint8Array | null = null; // A map, in which pixels without data are told apart; null while there is none.

  resize(n: number): void {
    if (this.#server.length === n) return;
    this.#server = new Uint8Array(n);
    this.shown = new Uint8Array(n);
    this.#other = new Uint8Array(n);
  }

  setLocked(ids: Iterable<number>): void {
    this.#locked = new Set(ids);
  }

  /** Takes the server's plane, or what has changed of it; what it confirmed before is in it. */
  receive(plane: Uint8Array, window: Window | undefined, columns: number): void {
    if (window) writeWindow(this.#server, columns, plane, window);
    else this.#server.set(plane);
    this.#patches = this.#patches.filter((patch) => !patch.confirmed);
  }

  /** Shows pixels of a stroke that is still being drawn; returns those that changed. */
  draw(pixels: Iterable<number>, { id, spare }: ClassRef): number[] {
    const changed: number[] = [];
    for (const pixel of pixels) {
      if (this.shown[pixel] === id || this.#keeps(pixel, id, spare)) continue;
      this.shown[pixel] = id;
      changed.push(pixel);
    }
    return changed;
  }

  /** Lays a stroke over the server's labels until they hold it; seen once they are made again. */
  add(pixels: Set<number>, { id, spare }: ClassRef): Patch {
    const patch = { pixels: toRuns(pixels), id, spare, confirmed: false };
    this.#patches.push(patch);
    return patch;
  }

  /** Takes a refused stroke away. */
  remove(patch: Patch): void {
    this.#patches = this.#patches.filter((other) => other !== patch);
  }

  /** A class has another id than what was painted with it. */
  renumber(from: number, to: number): void {
    for (const patch of this.#patches) if (patch.id === from) patch.id = to;
  }

  /** Makes what is shown again, without a stroke that is still being drawn; says whether it is another. */
  rebuild(): boolean {
    const before = this.shown;
    [this.shown, this.#other] = [this.#other, before];
    this.shown.set(this.#server);
    for (const { pixels, id, spare } of this.#patches) {
      eachPixel(pixels, (pixel) => {
        if (!this.#keeps(pixel, id, spare)) this.shown[pixel] = id;
      });
    }
    return !isSame(this.shown, before);
  }

  /** Whether a stroke leaves the label of a pixel as it is. */
  #keeps(pixel: number, id: number, spare = false): boolean {
    const label = this.shown[pixel];
    if (this.map?.[pixel] === NO_DATA) return true;
    return this.#locked.has(label) || (spare && id !== 0 && label !== 0 && label !== id);
  }
}

/** Whether two planes of one length are equal. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  const n = a.length >> 2;
  const [words, others] = [new Uint32Array(a.buffer, 0, n), new Uint32Array(b.buffer, 0, n)];
  for (let k = 0; k < n; k++) if (words[k] !== others[k]) return false;
  for (let k = 4 * n; k < a.length; k++) if (a[k] !== b[k]) return false;
  return true;
}

/** The operation that a patch stands for. */
export function operationOf(patch: Patch): Operation {
  return patch.id === 0
    ? { op: "erase", pixels: patch.pixels }
    : { op: "stroke", class: patch.id, pixels: patch.pixels, ...(patch.spare && { spare: true }) };
}
