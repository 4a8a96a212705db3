// The session as the page knows it: scene, state, planes; everything that the user does goes through here.

import { ChangeNotice, Emitter } from "../base/events";
import { distance, overlap, type Place, type Window } from "../base/raster";
import { type ClassRef, nextId, stateAfter } from "./optimistic_state";
import { type Frame, LabelPlane, operationOf, parseFrame, writeWindow } from "./planes";
import { type ClassState, type Done, type Geography, type Hello, NO_DATA, type Operation, type Preset, type SceneInfo, type SessionState } from "./protocol.generated";
import { type AnswerTo, type Ask, type QuestionOf, Socket } from "./socket";

interface ClassMap {
  ids: Uint8Array;
  margin: Uint8Array; // 0..255 = 0..1
  probability: Uint8Array | null; // Of the pixel's class, 0..255 = 0..1; none in a preview.
  version: number;
}

/** A map, or as much of it as has arrived: the classes of what is in view come first. */
interface PartialMap extends ClassMap {
  probability: Uint8Array;
  left: number; // Pieces that are on their way; what they cover is still the map before.
  known: Window[]; // Where classes have arrived.
  ms: number; // Milliseconds that it took to compute.
}

/** The canvas listens to each of the first four; panels listen to "changed". */
interface SessionEvents {
  scene: Hello;
  state: SessionState;
  labels: void;
  map: Window; // A part of the map has arrived.
  changed: void; // State, labels or map have changed since this was told last.
  preview: ClassMap | null;
  changes: Uint8Array; // 0 where the last map changed nothing.
  compared: Uint8Array; // What the map is compared with.
  similar: Uint8Array; // How like all pixels are to one; see `SimilarAnswer`.
  latency: number;
  message: Notice;
  numbered: { from: number; to: number }; // A new class has another id than it was shown with.
}

/** Something to say to the user, for a while, or until its cause is gone. */
export interface Notice {
  text: string;
  until?: () => boolean;
}

/** How an operation came about. */
interface Circumstances {
  asked?: number; // When the user did it.
  seen?: number; // Version of the state that it goes by.
  newId?: number; // Id that a class which it adds is shown with.
  /** Says why it was refused, in place of a message. */
  refused?: (why: string) => void;
}

/** Operations that leave the map as it is. */
const UNMAPPED = new Set<Operation["op"]>(["add_class", "rename_class", "recolor_class", "hide_class", "lock_class"]);

export class Session extends Emitter<SessionEvents> {
  scene: SceneInfo | null = null;
  geo: Geography | null = null;
  presets: Preset[] = [];
  state: SessionState | null = null; // As it will be once everything that was done here is done there.
  readonly labels = new LabelPlane();
  map: PartialMap | null = null;
  preview: ClassMap | null = null; // What the map would be at the tau under the slider, while it is held.
  latency: number | null = null; // Milliseconds from the last act to its map on the screen.
  computing: number | null = null; // Those of it in which the map was computed.
  readonly notice = new ChangeNotice(() => this.state && this.emit("changed"), () => this.#isAwaiting);
  #inHand: ClassRef | null = null; // The newest reference: what is being painted has it.
  #isOfSeveral = false; // Whether the map has more than one class.
  #clock: number | null = null;
  #awaited = 0; // Version of the session that the awaited map has to reflect.
  #seen: Window | null = null; // What was in view when the present map was drawn; null while a part of it is not.
  #serverState: SessionState | null = null; // The state as the server sent it last.
  readonly #liveRequests: boolean[] = []; // What was asked of the live switch and has no answer yet.

  constructor(readonly socket: Socket) {
    super();
    socket.on("hello", (hello) => this.#greet(hello));
    socket.on("state", ({ state }) => this.#setState(state));
    socket.on("numbered", ({ from, to }) => this.#renumber(from, to));
    socket.on("pending", () => this.notice.request());
    socket.on("binary", (buffer) => this.#receive(buffer));
    socket.on("refused", (message) => this.tell(message));
  }

  /** Version of the state that the server has sent last. */
  get version(): number {
    return this.#serverState?.version ?? 0;
  }

  get classes(): ClassState[] {
    return this.state?.classes ?? [];
  }

  /** The class of a pixel: that of its label, or of the map. */
  classAt(place: Place): ClassState | undefined {
    const pixel = this.pixelOf(place);
    return this.classOf(this.labels.shown[pixel] || this.mappedAt(pixel));
  }

  classOf(id: number): ClassState | undefined {
    return this.classes.find((item) => item.id === id);
  }

  nameOf(id: number): string {
    return this.classOf(id)?.name ?? (id ? `class ${id}` : "no class");
  }

  pixelOf({ row, column }: Place): number {
    return row * this.scene!.columns + column;
  }

  placeOf(pixel: number): Place {
    const { columns } = this.scene!;
    return { row: Math.floor(pixel / columns), column: pixel % columns };
  }

  /** Whether a pixel has data, as far as is known: a row, where they are those of a table. */
  hasData(pixel: number): boolean {
    return pixel >= 0 && (this.map?.ids[pixel] ?? NO_DATA) !== NO_DATA;
  }

  /** What the pixels are. */
  get thing(): "pixel" | "row" {
    return this.scene?.table ? "row" : "pixel";
  }

  /** The map to show: the preview while tau is being chosen. */
  get shownMap(): ClassMap | null {
    return this.hasMap ? (this.preview ?? this.map) : null;
  }

  /** Whether the map says anything: one of a single class has it everywhere. */
  get hasMap(): boolean {
    return this.#isOfSeveral && this.classes.filter((item) => item.pixels).length > 1;
  }

  /** Pixels without a class in the map. */
  get unclassified(): number {
    return this.hasMap ? this.state!.unclassified : 0;
  }

  /** The class that the map gives a pixel, 0 for none. */
  mappedAt(pixel: number): number {
    return this.hasMap ? this.map!.ids[pixel] : 0;
  }

  /** The pixel without a class that is nearest to a place; none where each has one. */
  nearestUnclassified({ row, column }: Place): Place | null {
    let [nearest, least] = [-1, Infinity];
    if (this.hasMap) this.map!.ids.forEach((id, pixel) => {
      if (id) return;
      const away = distance(this.placeOf(pixel), { row, column });
      if (away < least) [nearest, least] = [pixel, away];
    });
    return nearest < 0 ? null : this.placeOf(nearest);
  }

  /** Whether a map is on its way to the screen. */
  get #isAwaiting(): boolean {
    return this.#clock !== null || Boolean(this.map?.left) || Boolean(this.state?.computing);
  }

  /** Whether something that was done here is not in the state yet. */
  get isUnanswered(): boolean {
    return this.socket.optimistic.length > 0 || this.socket.pending.length > 0;
  }

  /** Whether the map lags behind the labels. */
  get isStale(): boolean {
    return Boolean(this.state && (this.state.stale || this.isUnanswered));
  }

  /** Applies an operation; null where it was refused (the page says why by itself). It counts in the
   *  state at once. */
  async apply(operation: Operation, { asked = performance.now(), seen = this.version, newId = 0, refused }: Circumstances = {}): Promise<Done | null> {
    const isMapped = !UNMAPPED.has(operation.op) && Boolean(this.state?.live);
    if (isMapped) this.#clock = asked;
    const merged = operation.op === "merge_classes" && !this.classOf(operation.source)?.locked ? operation : null;
    if (merged && this.#inHand?.id === merged.source) [this.#inHand.id, this.#inHand.seen] = [merged.into, this.version];
    const sent = this.socket.apply(operation, seen, newId, Boolean(refused));
    this.#update();
    const done = await sent.catch(({ message }: Error) => (refused?.(message), null));
    if (!done || newId) this.#update();
    if (isMapped) this.#awaited = done?.version ?? this.#awaited;
    if (isMapped && !done) this.#clock = null;
    return done;
  }

  /** Adds a class and returns its id, which the server may yet change; 0 where there is no room. */
  addClass(name?: string): number {
    const id = this.#freeId();
    void this.apply({ op: "add_class", ...(name && { name }) }, { newId: id });
    return id;
  }

  /** A reference to the class of an id, to paint with: it stays right, whatever the server numbers it, and
   *  where it is merged meanwhile. */
  classRef(id: number, spare = false): ClassRef {
    const ref = (this.#inHand = { id, spare, seen: this.version });
    this.socket.optimistic.find((item) => id && item.newId === id)?.refs.push(ref);
    return ref;
  }

  undo(): void {
    if (this.state?.can_undo) void this.apply({ op: "undo" });
  }

  redo(): void {
    if (this.state?.can_redo) void this.apply({ op: "redo" });
  }

  /** Has the map follow each change, or wait for `updateMap`. */
  async toggleLive(): Promise<void> {
    const on = !this.state?.live;
    this.#liveRequests.push(on);
    this.#update();
    const answer = await this.ask({ ask: "live", on });
    this.#liveRequests.shift();
    if (answer && this.#serverState) this.#serverState = { ...this.#serverState, live: answer.on };
    this.#update();
  }

  /** Paints or erases (id 0) pixels: sent and shown at once, taken back if refused. */
  async paint(pixels: Set<number>, painted: ClassRef): Promise<void> {
    if (pixels.size === 0) return this.changeLabels();
    const asked = performance.now();
    const patch = this.labels.add(pixels, painted);
    const done = this.apply(operationOf(patch), { asked, seen: painted.seen });
    this.changeLabels();
    if (await done) {
      patch.confirmed = true;
    } else {
      this.labels.remove(patch);
      this.changeLabels();
    }
  }

  /** Asks a question; null where it was refused or the connection broke. */
  async ask<A extends Ask>(question: QuestionOf<A>): Promise<AnswerTo<A> | null> {
    if (question.ask === "update") [this.#clock, this.#awaited] = [performance.now(), this.state?.version ?? 0];
    return this.socket.ask(question).catch(() => null);
  }

  updateMap(): void {
    void this.ask({ ask: "update" });
  }

  /** Says something to the user. */
  tell(text: string, until?: () => boolean): void {
    this.emit("message", { text, until });
  }

  /** Shows the labels again without a stroke that was broken off, and with what has come. */
  changeLabels(): void {
    if (!this.labels.rebuild()) return;
    this.emit("labels");
    this.notice.request();
  }

  setPreview(preview: ClassMap | null): void {
    this.preview = preview;
    this.emit("preview", preview);
  }

  /** Called by the painter when what has come is on the screen, with the part that is in view. */
  drawn(seen: Window): void {
    this.#seen = seen;
    this.#stopClock();
  }

  /** Stops the clock if the awaited map is on the screen, its classes everywhere in view. */
  #stopClock(): void {
    const { map } = this;
    const seen = this.#seen;
    if (this.#clock === null || !map || !seen || this.socket.pending.length) return;
    const isNewest = !this.isStale && map.version === this.state?.map_version; // not each change makes a map
    if (!isKnown(map, seen) || (map.version < this.#awaited && !isNewest)) return;
    [this.latency, this.computing] = [performance.now() - this.#clock, map.ms];
    this.#clock = null;
    this.emit("latency", this.latency);
    this.notice.startUnlessAwaited();
  }

  #greet(hello: Hello): void {
    [this.scene, this.geo, this.presets] = [hello.scene, hello.geo, hello.presets];
    this.labels.resize(hello.scene.rows * hello.scene.columns);
    this.emit("scene", hello);
    this.#setState(hello.state);
  }

  #setState(state: SessionState): void {
    this.#serverState = state;
    if (state.problem) this.#clock = null; // there will be no map
    this.#countClasses();
    const taken = this.socket.optimistic.map((item) => item.newId).filter((id) => id && state.classes.some((item) => item.id === id));
    for (const id of taken) this.#renumber(id, this.#freeId());
    this.#update();
  }

  /** An id that neither a class of the server's has nor one that was added here, though it may be removed since; 0: there is none. */
  #freeId(): number {
    return nextId([...this.#serverState!.classes.map((item) => item.id), ...this.socket.optimistic.map((item) => item.newId)]);
  }

  /** Puts another id in the place of that of a new class. */
  #renumber(from: number, to: number): void {
    if (!to) return; // no room for it: the server will refuse it, and what is done with it
    if (this.socket.optimistic.some((item) => item.newId === to)) this.#renumber(to, this.#freeId());
    this.socket.renumber(from, to);
    this.labels.renumber(from, to);
    this.emit("numbered", { from, to });
    this.#update();
    this.changeLabels();
  }

  /** Makes the state anew: the server's with what it does not include on top. */
  #update(): void {
    if (!this.#serverState) return;
    const state = (this.state = { ...stateAfter(this.#serverState, this.socket.optimistic), live: this.#liveRequests.at(-1) ?? this.#serverState.live });
    this.labels.setLocked(state.classes.filter((item) => item.locked).map((item) => item.id));
    this.emit("state", state);
    this.#stopClock();
    this.notice.request();
  }

  #receive(buffer: ArrayBuffer): void {
    if (!this.scene) return;
    const frame = parseFrame(buffer, this.scene.rows * this.scene.columns);
    if (frame.kind === "labels") {
      this.labels.receive(frame.planes[0], frame.window, this.scene.columns);
      this.changeLabels();
    } else if (frame.kind === "changes") {
      this.emit("changes", frame.planes[0]);
    } else if (frame.kind === "preview") {
      const [ids, margin] = frame.planes;
      this.setPreview({ ids, margin, probability: null, version: frame.version });
    } else if (frame.kind === "compared" || frame.kind === "similar") {
      this.emit(frame.kind, frame.planes[0]);
    } else {
      this.#receiveMap(frame);
    }
  }

  /** Map and state come one after the other: the state tells of the map that it names. */
  #countClasses(): void {
    const { map_version, classes } = this.#serverState!;
    if (this.map && map_version === this.map.version) this.#isOfSeveral = classes.filter((item) => item.mapped).length > 1;
  }

  #receiveMap(frame: Frame): void {
    const { rows, columns } = this.scene!;
    const map = (this.map ??= emptyMap(rows * columns));
    if (map.version !== frame.version) map.known = [];
    const window = frame.window!;
    frame.names!.forEach((name, k) => writeWindow(map[name], columns, frame.planes[k], window));
    if (frame.names!.includes("ids")) map.known.push(window);
    [map.version, map.left, map.ms] = [frame.version, frame.left!, frame.ms!];
    if (!map.left) this.labels.map = map.ids;
    this.#countClasses();
    this.preview = null;
    if (this.#seen && overlap(this.#seen, window)) this.#seen = null;
    this.emit("map", window);
    this.notice.request();
  }
}

/** A map of which nothing has arrived. */
function emptyMap(pixels: number): PartialMap {
  const plane = () => new Uint8Array(pixels);
  return { ids: plane().fill(NO_DATA), margin: plane(), probability: plane(), version: -1, left: 0, known: [], ms: 0 };
}

/** Whether all classes in a window have arrived. */
function isKnown({ known, left }: PartialMap, { top, left: first, bottom, right }: Window): boolean {
  return left === 0 || known.some((part) => part.top <= top && part.left <= first && part.bottom >= bottom && part.right >= right);
}
