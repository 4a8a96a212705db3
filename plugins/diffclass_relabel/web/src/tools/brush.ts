// Brush and eraser: a disc moved by hand; drawn at once, sent when the button goes up.

import { ICONS } from "../base/icons";
import type { Place } from "../base/raster";
import type { ClassRef } from "../session/optimistic_state";
import { addDisc, addLine, outline } from "./shapes";
import { Tool } from "./tool";

const CALM = 3; // raster pixels of travel after which a click is a stroke

abstract class Disc extends Tool {
  override readonly drags = true;
  private pixels: Set<number> | null = null;
  private last: Place | null = null;
  private first: Place | null = null;
  private painted: ClassRef = { id: 0 };

  /** What the disc paints; null where it cannot. */
  protected abstract paints(): ClassRef | null;

  override down(at: Place): void {
    const painted = this.paints();
    if (!painted) return;
    [this.painted, this.pixels, this.last, this.first] = [painted, new Set(), at, at];
    addDisc(this.pixels, at, this.context.ui.size, this.grid);
    this.show(this.pixels);
  }

  override drag(places: Place[]): void {
    if (!this.pixels || !this.last) return;
    const fresh = new Set<number>();
    for (const place of places) {
      addLine(fresh, this.last, place, this.context.ui.size, this.grid);
      this.last = place;
    }
    for (const pixel of fresh) this.pixels.add(pixel);
    this.context.painter.painting ||= travel(this.first!, this.last) > CALM;
    this.show(fresh);
  }

  override up(): void {
    const pixels = this.pixels;
    this.end();
    if (pixels) void this.context.session.paint(pixels, this.painted);
  }

  override cancel(): void {
    if (!this.pixels) return;
    this.end();
    this.context.session.changeLabels();
  }

  override refresh(): void {
    if (this.pixels) this.show(this.pixels);
  }

  override hover(at: Place | null): void {
    const { overlay, view, ui } = this.context;
    const pixels = new Set<number>();
    if (at) addDisc(pixels, at, ui.size, this.grid);
    overlay.brush = pixels.size ? outline(pixels, view.columns) : null;
    overlay.request();
  }

  private end(): void {
    this.pixels = this.last = null;
    this.context.painter.painting = false;
    this.context.painter.request();
  }

  private show(pixels: Set<number>): void {
    const { session, painter } = this.context;
    painter.patchLabels(session.labels.draw(pixels, this.painted.id));
  }
}

export class Brush extends Disc {
  readonly name = "brush";
  readonly title = "Brush";
  readonly key = "p";
  readonly icon = ICONS.brush;

  protected paints(): ClassRef | null {
    return this.classToPaint();
  }
}

export class Eraser extends Disc {
  readonly name = "eraser";
  readonly title = "Eraser";
  readonly key = "e";
  readonly icon = ICONS.eraser;

  protected paints(): ClassRef {
    return { id: 0 };
  }
}

function travel(from: Place, to: Place): number {
  return Math.hypot(to.row - from.row, to.column - from.column);
}
