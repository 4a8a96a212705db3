// What a tool is, and what it may use.

import type { IconName } from "../base/icons";
import type { Place } from "../base/raster";
import type { Overlay } from "../canvas/overlay";
import type { Painter } from "../canvas/painter";
import type { View } from "../canvas/view";
import type { ClassRef } from "../session/optimistic_state";
import type { ClassState } from "../session/protocol.generated";
import type { Session } from "../session/session";
import type { UiState } from "./ui_state";

export interface ToolContext {
  session: Session;
  ui: UiState;
  view: View;
  painter: Painter;
  overlay: Overlay;
}

/** Places are raster coordinates with fractions; they may lie outside the scene. */
export abstract class Tool {
  /** Its icon has the same name. */
  abstract readonly name: IconName;
  abstract readonly title: string;
  abstract readonly key: string;

  readonly drags: boolean = false; // Whether it draws while it is moved with the button down; else a press is all.

  constructor(protected readonly context: ToolContext) {}

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

  protected get grid() {
    return { rows: this.context.view.rows, columns: this.context.view.columns };
  }

  /** The class to paint, or null; the user is then told why. What is painted is in the class that
   *  was chosen when the button went down. */
  protected classToPaint(): ClassRef | null {
    const { session, ui } = this.context;
    const item = session.classOf(ui.classId);
    if (item?.hidden) void this.#unhide(item);
    if (item) return session.classRef(item.id, ui.spare);
    session.tell(session.classes.length ? "No class is chosen. Choose one in the list." : "There is no class to paint yet. Add one in the list.", () => Boolean(session.classOf(ui.classId)));
    return null;
  }

  /** What is painted has to be seen. */
  async #unhide(item: ClassState): Promise<void> {
    const { session } = this.context;
    if (await session.apply({ op: "hide_class", id: item.id, hidden: false })) session.tell(`${item.name} was hidden and is shown again.`);
  }
}
