// Tells the server what is in view: of a large map that is what it sends first.

import { debounce } from "../base/timing";
import type { Session } from "../session/session";
import type { View } from "./view";

const WAIT = 100; // ms that the view rests before it is sent
const LARGE = 2 ** 18; // pixels; smaller maps are sent whole

export class ViewportSync {
  private sent = "";

  constructor(private readonly session: Session, private readonly view: View) {
    view.on("changed", debounce(() => this.send(), WAIT));
    session.on("scene", () => {
      this.sent = ""; // a new connection: the server does not know
      this.send();
    });
  }

  private send(): void {
    const { scene } = this.session;
    if (!scene || scene.rows * scene.columns <= LARGE) return;
    const window = this.view.window;
    if (JSON.stringify(window) === this.sent) return;
    this.sent = JSON.stringify(window);
    void this.session.ask({ ask: "view", ...window });
  }
}
