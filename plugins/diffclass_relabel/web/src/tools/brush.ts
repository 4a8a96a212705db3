// Brush and eraser: a disc moved by hand; drawn at once, sent when the button goes up.

import { ICONS } from "../base/icons";
import type { Place } from "../base/raster";
import type { Hand } from "../session/ahead";
import { addDisc, addLine, outline } from "./shapes";
import { Tool } from "./tool";

const CALM = 3; // raster pixels of travel after which a click is a stroke

abstract class Disc extends Tool {
  override readonly drags = true;
  private pixels: Set<number> | null = null;
  private last: Place | null = null;
  private first: Place | null = null;
  private hand: Hand = { id: 0 };

  /** What the disc paints; null where it cannot. */
  protected abstract paints(): Hand | null;

  override down(at: Place): void {
    const hand = this.paints();
    if (!hand) return;
    [this.hand, this.pixels, this.last, this.first] = [hand, new Set(), at, at];
    addDisc(this.pixels, at, this.bench.ui.size, this.grid);
    this.show(this.pixels);
  }

  override drag(places: Place[]): void {
    if (!this.pixels || !this.last) return;
    const fresh = new Set<number>();
    for (const place of places) {
      addLine(fresh, this.last, place, this.bench.ui.size, this.grid);
      this.last = place;
    }
    for (const pixel of fresh) this.pixels.add(pixel);
    this.bench.painter.painting ||= travel(this.first!, this.last) > CALM;
    this.show(fresh);
  }

  override up(): void {
    const pixels = this.pixels;
    this.end();
    if (pixels) void this.bench.session.paint(pixels, this.hand);
  }

  override cancel(): void {
    if (!this.pixels) return;
    this.end();
    this.bench.session.changeLabels();
  }

  override refresh(): void {
    if (this.pixels) this.show(this.pixels);
  }

  override hover(at: Place | null): void {
    const { overlay, view, ui } = this.bench;
    const pixels = new Set<number>();
    if (at) addDisc(pixels, at, ui.size, this.grid);
    overlay.brush = pixels.size ? outline(pixels, view.columns) : null;
    overlay.request();
  }

  private end(): void {
    this.pixels = this.last = null;
    this.bench.painter.painting = false;
    this.bench.painter.request();
  }

  private show(pixels: Set<number>): void {
    const { session, painter } = this.bench;
    painter.patchLabels(session.labels.draw(pixels, this.hand.id));
  }
}

export class Brush extends Disc {
  readonly name = "brush";
  readonly title = "Brush";
  readonly key = "p";
  readonly icon = ICONS.brush;

  protected paints(): Hand | null {
    return this.paintable();
  }
}

export class Eraser extends Disc {
  readonly name = "eraser";
  readonly title = "Eraser";
  readonly key = "e";
  readonly icon = ICONS.eraser;

  protected paints(): Hand {
    return { id: 0 };
  }
}

function travel(from: Place, to: Place): number {
  return Math.hypot(to.row - from.row, to.column - from.column);
}
