// How the picture is stretched: a histogram of red, green and blue with the values that become dark and bright.

import { checkbox, choice, el, svg, textButton } from "../base/dom";
import type { ChannelHistogram } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { CHANNEL_COLORS, CHANNELS } from "./spectrum_plot";

const WIDTH = 100; // of a histogram, in its own units
const HEIGHT = 30;
const BY_RULE = [2, 98]; // percentiles, as the server stretches unless told otherwise
const ENDS = ["low", "high"];

export interface Stretch {
  limits: number[][] | null; // Values that become 0 and 1, of red, green and blue; null: by rule.
  calm: boolean; // Colours are kept from being lurid.
}

type Unit = "percent" | "values";

export class StretchPanel {
  readonly element: HTMLDetailsElement;
  stretch: Stretch = { limits: null, calm: true };
  #histograms: ChannelHistogram[] | null = null;
  #source: object = {};
  readonly #unit = choice("Limits in", [["percent", "Percentiles"], ["values", "Values"]], () => this.#show());
  readonly #calm = checkbox(true, () => this.#set({ ...this.stretch, calm: this.#calm.checked }));
  readonly #reset = textButton("Reset", "From the 2nd to the 98th percentile, calm", () => this.#set({ limits: null, calm: true }), "small");
  readonly #rows = CHANNELS.map((_, channel) => new Row(channel, (end, value, unit) => this.#move(channel, end, value, unit)));

  constructor(private readonly session: Session, private readonly changed: () => void) {
    this.element = el("details", { class: "stretch", on: { toggle: () => void this.#open() } },
      el("summary", { text: "Stretch" }),
      el("div", { class: "stretch-bar" }, this.#unit, this.#reset),
      ...this.#rows.map((row) => row.element),
      el("label", { class: "calm", title: "Bands that have little to do with each other would make lurid colours" }, this.#calm, "Calm colours"));
    this.#show();
  }

  /** The part of the picture's address that says how it is stretched. */
  get query(): Record<string, string> {
    const { limits, calm } = this.stretch;
    return { ...(limits && { limits: limits.map((pair) => pair.join(":")).join(",") }), ...(!calm && { calm: "0" }) };
  }

  /** The picture is made of other numbers: they are stretched by rule. */
  setSource(source: object): void {
    if (JSON.stringify(source) === JSON.stringify(this.#source)) return;
    [this.#source, this.#histograms] = [source, null];
    this.stretch = { ...this.stretch, limits: null };
    this.#show();
    void this.#ask();
  }

  restore(stretch: Stretch): void {
    this.stretch = stretch;
    this.#show();
  }

  /** Opened, all of it comes into sight: it is the lower end of a column that may be full. */
  async #open(): Promise<void> {
    if (!this.element.open) return;
    this.element.scrollIntoView({ block: "nearest" });
    await this.#ask();
  }

  async #ask(): Promise<void> {
    if (!this.element.open || this.#histograms || !this.session.scene) return;
    const source = this.#source;
    const answer = await this.session.ask({ ask: "histograms", ...source });
    if (!answer || source !== this.#source) return;
    this.#histograms = answer.channels;
    this.#show();
  }

  #set(stretch: Stretch): void {
    this.stretch = stretch;
    this.#show();
    this.changed();
  }

  #move(channel: number, end: number, value: number, unit: Unit | null): void {
    if (!this.#histograms || !Number.isFinite(value)) return this.#show();
    const limits = this.#limits.map((pair) => [...pair]);
    const { percentiles, low, high } = this.#histograms[channel];
    const to = (unit ?? this.#unit.value) === "percent" ? at(percentiles, value) : value;
    const least = (high - low) / 1000; // between the two
    limits[channel][end] = end === 0 ? Math.min(to, limits[channel][1] - least) : Math.max(to, limits[channel][0] + least);
    this.#set({ ...this.stretch, limits });
  }

  get #limits(): number[][] {
    return this.stretch.limits ?? this.#histograms!.map(({ percentiles }) => BY_RULE.map((percent) => percentiles[percent]));
  }

  #show(): void {
    this.#calm.checked = this.stretch.calm;
    this.#reset.disabled = this.stretch.limits === null && this.stretch.calm;
    if (!this.#histograms) return;
    const limits = this.#limits;
    this.#rows.forEach((row, k) => row.show(this.#histograms![k], limits[k], this.#unit.value as Unit));
  }
}

/** A channel: its histogram, whose limits can be dragged, and the two limits as numbers. */
class Row {
  readonly element: HTMLElement;
  readonly #bars = svg("path", { class: "bars" });
  readonly #outside = ENDS.map(() => svg("rect", { y: "0", height: String(HEIGHT) }));
  readonly #edges = ENDS.map(() => svg("path", { class: "edge" }));
  readonly #inputs: HTMLInputElement[];
  readonly #picture: SVGElement;
  #histogram: ChannelHistogram | null = null;
  #limits = [0, 1];
  #dragged = -1;

  /** `moved` is called with an end that was moved; the unit is null where it was typed. */
  constructor(channel: number, private readonly moved: (end: number, value: number, unit: Unit | null) => void) {
    const name = CHANNELS[channel];
    this.#inputs = ENDS.map((end, k) => el("input", {
      attributes: { type: "number", step: "any", "aria-label": `${name}, ${end}` },
      on: { change: () => this.moved(k, this.#inputs[k].value === "" ? NaN : Number(this.#inputs[k].value), null) },
    }));
    this.#picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "histogram", role: "img", "aria-label": `Histogram of ${name.toLowerCase()}` }, this.#bars, ...this.#outside, ...this.#edges);
    this.#bars.style.fill = CHANNEL_COLORS[channel];
    this.#picture.addEventListener("pointerdown", (event) => this.#down(event));
    this.#picture.addEventListener("pointermove", (event) => this.#dragged >= 0 && this.moved(this.#dragged, this.#valueAt(event), "values"));
    this.#picture.addEventListener("pointerup", () => (this.#dragged = -1));
    this.#picture.addEventListener("pointercancel", () => (this.#dragged = -1));
    this.element = el("div", { class: "channel-row" });
    this.element.append(this.#picture, ...this.#inputs);
  }

  show(histogram: ChannelHistogram, limits: number[], unit: Unit): void {
    [this.#histogram, this.#limits] = [histogram, limits];
    const { low, high, counts, percentiles } = histogram;
    const most = Math.sqrt(Math.max(...counts, 1));
    const step = WIDTH / counts.length;
    this.#bars.setAttribute("d", counts.map((count, k) => {
      const tall = (HEIGHT * Math.sqrt(count)) / most;
      return `M${k * step} ${HEIGHT}v${-tall}h${step}v${tall}Z`;
    }).join(""));
    const [from, to] = limits.map((value) => Math.min(Math.max((WIDTH * (value - low)) / (high - low), 0), WIDTH));
    [from, to].forEach((x, k) => this.#edges[k].setAttribute("d", `M${x} 0v${HEIGHT}`));
    this.#outside[0].setAttribute("width", String(from));
    this.#outside[1].setAttribute("x", String(to));
    this.#outside[1].setAttribute("width", String(WIDTH - to));
    this.#inputs.forEach((input, k) => {
      input.value = String(unit === "values" ? Number(limits[k].toPrecision(4)) : Number(percentOf(percentiles, limits[k]).toFixed(1)));
    });
  }

  #down(event: PointerEvent): void {
    if (!this.#histogram) return;
    event.preventDefault();
    const value = this.#valueAt(event);
    const [low, high] = this.#limits;
    this.#dragged = Math.abs(value - low) < Math.abs(value - high) ? 0 : 1;
    this.#picture.setPointerCapture(event.pointerId);
    this.moved(this.#dragged, value, "values");
  }

  #valueAt(event: PointerEvent): number {
    const box = this.#picture.getBoundingClientRect();
    const { low, high } = this.#histogram!;
    return low + ((high - low) * (event.clientX - box.left)) / box.width;
  }
}

/** The value of a percentile, between those of whole ones. */
function at(percentiles: number[], percent: number): number {
  const within = Math.min(Math.max(percent, 0), 100);
  const k = Math.min(Math.floor(within), 99);
  return percentiles[k] + (within - k) * (percentiles[k + 1] - percentiles[k]);
}

/** How many percent of the pixels are below a value. */
function percentOf(percentiles: number[], value: number): number {
  const k = percentiles.findIndex((other) => other >= value);
  if (k < 0) return 100;
  if (k === 0) return 0;
  return k - 1 + (value - percentiles[k - 1]) / (percentiles[k] - percentiles[k - 1]);
}
