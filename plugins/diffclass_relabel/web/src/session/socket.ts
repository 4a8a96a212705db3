// The connection: numbers every message, reconnects by itself and resends what has no answer.

import { Emitter } from "../base/events";
import { named, type Optimistic, renumber } from "./optimistic_state";
import { type Answers, type Done, type Hello, type Operation, PART_LENGTH, type Question, type TextMessage } from "./protocol.generated";
import type { Channel, Closed, Transport } from "./transport";

const FIRST_WAIT = 250; // ms before the first new attempt; doubled up to LAST_WAIT
const LAST_WAIT = 4000;
/** Questions that the page asks by itself. */
const UNASKED = new Set<Ask>(["spectrum", "curve", "preview_tau", "numbers", "view"]);

export type Ask = keyof Answers;
export type QuestionOf<A extends Ask> = { ask: A } & Extract<Question, { ask: A }>;
export type AnswerTo<A extends Ask> = Answers[A];

/** What is asked of a server that has nothing open: to show a folder, or to open a scene or session. */
export type SceneChoice = { look: string } | ({ open: string } & NewSession) | { recent: number };

/** What a new session begins with besides its scene; files by their paths below the root. */
export interface NewSession {
  further?: string[];
  features?: string;
  reference?: string;
  mask?: string;
}

type Connection = "connecting" | "open" | "lost" | "refused";

/** Messages that are passed on as they come. */
type Passed = Extract<TextMessage, { kind: "hello" | "start" | "checked" | "moved" | "preparing" | "failed" | "state" }>;

type SocketEvents = { [K in Passed["kind"]]: Extract<Passed, { kind: K }> } & {
  connection: Connection;
  binary: ArrayBuffer;
  refused: string; // Why something was refused that the user had asked for.
  pending: void; // The number of operations that are not on the server's disk yet changed.
  numbered: { from: number; to: number }; // The server has numbered a new class otherwise than the page.
};

/** Changes without an answer, as they can be kept and sent by another page. */
export interface Kept {
  client: string;
  session: string;
  seq: number;
  changes: { seq: number; operation: Operation; seen: number; newId: number; needs: number[] }[];
}

interface Waiting {
  message: object;
  operation: Operation | null;
  /** Operations without which this one would mean another thing: it waits for their answers, and is
   *  refused with them. */
  needs: number[];
  sent: boolean;
  quiet: boolean; // Asked by the page itself: a refusal is not shown to the user.
  resolve: (answer: any) => void;
  reject: (reason: Error) => void;
}

export class Socket extends Emitter<SocketEvents> {
  connection: Connection = "connecting";
  reason = ""; // Why the server refused this page, once it has.
  #channel: Channel | null = null;
  readonly #client: string;
  #session: string; // Of the greeting; another session at the same address must not get what is kept for this one.
  #seq: number;
  #isOver = false;
  #wait = FIRST_WAIT;
  #greeted = false;
  readonly #waiting = new Map<number, Waiting>();
  readonly #unincluded = new Map<number, Optimistic>(); // Operations that are not in the newest state, oldest first.
  #included = 0;

  /** `kept`: what another page has left, to be sent in its place. */
  constructor(readonly transport: Transport, kept: Kept = { client: randomName(), session: "", seq: 0, changes: [] }) {
    super();
    [this.#client, this.#session, this.#seq] = [kept.client, kept.session, kept.seq];
    for (const { seq, operation, seen, newId, needs } of kept.changes) {
      this.#unincluded.set(seq, { operation, newId, refs: [] });
      this.#waiting.set(seq, { message: { op: operation, seen }, operation, needs, sent: false, quiet: false, resolve: () => {}, reject: () => {} });
    }
  }

  /** What waits for an answer, to be kept. */
  get kept(): Kept {
    const changes = [...this.#waiting].flatMap(([seq, { message, operation, needs }]) =>
      operation ? [{ seq, operation, seen: (message as { seen: number }).seen, newId: this.#unincluded.get(seq)?.newId ?? 0, needs }] : []);
    return { client: this.#client, session: this.#session, seq: this.#seq, changes };
  }

  /** Operations that the server has not confirmed, oldest first, with their numbers. */
  get pending(): [seq: number, operation: Operation][] {
    return [...this.#waiting].flatMap(([seq, { operation }]) => (operation ? [[seq, operation]] : []));
  }

  /** What was done here and is not in the newest state, oldest first. */
  get optimistic(): Optimistic[] {
    return [...this.#unincluded.values()];
  }

  open(): void {
    this.#channel = this.transport.connect(this.#client, {
      message: (data) => this.#receive(data),
      closed: (reason) => this.#closed(reason),
    }, this.#session);
  }

  /** Sends an operation; resolves when it is on the server's disk, with what the server made.
   *
   *  `seen` is the version of the state in which it was done: the server refuses it where others have
   *  changed what it is about. A new class has the id `newId` until the server has numbered it. */
  apply(operation: Operation, seen: number, newId = 0, quiet = false): Promise<Done> {
    const needs = this.#neededBy(operation);
    this.#unincluded.set(this.#seq + 1, { operation, newId, refs: [] });
    const sent = this.#send<Done>({ op: operation, seen }, { operation, needs, quiet });
    this.emit("pending");
    return sent;
  }

  /** Puts another id in the place of that of a class which the server has not numbered yet. */
  renumber(from: number, to: number): void {
    for (const item of this.optimistic) {
      renumber(item.operation, from, to);
      if (item.newId !== from) continue;
      item.newId = to;
      for (const ref of item.refs) ref.id = to;
    }
  }

  /** Sends a question; resolves with the answer. */
  ask<A extends Ask>(question: QuestionOf<A>): Promise<AnswerTo<A>> {
    return this.#send<AnswerTo<A>>(question, { quiet: UNASKED.has(question.ask) });
  }

  /** Says what to show or to open, where nothing is open yet. */
  choose(choice: SceneChoice): void {
    this.#transmit(JSON.stringify(choice));
  }

  /** Ends the conversation for good. */
  end(): void {
    this.#isOver = true;
    this.#channel?.close();
  }

  /** Drops the connection as a lost network would; for tests. */
  drop(): void {
    this.#channel?.close();
  }

  #send<Answer>(message: object, about: Partial<Waiting>): Promise<Answer> {
    const seq = ++this.#seq;
    return new Promise((resolve, reject) => {
      this.#waiting.set(seq, { message, operation: null, needs: [], quiet: false, ...about, sent: false, resolve, reject });
      this.#flush();
    });
  }

  /** Sends what waits, in its order: nothing passes what has to wait for an answer itself. */
  #flush(): void {
    if (!this.#greeted) return;
    for (const [seq, item] of this.#waiting) {
      if (item.sent) continue;
      if (item.needs.some((needed) => this.#waiting.has(needed))) return;
      item.sent = true;
      this.#transmit(JSON.stringify({ seq, ...item.message }));
    }
  }

  /** What an operation needs: that the classes it names were added; undo, that there is what it takes back. */
  #neededBy(operation: Operation): number[] {
    const ids = named(operation);
    const adding = [...this.#unincluded].filter(([seq, { newId }]) => newId && ids.includes(newId) && this.#waiting.has(seq));
    const { op } = operation;
    const last = op === "undo" || op === "redo" ? this.pending.filter(([, other]) => other.op !== op).slice(-1) : [];
    return [...adding, ...last].map(([seq]) => seq);
  }

  /** Sends a message, in parts if it is long: "+" and a part where more follow, "=" and the last. */
  #transmit(text: string): void {
    if (text.length <= PART_LENGTH) return this.#channel?.send(text);
    for (let at = 0; at < text.length; at += PART_LENGTH) {
      const mark = at + PART_LENGTH < text.length ? "+" : "=";
      this.#channel?.send(mark + text.slice(at, at + PART_LENGTH));
    }
  }

  #receive(data: string | ArrayBuffer): void {
    if (typeof data !== "string") return this.emit("binary", data);
    const message: TextMessage = JSON.parse(data);
    switch (message.kind) {
      case "hello":
        return this.#hello(message);
      case "foreign":
        this.reason = `another session is open there now, of ${message.scene}`;
        return this.#change("refused");
      case "done":
        return this.#done(message);
      case "answer":
        return this.#settle(message.seq)?.resolve(message);
      case "superseded":
        return this.#settle(message.seq)?.reject(new Error("asked again meanwhile"));
      case "refused":
        return this.#refused(message.seq, message.message);
      case "state":
        this.#include(message.included);
        break;
      case "start":
      case "preparing":
        this.#change("connecting");
    }
    this.emit<Passed["kind"]>(message.kind, message);
  }

  #hello(message: Hello): void {
    this.#greeted = true;
    this.#session = message.id;
    this.reason = "";
    this.#wait = FIRST_WAIT;
    this.#include(message.included);
    this.emit("hello", message);
    this.#change("open");
    // The server knows by client and seq what it has done already.
    for (const item of this.#waiting.values()) item.sent = false;
    this.#flush();
  }

  /** The newest state has the operations up to a number. */
  #include(seq: number): void {
    this.#included = seq;
    this.#prune();
  }

  /** Forgets what is in the newest state. That a class was added stays until its id is known. */
  #prune(): void {
    for (const [seq, { newId }] of this.#unincluded) {
      if (seq <= this.#included && !(newId && this.#waiting.has(seq))) this.#unincluded.delete(seq);
    }
  }

  #done(message: Done): void {
    const item = this.#settle(message.seq);
    const newId = this.#unincluded.get(message.seq)?.newId;
    if (newId && message.class && message.class !== newId) this.emit("numbered", { from: newId, to: message.class });
    // what waited for a class was done with it, and not with one that had its number before
    if (newId) for (const { message: other, needs } of this.#waiting.values()) if (needs.includes(message.seq)) (other as { seen: number }).seen = message.version;
    this.#prune();
    item?.resolve(message);
    this.#flush();
    this.emit("pending");
  }

  #refused(seq: number | null, message: string): void {
    const given = seq === null ? [] : this.#giveUp(seq);
    const more = given.length > 1 ? ` (and ${given.length - 1} more that went with it)` : "";
    if (!given[0]?.quiet) this.emit("refused", message + more);
    for (const item of given) item.reject(new Error(message));
    this.#flush();
    this.emit("pending");
  }

  /** Takes away what was refused, and what needs it. */
  #giveUp(seq: number): Waiting[] {
    const item = this.#settle(seq);
    this.#unincluded.delete(seq);
    const needing = [...this.#waiting].filter(([, other]) => other.needs.includes(seq)).map(([other]) => other);
    return [...(item ? [item] : []), ...needing.flatMap((other) => this.#giveUp(other))];
  }

  #settle(seq: number): Waiting | undefined {
    const item = this.#waiting.get(seq);
    this.#waiting.delete(seq);
    return item;
  }

  #closed({ refused, tooLong }: Closed): void {
    if (this.#isOver) return;
    this.#greeted = false;
    if (refused !== undefined) [this.reason, this.#wait] = [refused, LAST_WAIT];
    if (tooLong) this.#giveUpLongest();
    this.#change(refused === undefined ? "lost" : "refused");
    // Questions are not worth asking again: the page asks anew when it needs to know.
    for (const [seq, item] of this.#waiting) {
      if (!item.operation) this.#settle(seq)?.reject(new Error("the connection was lost"));
    }
    setTimeout(() => this.open(), this.#wait);
    this.#wait = Math.min(2 * this.#wait, LAST_WAIT);
  }

  /** Something on the way, such as a proxy, lets no message of that length pass: do not try for ever. */
  #giveUpLongest(): void {
    const lengthOf = ({ message }: Waiting) => JSON.stringify(message).length;
    const [longest] = [...this.#waiting].sort(([, a], [, b]) => lengthOf(b) - lengthOf(a));
    if (longest) this.#refused(longest[0], "This change is too long for the connection; paint it in several pieces.");
  }

  #change(connection: Connection): void {
    this.connection = connection;
    this.emit("connection", connection);
  }
}

/** Thirty-two random digits; `crypto.randomUUID` is missing where the connection is not encrypted. */
function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
