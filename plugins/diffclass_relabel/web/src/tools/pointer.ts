// Pointer and wheel on the canvas: to the chosen tool, to the view, or to the menu.
//
// One finger, a pen or the left button draws. Two fingers move and zoom the view: what the first
// of them began to draw is taken back. While a pen is near, fingers are palms and do nothing.

import { pixelAt, type Place } from "../base/raster";
import type { View } from "../canvas/view";
import { LongPress, Pinch } from "./gestures";
import type { Tool } from "./tool";
import type { UiState } from "./ui_state";

const isFramed = location.href === "about:srcdoc";
const ZOOM_SPEED = 0.0016; // per wheel pixel
const LINE = 16; // wheel pixels per line, where a mouse reports lines
const PEN_IS_NEAR = 1000; // ms after a pen was seen last

/** What the pointer is doing; "spent": fingers of a pinch or a palm that are still down. */
type Doing = "nothing" | "drawing" | "panning" | "spent";

export class Pointer {
  #spaceHeld = false; // Space is held: the next drag moves the view.
  #doing: Doing = "nothing";
  #leader = -1; // The pointer that draws or pans.
  #lastX = 0;
  #lastY = 0;
  #penSeen = -Infinity;
  readonly #pinch: Pinch;
  readonly #longPress = new LongPress();

  constructor(
    private readonly area: HTMLElement,
    private readonly view: View,
    private readonly ui: UiState,
    private readonly tool: () => Tool,
    private readonly menu: (clientX: number, clientY: number, at: Place) => void,
  ) {
    this.#pinch = new Pinch(view, (x, y) => this.#devicePoint(x, y));
    area.addEventListener("pointerdown", (event) => this.#down(event));
    area.addEventListener("pointermove", (event) => this.#move(event));
    area.addEventListener("pointerup", (event) => this.#up(event));
    area.addEventListener("pointercancel", (event) => this.#lost(event));
    area.addEventListener("pointerleave", (event) => this.#leave(event));
    area.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    area.addEventListener("blur", () => delete area.dataset.pointer);
    area.addEventListener("auxclick", (event) => event.preventDefault());
    area.addEventListener("dblclick", () => this.tool().finish());
    area.addEventListener("contextmenu", (event) => this.#context(event));
    ui.on("tool", () => this.#showCursor());
  }

  setSpace(held: boolean): void {
    this.#spaceHeld = held;
    this.#showCursor();
  }

  /** Raster coordinates, with fractions, of a point of the page. */
  place(clientX: number, clientY: number): Place {
    const { x, y } = this.#devicePoint(clientX, clientY);
    return this.view.toRaster(x, y);
  }

  #devicePoint(clientX: number, clientY: number): { x: number; y: number } {
    const box = this.area.getBoundingClientRect();
    const { ratio } = this.view;
    return { x: (clientX - box.left) * ratio, y: (clientY - box.top) * ratio };
  }

  #down(event: PointerEvent): void {
    // The ring about the canvas is for those who came to it by keyboard.
    this.area.dataset.pointer = "";
    this.area.focus({ preventScroll: true });
    if (event.button !== 0 && event.button !== 1) return;
    event.preventDefault();
    if (this.#isPalm(event)) return;
    // Without capture a drag that ends outside the canvas would lose its stroke.
    this.area.setPointerCapture(event.pointerId);
    if (event.pointerType === "touch") this.#pinch.add(event);
    if (this.#pinch.isOn) return this.#beginPinch();
    if (this.#doing !== "nothing" && event.pointerType !== "pen") return;
    this.#retract(); // a palm was there before its pen
    this.#begin(event);
  }

  #begin(event: PointerEvent): void {
    [this.#leader, this.#lastX, this.#lastY] = [event.pointerId, event.clientX, event.clientY];
    const at = this.place(event.clientX, event.clientY);
    if (event.button === 1 || this.#spaceHeld) {
      this.#doing = "panning";
      this.#showCursor();
    } else if (event.altKey) {
      if (this.view.contains(at)) this.ui.inspect(pixelAt(at));
    } else {
      this.#doing = "drawing";
      this.tool().down(at);
      if (event.pointerType === "touch") this.#longPress.begin(event, () => this.#openMenu(event));
    }
  }

  /** Two fingers are down: neither draws any more, nor when one of them is lifted. */
  #beginPinch(): void {
    this.#retract();
    this.tool().hover(null);
    this.#doing = "spent";
  }

  /** Takes back what is being drawn. */
  #retract(): void {
    this.#longPress.end();
    if (this.#doing === "drawing") this.tool().retract();
    this.#doing = "nothing";
  }

  #isPalm(event: PointerEvent): boolean {
    if (event.pointerType === "pen") this.#penSeen = event.timeStamp;
    return event.pointerType === "touch" && event.timeStamp - this.#penSeen < PEN_IS_NEAR;
  }

  #move(event: PointerEvent): void {
    if (this.#isPalm(event)) return;
    this.#longPress.move(event);
    if (event.pointerType === "touch" && this.#pinch.move(event)) return;
    if (this.#doing === "spent" || (this.#doing !== "nothing" && event.pointerId !== this.#leader)) return;
    const at = this.place(event.clientX, event.clientY);
    this.ui.setHover(this.view.contains(at) ? pixelAt(at) : null);
    if (this.#doing === "panning") this.#pan(event);
    if (this.#doing === "drawing") this.tool().drag(this.#places(event));
    this.tool().hover(this.#doing === "panning" ? null : at);
  }

  /** All places since the last event: a fast hand moves far between two frames. */
  #places(event: PointerEvent): Place[] {
    const events = event.getCoalescedEvents?.() ?? [];
    return (events.length ? events : [event]).map((item) => this.place(item.clientX, item.clientY));
  }

  #pan(event: PointerEvent): void {
    const { ratio } = this.view;
    this.view.pan((event.clientX - this.#lastX) * ratio, (event.clientY - this.#lastY) * ratio);
    [this.#lastX, this.#lastY] = [event.clientX, event.clientY];
  }

  #up(event: PointerEvent): void {
    if (this.area.hasPointerCapture(event.pointerId)) this.area.releasePointerCapture(event.pointerId);
    if (event.pointerType === "pen") this.#penSeen = event.timeStamp;
    this.#pinch.remove(event);
    if (this.#doing === "spent" && this.#pinch.isEmpty) this.#doing = "nothing";
    if (this.#doing === "nothing" || event.pointerId !== this.#leader) return;
    const drawing = this.#doing === "drawing";
    this.#longPress.end();
    this.#doing = "nothing";
    this.#showCursor();
    if (drawing) this.tool().up();
    if (event.pointerType === "touch") this.tool().hover(null);
  }

  /** The system took a pointer away: what it drew is taken back. */
  #lost(event: PointerEvent): void {
    this.#pinch.remove(event);
    if (event.pointerId === this.#leader) this.#retract();
    if (this.#pinch.isEmpty) this.#doing = "nothing";
    this.#showCursor();
  }

  #leave(event: PointerEvent): void {
    if (event.pointerType === "pen") this.#penSeen = event.timeStamp;
    this.ui.setHover(null);
    this.tool().hover(null);
  }

  #wheel(event: WheelEvent): void {
    // In a notebook it scrolls the notebook until the picture was clicked.
    if (isFramed && !event.ctrlKey && document.activeElement !== this.area) return;
    event.preventDefault();
    const { x, y } = this.#devicePoint(event.clientX, event.clientY);
    const turn = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * LINE : event.deltaY;
    this.view.zoom(Math.exp(-turn * ZOOM_SPEED), x, y);
  }

  /** Right click: closes what several clicks make; else, as after a long press, the menu. */
  #context(event: MouseEvent): void {
    event.preventDefault();
    const byTouch = (event as PointerEvent).pointerType === "touch";
    if (byTouch || this.#doing !== "nothing") return; // a long press has its own clock
    if (this.tool().isOpen) this.tool().finish();
    else this.#openMenu(event);
  }

  #openMenu(event: MouseEvent): void {
    if (this.#doing === "drawing") {
      this.#retract();
      this.#doing = "spent";
    }
    this.menu(event.clientX, event.clientY, this.place(event.clientX, event.clientY));
  }

  #showCursor(): void {
    const panning = this.#doing === "panning";
    const held = this.ui.tool === "inspect" ? "help" : "crosshair";
    this.area.style.cursor = panning ? "grabbing" : this.#spaceHeld ? "grab" : held;
  }
}
