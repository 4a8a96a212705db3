// What lies between the page and its session: a WebSocket and addresses, or a notebook's channel.

export interface Ears {
  message(data: string | ArrayBuffer): void;
  closed(reason: Closed): void;
}

/** Why a conversation has ended. */
export interface Closed {
  /** Set where this page is not let in: why. */
  refused?: string;
  /** A message was too long for something on the way. */
  tooLong?: boolean;
}

export interface Conversation {
  send(text: string): void;
  close(): void;
}

export interface Transport {
  /** Begins a conversation; `client` is the page's name in all of them, `session` that which it belongs to. */
  converse(client: string, ears: Ears, session: string): Conversation;
  /** Fetches a picture or an exported file; rejects with what the server says. */
  fetch(path: string): Promise<Blob>;
}
