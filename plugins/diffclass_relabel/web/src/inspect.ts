// The tool that changes nothing: a click asks why a pixel has its class.

import { ICONS } from "./icons";
import { Tool } from "./tool";
import type { Place } from "./view";

export class Inspect extends Tool {
  readonly name = "inspect";
  readonly title = "Inspect: why is a pixel in its class?";
  readonly key = "v";
  readonly icon = ICONS.inspect;

  override down(at: Place): void {
    const { ui, view } = this.bench;
    if (view.contains(at)) ui.inspect({ row: Math.floor(at.row), column: Math.floor(at.column) });
  }
}
