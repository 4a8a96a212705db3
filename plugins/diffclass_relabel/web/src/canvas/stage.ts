// The middle of the page: two canvases, one on the other, as large as the room there is.

import { el, iconButton } from "../base/dom";
import { ICONS } from "../base/icons";
import type { View } from "./view";

export class Stage {
  readonly base = el("canvas");
  readonly top = el("canvas");
  /** Takes pointer and focus. */
  readonly area = el("div", {
    class: "area",
    attributes: { tabindex: "0", role: "application", "aria-label": "Scene: arrows move a cursor, x puts the tool down and lifts it; all keys are listed under ?" },
  }, this.base, this.top);
  readonly element: HTMLElement;

  constructor(private readonly view: View, notices: HTMLElement) {
    const zoom = el("span", { class: "zoom-value" });
    const corner = el("div", { class: "zoom" },
      iconButton(ICONS.minus, "Smaller (\u2212)", () => view.zoom(1 / 1.5), "icon small"),
      zoom,
      iconButton(ICONS.plus, "Larger (+)", () => view.zoom(1.5), "icon small"),
      iconButton(ICONS.fit, "Whole scene (h)", () => view.fit(), "icon small"),
    );
    this.element = el("main", { class: "stage" }, this.area, corner, notices);
    this.showZoom = () => (zoom.textContent = `${Math.round((100 * view.scale) / view.ratio)} %`);
    new ResizeObserver(() => this.resize()).observe(this.area);
  }

  /** Writes the scale, 100 % = one CSS pixel per raster pixel. */
  showZoom: () => void;

  private resize(): void {
    const ratio = devicePixelRatio;
    const width = Math.round(this.area.clientWidth * ratio);
    const height = Math.round(this.area.clientHeight * ratio);
    for (const canvas of [this.base, this.top]) [canvas.width, canvas.height] = [width, height];
    this.view.setSize(width, height, ratio);
  }
}
