// What page and server say to each other: messages as types, pixel sets as runs, binary frames.

/** A set of pixels: start, length, start, length, ... over row * columns + column, rising. */
export type Runs = number[];

export interface ClassInfo {
  id: number;
  name: string;
  color: string;
  hidden: boolean;
  locked: boolean;
  /** Labelled pixels. */
  pixels: number;
  /** Pixels of the map. */
  mapped: number;
}

export interface StrokeInfo {
  number: number;
  class: number;
  count: number;
  /** One of its pixels. */
  first: number;
}

/** What the server knows of the session; sent to every tab after each operation. */
export interface SessionState {
  version: number;
  classes: ClassInfo[];
  strokes: StrokeInfo[];
  tau: number;
  tau_mode: "margin" | "fixed";
  max_time: number;
  live: boolean;
  stale: boolean;
  computing: boolean;
  warped: boolean;
  can_undo: boolean;
  can_redo: boolean;
  n_changed: number | null;
  ms: number | null;
  saved: boolean;
  problem?: string | null;
  session?: string;
}

export interface SceneInfo {
  name: string;
  rows: number;
  columns: number;
  n_bands: number;
  wavelengths: number[] | null;
  unit: string | null;
  good: number[];
  bands_true: number[];
  bands_false: number[];
}

export interface Geography {
  /** x = t[0] + column t[1] + row t[2], y = t[3] + column t[4] + row t[5]. */
  transform: number[];
  crs: string;
}

export interface Hello {
  kind: "hello";
  scene: SceneInfo;
  geo: Geography | null;
  presets: string[];
  state: SessionState;
}

/** An operation: the unit of undo, of the log and of replay. */
export type Operation =
  | { op: "stroke"; class: number; pixels: Runs }
  | { op: "erase"; pixels: Runs }
  | { op: "move"; stroke: number; class: number }
  | { op: "remove"; stroke: number }
  | { op: "add_class"; name?: string; color?: string }
  | { op: "rename_class"; id: number; name: string }
  | { op: "recolor_class"; id: number; color: string }
  | { op: "hide_class"; id: number; hidden: boolean }
  | { op: "lock_class"; id: number; locked: boolean }
  | { op: "merge_classes"; source: number; into: number }
  | { op: "remove_class"; id: number }
  | { op: "tau"; tau: number | "margin" }
  | { op: "warp" }
  | { op: "unwarp" }
  | { op: "undo" }
  | { op: "redo" };

/** A question; it changes no labels. */
export type Question =
  | { ask: "spectrum"; pixel: number }
  | { ask: "why"; pixel: number }
  | { ask: "audit" }
  | { ask: "suggest"; n: number; rule: string }
  | { ask: "curve" }
  | { ask: "live"; on: boolean }
  | { ask: "update" }
  | { ask: "preview_tau"; tau: number }
  | { ask: "export"; what: string; name: string }
  | { ask: "segment"; pixel: number };

export interface SpectrumAnswer {
  pixel: number;
  values: (number | null)[];
  means: { class: number; values: (number | null)[] }[];
}

export interface Share {
  stroke: number;
  class: number;
  share: number;
  pixel: number;
}

export interface Contradiction {
  pixel: number;
  stroke: number;
  class: number;
  says: number;
  margin: number;
}

export interface SuggestAnswer {
  pixels: number[];
  scores: number[];
  rule: string;
}

export interface CurveAnswer {
  times: number[];
  margin: number[];
  coverage: number[];
  tau: number;
}

export interface ExportAnswer {
  url: string;
  files: string[];
}

export interface Done {
  kind: "done";
  seq: number;
  op?: string;
  class?: number;
  stroke?: number;
}

export type TextMessage =
  | Hello
  | { kind: "state"; state: SessionState }
  | Done
  | { kind: "refused"; seq: number | null; message: string }
  | { kind: "answer"; seq: number; ask: string };

/** Planes of one byte a pixel with a header that says what they are. */
export interface Frame {
  kind: "labels" | "map" | "changes" | "preview";
  version: number;
  ms?: number;
  tau?: number;
  planes: Uint8Array[];
}

/** Class id of a pixel that the map leaves open, and of one without data. */
export const UNCLASSIFIED = 0;
export const NO_DATA = 255;

/** Reads a binary message: header length, JSON header, planes of `pixels` bytes each. */
export function parseFrame(buffer: ArrayBuffer, pixels: number): Frame {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const planes: Uint8Array[] = [];
  for (let start = 4 + length; start + pixels <= buffer.byteLength; start += pixels) {
    planes.push(new Uint8Array(buffer, start, pixels));
  }
  return { ...header, planes };
}

/** Packs pixel numbers, in any order and with repeats, into runs. */
export function toRuns(pixels: Iterable<number>): Runs {
  const sorted = Int32Array.from(pixels).sort();
  const runs: Runs = [];
  for (const pixel of sorted) {
    const end = runs.length && runs[runs.length - 2] + runs[runs.length - 1];
    if (runs.length && pixel < end) continue;
    if (runs.length && pixel === end) runs[runs.length - 1] += 1;
    else runs.push(pixel, 1);
  }
  return runs;
}

/** Calls `visit` for each pixel of some runs. */
export function eachPixel(runs: Runs, visit: (pixel: number) => void): void {
  for (let k = 0; k < runs.length; k += 2) {
    const end = runs[k] + runs[k + 1];
    for (let pixel = runs[k]; pixel < end; pixel++) visit(pixel);
  }
}
