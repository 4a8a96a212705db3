// Flood fill: the connected piece of the map under the pointer becomes a stroke.

import { ICONS } from "./icons";
import { eachPixel } from "./runs";
import { Tool } from "./tool";
import type { Place } from "./view";

export class Fill extends Tool {
  readonly name = "fill";
  readonly title = "Fill a connected piece of the map";
  readonly key = "f";
  readonly icon = ICONS.fill;

  override down(at: Place): void {
    void this.flood(at);
  }

  private async flood(at: Place): Promise<void> {
    const { session, view, tell } = this.bench;
    const id = this.paintable();
    if (id === null || !view.contains(at)) return;
    if (!session.hasMap) return tell("There is no map to fill from yet. Paint a few strokes first.");
    const pixel = Math.floor(at.row) * view.columns + Math.floor(at.column);
    const answer = await session.ask({ ask: "segment", pixel });
    if (!answer) return;
    const pixels = new Set<number>();
    eachPixel(answer.pixels, (item) => pixels.add(item));
    await session.paint(pixels, id);
  }
}
