// What a tool is, and what it may use.

import type { Overlay } from "./overlay";
import type { Painter } from "./painter";
import type { Session } from "./session";
import type { Ui } from "./ui";
import type { Place, View } from "./view";

export interface Bench {
  session: Session;
  ui: Ui;
  view: View;
  painter: Painter;
  overlay: Overlay;
  /** Says something to the user. */
  tell: (message: string) => void;
}

/** Places are raster coordinates with fractions; they may lie outside the scene. */
export abstract class Tool {
  abstract readonly name: string;
  abstract readonly title: string;
  abstract readonly key: string;
  abstract readonly icon: string;

  constructor(protected readonly bench: Bench) {}

  /** The button went down. */
  down(_at: Place): void {}
  /** The pointer moved with the button down; all places since the last call. */
  drag(_places: Place[]): void {}
  /** The button went up. */
  up(): void {}
  /** The pointer moved; null when it left. */
  hover(_at: Place | null): void {}
  /** Enter: complete what several clicks make. */
  finish(): void {}
  /** Backspace: take back the last click. */
  back(): void {}
  /** Escape, or another tool was taken: leave no trace. */
  cancel(): void {}
  /** The labels on the screen were replaced: show again what is being drawn. */
  refresh(): void {}

  protected get grid() {
    return { rows: this.bench.view.rows, columns: this.bench.view.columns };
  }

  /** The class to paint, or null; the user is then told why. */
  protected paintable(): number | null {
    const { session, ui, tell } = this.bench;
    if (session.classOf(ui.classId)) return ui.classId;
    tell("There is no class to paint yet. Add one in the list on the right.");
    return null;
  }
}
