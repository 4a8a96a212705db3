// Pointer and wheel on the canvas: to the tool in hand, or to the view (space, middle button).

import type { Tool } from "./tool";
import type { Ui } from "./ui";
import type { Place, View } from "./view";

const ZOOM_SPEED = 0.0016; // per wheel pixel
const LINE = 16; // wheel pixels per line, where a mouse reports lines

export class Pointer {
  /** Space is held: the next drag moves the view. */
  spaceHeld = false;
  private panning = false;
  private drawing = false;
  private lastX = 0;
  private lastY = 0;

  constructor(
    private readonly area: HTMLElement,
    private readonly view: View,
    private readonly ui: Ui,
    private readonly tool: () => Tool,
  ) {
    area.addEventListener("pointerdown", (event) => this.down(event));
    area.addEventListener("pointermove", (event) => this.move(event));
    area.addEventListener("pointerup", (event) => this.up(event));
    area.addEventListener("pointercancel", () => this.breakOff());
    area.addEventListener("pointerleave", () => this.leave());
    area.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    area.addEventListener("blur", () => delete area.dataset.pointer);
    area.addEventListener("auxclick", (event) => event.preventDefault());
    ui.on("tool", () => this.showCursor());
  }

  get isDrawing(): boolean {
    return this.drawing;
  }

  setSpace(held: boolean): void {
    this.spaceHeld = held;
    this.showCursor();
  }

  /** Raster coordinates, with fractions, of a point of the page. */
  place(clientX: number, clientY: number): Place {
    const box = this.area.getBoundingClientRect();
    const { ratio } = this.view;
    return this.view.toRaster((clientX - box.left) * ratio, (clientY - box.top) * ratio);
  }

  private down(event: PointerEvent): void {
    // The ring about the canvas is for those who came to it by keyboard.
    this.area.dataset.pointer = "";
    this.area.focus({ preventScroll: true });
    if (event.button !== 0 && event.button !== 1) return;
    event.preventDefault();
    // Without capture a drag that ends outside the canvas would lose its stroke.
    this.area.setPointerCapture(event.pointerId);
    [this.lastX, this.lastY] = [event.clientX, event.clientY];
    const at = this.place(event.clientX, event.clientY);
    if (event.button === 1 || this.spaceHeld) {
      this.panning = true;
      this.showCursor();
    } else if (event.altKey) {
      if (this.view.contains(at)) this.ui.inspect(whole(at));
    } else {
      this.drawing = true;
      this.tool().down(at);
    }
  }

  private move(event: PointerEvent): void {
    const at = this.place(event.clientX, event.clientY);
    this.ui.setHover(this.view.contains(at) ? whole(at) : null);
    if (this.panning) this.pan(event);
    if (this.drawing) this.tool().drag(this.places(event));
    this.tool().hover(this.panning ? null : at);
  }

  /** All places since the last event: a fast hand moves far between two frames. */
  private places(event: PointerEvent): Place[] {
    const events = event.getCoalescedEvents?.() ?? [];
    return (events.length ? events : [event]).map((item) => this.place(item.clientX, item.clientY));
  }

  private pan(event: PointerEvent): void {
    const { ratio } = this.view;
    this.view.pan((event.clientX - this.lastX) * ratio, (event.clientY - this.lastY) * ratio);
    [this.lastX, this.lastY] = [event.clientX, event.clientY];
  }

  private up(event: PointerEvent): void {
    if (this.area.hasPointerCapture(event.pointerId)) this.area.releasePointerCapture(event.pointerId);
    const drawing = this.drawing;
    this.panning = this.drawing = false;
    this.showCursor();
    if (drawing) this.tool().up();
  }

  private breakOff(): void {
    this.panning = this.drawing = false;
    this.tool().cancel();
    this.showCursor();
  }

  private leave(): void {
    this.ui.setHover(null);
    this.tool().hover(null);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const box = this.area.getBoundingClientRect();
    const { ratio } = this.view;
    const turn = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * LINE : event.deltaY;
    const factor = Math.exp(-turn * ZOOM_SPEED);
    this.view.zoom(factor, (event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio);
  }

  private showCursor(): void {
    const grab = this.panning ? "grabbing" : "grab";
    const held = this.ui.tool === "inspect" ? "help" : "crosshair";
    this.area.style.cursor = this.panning || this.spaceHeld ? grab : held;
  }
}

function whole(place: Place): Place {
  return { row: Math.floor(place.row), column: Math.floor(place.column) };
}
