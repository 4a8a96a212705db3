// The session as the page knows it: scene, state, planes; everything that the user does goes through here.

import { Emitter } from "./emitter";
import { LabelPlane, operationOf } from "./label_plane";
import type { Window } from "./contours";
import { parseFrame, writeWindow, type Frame } from "./frames";
import { NO_DATA } from "./protocol.generated";
import type { ClassState, Done, Geography, Hello, Operation, Preset, SceneInfo, SessionState } from "./protocol.generated";
import { Socket, type Ask, type AnswerTo, type QuestionOf } from "./socket";

export interface ClassMap {
  ids: Uint8Array;
  /** 0..255 = 0..1 */
  margin: Uint8Array;
  /** Of the pixel's class, 0..255 = 0..1; none in a preview. */
  probability: Uint8Array | null;
  version: number;
}

/** A map, or as much of it as has arrived: of a large one, what is in view comes first. */
export interface MapSoFar extends ClassMap {
  probability: Uint8Array;
  /** Pieces that are on their way; what they cover is still the map before. */
  left: number;
}

interface SessionEvents {
  scene: Hello;
  state: SessionState;
  labels: void;
  /** A part of the map has arrived. */
  map: Window;
  preview: ClassMap | null;
  changes: Uint8Array;
  /** What the map is compared with. */
  compared: Uint8Array;
  latency: number;
  message: string;
}

/** Operations that leave the map as it is. */
const UNMAPPED = new Set<Operation["op"]>(["add_class", "rename_class", "recolor_class", "hide_class", "lock_class"]);

export class Session extends Emitter<SessionEvents> {
  scene: SceneInfo | null = null;
  geo: Geography | null = null;
  presets: Preset[] = [];
  state: SessionState | null = null;
  readonly labels = new LabelPlane();
  map: MapSoFar | null = null;
  /** What the map would be at the tau under the slider, while it is held. */
  preview: ClassMap | null = null;
  changes: Uint8Array | null = null;
  /** Milliseconds from the last act to its map on the screen. */
  latency: number | null = null;
  private clock: number | null = null;
  /** An operation is done; the state that tells of it is still on its way. */
  private settling = false;

  constructor(readonly socket: Socket) {
    super();
    socket.on("hello", (hello) => this.greet(hello));
    socket.on("state", (state) => this.setState(state));
    socket.on("done", () => (this.settling = true));
    socket.on("binary", (buffer) => this.receive(buffer));
    socket.on("refused", (message) => this.emit("message", message));
  }

  get classes(): ClassState[] {
    return this.state?.classes ?? [];
  }

  classOf(id: number): ClassState | undefined {
    return this.classes.find((item) => item.id === id);
  }

  /** The map to show: the preview while tau is being chosen. */
  get shownMap(): ClassMap | null {
    return this.preview ?? this.map;
  }

  /** Whether the map says anything: the server has one of nothing before the first stroke. */
  get hasMap(): boolean {
    return Boolean(this.map && this.state?.strokes.length);
  }

  /** Whether something that was done here is not in the state yet. */
  get isUnanswered(): boolean {
    return this.settling || this.socket.pending.length > 0;
  }

  /** Whether the map lags behind the labels. */
  get isStale(): boolean {
    return Boolean(this.state && (this.state.stale || this.isUnanswered));
  }

  /** Applies an operation; null where it was refused (the page says why by itself). */
  async apply(operation: Operation): Promise<Done | null> {
    if (!UNMAPPED.has(operation.op) && this.state?.live) this.clock = performance.now();
    return this.socket.apply(operation).catch(() => null);
  }

  /** Paints or erases (id 0) pixels: shown at once, sent, taken back if refused. */
  async paint(pixels: Set<number>, id: number): Promise<void> {
    if (pixels.size === 0) return this.emit("labels", undefined);
    const patch = this.labels.add(pixels, id);
    this.emit("labels", undefined);
    if (await this.apply(operationOf(patch))) {
      patch.confirmed = true;
    } else {
      this.labels.remove(patch);
      this.emit("labels", undefined);
    }
  }

  /** Asks a question; null where it was refused or the connection broke. */
  async ask<A extends Ask>(question: QuestionOf<A>): Promise<AnswerTo<A> | null> {
    if (question.ask === "update") this.clock = performance.now();
    return this.socket.ask(question).catch(() => null);
  }

  setPreview(preview: ClassMap | null): void {
    this.preview = preview;
    this.emit("preview", preview);
  }

  /** Called by the painter when a map is on the screen: stops the clock if it is the awaited one. */
  drawn(): void {
    const isNewest = this.map !== null && this.map.version === this.state?.map_version;
    if (this.clock === null || !isNewest || this.isStale) return;
    this.latency = performance.now() - this.clock;
    this.clock = null;
    this.emit("latency", this.latency);
  }

  private greet(hello: Hello): void {
    [this.scene, this.geo, this.presets] = [hello.scene, hello.geo, hello.presets];
    this.labels.resize(hello.scene.rows * hello.scene.columns);
    this.emit("scene", hello);
    this.setState(hello.state);
  }

  private setState(state: SessionState): void {
    this.state = state;
    this.settling = false;
    this.labels.setLocked(state.classes.filter((item) => item.locked).map((item) => item.id));
    this.emit("state", state);
  }

  private receive(buffer: ArrayBuffer): void {
    if (!this.scene) return;
    const frame = parseFrame(buffer, this.scene.rows * this.scene.columns);
    if (frame.kind === "labels") {
      this.labels.receive(frame.planes[0]);
      this.emit("labels", undefined);
    } else if (frame.kind === "changes") {
      this.changes = frame.planes[0];
      this.emit("changes", this.changes);
    } else if (frame.kind === "preview") {
      const [ids, margin] = frame.planes;
      this.setPreview({ ids, margin, probability: null, version: frame.version });
    } else if (frame.kind === "compared") {
      this.emit("compared", frame.planes[0]);
    } else {
      this.receiveMap(frame);
    }
  }

  private receiveMap(frame: Frame): void {
    const { rows, columns } = this.scene!;
    const [top, left, bottom, right] = frame.window!;
    const window = { top, left, bottom, right };
    const news = { version: frame.version, left: frame.left! };
    if (bottom - top === rows && right - left === columns) {
      const [ids, margin, probability] = frame.planes;
      this.map = { ids, margin, probability, ...news };
    } else {
      const before = this.map ?? emptyMap(rows * columns);
      const planes = [before.ids, before.margin, before.probability];
      planes.forEach((plane, k) => writeWindow(plane, columns, frame.planes[k], window));
      this.map = { ...before, ...news };
    }
    this.preview = null;
    this.emit("map", window);
  }
}

/** A map of which nothing has arrived. */
function emptyMap(pixels: number): Pick<MapSoFar, "ids" | "margin" | "probability"> {
  const plane = () => new Uint8Array(pixels);
  return { ids: plane().fill(NO_DATA), margin: plane(), probability: plane() };
}
