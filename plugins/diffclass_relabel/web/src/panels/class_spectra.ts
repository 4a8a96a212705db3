// Mean and spread of each class's labelled pixels, asked for again when labels have changed.

import { Emitter } from "../base/emitter";
import type { ClassSpectrum } from "../session/protocol.generated";
import type { Session } from "../session/session";

/** Classes up to which all are drawn alike; of more, those that matter stand out. */
export const FEW = 4;

interface Events {
  changed: void;
}

export class ClassSpectra extends Emitter<Events> {
  list: ClassSpectrum[] = [];
  /** Classes that are not drawn. */
  readonly off = new Set<number>();
  private version = -1;
  private asking = false;

  constructor(private readonly session: Session) {
    super();
    session.on("news", () => {
      // With each map rather than each stroke: reading spectra shall not delay it.
      if (!session.state?.live || !session.isStale || this.version < 0) void this.ask();
      this.emit("changed", undefined); // names, colours, the map's class under the pointer
    });
  }

  /** Those that are drawn, of classes that are shown, with their colours. */
  get shown(): { spectrum: ClassSpectrum; color: string }[] {
    return this.list.flatMap((spectrum) => {
      const item = this.session.classOf(spectrum.class);
      return item && !item.hidden && !this.off.has(spectrum.class) ? [{ spectrum, color: item.color }] : [];
    });
  }

  setShown(id: number, on: boolean): void {
    if (on) this.off.delete(id);
    else this.off.add(id);
    this.emit("changed", undefined);
  }

  private async ask(): Promise<void> {
    const version = this.session.state?.version;
    if (this.asking || version === undefined || version === this.version) return;
    this.asking = true;
    const answer = await this.session.ask({ ask: "class_spectra" });
    this.asking = false;
    if (!answer) return;
    [this.list, this.version] = [answer.classes, version];
    this.emit("changed", undefined);
    if (this.session.state!.version !== version) void this.ask();
  }
}
