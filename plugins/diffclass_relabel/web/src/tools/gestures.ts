// What fingers do: two of them move the view, one that rests asks for the menu.

import type { View } from "../canvas/view";

interface Finger {
  x: number;
  y: number;
}

export class Pinch {
  readonly #fingers = new Map<number, Finger>(); // Fingers that are down, by pointer, in device pixels.

  constructor(
    private readonly view: View,
    private readonly devicePoint: (clientX: number, clientY: number) => Finger,
  ) {}

  get isOn(): boolean {
    return this.#fingers.size > 1;
  }

  get isEmpty(): boolean {
    return this.#fingers.size === 0;
  }

  add(event: PointerEvent): void {
    this.#fingers.set(event.pointerId, this.devicePoint(event.clientX, event.clientY));
  }

  remove(event: PointerEvent): void {
    this.#fingers.delete(event.pointerId);
  }

  /** Moves a finger, and with two of them the view; says whether it did. */
  move(event: PointerEvent): boolean {
    if (!this.#fingers.has(event.pointerId)) return false;
    const before = this.#span();
    this.add(event);
    const after = this.#span();
    if (!before || !after) return false;
    this.view.pan(after.x - before.x, after.y - before.y);
    if (before.length > 0 && after.length > 0) this.view.zoom(after.length / before.length, after.x, after.y);
    return true;
  }

  /** Middle and distance of the first two fingers; a third one changes nothing. */
  #span(): { x: number; y: number; length: number } | null {
    const [a, b] = this.#fingers.values();
    if (!a || !b) return null;
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, length: Math.hypot(a.x - b.x, a.y - b.y) };
  }
}

const LONG = 500; // ms
const STILL = 10; // CSS pixels that a resting finger may wander

export class LongPress {
  #timer = 0;
  #x = 0;
  #y = 0;

  begin(event: PointerEvent, act: () => void): void {
    this.end();
    [this.#x, this.#y] = [event.clientX, event.clientY];
    this.#timer = window.setTimeout(act, LONG);
  }

  move(event: PointerEvent): void {
    if (Math.hypot(event.clientX - this.#x, event.clientY - this.#y) > STILL) this.end();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** Opens an element's menu by right click and by a long press; the click that ends the press does nothing. */
export function onMenu(element: HTMLElement, open: () => void): void {
  const press = new LongPress();
  let opened = false;
  element.addEventListener("pointerdown", (event) => {
    opened = false;
    if (event.pointerType !== "touch") return;
    press.begin(event, () => {
      opened = true;
      open();
    });
  });
  element.addEventListener("pointermove", (event) => press.move(event));
  for (const name of ["pointerup", "pointercancel", "pointerleave"] as const) element.addEventListener(name, () => press.end());
  element.addEventListener("click", (event) => {
    if (!opened) return;
    opened = false;
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true });
  element.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    if ((event as PointerEvent).pointerType === "touch") return; // the clock above opens it
    open();
  });
}
