// Draws the scene and its layers; repaints at most once per frame, only when something changed.

import { doubtColor } from "./colors";
import { allBorders, borderPixels, classBorders, type Window } from "./contours";
import type { Layers } from "./layers";
import { NO_DATA } from "./protocol.generated";
import { classTable, greyOf, maskTable, RasterImage, scaleTable, type Table } from "./raster_image";
import type { Session } from "./session";
import type { View } from "./view";

const DOUBT = scaleTable((margin) => doubtColor(1 - margin));
const NOTHING_CHANGED = maskTable(0, [16, 17, 18]);
// CSS pixels per raster pixel from which borders are lines; below, they would hide what they bound.
const LINES_FROM = 3;

export class Painter {
  /** Whether a stroke is being drawn. */
  painting = false;
  /** Called after each repaint. */
  painted: () => void = () => {};
  private readonly context: CanvasRenderingContext2D;
  private picture: CanvasImageSource | null = null;
  private greyPicture: CanvasImageSource | null = null;
  private readonly labels = new RasterImage();
  private readonly map = new RasterImage();
  private readonly doubt = new RasterImage();
  private readonly changes = new RasterImage();
  private table: Table = new Uint32Array(256);
  private readonly borders = new RasterImage();
  // Made when they are first laid: most maps are replaced before anybody looks at these.
  private bordersDone = false;
  private doubtDone = false;
  private changesDone = false;
  private anyChange = false;
  private wasPreview = false;
  private due = false;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly session: Session,
    private readonly view: View,
    private readonly layers: Layers,
  ) {
    this.context = canvas.getContext("2d", { willReadFrequently: false })!;
    session.on("scene", () => this.resize());
    session.on("state", () => this.recolor());
    session.on("labels", () => this.relabel());
    session.on("map", (window) => this.remap(window));
    session.on("preview", () => this.remap());
    session.on("changes", () => {
      this.changesDone = false;
      this.request();
    });
  }

  setPicture(picture: ImageBitmap): void {
    this.picture = picture;
    this.greyPicture = greyOf(picture);
    this.request();
  }

  /** Shows pixels of a stroke that is being drawn. */
  patchLabels(pixels: number[]): void {
    this.labels.patch(pixels, this.session.labels.shown, this.table);
    this.request();
  }

  request(): void {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.paint();
      this.painted();
    });
  }

  /** Draws at once; for tests that read the canvas. */
  paint(): void {
    const { context, view } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    context.setTransform(view.scale, 0, 0, view.scale, view.x, view.y);
    context.imageSmoothingEnabled = false;
    if (this.picture) this.lay(this.hasAreas ? this.greyPicture! : this.picture, this.layers.opacity("raw"));
    this.layMap();
    this.layDoubt();
    this.layLabels();
    this.layChanges();
    context.globalAlpha = 1;
  }

  /** Whether areas of colour lie over the picture, whose own colours would falsify theirs. */
  private get hasAreas(): boolean {
    if (!this.layers.greyUnder || !this.session.shownMap) return false;
    return this.layers.opacity("doubt") > 0 || (this.layers.opacity("map") > 0 && !this.asOutlines);
  }

  private layDoubt(): void {
    const map = this.session.shownMap;
    const opacity = this.layers.opacity("doubt");
    if (!map || opacity === 0) return;
    if (!this.doubtDone) this.doubt.fill(map.margin, DOUBT);
    this.doubtDone = true;
    this.lay(this.doubt.canvas, opacity);
  }

  private layChanges(): void {
    const { changes, map } = this.session;
    const opacity = this.layers.opacity("changes");
    if (!changes || opacity === 0) return;
    if (!this.changesDone) {
      this.anyChange = changes.some((value, k) => value !== 0 && map?.ids[k] !== NO_DATA);
      this.changes.fill(changes, NOTHING_CHANGED);
      this.changesDone = true;
    }
    if (this.anyChange) this.lay(this.changes.canvas, opacity);
  }

  private get asOutlines(): boolean {
    return this.layers.outlines || (this.layers.outlinesWhilePainting && this.painting);
  }

  private lay(picture: CanvasImageSource, opacity: number): void {
    if (opacity === 0) return;
    this.context.globalAlpha = opacity;
    this.context.drawImage(picture, 0, 0, this.view.columns, this.view.rows);
  }

  private layMap(): void {
    const opacity = this.layers.opacity("map");
    if (!this.session.shownMap || opacity === 0) return;
    if (!this.asOutlines) this.lay(this.map.canvas, opacity);
    else if (this.hasLines) this.drawBorders();
    else this.lay(this.borderImage(), 1);
  }

  private get hasLines(): boolean {
    return this.view.scale >= LINES_FROM * this.view.ratio;
  }

  private borderImage(): CanvasImageSource {
    const { rows, columns } = this.view;
    if (!this.bordersDone) this.borders.fill(borderPixels({ ids: this.session.shownMap!.ids, rows, columns }), this.table);
    this.bordersDone = true;
    return this.borders.canvas;
  }

  /** Each class's border as a line of its colour just inside it, on a dark ground. */
  private drawBorders(): void {
    const { context, view } = this;
    const { rows, columns } = view;
    const borders = classBorders({ ids: this.session.shownMap!.ids, rows, columns }, view.window);
    const width = (1.5 * view.ratio) / view.scale;
    context.globalAlpha = 1;
    context.lineCap = "square";
    for (const halo of [true, false]) {
      context.lineWidth = halo ? width * 1.8 : width;
      for (const [id, border] of borders) {
        const shown = this.session.classOf(id);
        if (!shown || shown.hidden) continue;
        context.strokeStyle = halo ? "rgb(0 0 0 / 0.55)" : shown.color;
        border.forEach((path, side) => this.strokeShifted(path, side, width / 2));
      }
    }
  }

  private strokeShifted(path: Path2D, side: number, shift: number): void {
    const dx = side === 2 ? shift : side === 3 ? -shift : 0;
    const dy = side === 0 ? shift : side === 1 ? -shift : 0;
    this.context.translate(dx, dy);
    this.context.stroke(path);
    this.context.translate(-dx, -dy);
  }

  private layLabels(): void {
    const opacity = this.layers.opacity("labels");
    this.lay(this.labels.canvas, opacity);
    if (opacity === 0 || !this.hasLines) return;
    const { rows, columns, scale, ratio, window } = this.view;
    this.context.lineWidth = ratio / scale;
    this.context.lineCap = "square";
    this.context.strokeStyle = "rgb(0 0 0 / 0.75)";
    this.context.stroke(allBorders({ ids: this.shownLabels(), rows, columns }, window));
  }

  /** The labels without those of hidden classes. */
  private shownLabels(): Uint8Array {
    const labels = this.session.labels.shown;
    if (!this.session.classes.some((item) => item.hidden)) return labels;
    return labels.map((id) => (this.table[id] ? id : 0));
  }

  private resize(): void {
    const { rows, columns } = this.session.scene!;
    for (const image of [this.labels, this.map, this.borders, this.doubt, this.changes]) image.resize(rows, columns);
    this.view.setRaster(rows, columns);
    this.request();
  }

  private recolor(): void {
    const shown = this.session.classes.filter((item) => !item.hidden);
    const table = classTable(shown.map((item) => [item.id, item.color]));
    this.request();
    if (table.every((color, id) => color === this.table[id])) return;
    this.table = table;
    this.relabel();
    this.remap();
  }

  private relabel(): void {
    this.labels.fill(this.session.labels.shown, this.table);
    this.request();
  }

  private remap(window?: Window): void {
    const map = this.session.shownMap;
    this.bordersDone = this.doubtDone = false;
    // What a preview has left outside the window is gone with it.
    if (map) this.map.fill(map.ids, this.table, this.wasPreview ? undefined : window);
    this.wasPreview = this.session.preview !== null;
    this.request();
  }
}
