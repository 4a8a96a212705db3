// The spectra to plot: mean and spread of each class's labelled pixels, and the pixel under the pointer.

import { Emitter } from "../base/emitter";
import { OneAtATime } from "../base/timing";
import type { ClassSpectrum, SpectrumAnswer } from "../session/protocol.generated";
import type { Session } from "../session/session";
import type { UiState } from "../tools/ui_state";

/** Classes up to which all are drawn alike; of more, those that matter stand out. */
export const FEW = 4;

export class Spectra extends Emitter<{ changed: void }> {
  classes: ClassSpectrum[] = [];
  /** Of the pixel under the pointer. */
  pointed: SpectrumAnswer | null = null;
  /** Classes that are not drawn. */
  readonly off = new Set<number>();
  private version = -1;
  private readonly askingClasses = new OneAtATime(() => this.askClasses());
  private readonly askingPointed = new OneAtATime(() => this.askPointed());

  constructor(private readonly session: Session, private readonly ui: UiState) {
    super();
    session.on("changed", () => {
      // With each map rather than each stroke: reading spectra shall not delay it.
      if (!session.state?.live || !session.isStale || this.version < 0) void this.askingClasses.run();
      this.emit("changed"); // names, colours, the map's class under the pointer
    });
    ui.on("hover", () => void this.askingPointed.run());
    ui.on("class", () => this.emit("changed"));
  }

  /** Those that are drawn, of classes that are shown, with their colours. */
  get shown(): { spectrum: ClassSpectrum; color: string }[] {
    return this.classes.flatMap((spectrum) => {
      const item = this.session.classOf(spectrum.class);
      return item && !item.hidden && !this.off.has(spectrum.class) ? [{ spectrum, color: item.color }] : [];
    });
  }

  setShown(id: number, on: boolean): void {
    if (on) this.off.delete(id);
    else this.off.add(id);
    this.emit("changed");
  }

  private async askClasses(): Promise<void> {
    const version = this.session.state?.version;
    if (version === undefined || version === this.version) return;
    const answer = await this.session.ask({ ask: "class_spectra" });
    if (!answer) return;
    [this.classes, this.version] = [answer.classes, version];
    this.emit("changed");
  }

  private async askPointed(): Promise<void> {
    const { hover } = this.ui;
    const pixel = hover && this.session.pixelOf(hover);
    if (pixel === null || pixel === this.pointed?.pixel) return;
    const answer = await this.session.ask({ ask: "spectrum", pixel });
    if (!answer) return;
    this.pointed = answer;
    this.emit("changed");
  }
}
