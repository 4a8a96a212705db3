// Tells the server what is in view: of a large map that is what it sends first.

import type { Session } from "../session/session";
import type { View } from "./view";

const WAIT = 100; // ms that the view rests before it is told
const LARGE = 2 ** 18; // pixels; smaller maps are sent whole

export class SightTeller {
  private timer = 0;
  private told = "";

  constructor(private readonly session: Session, private readonly view: View) {
    session.on("scene", () => {
      this.told = ""; // a new connection: the server does not know
      this.tell();
    });
  }

  tellSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tell(), WAIT);
  }

  private tell(): void {
    const { scene } = this.session;
    if (!scene || scene.rows * scene.columns <= LARGE) return;
    const window = this.view.window;
    const told = JSON.stringify(window);
    if (told === this.told) return;
    this.told = told;
    void this.session.ask({ ask: "view", ...window });
  }
}
