// Two fingers on the canvas: the view follows their middle and their distance.

import type { View } from "../canvas/view";

interface Finger {
  x: number;
  y: number;
}

export class Pinch {
  /** Fingers that are down, by pointer, in device pixels. */
  private readonly fingers = new Map<number, Finger>();

  constructor(
    private readonly view: View,
    private readonly devicePoint: (clientX: number, clientY: number) => Finger,
  ) {}

  get isOn(): boolean {
    return this.fingers.size > 1;
  }

  get isEmpty(): boolean {
    return this.fingers.size === 0;
  }

  add(event: PointerEvent): void {
    this.fingers.set(event.pointerId, this.devicePoint(event.clientX, event.clientY));
  }

  remove(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
  }

  /** Moves a finger, and with two of them the view; says whether it did. */
  move(event: PointerEvent): boolean {
    if (!this.fingers.has(event.pointerId)) return false;
    const before = this.span();
    this.add(event);
    const after = this.span();
    if (!before || !after) return false;
    this.view.pan(after.x - before.x, after.y - before.y);
    if (before.length > 0 && after.length > 0) this.view.zoom(after.length / before.length, after.x, after.y);
    return true;
  }

  /** Middle and distance of the first two fingers; a third one changes nothing. */
  private span(): { x: number; y: number; length: number } | null {
    const [a, b] = this.fingers.values();
    if (!a || !b) return null;
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, length: Math.hypot(a.x - b.x, a.y - b.y) };
  }
}
