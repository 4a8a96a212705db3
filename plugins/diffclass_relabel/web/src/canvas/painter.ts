// Draws the scene and its layers; repaints at most once per frame, only when something changed.

import { oncePerFrame } from "../base/events";
import { overlap, type Window } from "../base/raster";
import type { RowContents } from "../session/row_contents";
import { RowPictures } from "./row_pictures";
import { NO_DATA } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { allBorders, WindowCache } from "./contours";
import type { Layers } from "./layers";
import { MapLayer } from "./map_layer";
import { classTable, doubtTable, greyOf, maskTable, RasterImage, type Table } from "./raster_image";
import type { View } from "./view";

const DOUBT = doubtTable();
// CSS pixels per raster pixel from which labels have lines around them: dark on light, to be seen on any map.
const LABEL_LINES_FROM = 1;
const LABEL_LINES: [width: number, color: string][] = [[3, "rgb(255 255 255 / 0.85)"], [1.25, "rgb(0 0 0 / 0.85)"]];
const NOTHING_CHANGED = maskTable(0, [16, 17, 18]);

/** What is shown left of a divider, which lies at a share of the width. */
export interface Compared {
  ids: Uint8Array | null; // Classes of another map; null: the picture alone.
  share: number;
}

export class Painter {
  painting = false; // Whether a stroke is being drawn.
  readonly #context: CanvasRenderingContext2D;
  #picture: CanvasImageSource | null = null;
  #greyPicture: CanvasImageSource | null = null;
  readonly #labels = new RasterImage();
  readonly #labelLines = new WindowCache<Path2D>();
  readonly #map: MapLayer;
  readonly #other: MapLayer; // What the map is compared with, left of the divider.
  readonly #doubt = new RasterImage();
  readonly #changes = new RasterImage();
  #table: Table = new Uint32Array(256);
  #wasPreview = false;
  #hadMap = false;
  #compared: Compared | null = null;
  readonly #pictures: RowPictures;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly session: Session,
    private readonly view: View,
    private readonly layers: Layers,
    rows: RowContents,
  ) {
    this.#pictures = new RowPictures(session, view, rows);
    rows.on("changed", () => session.scene?.table?.images && this.request());
    this.#context = canvas.getContext("2d")!;
    this.#map = new MapLayer(session, view);
    this.#other = new MapLayer(session, view);
    view.on("changed", this.request);
    layers.on("changed", this.request);
    session.on("scene", () => this.#resize());
    session.on("state", () => this.#recolor());
    session.on("labels", () => this.#relabel());
    session.on("map", (window) => this.#remap(window));
    session.on("preview", () => this.#remap());
    session.on("changes", (changes) => {
      this.#changes.fillWhenDrawn(() => (this.#hasAny(changes) ? changes : changes.map(() => 1)), NOTHING_CHANGED);
      this.request();
    });
  }

  setPicture(picture: ImageBitmap): void {
    if (this.#picture) this.layers.lower(); // somebody has chosen another, and wants to see it
    this.#picture = picture;
    this.#greyPicture = greyOf(picture);
    this.request();
  }

  /** Shows pixels of a stroke that is being drawn. */
  patchLabels(pixels: number[]): void {
    this.#labels.patch(pixels, this.session.labels.shown, this.#table);
    this.#labelLines.forget();
    this.request();
  }

  /** Repaints at most once per frame. */
  readonly request = oncePerFrame(() => {
    this.paint();
    this.session.drawn(this.view.window);
  });

  /** Shows something else left of a divider; null: nothing. */
  compare(compared: Compared | null): void {
    const isNew = compared?.ids !== this.#compared?.ids;
    this.#compared = compared;
    if (isNew && compared?.ids) this.#other.set(compared.ids, this.#table);
    this.request();
  }

  /** Draws at once; for tests that read the canvas. */
  paint(): void {
    const { view } = this;
    const context = this.#context;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    context.imageSmoothingEnabled = false;
    const split = this.#compared ? Math.round(this.#compared.share * view.width) : 0;
    if (split > 0) this.#drawBetween(0, split, () => this.#drawOther());
    this.#drawBetween(split, view.width, () => this.#drawPresent());
  }

  /** Draws in raster coordinates between two device columns. */
  #drawBetween(left: number, right: number, act: () => void): void {
    const { view } = this;
    const context = this.#context;
    context.save();
    context.beginPath();
    context.rect(left, 0, right - left, view.height);
    context.clip();
    context.setTransform(view.scale, 0, 0, view.scale, view.x, view.y);
    act();
    context.restore();
  }

  #drawPresent(): void {
    this.#drawPicture(this.#hasAreas);
    if (this.session.shownMap) this.#drawMap(this.#map);
    if (this.session.shownMap) this.#draw(this.#doubt, this.layers.opacity("doubt"));
    this.#drawLabels();
    if (this.layers.opacity("raw") > 0) this.#pictures.draw(this.#context);
    this.#draw(this.#changes, this.layers.opacity("changes"));
  }

  /** What the map is compared with: another one over the picture, or the picture alone. */
  #drawOther(): void {
    const isMap = this.#compared!.ids !== null;
    this.#drawPicture(isMap && this.layers.greyUnder && !this.#asOutlines);
    if (isMap) this.#drawMap(this.#other);
  }

  #drawPicture(grey: boolean): void {
    if (this.#picture) this.#draw(grey ? this.#greyPicture! : this.#picture, this.layers.opacity("raw"));
  }

  /** Whether areas of colour lie over the picture, whose own colours would falsify theirs. */
  get #hasAreas(): boolean {
    if (!this.layers.greyUnder || !this.session.hasMap) return false;
    return this.layers.opacity("doubt") > 0 || (this.layers.opacity("map") > 0 && !this.#asOutlines);
  }

  /** Whether any pixel with data has changed; if none has, nothing is dimmed. */
  #hasAny(changes: Uint8Array): boolean {
    return changes.some((value, k) => value !== 0 && this.session.map?.ids[k] !== NO_DATA);
  }

  get #asOutlines(): boolean {
    return this.layers.outlines || (this.layers.outlinesWhilePainting && this.painting);
  }

  #draw(image: RasterImage | CanvasImageSource, opacity: number): void {
    if (opacity === 0) return;
    this.#context.globalAlpha = opacity;
    this.#context.drawImage(image instanceof RasterImage ? image.picture : image, 0, 0, this.view.columns, this.view.rows);
  }

  #drawMap(layer: MapLayer): void {
    layer.draw(this.#context, { opacity: this.layers.opacity("map"), asOutlines: this.#asOutlines });
  }

  #drawLabels(): void {
    const opacity = this.layers.opacity("labels");
    this.#draw(this.#labels, opacity);
    const { rows, columns, scale, ratio, window } = this.view;
    if (opacity === 0 || scale < LABEL_LINES_FROM * ratio) return;
    const lines = this.#labelLines.of(window, () => allBorders({ ids: this.#shownLabels(), rows, columns }, window));
    this.#context.lineCap = "square";
    for (const [width, color] of LABEL_LINES) {
      this.#context.lineWidth = (width * ratio) / scale;
      this.#context.strokeStyle = color;
      this.#context.stroke(lines);
    }
  }

  /** The labels without those of hidden classes. */
  #shownLabels(): Uint8Array {
    const labels = this.session.labels.shown;
    if (!this.session.classes.some((item) => item.hidden)) return labels;
    return labels.map((id) => (this.#table[id] ? id : 0));
  }

  #resize(): void {
    const { rows, columns } = this.session.scene!;
    for (const image of [this.#labels, this.#map, this.#other, this.#doubt, this.#changes]) image.resize(rows, columns);
    this.view.setRaster(rows, columns);
    this.request();
  }

  #recolor(): void {
    const { classes, hasMap } = this.session;
    const table = classTable(classes.filter((item) => !item.hidden).map((item) => [item.id, item.color]));
    if (hasMap !== this.#hadMap) this.#remap(); // it was not drawn before, or is no longer
    this.#hadMap = hasMap;
    if (table.every((color, id) => color === this.#table[id])) return;
    this.#table = table;
    if (this.#compared?.ids) this.#other.set(this.#compared.ids, table);
    this.#relabel();
    this.#remap();
  }

  #relabel(): void {
    this.#labels.fill(this.session.labels.shown, this.#table);
    this.#labelLines.forget();
    this.request();
  }

  #remap(window?: Window): void {
    const map = this.session.shownMap;
    if (map) this.#doubt.fillWhenDrawn(() => map.margin, DOUBT);
    // What a preview has left outside the window is gone with it.
    if (map) this.#map.set(map.ids, this.#table, this.#wasPreview ? undefined : window);
    this.#wasPreview = this.session.preview !== null;
    if (!window || overlap(window, this.view.window)) this.request();
  }
}
