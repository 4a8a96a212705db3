// Where the raster lies on the canvas: scale and offset, zoom about a point, conversions.

import { Emitter } from "../base/events";
import { middleOf, type Place, type Window } from "../base/raster";

/** What is in view, whatever the size of the canvas: its middle, and CSS pixels per raster pixel. */
export interface Viewport extends Place {
  scale: number;
}

const LARGEST = 64; // device pixels per raster pixel
const LEGIBLE = 4; // CSS pixels per raster pixel from which single pixels are seen
const INNER = 0.06; // share of the canvas along its edges where a place is not seen well
const SEEN = 64; // CSS pixels of the raster that stay on the canvas, however far it is moved
const MARGIN = 24; // CSS pixels left free around a fitted raster

export class View extends Emitter<{ changed: void }> {
  rows = 1;
  columns = 1;
  scale = 1; // Device pixels per raster pixel.
  width = 1; // Device pixels of the canvas, and how many of them make a CSS pixel.
  height = 1;
  ratio = 1;
  #fitted = true;
  // The offset before it is rounded: many small moves must add up.
  #left = 0;
  #top = 0;

  /** Device pixels from the canvas's corner to the raster's; whole, so that edges stay sharp. */
  get x(): number {
    return Math.round(this.#left);
  }

  get y(): number {
    return Math.round(this.#top);
  }

  setRaster(rows: number, columns: number): void {
    const same = rows === this.rows && columns === this.columns;
    this.rows = rows;
    this.columns = columns;
    if (!same) this.fit();
  }

  /** Takes a new canvas size; a fitted raster stays fitted, another keeps its centre. */
  setSize(width: number, height: number, ratio: number): void {
    const dx = (width - this.width) / 2;
    const dy = (height - this.height) / 2;
    [this.width, this.height, this.ratio] = [width, height, ratio];
    if (this.#fitted) this.fit();
    else this.pan(dx, dy);
  }

  /** The place in the middle of the canvas. */
  get middle(): Place {
    return this.toRaster(this.width / 2, this.height / 2);
  }

  /** What is in view; null while the whole raster is. */
  get viewport(): Viewport | null {
    return this.#fitted ? null : { ...this.middle, scale: this.scale / this.ratio };
  }

  restore({ row, column, scale }: Viewport): void {
    this.scale = scale * this.ratio;
    this.#center({ row, column });
  }

  /** Shows the whole raster, in whole device pixels per raster pixel where that costs little. */
  fit(): void {
    const room = 2 * MARGIN * this.ratio;
    const scale = Math.min((this.width - room) / this.columns, (this.height - room) / this.rows);
    const whole = Math.floor(scale);
    this.scale = Math.max(scale >= 1 && whole > 0.9 * scale ? whole : scale, 0.05);
    this.#center({ row: this.rows / 2, column: this.columns / 2 });
    this.#fitted = true;
  }

  /** Zooms by a factor about a point given in device pixels. */
  zoom(factor: number, atX = this.width / 2, atY = this.height / 2): void {
    const smallest = 0.25 * Math.min(this.width / this.columns, this.height / this.rows);
    const scale = Math.min(Math.max(this.scale * factor, smallest), LARGEST * this.ratio);
    const grown = scale / this.scale;
    this.#left = atX - (atX - this.#left) * grown;
    this.#top = atY - (atY - this.#top) * grown;
    this.scale = scale;
    this.#moved();
  }

  pan(dx: number, dy: number): void {
    this.#left += dx;
    this.#top += dy;
    this.#moved();
  }

  /** Brings a place into view; where it is seen well already, nothing moves. */
  show(place: Place): void {
    const at = this.deviceMiddle(place);
    const seen = (value: number, size: number) => value > INNER * size && value < (1 - INNER) * size;
    const large = this.scale >= LEGIBLE * this.ratio;
    if (large && seen(at.x, this.width) && seen(at.y, this.height)) return this.emit("changed");
    this.scale = Math.max(this.scale, LEGIBLE * this.ratio);
    this.#center(middleOf(place));
    this.#left = within(this.#left, this.columns * this.scale, this.width);
    this.#top = within(this.#top, this.rows * this.scale, this.height);
    this.emit("changed");
  }

  /** Moves no more than it takes to see a place. */
  follow(place: Place): void {
    const at = this.deviceMiddle(place);
    const into = (value: number, size: number) => Math.min(Math.max(value, INNER * size), (1 - INNER) * size) - value;
    const [dx, dy] = [into(at.x, this.width), into(at.y, this.height)];
    if (dx || dy) this.pan(dx, dy);
  }

  /** Raster coordinates, with fractions, of a point in device pixels. */
  toRaster(x: number, y: number): Place {
    return { row: (y - this.y) / this.scale, column: (x - this.x) / this.scale };
  }

  /** Device pixels of raster coordinates. */
  toDevice(place: Place): { x: number; y: number } {
    return { x: this.x + place.column * this.scale, y: this.y + place.row * this.scale };
  }

  /** Device pixels of the middle of a pixel. */
  deviceMiddle(pixel: Place): { x: number; y: number } {
    return this.toDevice(middleOf(pixel));
  }

  /** The part of the raster that can be seen. */
  get window(): Window {
    const first = this.toRaster(0, 0);
    const last = this.toRaster(this.width, this.height);
    return {
      top: Math.max(Math.floor(first.row), 0),
      left: Math.max(Math.floor(first.column), 0),
      bottom: Math.min(Math.ceil(last.row), this.rows),
      right: Math.min(Math.ceil(last.column), this.columns),
    };
  }

  /** Whether a place is inside the raster. */
  contains(place: Place): boolean {
    return place.row >= 0 && place.column >= 0 && place.row < this.rows && place.column < this.columns;
  }

  #center({ row, column }: Place): void {
    this.#left = this.width / 2 - column * this.scale;
    this.#top = this.height / 2 - row * this.scale;
    this.#moved();
  }

  #moved(): void {
    const seen = SEEN * this.ratio;
    this.#left = inView(this.#left, this.columns * this.scale, this.width, seen);
    this.#top = inView(this.#top, this.rows * this.scale, this.height, seen);
    this.#fitted = false;
    this.emit("changed");
  }
}

/** An offset that leaves no more empty room around a raster than it must. */
function within(offset: number, size: number, room: number): number {
  if (size <= room) return (room - size) / 2;
  return Math.min(Math.max(offset, room - size), 0);
}

/** An offset that keeps so much of a raster, or all of a small one, in view. */
function inView(offset: number, size: number, room: number, least: number): number {
  const seen = Math.min(least, size, room);
  return Math.min(Math.max(offset, seen - size), room - seen);
}
