// What the user has chosen in this tab: tool, brush size, class, the pixel under the pointer.

import { Emitter } from "../base/events";
import type { Place } from "../base/raster";

export const LARGEST_BRUSH = 99;
export const LARGEST_TOLERANCE = 254;

interface Events {
  tool: string;
  size: number; // Brush size or the wand's tolerance.
  options: void;
  class: number;
  hover: Place | null; // The pixel under the pointer, null outside the scene.
  inspect: Place; // A pixel was asked about.
}

export class UiState extends Emitter<Events> {
  tool = "brush";
  size = 3; // Diameter of brush and eraser, raster pixels.
  tolerance = 36; // Of the wand, 1 to 254: it takes no more than (tolerance / 254)^2 of half of the pixels.
  connected = true; // Whether the wand keeps to one connected piece.
  spare = false; // Whether strokes leave labels of other classes.
  spectrum: boolean | null = null; // Whether the spectrum under the pointer is drawn, and the lists below it are; null: as there is room.
  lists: boolean | null = null;
  #room = { spectrum: true, lists: true };
  classId = 0; // Class that is painted; 0 while there is none.
  hover: Place | null = null;

  setTool(tool: string): void {
    this.tool = tool;
    this.emit("tool", tool);
  }

  setSize(size: number): void {
    this.size = Math.min(Math.max(Math.round(size), 1), LARGEST_BRUSH);
    this.emit("size", this.size);
  }

  setTolerance(tolerance: number): void {
    this.tolerance = Math.min(Math.max(Math.round(tolerance), 1), LARGEST_TOLERANCE);
    this.emit("size", this.size);
  }

  /** One step along sizes that grow faster the larger they are; with the wand, of its tolerance. */
  stepSize(direction: 1 | -1): void {
    if (this.tool === "wand") return this.setTolerance(this.tolerance + direction * 5);
    const step = this.size < 10 ? 1 : this.size < 30 ? 3 : 10;
    this.setSize(this.size + direction * step);
  }

  setOptions(options: Partial<Pick<UiState, "connected" | "spare" | "spectrum" | "lists">>): void {
    Object.assign(this, options);
    this.emit("options");
  }

  /** Whether a part of the right column is unfolded. */
  isShown(part: "spectrum" | "lists"): boolean {
    return this[part] ?? this.#room[part];
  }

  /** Says for which parts there is room. */
  setRoom(room: { spectrum: boolean; lists: boolean }): void {
    if (room.spectrum === this.#room.spectrum && room.lists === this.#room.lists) return;
    this.#room = room;
    this.emit("options");
  }

  setClass(id: number): void {
    this.classId = id;
    this.emit("class", id);
  }

  setHover(place: Place | null): void {
    if (place?.row === this.hover?.row && place?.column === this.hover?.column) return;
    this.hover = place;
    this.emit("hover", place);
  }

  inspect(place: Place): void {
    this.emit("inspect", place);
  }
}
