// Why a pixel has its class: the share of each stroke in its posterior.

import { el, keycap } from "../base/dom";
import type { Place } from "../base/raster";
import type { StrokeShare } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { className } from "./class_list";

const LEAST = 0.001; // share from which a stroke is worth a line

export class WhyPanel {
  readonly element: HTMLElement;
  private readonly head = el("p", { class: "why-head" });
  private readonly list = el("div", { class: "items" });
  private readonly empty = el("p", { class: "muted empty" }, "Point at a pixel and press ", keycap("w"), ", or Alt-click it, to see which strokes decided its class.");

  constructor(private readonly session: Session, private readonly go: (place: Place) => void) {
    this.element = el("div", {}, this.empty, this.head, this.list);
    this.head.hidden = true;
  }

  async ask(place: Place): Promise<void> {
    const pixel = place.row * this.session.scene!.columns + place.column;
    const answer = await this.session.ask({ ask: "why", pixel });
    if (!answer) return;
    this.empty.hidden = true;
    this.head.hidden = false;
    this.head.replaceChildren(className(this.session, this.session.map?.ids[pixel] ?? 0),
      el("span", { class: "muted", text: ` at row ${place.row}, column ${place.column}` }));
    const seen = answer.shares.filter(({ share }, k) => k === 0 || share >= LEAST);
    this.list.replaceChildren(...seen.map((share) => this.row(share)));
    if (!answer.shares.length) this.list.replaceChildren(el("p", { class: "muted empty", text: "No stroke has reached this pixel." }));
  }

  private row(share: StrokeShare): HTMLElement {
    const { columns } = this.session.scene!;
    const place = { row: Math.floor(share.pixel / columns), column: share.pixel % columns };
    const bar = el("span", { class: "bar" });
    bar.style.width = `${Math.max(100 * share.share, 0.5)}%`;
    bar.style.background = this.session.classOf(share.class)?.color ?? "currentColor";
    return el("button", {
      class: "item why",
      title: "Show this stroke",
      attributes: { type: "button" },
      on: { click: () => this.go(place) },
    }, className(this.session, share.class), el("span", { class: "muted", text: `stroke ${share.stroke}` }),
      el("span", { class: "end", text: percent(share.share) }), bar);
  }
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
}
