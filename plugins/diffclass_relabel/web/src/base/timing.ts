// When a function is called: once per frame, after a rest, or one call at a time.

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
  /** Whether it was asked for again since it began. */
  isWanted = false;

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
