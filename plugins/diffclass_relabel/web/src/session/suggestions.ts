// The queue of pixels to label next, and walking through it.

import { Emitter } from "../base/events";
import type { Place } from "../base/raster";
import type { Question, SuggestAnswer } from "./protocol.generated";
import type { Session } from "./session";

export type Rule = NonNullable<Extract<Question, { ask: "suggest" }>["rule"]>;

/** Rules of the server: what the list says, and what it does. */
export const RULES: Record<Rule, [string, string]> = {
  coverage: ["Coverage", "What stands for many pixels in doubt; without labels, for many pixels"],
  margin: ["Least margin", "Where two classes are nearly as likely"],
};

export class Suggestions extends Emitter<{ changed: void }> {
  list: SuggestAnswer | null = null;
  current = -1; // Which one was jumped to, -1 before the first.
  rule: Rule = "coverage";
  count = 10;
  busy = false;
  readonly #passed = new Set<number>(); // Pixels that were walked past without a label.

  constructor(private readonly session: Session) {
    super();
  }

  /** Where they are and whether each has a label by now. */
  places(): { place: Place; pixel: number; done: boolean }[] {
    return (this.list?.pixels ?? []).map((pixel) => ({
      place: this.session.placeOf(pixel),
      pixel,
      done: this.session.labels.shown[pixel] !== 0,
    }));
  }

  /** Asks for a new list, passed-over pixels among them. */
  async ask(): Promise<void> {
    this.#passed.clear();
    await this.#refill();
  }

  /** Asks for a list without what is on this one: what has no label was passed over. */
  async others(): Promise<void> {
    for (const { pixel, done } of this.places()) if (!done) this.#passed.add(pixel);
    await this.#refill();
  }

  /** Asks for a list without the pixels that were passed over. */
  async #refill(): Promise<void> {
    this.busy = true;
    this.emit("changed");
    const answer = await this.session.ask({ ask: "suggest", n: this.count, rule: this.rule, passed: [...this.#passed] });
    this.busy = false;
    if (answer) [this.list, this.current] = [answer, -1];
    this.emit("changed");
  }

  /** Goes to the next (1) or previous (-1) pixel without a label; asks for new ones at the end. */
  async step(direction: 1 | -1): Promise<Place | null> {
    if (this.busy) return null;
    if (!this.list || (direction === 1 && this.#next(1) === null)) await this.others();
    const next = this.#next(direction);
    return next === null ? null : this.select(next);
  }

  select(index: number): Place {
    this.current = index;
    this.emit("changed");
    return this.places()[index].place;
  }

  #next(direction: 1 | -1): number | null {
    const places = this.places();
    for (let k = this.current + direction; k >= 0 && k < places.length; k += direction) {
      if (!places[k].done) return k;
    }
    return null;
  }
}
