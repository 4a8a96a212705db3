// The menu of a pixel: what else can be done where one points.

import { pixelAt, type Place } from "../base/raster";
import type { View } from "../canvas/view";
import type { Session } from "../session/session";
import type { UiState } from "../tools/ui_state";
import { swatch } from "./class_mark";
import { Menu } from "./menu";

export class PixelMenu {
  private readonly menu = new Menu("Pixel");

  constructor(
    private readonly session: Session,
    private readonly ui: UiState,
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
    const pixel = session.pixelOf(place);
    const item = session.classOf(session.labels.shown[pixel] || (session.map?.ids[pixel] ?? 0));
    const why = menu.entry("Why this class?", "Which strokes decide it (w)", () => ui.inspect(place));
    why.disabled = !session.hasMap;
    if (!item) return [why];
    const take = menu.entry(`Paint with ${item.name}`, "The class here becomes the one that is painted", () => ui.setClass(item.id));
    take.prepend(swatch(item.color));
    return [take, why];
  }

  private ofSession(): Node[] {
    const { session, menu } = this;
    const undo = menu.entry("Undo", "Ctrl+Z", () => session.undo());
    const redo = menu.entry("Redo", "Ctrl+Shift+Z", () => session.redo());
    [undo.disabled, redo.disabled] = [!session.state?.can_undo, !session.state?.can_redo];
    return [undo, redo, menu.entry("Whole scene", "h", () => this.view.fit())];
  }
}
