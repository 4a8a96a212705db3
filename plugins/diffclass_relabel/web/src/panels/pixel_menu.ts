// The menu of a pixel: what else can be done where one points.

import { swatch } from "../base/dom";
import { pixelAt, type Place } from "../base/raster";
import type { View } from "../canvas/view";
import type { Session } from "../session/session";
import type { Ui } from "../tools/ui";
import { Menu } from "./menu";

export class PixelMenu {
  private readonly menu = new Menu("Pixel");

  constructor(
    private readonly session: Session,
    private readonly ui: Ui,
    private readonly view: View,
  ) {
    document.body.append(this.menu.element);
  }

  open(x: number, y: number, at: Place): void {
    const entries = this.view.contains(at) ? this.ofPixel(pixelAt(at)) : [];
    this.menu.open([...entries, ...this.ofSession()], x, y);
  }

  private ofPixel(place: Place): Node[] {
    const { session, ui, menu } = this;
    const pixel = place.row * this.view.columns + place.column;
    const item = session.classOf(session.labels.shown[pixel] || (session.map?.ids[pixel] ?? 0));
    const why = menu.entry("Why this class?", "Which strokes decide it (w)", () => ui.inspect(place));
    why.disabled = !session.hasMap;
    if (!item) return [why];
    const take = menu.entry(`Paint with ${item.name}`, "The class here becomes the one that is painted", () => ui.setClass(item.id));
    take.prepend(swatch(item.color));
    return [take, why];
  }

  private ofSession(): Node[] {
    const { state } = this.session;
    const undo = this.menu.entry("Undo", "Ctrl+Z", () => void this.session.apply({ op: "undo" }));
    const redo = this.menu.entry("Redo", "Ctrl+Shift+Z", () => void this.session.apply({ op: "redo" }));
    [undo.disabled, redo.disabled] = [!state?.can_undo, !state?.can_redo];
    return [undo, redo, this.menu.entry("Whole scene", "h", () => this.view.fit())];
  }
}
