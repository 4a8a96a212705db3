// What a tool is, and what it may use.

import type { Place } from "../base/raster";
import type { Overlay } from "../canvas/overlay";
import type { Painter } from "../canvas/painter";
import type { View } from "../canvas/view";
import type { Hand } from "../session/ahead";
import type { ClassState } from "../session/protocol.generated";
import type { Session } from "../session/session";
import type { Ui } from "./ui";

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

  /** Whether it draws while it is moved with the button down; else a press is all. */
  readonly drags: boolean = false;

  constructor(protected readonly bench: Bench) {}

  /** The button went down. */
  down(_at: Place): void {}
  /** The pointer moved with the button down; all places since the last call. */
  drag(_places: Place[]): void {}
  /** The button went up. */
  up(): void {}
  /** The pointer moved; null when it left. */
  hover(_at: Place | null): void {}
  /** The press was none after all (a pinch, a long press): take back what it did. */
  retract(): void {
    this.cancel();
  }
  /** Whether several clicks have begun something that is not finished. */
  get isOpen(): boolean {
    return false;
  }
  /** Enter, double or right click: complete what several clicks make. */
  finish(): void {}
  /** Backspace: take back the last click. */
  back(): void {}
  /** Escape, or another tool was taken: leave no trace. */
  cancel(): void {}
  /** The labels on the screen were replaced: show again what is being drawn. */
  refresh(): void {}

  /** What is painted has to be seen. */
  private async unhide(item: ClassState): Promise<void> {
    const { session, tell } = this.bench;
    if (await session.apply({ op: "hide_class", id: item.id, hidden: false })) tell(`${item.name} was hidden and is shown again.`);
  }

  protected get grid() {
    return { rows: this.bench.view.rows, columns: this.bench.view.columns };
  }

  /** The class to paint, or null; the user is then told why. What is painted is in the class that
   *  was in hand when the button went down. */
  protected paintable(): Hand | null {
    const { session, ui, tell } = this.bench;
    const item = session.classOf(ui.classId);
    if (item?.hidden) void this.unhide(item);
    if (item) return session.handOf(item.id);
    tell(session.classes.length ? "No class is in hand. Choose one in the list on the right." : "There is no class to paint yet. Add one in the list on the right.");
    return null;
  }
}
