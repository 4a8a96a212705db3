// Flood fill: the connected piece of the map under the pointer becomes a stroke; labels of other
// classes in it were painted by hand and stay.

import { count } from "../base/dom";
import { ICONS } from "../base/icons";
import { eachPixel, type Place } from "../base/raster";
import type { Hand } from "../session/ahead";
import { Tool } from "./tool";

export class Fill extends Tool {
  readonly name = "fill";
  readonly title = "Fill a connected piece of the map";
  readonly key = "f";
  readonly icon = ICONS.fill;

  private pressed: [Place, Hand] | null = null;

  override down(at: Place): void {
    const hand = this.paintable();
    this.pressed = hand && [at, hand];
  }

  override up(): void {
    if (this.pressed) void this.flood(...this.pressed);
    this.pressed = null;
  }

  override cancel(): void {
    this.pressed = null;
  }

  private async flood(at: Place, hand: Hand): Promise<void> {
    const { session, view, tell } = this.bench;
    if (!view.contains(at)) return;
    if (!session.hasMap) return tell("There is no map to fill from yet. Paint a few strokes first.");
    const pixel = Math.floor(at.row) * view.columns + Math.floor(at.column);
    const answer = await session.ask({ ask: "segment", pixel });
    if (!answer) return;
    const pixels = new Set<number>();
    let spared = 0;
    eachPixel(answer.pixels, (item) => {
      const label = session.labels.shown[item];
      if (label === 0 || label === hand.id) pixels.add(item);
      else spared++;
    });
    if (spared) tell(`${count(spared)} pixels keep the label of another class.`);
    await session.paint(pixels, hand);
  }
}
