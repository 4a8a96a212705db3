// What is seen of a table's rows: names, texts, values and pictures, fetched as they are needed.

import { Emitter, OneAtATime } from "../base/events";
import type { RowFacts } from "./protocol.generated";
import type { Session } from "./session";

const TOGETHER = 200; // rows that are asked about at once
const LOADING = 6; // pictures at once
const WAITING = 500; // pictures; those asked for first are given up
const KEPT = 2000; // pictures

export class RowContents extends Emitter<{ changed: void }> {
  readonly #facts = new Map<number, RowFacts>();
  readonly #wanted = new Set<number>();
  readonly #asking = new OneAtATime(() => this.#ask());
  readonly #pictures = new Map<number, ImageBitmap | null>(); // Null where there is none.
  #waiting: number[] = [];
  readonly #loading = new Set<number>();

  constructor(private readonly session: Session) {
    super();
  }

  /** What the row at a pixel is called and holds; null until that is known, which is told. */
  factsOf(pixel: number): RowFacts | null {
    const known = this.#facts.get(pixel);
    if (known || !this.session.hasData(pixel)) return known ?? null;
    this.#wanted.add(pixel);
    void this.#asking.run();
    return null;
  }

  /** The picture of the row at a pixel; null where there is none or until it has come, which is told. */
  pictureOf(pixel: number): ImageBitmap | null {
    if (!this.session.scene?.table?.images || !this.session.hasData(pixel)) return null;
    const known = this.#pictures.get(pixel);
    if (known !== undefined || this.#loading.has(pixel)) return known ?? null;
    this.#waiting = [...this.#waiting.filter((other) => other !== pixel), pixel].slice(-WAITING);
    this.#load();
    return null;
  }

  async #ask(): Promise<void> {
    const pixels = [...this.#wanted].slice(0, TOGETHER);
    if (!pixels.length) return;
    const answer = await this.session.ask({ ask: "rows", pixels });
    for (const pixel of pixels) this.#wanted.delete(pixel);
    for (const row of answer?.rows ?? []) this.#facts.set(row.pixel, row);
    if (this.#wanted.size) this.#asking.isWanted = true;
    this.emit("changed");
  }

  #load(): void {
    while (this.#loading.size < LOADING && this.#waiting.length) void this.#fetch(this.#waiting.pop()!);
  }

  async #fetch(pixel: number): Promise<void> {
    this.#loading.add(pixel);
    const fetched = this.session.socket.transport.fetch(`picture.png?row=${pixel}`).then(createImageBitmap);
    this.#pictures.set(pixel, await fetched.catch(() => null));
    this.#loading.delete(pixel);
    for (const [oldest] of this.#pictures) {
      if (this.#pictures.size <= KEPT) break;
      this.#pictures.delete(oldest);
    }
    this.#load();
    this.emit("changed");
  }
}
