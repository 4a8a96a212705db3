// Changes that no kernel has confirmed, kept in the browser: the next page of their session sends them.
//
// They are sent under the name and the numbers that they had, so that a session which has them already
// takes none twice. A page that is alive writes again while it waits, and is left alone.

import { forget, store, stored, storedKeys } from "../base/storage";
import { type Kept, Socket } from "./socket";

const KEY = "diffclass-kept ";
const OFTEN = 1000; // ms between two times that a page writes
const STALE = 3000; // ms after which the page of what is kept is gone
const sending = new Set<string>(); // What this page is sending.

/** Keeps what a page waits to have confirmed. */
export function keepChanges(socket: Socket): void {
  const write = () => {
    const { kept } = socket;
    if (kept.changes.length) store(KEY + kept.client, JSON.stringify({ ...kept, at: Date.now() }));
    else forget(KEY + kept.client);
  };
  socket.on("pending", write);
  setInterval(() => socket.pending.length && write(), OFTEN);
  socket.on("hello", ({ id }) => sendKept(socket, id));
}

/** Sends what pages of a session have left behind. */
function sendKept(socket: Socket, session: string): void {
  for (const key of storedKeys().filter((name) => name.startsWith(KEY))) {
    const kept: Kept & { at: number } = JSON.parse(stored(key)!);
    if (kept.session !== session || kept.client === socket.kept.client || sending.has(key)) continue;
    const left = STALE - (Date.now() - kept.at);
    if (left > 0) {
      setTimeout(() => sendKept(socket, session), left);
      continue;
    }
    sending.add(key);
    const sender = new Socket(socket.transport, kept);
    sender.on("numbered", ({ from, to }) => sender.renumber(from, to));
    sender.on("refused", (why) => socket.emit("refused", why));
    sender.on("pending", () => {
      if (sender.pending.length) return;
      forget(key);
      sender.end();
    });
    sender.open();
  }
}
