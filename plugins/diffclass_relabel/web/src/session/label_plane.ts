// The labels as the page shows them: the server's plane, with what it has not confirmed on top.
//
// A stroke is seen the moment it is drawn. Until the server's labels hold it, it is laid over every
// plane that arrives; a refused one is taken away again.

import { eachPixel, type Runs, toRuns, type Window } from "../base/raster";
import { writeWindow } from "./frames";
import type { Operation } from "./protocol.generated";

interface Patch {
  pixels: Runs;
  /** 0 erases. */
  id: number;
  confirmed: boolean;
}

export class LabelPlane {
  /** Class id of each pixel, 0 = unlabelled. */
  shown = new Uint8Array(0);
  private server = new Uint8Array(0);
  /** Takes turns with what is shown. */
  private spare = new Uint8Array(0);
  private patches: Patch[] = [];
  private locked = new Set<number>();

  resize(n: number): void {
    if (this.server.length === n) return;
    this.server = new Uint8Array(n);
    this.shown = new Uint8Array(n);
    this.spare = new Uint8Array(n);
  }

  setLocked(ids: Iterable<number>): void {
    this.locked = new Set(ids);
  }

  /** Takes the server's plane, or what has changed of it; what it confirmed before is in it. */
  receive(plane: Uint8Array, window: Window | undefined, columns: number): void {
    if (window) writeWindow(this.server, columns, plane, window);
    else this.server.set(plane);
    this.patches = this.patches.filter((patch) => !patch.confirmed);
  }

  /** Shows pixels of a stroke that is still being drawn; returns those that changed. */
  draw(pixels: Iterable<number>, id: number): number[] {
    const changed: number[] = [];
    for (const pixel of pixels) {
      if (this.shown[pixel] === id || this.locked.has(this.shown[pixel])) continue;
      this.shown[pixel] = id;
      changed.push(pixel);
    }
    return changed;
  }

  /** Lays a stroke over the server's labels until they hold it; seen once they are made again. */
  add(pixels: Set<number>, id: number): Patch {
    const patch = { pixels: toRuns(pixels), id, confirmed: false };
    this.patches.push(patch);
    return patch;
  }

  /** Takes a refused stroke away. */
  remove(patch: Patch): void {
    this.patches = this.patches.filter((other) => other !== patch);
  }

  /** A class has another id than what was painted with it. */
  renumber(from: number, to: number): void {
    for (const patch of this.patches) if (patch.id === from) patch.id = to;
  }

  /** Makes what is shown again, without a stroke that is still being drawn; says whether it is another. */
  rebuild(): boolean {
    const before = this.shown;
    [this.shown, this.spare] = [this.spare, before];
    this.shown.set(this.server);
    for (const { pixels, id } of this.patches) {
      eachPixel(pixels, (pixel) => {
        if (!this.locked.has(this.shown[pixel])) this.shown[pixel] = id;
      });
    }
    return !isSame(this.shown, before);
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
    : { op: "stroke", class: patch.id, pixels: patch.pixels };
}
