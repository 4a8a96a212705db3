// The tool that changes nothing: a click asks why a pixel has its class.

import { ICONS } from "../base/icons";
import { pixelAt, type Place } from "../base/raster";
import { Tool } from "./tool";

export class Inspect extends Tool {
  readonly name = "inspect";
  readonly title = "Inspect: why is a pixel in its class?";
  readonly key = "v";
  readonly icon = ICONS.inspect;

  private pressed: Place | null = null;

  override down(at: Place): void {
    this.pressed = at;
  }

  override up(): void {
    const at = this.pressed;
    this.pressed = null;
    if (at && this.bench.view.contains(at)) this.bench.ui.inspect(pixelAt(at));
  }

  override cancel(): void {
    this.pressed = null;
  }
}
