// The middle of the page: two canvases, one on the other, and what the server is told of the view.

import { el, iconButton } from "../base/dom";
import { debounce } from "../base/events";
import type { Session } from "../session/session";
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

  constructor(private readonly view: View) {
    const zoom = el("span", { class: "zoom-value" });
    const corner = el("div", { class: "zoom" },
      iconButton("minus", "Smaller (\u2212)", () => view.zoom(1 / 1.5), "icon small"),
      zoom,
      iconButton("plus", "Larger (+)", () => view.zoom(1.5), "icon small"),
      iconButton("fit", "Whole scene (h)", () => view.fit(), "icon small"),
    );
    this.element = el("main", { class: "stage" }, this.area, corner);
    // 100 %: one CSS pixel per raster pixel
    view.on("changed", () => (zoom.textContent = `${Math.round((100 * view.scale) / view.ratio)} %`));
    new ResizeObserver(() => this.#resize()).observe(this.area);
  }

  #resize(): void {
    const ratio = devicePixelRatio;
    const width = Math.round(this.area.clientWidth * ratio);
    const height = Math.round(this.area.clientHeight * ratio);
    for (const canvas of [this.base, this.top]) [canvas.width, canvas.height] = [width, height];
    this.view.setSize(width, height, ratio);
  }
}

const WAIT = 100; // ms that the view rests before it is sent
const LARGE = 2 ** 18; // pixels; smaller maps are sent whole

export class ViewportSync {
  #sent = "";

  constructor(private readonly session: Session, private readonly view: View) {
    view.on("changed", debounce(() => this.#send(), WAIT));
    session.on("scene", () => {
      this.#sent = ""; // a new connection: the server does not know
      this.#send();
    });
  }

  #send(): void {
    const { scene } = this.session;
    if (!scene || scene.rows * scene.columns <= LARGE) return;
    const window = this.view.window;
    if (JSON.stringify(window) === this.#sent) return;
    this.#sent = JSON.stringify(window);
    void this.session.ask({ ask: "view", ...window });
  }
}
