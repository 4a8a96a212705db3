// When panels are told of changes: once for all that has come, and not before the map that is awaited
// is drawn. Lists and plots must not delay it.

const PATIENCE = 300; // ms after which they are told, map or not

/** Calls a function when the page has nothing better to do. */
const whenIdle: (act: () => void) => void =
  "requestIdleCallback" in window ? (act) => requestIdleCallback(act, { timeout: 100 }) : (act) => setTimeout(act);

export class ChangeNotice {
  /** Something has changed that was not told yet. */
  isDue = false;
  private isStarted = false;
  private timer = 0;

  /** `isMapAwaited`: whether a map is on its way to the screen. */
  constructor(private readonly tell: () => void, private readonly isMapAwaited: () => boolean) {}

  /** Something has changed. */
  request(): void {
    if (!this.isDue) this.timer = window.setTimeout(() => this.start(), PATIENCE);
    this.isDue = true;
    this.startUnlessAwaited();
  }

  /** Tells if something is due and no map is awaited any more. */
  startUnlessAwaited(): void {
    if (this.isDue && !this.isMapAwaited()) this.start();
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
