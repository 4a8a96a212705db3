// Notices to the user: passing messages, a lost connection, a hint while nothing is painted.

import { el } from "../base/dom";
import type { Session } from "../session/session";

const SHOWN_FOR = 7000; // ms

export class Notices {
  readonly element = el("div", { class: "notices" });
  private readonly message = el("div", { class: "message", attributes: { role: "status" } });
  private readonly connection = el("div", { class: "connection", attributes: { role: "alert" } });
  private readonly hint = el("div", { class: "hint" });
  private timer = 0;

  constructor(private readonly session: Session) {
    this.element.append(this.connection, this.message, this.hint);
    this.message.hidden = this.connection.hidden = this.hint.hidden = true;
    session.on("message", (text) => this.tell(text));
    session.on("news", () => this.showHint());
    session.socket.on("connection", () => this.showConnection());
    session.socket.on("pending", () => this.showConnection());
  }

  tell(text: string): void {
    this.message.textContent = text;
    this.message.hidden = false;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => (this.message.hidden = true), SHOWN_FOR);
  }

  private showConnection(): void {
    const { connection, reason, pending } = this.session.socket;
    this.connection.hidden = connection === "open" || connection === "connecting";
    const why = reason ? ` (${reason})` : "";
    const problem =
      connection === "refused"
        ? `The server refuses this page${why}. Open the address that it printed when it started.`
        : "The server does not answer. Trying again.";
    const waiting = pending.length === 1 ? "1 change is" : `${pending.length} changes are`;
    const kept = pending.length ? ` ${waiting} kept here and sent as soon as it does.` : "";
    this.connection.textContent = problem + kept;
  }

  private showHint(): void {
    const { state } = this.session;
    const empty = Boolean(state) && state!.strokes.length === 0 && this.session.socket.pending.length === 0;
    this.hint.hidden = !empty;
    this.hint.textContent = state?.classes.length
      ? "Choose a class and paint a few strokes; the map follows."
      : "Add a class on the right, then paint a few strokes; the map follows.";
  }
}
