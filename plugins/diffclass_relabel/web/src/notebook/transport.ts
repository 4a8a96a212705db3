// The page in a frame of a notebook: messages go through the notebook's channel, no port is open.

import { lasts } from "../base/storage";
import type { Channel, Transport, TransportListener } from "../session/transport";

export interface FromPage {
  client: string;
  kind: "join" | "text" | "heard" | "get" | "leave" | "ping"; // "heard": one "text" or "binary" has arrived, so that the next may be sent.
  text?: string;
  number?: number; // Of a "get"; its answer has the same.
  path?: string;
}

export interface ToPage {
  client: string;
  kind: "text" | "binary" | "got" | "closed" | "pong";
  text?: string;
  number?: number;
  problem?: string; // Why nothing was got.
  data?: ArrayBuffer; // Of "binary" and "got".
}

/** What the frame is told, with a port, to begin with; and how the notebook looks. */
export const GREETING = "diffclass relabel";
export interface Look {
  theme: "light" | "dark";
}

interface Waiting {
  resolve: (file: Blob) => void;
  reject: (reason: Error) => void;
}

const OFTEN = 1000; // ms between two looks at what has no answer
const PATIENCE = 8000; // ms without an answer after which a kernel is busy, or gone

export class NotebookTransport implements Transport {
  readonly words = {
    silent: "The kernel does not answer: it is busy, or has ended.",
    kept: lasts ? "once it answers, or when this cell is run again" : "once it answers; they are lost with this page",
    ended: "Run this cell again when that is mended.",
  };
  readonly #listeners = new Map<string, TransportListener>(); // By client.
  #numbers = 0;
  #heard = 0; // When the kernel was heard last, and asked first since.
  #asked = 0;
  readonly #waiting = new Map<number, Waiting>();

  private constructor(private readonly port: MessagePort) {
    port.onmessage = (event) => this.#hear(event.data);
    setInterval(() => this.#look(), OFTEN);
  }

  /** Waits for the notebook's side of the frame. */
  static begin(): Promise<NotebookTransport> {
    return new Promise((resolve) => {
      addEventListener("message", ({ source, data, ports }) => {
        if (source === parent && data === GREETING) resolve(new NotebookTransport(ports[0]));
      });
    });
  }

  connect(client: string, listener: TransportListener): Channel {
    this.#listeners.set(client, listener);
    this.#tell({ client, kind: "join" });
    return {
      send: (text) => this.#tell({ client, kind: "text", text }),
      close: () => {
        this.#tell({ client, kind: "leave" });
        this.#end(client);
      },
    };
  }

  fetch(path: string): Promise<Blob> {
    const number = ++this.#numbers;
    const [client] = this.#listeners.keys();
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.#tell({ client, kind: "get", number, path });
    });
  }

  #tell(message: FromPage): void {
    if (message.kind !== "heard" && message.kind !== "leave") this.#asked ||= Date.now();
    this.port.postMessage(message);
  }

  #hear(message: ToPage): void {
    if (message.kind === "closed") return message.client ? this.#end(message.client) : this.#endAll();
    [this.#heard, this.#asked] = [Date.now(), 0];
    if (message.kind === "got") return this.#got(message);
    if (message.kind === "pong") return;
    this.#tell({ client: message.client, kind: "heard" });
    this.#listeners.get(message.client)?.message(message.kind === "text" ? message.text! : message.data!);
  }

  /** A kernel that is killed says nothing: what has no answer for long is taken as lost. */
  #look(): void {
    const [client] = this.#listeners.keys();
    const silent = this.#asked && Date.now() - Math.max(this.#asked, this.#heard);
    if (!client || !silent) return;
    if (silent > PATIENCE) return this.#endAll();
    if (silent > PATIENCE / 2) this.port.postMessage({ client, kind: "ping" } satisfies FromPage);
  }

  #got({ number, problem, data }: ToPage): void {
    const asked = this.#waiting.get(number!);
    this.#waiting.delete(number!);
    if (problem !== undefined) asked?.reject(new Error(problem));
    else asked?.resolve(new Blob([data!]));
  }

  #endAll(): void {
    this.#asked = 0;
    for (const client of [...this.#listeners.keys()]) this.#end(client);
  }

  #end(client: string): void {
    const listener = this.#listeners.get(client);
    this.#listeners.delete(client);
    for (const { reject } of this.#waiting.values()) reject(new Error("the connection was lost"));
    this.#waiting.clear();
    listener?.closed({});
  }
}
