// When what lies beside the canvas is told of something new: once for all that has come, and not
// before the map that is awaited is drawn. Lists and plots must not stand in its way.

const PATIENCE = 300; // ms after which they are told, map or not

/** Calls a function when the page has nothing better to do. */
const whenIdle: (act: () => void) => void =
  "requestIdleCallback" in window ? (act) => requestIdleCallback(act, { timeout: 100 }) : (act) => setTimeout(act);

export class News {
  /** Something has come that was not told yet. */
  isDue = false;
  private isStarted = false;
  private timer = 0;

  /** `isAwaited`: whether a map is on its way to the screen. */
  constructor(private readonly tell: () => void, private readonly isAwaited: () => boolean) {}

  /** Something has come. */
  come(): void {
    if (!this.isDue) this.timer = window.setTimeout(() => this.start(), PATIENCE);
    this.isDue = true;
    this.look();
  }

  /** A map has come or was drawn. */
  look(): void {
    if (this.isDue && !this.isAwaited()) this.start();
  }

  private start(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    clearTimeout(this.timer);
    whenIdle(() => {
      this.isStarted = this.isDue = false;
      this.tell();
    });
  }
}
