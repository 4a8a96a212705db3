// What the user has chosen in this tab: tool, brush size, class, the pixel under the pointer.

import { Emitter } from "../base/events";
import type { Place } from "../base/raster";

export const LARGEST_BRUSH = 99;

interface Events {
  tool: string;
  size: number;
  class: number;
  /** The pixel under the pointer, null outside the scene. */
  hover: Place | null;
  /** A pixel was asked about. */
  inspect: Place;
}

export class UiState extends Emitter<Events> {
  tool = "brush";
  /** Diameter of brush and eraser, raster pixels. */
  size = 3;
  /** Class that is painted; 0 while there is none. */
  classId = 0;
  hover: Place | null = null;

  setTool(tool: string): void {
    this.tool = tool;
    this.emit("tool", tool);
  }

  setSize(size: number): void {
    this.size = Math.min(Math.max(Math.round(size), 1), LARGEST_BRUSH);
    this.emit("size", this.size);
  }

  /** One step along sizes that grow faster the larger they are. */
  stepSize(direction: 1 | -1): void {
    const step = this.size < 10 ? 1 : this.size < 30 ? 3 : 10;
    this.setSize(this.size + direction * step);
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
