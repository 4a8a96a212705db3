// The labels as the page shows them: the server's plane, with what it has not confirmed on top.
//
// A stroke is seen the moment it is drawn. Until the server's labels hold it, it is laid over every
// plane that arrives; a refused one is taken away again.

import type { Operation } from "./protocol.generated";
import { eachPixel, toRuns, type Runs } from "./runs";

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
  private patches: Patch[] = [];
  private locked = new Set<number>();

  resize(n: number): void {
    if (this.server.length === n) return;
    this.server = new Uint8Array(n);
    this.shown = new Uint8Array(n);
  }

  setLocked(ids: Iterable<number>): void {
    this.locked = new Set(ids);
  }

  /** Takes the server's plane; what it confirmed before is in it. */
  receive(plane: Uint8Array): void {
    this.server = plane.slice();
    this.patches = this.patches.filter((patch) => !patch.confirmed);
    this.rebuild();
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

  /** Lays a stroke over the server's labels until they hold it. */
  add(pixels: Set<number>, id: number): Patch {
    const patch = { pixels: toRuns(pixels), id, confirmed: false };
    this.patches.push(patch);
    this.rebuild();
    return patch;
  }

  /** Takes a refused stroke away. */
  remove(patch: Patch): void {
    this.patches = this.patches.filter((other) => other !== patch);
    this.rebuild();
  }

  /** Forgets a stroke that was broken off while it was drawn. */
  rebuild(): void {
    this.shown.set(this.server);
    for (const { pixels, id } of this.patches) {
      eachPixel(pixels, (pixel) => {
        if (!this.locked.has(this.shown[pixel])) this.shown[pixel] = id;
      });
    }
  }
}

/** The operation that a patch stands for. */
export function operationOf(patch: Patch): Operation {
  return patch.id === 0
    ? { op: "erase", pixels: patch.pixels }
    : { op: "stroke", class: patch.id, pixels: patch.pixels };
}
