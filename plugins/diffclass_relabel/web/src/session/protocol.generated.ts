// What page and server say to each other. Made from the Python sources by
// `python -m diffclass_relabel.session_hub.page_types`; do not edit.

export const LARGEST_CLASS_ID = 254;
export const LONGEST_NAME = 200;
export const MOST_SUGGESTIONS = 200;
export const NO_DATA = 255;
export const PART_LENGTH = 524288;
export const PALETTE = ["#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#0000ff", "#781e00", "#a5f096", "#6969ff", "#4b3c5a", "#3c1ea5", "#e10f4b", "#ffa5b4", "#6996ff", "#ff965a", "#a5e1ff", "#003c78", "#780f2d", "#a53c00", "#3c5ac3", "#007878", "#1e783c", "#5a5a87", "#e1f0c3", "#96c387", "#1ee1d2", "#00003c", "#96695a", "#2d001e", "#c30096", "#9687c3", "#004b3c", "#f0695a", "#694b2d", "#874b69", "#3c1e00", "#00a5a5", "#5a005a", "#2d9600", "#b4c3ff", "#87965a", "#ff2d87", "#f0c3a5", "#b4ffe1", "#c34bd2", "#d2b4e1", "#e1c378", "#3c0f0f", "#5a691e", "#004b0f", "#960fff", "#a5873c", "#5ac3d2", "#b44b3c", "#87c3b4", "#ff4bd2", "#5ac33c", "#b4d23c", "#f0ff96", "#96ffff", "#3cc396", "#f07887"];

/** An operation: the unit of undo, of the log and of replay. */
export type Operation =
  | { op: "stroke"; class: number; pixels: number[]; spare?: boolean } // label pixels, taken from older strokes where they were labelled before; pixels of locked classes, or with "spare" of all other classes, are left out
  | { op: "erase"; pixels: number[] } // unlabel pixels, except those of locked classes
  | { op: "class_sizes"; sizes?: string } // set what is known of the classes' sizes; without any, forget it
  | { op: "move"; stroke: number; class: number } // give a whole stroke to a class
  | { op: "remove"; stroke: number } // unlabel a whole stroke
  | { op: "add_class"; id?: number; name?: string; color?: string; joins?: "stroke" | "rename_class" } // add a class; what is left out gets the next id, a name and a colour
  | { op: "rename_class"; id: number; name: string } // name a class anew
  | { op: "recolor_class"; id: number; color: string } // give a class another colour
  | { op: "hide_class"; id: number; hidden: boolean } // leave a class out when maps are drawn, or show it again; it diffuses all the same
  | { op: "lock_class"; id: number; locked: boolean } // protect what is labelled in a class, or free it again
  | { op: "merge_classes"; source: number; into: number } // move all strokes of one class to another and remove the first
  | { op: "remove_class"; id: number; with_labels?: boolean } // remove a class; its labels too, or only if it has none
  | { op: "tau"; tau: number | "auto" | "margin" } // set the time in steps, or the rule "auto" or "margin" that chooses it
  | { op: "label_mode"; mode: "auto" | "absorbing" | "summed" | "free" } // set how labels count; "auto" leaves that to the rule of the time "auto"
  | { op: "warp" } // walk separately in each class, by the present posteriors, until "unwarp" or the next "warp"
  | { op: "unwarp" } // walk alike in all classes again
  | { op: "batch"; operations: Operation[]; name?: string } // do several of the operations above as one, all of them or none; the name says what they are together
  | { op: "undo"; steps?: number } // take the last of these operations back, or the last few
  | { op: "redo"; steps?: number }; // do what was undone last again, or the next few

/** A question; it changes no labels. */
export type Question =
  | { ask: "spectrum"; pixel: number } // the spectrum of a pixel
  | { ask: "class_spectra" } // mean and spread of the spectra of each class's labelled pixels
  | { ask: "rows"; pixels: number[] } // what users see of the rows of a table at pixels
  | { ask: "histograms"; preset?: string; bands?: string } // the values of red, green and blue of a preset's picture, or of three bands
  | { ask: "why"; pixel: number } // the share of each stroke in a pixel's class
  | { ask: "audit" } // the strokes with pixels that all other strokes contradict
  | { ask: "suggest"; n?: number; rule?: "coverage" | "margin"; passed?: number[] } // pixels to label next
  | { ask: "curve" } // mean margin and coverage by time
  | { ask: "segment"; pixel: number } // the connected piece of the map around a pixel
  | { ask: "similar"; pixel: number } // how like all pixels are to one, by the walk on the graph
  | { ask: "read_labels"; path?: string; files?: SentFile[]; variable?: string } // the labels of a file that is sent, or lies at a path next to the scene
  | { ask: "predict"; path?: string; files?: SentFile[] } // classify the scene with a model, in a file that is sent or lies next to the scene
  | { ask: "numbers"; by?: "reference" | "held_out" } // accuracy, a table of the classes, and what the last map changed
  | { ask: "match_reference"; pairs: number[] } // say which class of the reference is which of the session's; the numbers then
  | { ask: "history" } // the operations that can be undone and done again
  | { ask: "compare"; step?: number; prediction?: boolean } // the map of an earlier state of the history or of a model, or else the reference
  | { ask: "live"; on: boolean } // let the map follow every operation, or not
  | { ask: "update" } // bring the map up to date
  | { ask: "view"; top: number; left: number; bottom: number; right: number } // say what part of the raster is in view
  | { ask: "preview_tau"; tau: number } // the map at another time
  | { ask: "export"; what: "labels" | "map" | "polygons" | "picture" | "margin" | "probability" | "spectra" | "report" | "model" | "prediction"; name?: string; min_area?: number; simplify?: number }; // write a result to files that can be fetched

/** The answer to each question. */
export interface Answers {
  spectrum: SpectrumAnswer;
  class_spectra: ClassSpectraAnswer;
  rows: RowsAnswer;
  histograms: HistogramsAnswer;
  why: WhyAnswer;
  audit: AuditAnswer;
  suggest: SuggestAnswer;
  curve: CurveAnswer;
  segment: SegmentAnswer;
  similar: SimilarAnswer;
  read_labels: ReadLabelsAnswer;
  predict: PredictAnswer;
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
  root: string; // Nothing outside this folder can be opened but the recent sessions.
  problem: string | null; // Why the last choice was refused.
  recent: OfferedSession[];
  path: string; // The folder that is shown, relative to the root; empty for the root.
  folders: string[];
  scenes: OfferedScene[];
  whole: boolean; // Whether the folder holds nothing more.
}

/** A session that was opened lately. */
export interface OfferedSession {
  name: string; // Of the scene.
  session: string; // Path of its file.
  shape: number[]; // Rows, columns and bands.
  at: number; // When it was last worked on: seconds since 1970.
  held: boolean; // Whether another process has it open.
}

/** A scene of the folder that is shown. */
export interface OfferedScene {
  name: string;
  bytes: number | null; // Size of the file; null for a product of several.
  at: number; // When it was last written: seconds since 1970.
}

/** What a look at the scenes of a folder has found, after they were listed. */
export interface Checked {
  kind: "checked";
  path: string; // The folder.
  problems: SceneProblem[];
}

/** Why a scene of the folder cannot be opened. */
export interface SceneProblem { name: string; problem: string }

/** A scene was chosen: its session is at another address. */
export interface Moved {
  kind: "moved";
  port: number | null; // Null where it is the same.
  token: string;
}

/** Sent instead of the greeting as long as the scene is being prepared. */
export interface Preparing {
  kind: "preparing";
  scene: string;
  steps: PreparingStep[];
  left: number | null; // Seconds, about.
}

export interface PreparingStep {
  name: string;
  is: "waiting" | "running" | "done";
  share: number | null; // How much is done, 0 to 1; null if that is not known.
  seconds: number | null; // So far, or all of them.
}

export interface Failed { kind: "failed"; message: string }

/** The greeting of a page. */
export interface Hello {
  scene: SceneInfo;
  geo: Geography | null;
  presets: Preset[];
  exports: ExportFormat[];
  kind: "hello";
  id: string; // The session's own; a page names it when it comes back.
  state: SessionState;
  included: number; // Number of this page's newest operation in the state; 0: none.
}

/** The raster, and what its pixels are: those of a scene, or rows of a table. */
export interface SceneInfo {
  name: string;
  rows: number;
  columns: number;
  block: number; // Side of the blocks of pixels that are classified as one; 1: none.
  coarse_answers: boolean; // Whether answers and warped walks are of the aggregates too.
  tiles: TilePlace[]; // Several scenes; the first counts where they overlap.
  bands: BandInfo | null; // Of a scene.
  table: TableInfo | null; // Whose rows they are.
}

export interface TilePlace {
  name: string;
  row: number;
  column: number;
  rows: number;
  columns: number;
}

/** The bands of a scene. */
export interface BandInfo {
  n_bands: number;
  wavelengths: number[] | null;
  unit: string | null;
  good: number[];
  bands_true: number[];
  bands_false: number[];
}

/** A table, whose rows have a pixel of the raster each. */
export interface TableInfo {
  n_rows: number;
  images: boolean; // Whether rows have pictures, at picture.png?row=PIXEL.
  text: boolean; // Whether rows have texts.
}

/** Where the scene lies. */
export interface Geography {
  transform: number[]; // x = t[0] + column t[1] + row t[2], y = t[3] + column t[4] + row t[5].
  crs: string | null;
}

export interface Preset { name: string; label: string }

/** A result that can be exported, in one format. */
export interface ExportFormat {
  what: "labels" | "map" | "polygons" | "picture" | "margin" | "probability" | "spectra" | "report" | "model" | "prediction";
  suffix: string;
  label: string;
  name: string; // Of the file.
}

/** The state of the session, sent to every tab after each operation. */
export interface SessionState {
  version: number; // Operations applied so far.
  classes: ClassState[];
  strokes: StrokeState[]; // The newest ones, in the order of painting.
  n_strokes: number; // All of them.
  unclassified: number; // Pixels to which the map gives no class.
  map_note: string | null; // What is to be said of the map.
  label_mode: string; // As it was asked for, maybe "auto".
  counted: string; // How labels count in the next map.
  class_sizes: string; // What is known of them; empty for nothing.
  sizes_met: "met" | "unused" | "waiting" | null; // Whether the map meets them; null until that is known.
  tau: number;
  tau_mode: "auto" | "margin" | "fixed";
  refined: boolean; // Whether no map is to follow, as that of the time that "auto" chooses.
  max_time: number;
  n_aggregates: number | null; // Of the pixels, where provisional maps are made of them.
  stale: boolean;
  map_version: number | null; // Of the newest map, which may be on its way.
  warped: boolean;
  step: number; // Number of the present state in the history.
  has_reference: boolean; // Whether there is an image to compare with.
  has_prediction: boolean; // Whether a model was applied to the scene.
  can_undo: boolean;
  can_redo: boolean;
  n_changed: number;
  ms: number;
  saved: boolean;
  session: string;
  live: boolean;
  computing: boolean;
  preparing: number | null; // Seconds, about, until maps can be made; null once they can.
  problem: string | null;
}

/** A class, and how much of the scene is in it. */
export interface ClassState {
  id: number;
  name: string;
  color: string;
  hidden: boolean;
  locked: boolean;
  pixels: number; // Labelled pixels.
  mapped: number; // Pixels of the map.
  since: number; // Version in which it was added: an id may be another class's later.
}

export interface StrokeState {
  number: number;
  class: number;
  count: number;
  first: number; // One of its pixels.
}

export interface Foreign { kind: "foreign"; scene: string }

/** What has changed in the session. */
export interface StateMessage {
  kind: "state";
  state: SessionState;
  included: number; // Number of this page's newest operation in the state; 0: none.
}

/** An operation is done and on disk. */
export interface Done {
  version: number;
  op?: string;
  again?: boolean; // It had been done before.
  class?: number; // Id of a new class.
  stroke?: number; // Number of a new stroke.
  kind: "done";
  seq: number;
}

export interface Refused { kind: "refused"; seq: number | null; message: string }

export interface Superseded { kind: "superseded"; seq: number }

export interface Answer { kind: "answer"; seq: number; ask: string }

export interface SpectrumAnswer { pixel: number; values: (number | null)[] }

/** The spectra of the classes' labelled pixels. */
export interface ClassSpectraAnswer {
  version: number; // Of the labels.
  classes: ClassSpectrum[];
}

export interface ClassSpectrum {
  class: number;
  count: number; // Labelled pixels that it is made of.
  mean: (number | null)[];
  low: (number | null)[]; // 10 % of the pixels are below.
  high: (number | null)[]; // 10 % of the pixels are above.
}

export interface RowsAnswer { rows: RowFacts[] }

/** What users see of a row of a table. */
export interface RowFacts {
  pixel: number;
  name: string; // Its id, or number from 0.
  text: string | null;
  values: string[][]; // Name and value of each column.
}

/** The values behind a picture. */
export interface HistogramsAnswer {
  channels: ChannelHistogram[]; // Red, green and blue.
}

/** The values of red, green or blue. */
export interface ChannelHistogram {
  low: number; // Where the first of the equal bins begins.
  high: number; // Where the last one ends.
  counts: number[];
  percentiles: number[]; // 0 to 100.
}

export interface WhyAnswer { pixel: number; shares: StrokeShare[] }

export interface StrokeShare {
  stroke: number;
  class: number;
  share: number; // 0 to 1.
  pixel: number; // One of the stroke's.
}

export interface AuditAnswer { count: number; items: ContradictedStroke[] }

export interface ContradictedStroke {
  pixel: number; // The one with the largest margin.
  pixels: number[]; // start, length, start, length, ...
  count: number; // Of pixels.
  stroke: number;
  class: number;
  says: number; // The class that all other strokes say.
  margin: number;
}

export interface SuggestAnswer { pixels: number[]; scores: number[]; rule: string }

/** Mean margin and coverage by time. */
export interface CurveAnswer { times: number[]; margin: number[]; coverage: number[]; tau: number }

export interface SegmentAnswer {
  pixel: number;
  class: number;
  pixels: number[]; // start, length, start, length, ...
}

export interface SimilarAnswer { pixel: number }

/** The labels of a file: what to add to the session, as one operation. */
export interface ReadLabelsAnswer {
  title: string;
  classes: FileClass[];
  asks: boolean; // Neither names nor numbers tell which class is which: ask the user.
  left_out: number; // Labelled pixels without data.
  said: string[]; // What was assumed of the file, or lost of it.
}

/** A class of a label file; the session's class that it is gets its pixels. */
export interface FileClass {
  id: number; // In the file.
  name: string;
  color: string;
  count: number; // Pixels of it.
  compared: number; // Those of them that have a class in the session.
  agreed: number; // Those of these whose class is the proposed one.
  to: number; // The session's class that it is; 0: none.
  proposed: number; // The one that it may be; 0: none.
  pixels: number[]; // start, length, start, length, ...
  new: NewClass | null; // To be added if it is none; null where the list is full.
}

export interface NewClass { id: number; name: string; color: string }

/** A model was applied to the scene. */
export interface PredictAnswer {
  name: string; // Of its file.
  unclassified: number; // Pixels with data that are none of the session's classes there.
  said: string[]; // What was assumed.
}

/** The session in numbers. */
export interface NumbersAnswer {
  by: "reference" | "held_out";
  has_reference: boolean;
  note: string; // Why there is no accuracy.
  accuracy: AccuracyFacts | null;
  match: ReferenceMatch | null; // Null where the map is compared with own labels.
  history: AccuracyPoint[];
  classes: ClassNumbers[];
  areas: AreaFacts | null;
  pixel_area: number | null; // Square metres.
  change: ChangeFacts | null;
}

/** How well known classes were found. */
export interface AccuracyFacts {
  overall: number;
  interval: number[]; // Of the overall accuracy, 95 %.
  average: number;
  kappa: number | null;
  n_pixels: number;
  classes: number[]; // 0: none; below 0: a class that the session lacks.
  foreign: ForeignClass[];
  confusion: number[][]; // Rows are the truth, columns the map.
}

export interface ForeignClass { class: number; name: string }

/** Which class of the reference is which of the session's. */
export interface ReferenceMatch {
  by: "names" | "ids" | "overlap" | "choice"; // What decided; "choice": a user.
  asks: boolean; // Another match agrees far better, or overlap alone decided.
  agreement: number; // Share of the pixels that agree.
  by_overlap: number; // Share that would agree after the best match: an upper bound.
  classes: GivenClass[];
}

/** A class of a file, and which class of the session it may be. */
export interface GivenClass {
  id: number; // In the file.
  name: string;
  color: string;
  count: number; // Pixels of it.
  compared: number; // Those of them that have a class in the session.
  agreed: number; // Those of these whose class is the proposed one.
  to: number; // The session's class that it is; 0: none.
  proposed: number; // The one that it may be; 0: none.
}

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
  probability: number | null; // Mean over its pixels of the map.
  recall: number | null;
  precision: number | null;
  n_true: number; // Pixels of the class to compare with.
}

/** Areas corrected by the pixels that were compared, as if drawn at random from each class. */
export interface AreaFacts {
  classes: ClassArea[];
  total: number; // Pixels that the areas are shares of.
  not_sampled: number[]; // Classes of the map with no pixel to compare; left out.
}

export interface ClassArea {
  class: number;
  mapped: number;
  pixels: number; // Estimate of how many truly are of the class.
  interval: number[] | null; // 95 %; null where too few pixels tell.
}

/** What the last map changed. */
export interface ChangeFacts {
  pixels: number;
  flows: ClassFlow[]; // The largest first.
  probability: number; // Change of the mean.
  margin: number; // Change of the mean.
  overall: number | null; // Change of the overall accuracy.
}

export interface ClassFlow { before: number; after: number; pixels: number }

/** What can be undone and done again. */
export interface HistoryAnswer {
  step: number; // Number of the present state.
  n_steps: number; // Of the last one.
  steps: HistoryStep[]; // The newest ones, in the order of doing.
}

export interface HistoryStep {
  step: number; // Number of the state that it led to; the session begins with 0.
  title: string; // What was done, in a few words.
  class: number; // The class it concerns, 0 for none or several.
  name: string; // Name of the class at that time.
  count: number | null; // Pixels.
  pixel: number | null; // One of them.
  at: number; // Seconds since 1970.
}

export interface CompareAnswer { step: number | null }

export interface LiveAnswer { on: boolean }

export interface UpdateAnswer { version: number }

export interface ViewAnswer { sent_anew: boolean }

export interface PreviewAnswer { tau: number }

export interface ExportAnswer { url: string; files: string[] }

/** A file on its way to the server. */
export interface SentFile {
  name: string;
  data: string; // In base 64.
}

/** A message in JSON. */
export type TextMessage = Start | Checked | Moved | Preparing | Failed | Hello | Foreign | StateMessage | Done | Refused | Superseded | Answer;
