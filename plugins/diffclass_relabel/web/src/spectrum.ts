// The spectrum under the pointer against wavelength, beside the means of the classes.

import { el, section } from "./dom";
import type { SceneInfo, SpectrumAnswer } from "./protocol.generated";
import type { Session } from "./session";
import type { Ui } from "./ui";

const LEFT = 34; // CSS pixels for the numbers
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 30;
const FEW = 4; // class means up to which all are drawn alike

type Values = (number | null)[];
type Range = [number, number];

interface Axes {
  x: (band: number) => number;
  y: (value: number) => number;
}

export class Spectrum {
  readonly element: HTMLElement;
  private readonly canvas = el("canvas", { class: "spectrum", attributes: { role: "img", "aria-label": "Spectrum under the pointer and class means" } });
  private readonly note = el("span", { class: "note muted" });
  private answer: SpectrumAnswer | null = null;
  private bands: number[] = [];
  private asking = false;
  private stale = false;

  constructor(private readonly session: Session, private readonly ui: Ui) {
    this.element = section("Spectrum", this.canvas);
    this.element.querySelector("h2")!.append(this.note);
    ui.on("hover", () => void this.follow());
    ui.on("class", () => this.draw());
    session.on("map", () => this.refresh());
    session.on("state", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    new MutationObserver(() => this.draw()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  /** Marks the bands of the picture. */
  setBands(bands: number[]): void {
    this.bands = bands;
    this.draw();
  }

  private refresh(): void {
    this.stale = true;
    void this.follow();
  }

  /** Asks for one spectrum at a time; the pixel that the pointer is on by then comes next. */
  private async follow(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    for (let pixel = this.pixel(); pixel !== null && (this.stale || pixel !== this.answer?.pixel); pixel = this.pixel()) {
      this.stale = false;
      const answer = await this.session.ask({ ask: "spectrum", pixel });
      if (!answer) break;
      this.answer = answer;
      this.draw();
    }
    this.asking = false;
  }

  private pixel(): number | null {
    const { hover } = this.ui;
    if (hover) return hover.row * this.session.scene!.columns + hover.column;
    return this.stale && this.answer ? this.answer.pixel : null;
  }

  private draw(): void {
    const { scene } = this.session;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!scene || width === 0) return;
    const context = sharpContext(this.canvas, width, height);
    const style = getComputedStyle(this.canvas);
    const ink = (name: string) => style.getPropertyValue(name);
    context.font = `10.5px ${style.fontFamily}`;
    const range = this.range();
    const axes = makeAxes(scene, range ?? [0, 1], width, height);
    drawAxes(context, scene, range, axes, width, height, ink("--muted"), ink("--line"));
    this.drawBands(context, axes, height);
    const means = this.answer?.means ?? [];
    const focus = this.focus();
    for (const mean of means) {
      const item = this.session.classOf(mean.class);
      context.globalAlpha = focus.has(mean.class) || means.length <= FEW ? 1 : 0.3;
      if (item && !item.hidden) drawLine(context, mean.values, axes, item.color, 1.25);
    }
    context.globalAlpha = 1;
    if (this.answer) drawLine(context, this.answer.values, axes, ink("--ink"), 1.75);
    this.note.textContent = this.answer ? this.where(this.answer.pixel) : "";
  }

  /** Classes whose means are drawn: the one that is painted and the map's. */
  private focus(): Set<number> {
    const { answer, session, ui } = this;
    return new Set([ui.classId, answer ? (session.map?.ids[answer.pixel] ?? 0) : 0]);
  }

  private where(pixel: number): string {
    const { columns } = this.session.scene!;
    return `row ${Math.floor(pixel / columns)}, column ${pixel % columns}`;
  }

  private range(): Range | null {
    const all = [this.answer?.values ?? [], ...(this.answer?.means ?? []).map((mean) => mean.values)];
    const values = all.flat().filter((value): value is number => value !== null);
    if (!values.length) return null;
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = 0.05 * (high - low || Math.abs(high) || 1);
    return [low - room, high + room];
  }

  /** Where red, green and blue of the picture lie. */
  private drawBands(context: CanvasRenderingContext2D, axes: Axes, height: number): void {
    ["#d55e00", "#009e73", "#0072b2"].forEach((color, k) => {
      if (this.bands[k] === undefined) return;
      context.fillStyle = color;
      const x = axes.x(this.bands[k]);
      context.fillRect(x - 1, height - BOTTOM, 2, 5);
    });
  }
}

function sharpContext(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function makeAxes(scene: SceneInfo, [low, high]: Range, width: number, height: number): Axes {
  const at = positions(scene);
  const [first, last] = [Math.min(...at), Math.max(...at)];
  return {
    x: (band) => LEFT + ((at[band] - first) / (last - first || 1)) * (width - LEFT - RIGHT),
    y: (value) => TOP + ((high - value) / (high - low)) * (height - TOP - BOTTOM),
  };
}

/** Wavelengths, or band numbers from 1 where there are none. */
function positions(scene: SceneInfo): number[] {
  return scene.wavelengths ?? Array.from({ length: scene.n_bands }, (_, band) => band + 1);
}

function drawAxes(
  context: CanvasRenderingContext2D, scene: SceneInfo, range: Range | null, axes: Axes,
  width: number, height: number, ink: string, line: string,
): void {
  const at = positions(scene);
  const [first, last] = [Math.min(...at), Math.max(...at)];
  const x = (value: number) => LEFT + ((value - first) / (last - first || 1)) * (width - LEFT - RIGHT);
  context.strokeStyle = line;
  context.lineWidth = 1;
  context.fillStyle = ink;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const tick of range ? ticks(range[0], range[1], 4) : []) {
    const y = Math.round(axes.y(tick)) + 0.5;
    context.beginPath();
    context.moveTo(LEFT, y);
    context.lineTo(width - RIGHT, y);
    context.stroke();
    context.fillText(short(tick), LEFT - 5, y);
  }
  context.textBaseline = "alphabetic";
  context.textAlign = "center";
  for (const tick of ticks(first, last, 5)) {
    const text = short(tick);
    const half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(x(tick), width - half), height - BOTTOM + 15);
  }
  const title = scene.wavelengths ? `wavelength, ${scene.unit ?? ""}` : "band";
  context.fillText(title, (LEFT + width - RIGHT) / 2, height - 3);
}

/** A line with gaps where a band is bad. */
function drawLine(context: CanvasRenderingContext2D, values: Values, axes: Axes, color: string, width: number): void {
  context.strokeStyle = color;
  context.lineWidth = width;
  context.lineJoin = "round";
  context.beginPath();
  let drawing = false;
  values.forEach((value, band) => {
    if (value !== null && drawing) context.lineTo(axes.x(band), axes.y(value));
    else if (value !== null) context.moveTo(axes.x(band), axes.y(value));
    drawing = value !== null;
  });
  context.stroke();
}

/** About `wanted` round numbers from low to high. */
export function ticks(low: number, high: number, wanted: number): number[] {
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
