// What page and server say to each other. Made from the Python sources by
// `python -m diffclass_relabel.hub.page_types`; do not edit.

export const LARGEST_CLASS_ID = 254;
export const LARGEST_TAU = 16384;
export const LONGEST_NAME = 200;
export const MOST_SUGGESTIONS = 200;
export const NO_DATA = 255;
export const PART_LENGTH = 524288;
export const PALETTE = ["#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#0000ff", "#781e00", "#a5f096", "#6969ff", "#4b3c5a", "#3c1ea5", "#e10f4b", "#ffa5b4", "#6996ff", "#ff965a", "#a5e1ff", "#003c78", "#780f2d", "#2d3ce1", "#a53c00", "#f0f078", "#3c5ac3", "#007878", "#1e783c", "#5a5a87", "#e1f0c3", "#96c387", "#ffa5d2", "#1e3c96", "#5ad269"];

/** An operation: the unit of undo, of the log and of replay. */
export type Operation =
  /** label pixels, taken from older strokes where they were labelled before; pixels of locked classes are left out */
  | { op: "stroke"; class: number; pixels: number[] }
  /** unlabel pixels, except those of locked classes */
  | { op: "erase"; pixels: number[] }
  /** give a whole stroke to a class */
  | { op: "move"; stroke: number; class: number }
  /** unlabel a whole stroke */
  | { op: "remove"; stroke: number }
  /** add a class; what is left out gets the next id, a name and a colour */
  | { op: "add_class"; id?: number; name?: string; color?: string }
  /** name a class anew */
  | { op: "rename_class"; id: number; name: string }
  /** give a class another colour */
  | { op: "recolor_class"; id: number; color: string }
  /** leave a class out when maps are drawn, or show it again; it diffuses all the same */
  | { op: "hide_class"; id: number; hidden: boolean }
  /** protect what is labelled in a class, or free it again */
  | { op: "lock_class"; id: number; locked: boolean }
  /** move all strokes of one class to another and remove the first */
  | { op: "merge_classes"; source: number; into: number }
  /** remove a class without labels */
  | { op: "remove_class"; id: number }
  /** set the time in steps, or the rule "auto" or "margin" that chooses it */
  | { op: "tau"; tau: number | "auto" | "margin" }
  /** set how labels count; "auto" leaves that to the rule of the time "auto" */
  | { op: "label_mode"; mode: "auto" | "summed" | "free" | "absorbing" }
  /** walk separately in each class, by the present posteriors, until "unwarp" or the next "warp" */
  | { op: "warp" }
  /** walk alike in all classes again */
  | { op: "unwarp" }
  /** do several of the operations above as one, all of them or none; the name says what they are together */
  | { op: "batch"; operations: Operation[]; name?: string }
  /** take the last of these operations back, or the last few */
  | { op: "undo"; steps?: number }
  /** do what was undone last again, or the next few */
  | { op: "redo"; steps?: number };

/** A question; it changes no labels. */
export type Question =
  /** the spectrum of a pixel */
  | { ask: "spectrum"; pixel: number }
  /** mean and spread of the spectra of each class's labelled pixels */
  | { ask: "class_spectra" }
  /** the values of red, green and blue of a preset's picture, or of three bands */
  | { ask: "histograms"; preset?: string; bands?: string }
  /** the share of each stroke in a pixel's class */
  | { ask: "why"; pixel: number }
  /** the strokes with pixels that all other strokes contradict */
  | { ask: "audit" }
  /** pixels to label next */
  | { ask: "suggest"; n?: number; rule?: "hybrid" | "margin" | "unexplored" | "distance" | "vopt" | "model-change" | "uncertainty" }
  /** mean margin and coverage by time */
  | { ask: "curve" }
  /** the connected piece of the map around a pixel */
  | { ask: "segment"; pixel: number }
  /** the labels of a file that is sent, or lies at a path next to the scene */
  | { ask: "read_labels"; path?: string; files?: SentFile[]; variable?: string }
  /** accuracy, a table of the classes, and what the last map changed */
  | { ask: "numbers"; by?: "reference" | "held_out" }
  /** say which class of the reference is which of the session's; the numbers then */
  | { ask: "match_reference"; pairs: number[] }
  /** the operations that can be undone and done again */
  | { ask: "history" }
  /** the map of an earlier state of the history, or else the reference */
  | { ask: "compare"; step?: number }
  /** let the map follow every operation, or not */
  | { ask: "live"; on: boolean }
  /** bring the map up to date */
  | { ask: "update" }
  /** say what part of the raster is in view */
  | { ask: "view"; top: number; left: number; bottom: number; right: number }
  /** the map at another time */
  | { ask: "preview_tau"; tau: number }
  /** write a result to files that can be fetched */
  | { ask: "export"; what: "labels" | "map" | "picture" | "margin" | "probability" | "report"; name?: string };

/** The answer to each question. */
export interface Answers {
  spectrum: SpectrumAnswer;
  class_spectra: ClassSpectraAnswer;
  histograms: HistogramsAnswer;
  why: WhyAnswer;
  audit: AuditAnswer;
  suggest: SuggestAnswer;
  curve: CurveAnswer;
  segment: SegmentAnswer;
  read_labels: ReadLabelsAnswer;
  numbers: NumbersAnswer;
  match_reference: NumbersAnswer;
  history: HistoryAnswer;
  compare: CompareAnswer;
  live: LiveAnswer;
  update: UpdateAnswer;
  view: ViewAnswer;
  preview_tau: PreviewAnswer;
  export: ExportAnswer;
}

/** Where nothing is open yet: what can be. */
export interface Start {
  kind: "start";
  /** Nothing outside this folder can be opened but the recent sessions. */
  root: string;
  /** Why the last choice was refused. */
  problem: string | null;
  recent: OfferedSession[];
  /** The folder that is shown, relative to the root; empty for the root. */
  path: string;
  folders: string[];
  scenes: OfferedScene[];
  /** Whether the folder holds nothing more. */
  whole: boolean;
}

/** A session that was opened lately. */
export interface OfferedSession {
  /** Of the scene. */
  name: string;
  folder: string;
  /** Rows, columns and bands. */
  shape: number[];
  /** When it was last worked on: seconds since 1970. */
  at: number;
}

/** A scene of the folder that is shown. */
export interface OfferedScene {
  name: string;
  /** Size of the file; null for a product of several. */
  bytes: number | null;
  /** When it was last written: seconds since 1970. */
  at: number;
}

/** A scene was chosen: its session is at another address. */
export interface Moved {
  kind: "moved";
  /** Null where it is the same. */
  port: number | null;
  token: string;
}

/** Sent instead of the greeting as long as the scene is being prepared. */
export interface Preparing {
  kind: "preparing";
  scene: string;
  steps: PreparingStep[];
  /** Seconds, about. */
  left: number | null;
}

export interface PreparingStep {
  name: string;
  is: "waiting" | "running" | "done";
  /** How much is done, 0 to 1; null if that is not known. */
  share: number | null;
  /** So far, or all of them. */
  seconds: number | null;
}

/** The scene could not be prepared; the server ends, or offers others. */
export interface Failed {
  kind: "failed";
  message: string;
}

/** The greeting of a page. */
export interface Hello {
  scene: SceneInfo;
  geo: Geography | null;
  presets: Preset[];
  exports: ExportFormat[];
  kind: "hello";
  /** The session's own; a page names it when it comes back. */
  id: string;
  state: SessionState;
  /** Number of this page's newest operation in the state; 0: none. */
  included: number;
}

/** The scene: size and bands. */
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
  /** Side of the blocks of pixels that are classified as one; 1: none. */
  block: number;
  /** Of the pixels, where provisional maps are made of them. */
  n_aggregates: number | null;
  /** Whether answers and warped walks are of the aggregates too. */
  coarse_answers: boolean;
}

/** Where the scene lies. */
export interface Geography {
  /** x = t[0] + column t[1] + row t[2], y = t[3] + column t[4] + row t[5]. */
  transform: number[];
  crs: string | null;
}

/** A picture of the scene to choose, and what to call it. */
export interface Preset {
  name: string;
  label: string;
}

/** A result that can be exported, in one format. */
export interface ExportFormat {
  what: "labels" | "map" | "picture" | "margin" | "probability" | "report";
  suffix: string;
  label: string;
  /** Of the file. */
  name: string;
}

/** The state of the session, sent to every tab after each operation. */
export interface SessionState {
  /** Operations applied so far. */
  version: number;
  classes: ClassState[];
  /** The newest ones, in the order of painting. */
  strokes: StrokeState[];
  /** All of them. */
  n_strokes: number;
  /** As it was asked for, maybe "auto". */
  label_mode: string;
  /** How labels count in the next map. */
  counted: string;
  tau: number;
  tau_mode: "auto" | "margin" | "fixed";
  /** Whether the time is known; "auto" has to choose it first. */
  refined: boolean;
  max_time: number;
  stale: boolean;
  /** Of the newest map, which may be on its way. */
  map_version: number | null;
  warped: boolean;
  /** Number of the present state in the history. */
  step: number;
  /** Whether there is an image to compare with. */
  has_reference: boolean;
  can_undo: boolean;
  can_redo: boolean;
  n_changed: number;
  ms: number;
  saved: boolean;
  session: string;
  live: boolean;
  computing: boolean;
  problem: string | null;
}

/** A class, and how much of the scene is in it. */
export interface ClassState {
  id: number;
  name: string;
  color: string;
  hidden: boolean;
  locked: boolean;
  /** Labelled pixels. */
  pixels: number;
  /** Pixels of the map. */
  mapped: number;
  /** Version in which it was added: an id may be another class's later. */
  since: number;
}

export interface StrokeState {
  number: number;
  class: number;
  count: number;
  /** One of its pixels. */
  first: number;
}

/** Sent instead of the greeting to a page that comes back to another session than its own. */
export interface Foreign {
  kind: "foreign";
  /** Name of the scene that is open here. */
  scene: string;
}

/** What has changed in the session. */
export interface StateMessage {
  kind: "state";
  state: SessionState;
  /** Number of this page's newest operation in the state; 0: none. */
  included: number;
}

/** An operation is done and on disk. */
export interface Done {
  version: number;
  op?: string;
  /** It had been done before. */
  again?: boolean;
  /** Id of a new class. */
  class?: number;
  /** Number of a new stroke. */
  stroke?: number;
  kind: "done";
  seq: number;
}

/** A message was refused. */
export interface Refused {
  kind: "refused";
  seq: number | null;
  message: string;
}

/** A question was cancelled: the same client has asked it again. */
export interface Superseded {
  kind: "superseded";
  seq: number;
}

/** A question is answered; the answer's own fields follow these. */
export interface Answer {
  kind: "answer";
  seq: number;
  ask: string;
}

/** The spectrum of a pixel. */
export interface SpectrumAnswer {
  pixel: number;
  values: (number | null)[];
}

/** The spectra of the classes' labelled pixels. */
export interface ClassSpectraAnswer {
  /** Of the labels. */
  version: number;
  classes: ClassSpectrum[];
}

export interface ClassSpectrum {
  class: number;
  /** Labelled pixels that it is made of. */
  count: number;
  mean: (number | null)[];
  /** 10 % of the pixels are below. */
  low: (number | null)[];
  /** 10 % of the pixels are above. */
  high: (number | null)[];
}

/** The values behind a picture. */
export interface HistogramsAnswer {
  /** Red, green and blue. */
  channels: ChannelHistogram[];
}

/** The values of red, green or blue. */
export interface ChannelHistogram {
  /** Where the first of the equal bins begins. */
  low: number;
  /** Where the last one ends. */
  high: number;
  counts: number[];
  /** 0 to 100. */
  percentiles: number[];
}

/** The strokes behind a pixel's class. */
export interface WhyAnswer {
  pixel: number;
  shares: StrokeShare[];
}

export interface StrokeShare {
  stroke: number;
  class: number;
  /** 0 to 1. */
  share: number;
  /** One of the stroke's. */
  pixel: number;
}

/** The strokes with pixels that all other strokes contradict. */
export interface AuditAnswer {
  count: number;
  items: ContradictedStroke[];
}

export interface ContradictedStroke {
  /** The one with the largest margin. */
  pixel: number;
  /** start, length, start, length, ... */
  pixels: number[];
  /** Of pixels. */
  count: number;
  stroke: number;
  class: number;
  /** The class that all other strokes say. */
  says: number;
  margin: number;
}

/** Pixels to label next. */
export interface SuggestAnswer {
  pixels: number[];
  scores: number[];
  rule: string;
}

/** Mean margin and coverage by time. */
export interface CurveAnswer {
  times: number[];
  margin: number[];
  coverage: number[];
  tau: number;
}

export interface SegmentAnswer {
  pixel: number;
  class: number;
  /** start, length, start, length, ... */
  pixels: number[];
}

/** The labels of a file: what to add to the session, as one operation. */
export interface ReadLabelsAnswer {
  title: string;
  classes: FileClass[];
  /** Neither names nor numbers tell which class is which: ask the user. */
  asks: boolean;
  /** Labelled pixels without data. */
  left_out: number;
}

/** A class of a label file; the session's class that it is gets its pixels. */
export interface FileClass {
  /** In the file. */
  id: number;
  name: string;
  color: string;
  /** Pixels of it. */
  count: number;
  /** Those of them that have a class in the session. */
  compared: number;
  /** Those of these whose class is the proposed one. */
  agreed: number;
  /** The session's class that it is; 0: none. */
  to: number;
  /** The one that it may be; 0: none. */
  proposed: number;
  /** start, length, start, length, ... */
  pixels: number[];
  /** To be added if it is none; null where the list is full. */
  new: NewClass | null;
}

/** A class to add. */
export interface NewClass {
  id: number;
  name: string;
  color: string;
}

/** The session in numbers. */
export interface NumbersAnswer {
  by: "reference" | "held_out";
  has_reference: boolean;
  /** Why there is no accuracy. */
  note: string;
  accuracy: AccuracyFacts | null;
  /** Null where the map is compared with own labels. */
  match: ReferenceMatch | null;
  history: AccuracyPoint[];
  classes: ClassNumbers[];
  areas: AreaFacts | null;
  /** Square metres. */
  pixel_area: number | null;
  change: ChangeFacts | null;
}

/** How well known classes were found. */
export interface AccuracyFacts {
  overall: number;
  /** Of the overall accuracy, 95 %. */
  interval: number[];
  average: number;
  kappa: number | null;
  n_pixels: number;
  /** 0: none; below 0: a class that the session lacks. */
  classes: number[];
  foreign: ForeignClass[];
  /** Rows are the truth, columns the map. */
  confusion: number[][];
}

export interface ForeignClass {
  class: number;
  name: string;
}

/** Which class of the reference is which of the session's. */
export interface ReferenceMatch {
  /** What decided; "choice": a user. */
  by: "names" | "ids" | "overlap" | "choice";
  /** Another match agrees far better, or overlap alone decided. */
  asks: boolean;
  /** Share of the pixels that agree. */
  agreement: number;
  /** Share that would agree after the best match: an upper bound. */
  by_overlap: number;
  classes: GivenClass[];
}

/** A class of a file, and which class of the session it may be. */
export interface GivenClass {
  /** In the file. */
  id: number;
  name: string;
  color: string;
  /** Pixels of it. */
  count: number;
  /** Those of them that have a class in the session. */
  compared: number;
  /** Those of these whose class is the proposed one. */
  agreed: number;
  /** The session's class that it is; 0: none. */
  to: number;
  /** The one that it may be; 0: none. */
  proposed: number;
}

/** The accuracy of an earlier map. */
export interface AccuracyPoint {
  version: number;
  labelled: number;
  overall: number;
  average: number;
}

export interface ClassNumbers {
  class: number;
  labelled: number;
  mapped: number;
  /** Mean over its pixels of the map. */
  probability: number | null;
  recall: number | null;
  precision: number | null;
  /** Pixels of the class to compare with. */
  n_true: number;
}

/** Areas corrected by the pixels that were compared, as if drawn at random from each class. */
export interface AreaFacts {
  classes: ClassArea[];
  /** Pixels that the areas are shares of. */
  total: number;
  /** Classes of the map with no pixel to compare; left out. */
  not_sampled: number[];
}

export interface ClassArea {
  class: number;
  mapped: number;
  /** Estimate of how many truly are of the class. */
  pixels: number;
  /** 95 %; null where too few pixels tell. */
  interval: number[] | null;
}

/** What the last map changed. */
export interface ChangeFacts {
  pixels: number;
  /** The largest first. */
  flows: ClassFlow[];
  /** Change of the mean. */
  probability: number;
  /** Change of the mean. */
  margin: number;
  /** Change of the overall accuracy. */
  overall: number | null;
}

/** Pixels that went from one class to another; 255 is no data, 0 no class. */
export interface ClassFlow {
  before: number;
  after: number;
  pixels: number;
}

/** What can be undone and done again. */
export interface HistoryAnswer {
  /** Number of the present state. */
  step: number;
  /** Of the last one. */
  n_steps: number;
  /** The newest ones, in the order of doing. */
  steps: HistoryStep[];
}

export interface HistoryStep {
  /** Number of the state that it led to; the session begins with 0. */
  step: number;
  /** What was done, in a few words. */
  title: string;
  /** The class it concerns, 0 for none or several. */
  class: number;
  /** Name of the class at that time. */
  name: string;
  /** Pixels. */
  count: number | null;
  /** One of them. */
  pixel: number | null;
  /** Seconds since 1970. */
  at: number;
}

/** What to compare the map with was sent, as the frame "compared". */
export interface CompareAnswer {
  /** Of the history; null for the reference. */
  step: number | null;
}

/** Whether the map follows every operation. */
export interface LiveAnswer {
  on: boolean;
}

/** The map is up to date. */
export interface UpdateAnswer {
  version: number;
}

/** What is in view is known. */
export interface ViewAnswer {
  /** A map was on its way; it is sent in another order. */
  sent_anew: boolean;
}

/** A preview was sent. */
export interface PreviewAnswer {
  tau: number;
}

/** Where exported files can be fetched. */
export interface ExportAnswer {
  url: string;
  files: string[];
}

/** A file on its way to the server. */
export interface SentFile {
  name: string;
  /** In base 64. */
  data: string;
}

/** A message in JSON. */
export type TextMessage = Start | Moved | Preparing | Failed | Hello | Foreign | StateMessage | Done | Refused | Superseded | Answer;
