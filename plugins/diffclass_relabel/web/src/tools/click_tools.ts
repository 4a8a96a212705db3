// Tools that act once where the button was pressed: fill and inspect.

import { count } from "../base/format";
import { ICONS } from "../base/icons";
import { eachPixel, pixelAt, type Place } from "../base/raster";
import type { ClassRef } from "../session/optimistic_state";
import { Tool } from "./tool";

abstract class ClickTool extends Tool {
  private pressed: Place | null = null;

  protected abstract act(pixel: Place): void;

  override down(at: Place): void {
    this.pressed = pixelAt(at);
  }

  override up(): void {
    const pixel = this.pressed;
    this.pressed = null;
    if (pixel && this.context.view.contains(pixel)) this.act(pixel);
  }

  override cancel(): void {
    this.pressed = null;
  }
}

/** Flood fill: the connected piece of the map under the pointer becomes a stroke; labels of other
 *  classes in it were painted by hand and stay. */
export class Fill extends ClickTool {
  readonly name = "fill";
  readonly title = "Fill a connected piece of the map";
  readonly key = "f";
  readonly icon = ICONS.fill;

  private painted: ClassRef | null = null;

  override down(at: Place): void {
    this.painted = this.classToPaint();
    if (this.painted) super.down(at);
  }

  protected act(place: Place): void {
    void this.flood(place, this.painted!);
  }

  private async flood(place: Place, painted: ClassRef): Promise<void> {
    const { session } = this.context;
    if (!session.hasMap) return session.tell("There is no map to fill from yet. Paint a few strokes first.");
    const answer = await session.ask({ ask: "segment", pixel: session.pixelOf(place) });
    if (!answer) return;
    const pixels = new Set<number>();
    let spared = 0;
    eachPixel(answer.pixels, (item) => {
      const label = session.labels.shown[item];
      if (label === 0 || label === painted.id) pixels.add(item);
      else spared++;
    });
    if (spared) session.tell(`${count(spared)} pixels keep the label of another class.`);
    await session.paint(pixels, painted);
  }
}

/** Changes nothing: asks why a pixel has its class. */
export class Inspect extends ClickTool {
  readonly name = "inspect";
  readonly title = "Inspect: why is a pixel in its class?";
  readonly key = "v";
  readonly icon = ICONS.inspect;

  protected act(place: Place): void {
    this.context.ui.inspect(place);
  }
}
