// Sets of pixels as runs, in messages as in the log.

/** A set of pixels: start, length, start, length, ... over row * columns + column, rising. */
export type Runs = number[];

/** Packs pixel numbers, in any order and with repeats, into runs. */
export function toRuns(pixels: Iterable<number>): Runs {
  const sorted = Int32Array.from(pixels).sort();
  const runs: Runs = [];
  for (const pixel of sorted) {
    const end = runs.length && runs[runs.length - 2] + runs[runs.length - 1];
    if (runs.length && pixel < end) continue;
    if (runs.length && pixel === end) runs[runs.length - 1] += 1;
    else runs.push(pixel, 1);
  }
  return runs;
}

/** Calls `visit` for each pixel of some runs. */
export function eachPixel(runs: Runs, visit: (pixel: number) => void): void {
  for (let k = 0; k < runs.length; k += 2) {
    const end = runs[k] + runs[k + 1];
    for (let pixel = runs[k]; pixel < end; pixel++) visit(pixel);
  }
}
