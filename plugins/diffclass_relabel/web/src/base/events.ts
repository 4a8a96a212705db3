// Who is told of what, and when: an event bus; once per frame, after a rest, one call at a time.

export class Emitter<Events> {
  #listeners: { [K in keyof Events]?: ((event: Events[K]) => void)[] } = {};

  on<K extends keyof Events>(name: K, listener: (event: Events[K]) => void): void {
    (this.#listeners[name] ??= []).push(listener);
  }

  emit<K extends keyof Events>(name: K, ...[event]: Events[K] extends void ? [] : [Events[K]]): void {
    for (const listener of this.#listeners[name] ?? []) listener(event as Events[K]);
  }
}

/** Calls a function at most once per frame. */
export function oncePerFrame(act: () => void): () => void {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      act();
    });
  };
}

/** Calls a function once nothing has asked for it for some milliseconds. */
export function debounce(act: () => void, ms: number): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(act, ms);
  };
}

/** A task of which one runs at a time; asked for meanwhile, it runs once more afterwards. */
export class OneAtATime {
  isRunning = false;
  isWanted = false; // Whether it was asked for again since it began.

  constructor(private readonly task: () => Promise<void>) {}

  async run(): Promise<void> {
    this.isWanted = true;
    if (this.isRunning) return;
    this.isRunning = true;
    while (this.isWanted) {
      this.isWanted = false;
      await this.task();
    }
    this.isRunning = false;
  }
}

const PATIENCE = 300; // ms after which they are told, map or not

/** Calls a function when the page has nothing better to do. */
const whenIdle: (act: () => void) => void =
  "requestIdleCallback" in window ? (act) => requestIdleCallback(act, { timeout: 100 }) : (act) => setTimeout(act);

export class ChangeNotice {
  isDue = false; // Something has changed that was not told yet.
  #isStarted = false;
  #timer = 0;

  /** `isMapAwaited`: whether a map is on its way to the screen. */
  constructor(private readonly tell: () => void, private readonly isMapAwaited: () => boolean) {}

  /** Something has changed. */
  request(): void {
    if (!this.isDue) this.#timer = window.setTimeout(() => this.#start(), PATIENCE);
    this.isDue = true;
    this.startUnlessAwaited();
  }

  /** Tells if something is due and no map is awaited any more. */
  startUnlessAwaited(): void {
    if (this.isDue && !this.isMapAwaited()) this.#start();
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    clearTimeout(this.#timer);
    whenIdle(() => {
      this.#isStarted = this.isDue = false;
      this.tell();
    });
  }
}
