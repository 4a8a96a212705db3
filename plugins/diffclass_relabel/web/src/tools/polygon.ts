// Polygon and lasso: an outline that is filled with the class when it is closed.

import { ICONS } from "../base/icons";
import type { Place } from "../base/raster";
import type { Hand } from "../session/ahead";
import { polygonPixels } from "./shapes";
import { Tool } from "./tool";

const CLOSE = 8; // CSS pixels: a click this near to the first corner closes the polygon, to the last is none

abstract class Outline extends Tool {
  protected corners: Place[] = [];

  override cancel(): void {
    this.corners = [];
    this.sketch();
  }

  protected fill(hand: Hand | null): void {
    const pixels = polygonPixels(this.corners, this.grid);
    this.cancel();
    if (hand) void this.bench.session.paint(pixels, hand);
  }

  protected sketch(tip: Place | null = null): void {
    const corners = tip ? [...this.corners, tip] : this.corners;
    this.bench.overlay.sketch = corners.length ? { corners, closed: corners.length > 2 } : null;
    this.bench.overlay.request();
  }
}

export class Polygon extends Outline {
  readonly name = "polygon";
  readonly title = "Polygon: click the corners; Enter, double or right click closes";
  readonly key = "g";
  readonly icon = ICONS.polygon;

  private pressed: Place | null = null;
  private hand: Hand | null = null;

  override down(at: Place): void {
    this.hand = this.paintable();
    if (!this.hand) return;
    this.pressed = at;
    this.sketch(at);
  }

  override up(): void {
    const at = this.pressed;
    this.pressed = null;
    if (!at) return;
    if (this.corners.length > 2 && this.isNear(at, this.corners[0])) return this.fill(this.hand);
    const last = this.corners.at(-1);
    if (!last || !this.isNear(at, last)) this.corners.push(at); // a double click makes one corner
    this.sketch();
  }

  override hover(at: Place | null): void {
    if (this.corners.length) this.sketch(at);
  }

  override retract(): void {
    this.pressed = null;
    this.sketch();
  }

  override get isOpen(): boolean {
    return this.corners.length > 0;
  }

  override cancel(): void {
    this.pressed = null;
    super.cancel();
  }

  override finish(): void {
    if (this.corners.length > 2) this.fill(this.paintable());
  }

  override back(): void {
    this.corners.pop();
    this.sketch();
  }

  private isNear(a: Place, b: Place): boolean {
    const { scale, ratio } = this.bench.view;
    return Math.hypot(a.row - b.row, a.column - b.column) * scale < CLOSE * ratio;
  }
}

export class Lasso extends Outline {
  override readonly drags = true;
  readonly name = "lasso";
  readonly title = "Lasso";
  readonly key = "a";
  readonly icon = ICONS.lasso;

  private hand: Hand | null = null;

  override down(at: Place): void {
    this.hand = this.paintable();
    if (this.hand) this.corners = [at];
  }

  override drag(places: Place[]): void {
    if (!this.corners.length) return;
    this.corners.push(...places);
    this.sketch();
  }

  override up(): void {
    if (this.corners.length) this.fill(this.hand);
  }
}
