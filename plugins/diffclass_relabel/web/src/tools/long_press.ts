// A finger that stays where it came down asks for the menu, as the right button does.

const LONG = 500; // ms
const STILL = 10; // CSS pixels that a resting finger may wander

export class LongPress {
  private timer = 0;
  private x = 0;
  private y = 0;

  begin(event: PointerEvent, act: () => void): void {
    this.end();
    [this.x, this.y] = [event.clientX, event.clientY];
    this.timer = window.setTimeout(act, LONG);
  }

  move(event: PointerEvent): void {
    if (Math.hypot(event.clientX - this.x, event.clientY - this.y) > STILL) this.end();
  }

  end(): void {
    clearTimeout(this.timer);
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
