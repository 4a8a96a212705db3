// What lies between the page and its session: an interface, and the server's own page with a WebSocket
// and addresses relative to the page's. In a notebook it is the notebook's channel.

const POLICY_VIOLATION = 1008;
const TOO_LONG = 1009;

export interface TransportListener {
  message(data: string | ArrayBuffer): void;
  closed(reason: Closed): void;
}

/** Why a channel has ended. */
export interface Closed {
  refused?: string; // Set where this page is not let in: why.
  tooLong?: boolean; // A message was too long for something on the way.
}

/** A way to the session, until it is closed. */
export interface Channel {
  send(text: string): void;
  close(): void;
}

export interface Transport {
  /** What is said of the other end: when it does not answer, until when changes are kept then, and once it
   *  has ended and said why. */
  readonly words: { silent: string; kept: string; ended: string };
  /** Begins a channel; `client` is the page's name in all of them, `session` that which it belongs to. */
  connect(client: string, listener: TransportListener, session: string): Channel;
  /** Fetches a picture or an exported file; rejects with what the server says. */
  fetch(path: string): Promise<Blob>;
}

/** A WebSocket and addresses relative to the page's. */
export class WebTransport implements Transport {
  readonly words = {
    silent: "The server does not answer. Trying again.",
    kept: "as soon as it does",
    ended: "The server has ended; start it again when that is mended.",
  };
  readonly #address: string;
  /** The secret of the page's address, if it had one. Once it is refused the cookie takes its place:
   *  a server that was started again sets a new one when its page is opened. */
  #token: string | null;

  constructor() {
    const address = new URL("ws", location.href); // relative: a proxy puts the page below a prefix
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.#address = address.href;
    this.#token = new URLSearchParams(location.search).get("token");
    // From now on the cookie stands for it: the address bar is seen over shoulders and kept in the history.
    history.replaceState(null, "", location.pathname);
  }

  connect(client: string, listener: TransportListener, session: string): Channel {
    const query = new URLSearchParams({ client, session });
    if (this.#token) query.set("token", this.#token);
    const socket = new WebSocket(`${this.#address}?${query}`);
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => listener.message(event.data);
    socket.onclose = ({ code, reason }) => {
      if (code === POLICY_VIOLATION) this.#token = null;
      listener.closed({ refused: code === POLICY_VIOLATION ? reason : undefined, tooLong: code === TOO_LONG });
    };
    return socket;
  }

  async fetch(path: string): Promise<Blob> {
    const response = await fetch(path);
    if (!response.ok) throw new Error((await response.text()).slice(0, 300));
    return response.blob();
  }
}
