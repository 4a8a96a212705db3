// Spectra against wavelength on a canvas: axes, lines with gaps, bands of spread, marks of channels.

import { el } from "../base/dom";
import type { BandInfo } from "../session/protocol.generated";

const LEFT = 34; // CSS pixels for the numbers
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 30;
const SPREAD_OPACITY = 0.22;

export const CHANNELS = ["Red", "Green", "Blue"];
/** Told apart also by those who see no red or green. */
export const CHANNEL_COLORS = ["#d55e00", "#009e73", "#0072b2"];

export type Values = (number | null)[];
type Range = [number, number];

export interface Curve {
  values: Values;
  spread?: { low: Values; high: Values }; // Drawn as an area around the line.
  color: string;
  width: number;
  faint?: boolean;
}

interface Axes {
  ends: Range; // The least and the largest position along the axis: wavelengths, or band numbers from 1.
  /** Where a position lies on the canvas, a band, and a value. */
  along: (position: number) => number;
  x: (band: number) => number;
  y: (value: number) => number;
}

interface Handlers {
  /** Size or theme have changed. */
  redraw: () => void;
  /** The pointer is at a band, or has left (null). */
  point?: (band: number | null) => void;
  /** A band was clicked. */
  click?: (band: number) => void;
}

export class SpectrumPlot {
  readonly canvas: HTMLCanvasElement;
  #bands: BandInfo | null = null;

  constructor(name: string, on: Handlers) {
    this.canvas = el("canvas", { class: "spectrum", attributes: { role: "img", "aria-label": name } });
    this.canvas.addEventListener("pointermove", (event) => on.point?.(this.#bandAt(event)));
    this.canvas.addEventListener("pointerleave", () => on.point?.(null));
    this.canvas.addEventListener("click", (event) => {
      const band = this.#bandAt(event);
      if (band !== null) on.click?.(band);
    });
    new ResizeObserver(() => on.redraw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => on.redraw());
    new MutationObserver(() => on.redraw()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /** The colour of ink on the canvas: for a line that belongs to no class. */
  get ink(): string {
    return getComputedStyle(this.canvas).getPropertyValue("--ink");
  }

  /** Draws curves, the last one on top, and where red, green and blue of the picture lie. */
  draw(bands: BandInfo, curves: Curve[], marked: number[]): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.#bands = bands;
    if (width === 0) return;
    const context = sharpContext(this.canvas, width, height);
    const style = getComputedStyle(this.canvas);
    context.font = `10.5px ${style.fontFamily}`;
    const range = rangeOf(curves);
    const axes = makeAxes(bands, range ?? [0, 1], width, height);
    drawAxes(context, bands, range, axes, width, height, style.getPropertyValue("--muted"), style.getPropertyValue("--line"));
    drawMarks(context, axes, height, marked);
    for (const curve of curves) {
      context.globalAlpha = SPREAD_OPACITY;
      if (curve.spread) fillBetween(context, curve.spread.low, curve.spread.high, axes, curve.color);
    }
    for (const curve of curves) {
      context.globalAlpha = curve.faint ? 0.3 : 1;
      drawLine(context, curve.values, axes, curve.color, curve.width);
    }
    context.globalAlpha = 1;
  }

  /** The good band nearest to the pointer. */
  #bandAt(event: MouseEvent): number | null {
    if (!this.#bands) return null;
    const box = this.canvas.getBoundingClientRect();
    const { x } = makeAxes(this.#bands, [0, 1], box.width, box.height);
    const away = (band: number) => Math.abs(x(band) - (event.clientX - box.left));
    const good = this.#bands.good.flatMap((is, band) => (is ? [band] : []));
    return good.length ? good.reduce((best, band) => (away(band) < away(best) ? band : best)) : null;
  }
}

/** What a band is called: its wavelength where that is known, else its number. */
export function bandName(bands: BandInfo, band: number): string {
  const length = bands.wavelengths?.[band];
  if (length === undefined) return `band ${band + 1}`;
  return `band ${band + 1}, ${length < 10 ? length.toFixed(2) : Math.round(length)} ${bands.unit ?? ""}`;
}

function rangeOf(curves: Curve[]): Range | null {
  const all = curves.flatMap(({ values, spread }) => [values, ...(spread ? [spread.low, spread.high] : [])]);
  let [low, high] = [Infinity, -Infinity];
  for (const values of all) {
    for (const value of values) {
      if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
  }
  if (low > high) return null;
  const room = 0.05 * (high - low || Math.abs(high) || 1);
  return [low - room, high + room];
}

function sharpContext(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function makeAxes(bands: BandInfo, [low, high]: Range, width: number, height: number): Axes {
  const at = bands.wavelengths ?? Array.from({ length: bands.n_bands }, (_, band) => band + 1);
  const [first, last] = [Math.min(...at), Math.max(...at)];
  const along = (position: number) => LEFT + ((position - first) / (last - first || 1)) * (width - LEFT - RIGHT);
  return {
    ends: [first, last],
    along,
    x: (band) => along(at[band]),
    y: (value) => TOP + ((high - value) / (high - low)) * (height - TOP - BOTTOM),
  };
}

function drawAxes(
  context: CanvasRenderingContext2D, bands: BandInfo, range: Range | null, axes: Axes,
  width: number, height: number, ink: string, line: string,
): void {
  context.strokeStyle = line;
  context.lineWidth = 1;
  context.fillStyle = ink;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const tick of range ? ticks(...range, height < 200 ? 4 : 7) : []) {
    const y = Math.round(axes.y(tick)) + 0.5;
    context.beginPath();
    context.moveTo(LEFT, y);
    context.lineTo(width - RIGHT, y);
    context.stroke();
    context.fillText(short(tick), LEFT - 5, y);
  }
  context.textBaseline = "alphabetic";
  context.textAlign = "center";
  for (const tick of ticks(...axes.ends, width < 400 ? 5 : 9)) {
    const text = short(tick);
    const half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(axes.along(tick), width - half), height - BOTTOM + 15);
  }
  const title = bands.wavelengths ? `wavelength, ${bands.unit ?? ""}` : "band";
  context.fillText(title, (LEFT + width - RIGHT) / 2, height - 3);
}

function drawMarks(context: CanvasRenderingContext2D, axes: Axes, height: number, bands: number[]): void {
  CHANNEL_COLORS.forEach((color, k) => {
    if (bands[k] === undefined) return;
    context.fillStyle = color;
    const x = axes.x(bands[k]);
    context.globalAlpha = 0.45;
    context.fillRect(x - 0.5, TOP, 1, height - TOP - BOTTOM);
    context.globalAlpha = 1;
    context.fillRect(x - 1.5, height - BOTTOM, 3, 5);
  });
}

/** A line with gaps where a band is bad. */
function drawLine(context: CanvasRenderingContext2D, values: Values, axes: Axes, color: string, width: number): void {
  context.strokeStyle = color;
  context.lineWidth = width;
  context.lineJoin = "round";
  context.beginPath();
  for (const [first, last] of pieces(values)) {
    for (let band = first; band <= last; band++) {
      const [x, y] = [axes.x(band), axes.y(values[band]!)];
      if (band === first) context.moveTo(x, y);
      else context.lineTo(x, y);
    }
  }
  context.stroke();
}

function fillBetween(context: CanvasRenderingContext2D, low: Values, high: Values, axes: Axes, color: string): void {
  context.fillStyle = color;
  context.beginPath();
  for (const [first, last] of pieces(low)) {
    context.moveTo(axes.x(first), axes.y(low[first]!));
    for (let band = first + 1; band <= last; band++) context.lineTo(axes.x(band), axes.y(low[band]!));
    for (let band = last; band >= first; band--) context.lineTo(axes.x(band), axes.y(high[band]!));
    context.closePath();
  }
  context.fill();
}

/** First and last band of each stretch without a gap. */
function pieces(values: Values): [number, number][] {
  const found: [number, number][] = [];
  values.forEach((value, band) => {
    if (value === null) return;
    if (band > 0 && values[band - 1] !== null) found[found.length - 1][1] = band;
    else found.push([band, band]);
  });
  return found;
}

/** About `wanted` round numbers from low to high. */
function ticks(low: number, high: number, wanted: number): number[] {
  const rough = (high - low) / wanted;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough)! * power;
  const found: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
  return found;
}

function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 10_000) return `${Number((value / 1000).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}
