// The server's own page: a WebSocket and addresses relative to the page's.

import type { Conversation, Ears, Transport } from "./transport";

const POLICY_VIOLATION = 1008;
const TOO_LONG = 1009;

export class WebTransport implements Transport {
  private readonly address: string;
  /** The secret of the page's address, if it had one. Once it is refused the cookie takes its place:
   *  a server that was started again sets a new one when its page is opened. */
  private token: string | null;

  constructor() {
    const address = new URL("ws", location.href); // relative: a proxy puts the page below a prefix
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.address = address.href;
    this.token = new URLSearchParams(location.search).get("token");
    // From now on the cookie stands for it: the address bar is seen over shoulders and kept in the history.
    history.replaceState(null, "", location.pathname);
  }

  converse(client: string, ears: Ears, session: string): Conversation {
    const query = new URLSearchParams({ client, session });
    if (this.token) query.set("token", this.token);
    const socket = new WebSocket(`${this.address}?${query}`);
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => ears.message(event.data);
    socket.onclose = ({ code, reason }) => {
      if (code === POLICY_VIOLATION) this.token = null;
      ears.closed({ refused: code === POLICY_VIOLATION ? reason : undefined, tooLong: code === TOO_LONG });
    };
    return socket;
  }

  async fetch(path: string): Promise<Blob> {
    const response = await fetch(path);
    if (!response.ok) throw new Error((await response.text()).slice(0, 300));
    return response.blob();
  }
}
