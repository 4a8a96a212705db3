// The page in a frame of a notebook: messages go through the notebook's channel, no port is open.

import type { Channel, Transport, TransportListener } from "../session/transport";

export interface FromPage {
  client: string;
  kind: "join" | "text" | "heard" | "get" | "leave"; // "heard": one "text" or "binary" has arrived, so that the next may be sent.
  text?: string;
  number?: number; // Of a "get"; its answer has the same.
  path?: string;
}

export interface ToPage {
  client: string;
  kind: "text" | "binary" | "got" | "closed";
  text?: string;
  number?: number;
  problem?: string; // Why nothing was got.
  data?: ArrayBuffer; // Of "binary" and "got".
}

/** What the frame is told, with a port, to begin with. */
export const GREETING = "diffclass relabel";

interface Waiting {
  resolve: (file: Blob) => void;
  reject: (reason: Error) => void;
}

export class NotebookTransport implements Transport {
  #client = "";
  #listener: TransportListener | null = null;
  #numbers = 0;
  readonly #waiting = new Map<number, Waiting>();

  private constructor(private readonly port: MessagePort) {
    port.onmessage = (event) => this.#hear(event.data);
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
    [this.#client, this.#listener] = [client, listener];
    this.#tell({ kind: "join" });
    return {
      send: (text) => this.#tell({ kind: "text", text }),
      close: () => {
        this.#tell({ kind: "leave" });
        this.#end();
      },
    };
  }

  fetch(path: string): Promise<Blob> {
    const number = ++this.#numbers;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.#tell({ kind: "get", number, path });
    });
  }

  #tell(message: Omit<FromPage, "client">): void {
    this.port.postMessage({ client: this.#client, ...message } satisfies FromPage);
  }

  #hear(message: ToPage): void {
    if (message.kind === "closed") return this.#end();
    if (message.kind === "got") return this.#got(message);
    this.#tell({ kind: "heard" });
    this.#listener?.message(message.kind === "text" ? message.text! : message.data!);
  }

  #got({ number, problem, data }: ToPage): void {
    const asked = this.#waiting.get(number!);
    this.#waiting.delete(number!);
    if (problem !== undefined) asked?.reject(new Error(problem));
    else asked?.resolve(new Blob([data!]));
  }

  #end(): void {
    const listener = this.#listener;
    this.#listener = null;
    for (const { reject } of this.#waiting.values()) reject(new Error("the connection was lost"));
    this.#waiting.clear();
    listener?.closed({});
  }
}
