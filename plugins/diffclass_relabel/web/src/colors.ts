// Colours: those of new classes, and the scale of doubt.

/** Okabe and Ito first, as in diffclass.plots; told apart by colour-blind eyes. */
export const PALETTE = [
  "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#0000FF",
  "#781E00", "#A5F096", "#6969FF", "#4B3C5A", "#3C1EA5", "#E10F4B", "#FFA5B4", "#6996FF",
  "#FF965A", "#A5E1FF", "#003C78", "#780F2D", "#2D3CE1", "#A53C00", "#F0F078", "#3C5AC3",
];

export type Rgb = [number, number, number];

export function rgb(color: string): Rgb {
  const value = parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** The colour of a new class: the first of the palette that no class has. */
export function freeColor(taken: string[]): string {
  const used = new Set(taken.map((color) => color.toLowerCase()));
  return PALETTE.find((color) => !used.has(color.toLowerCase())) ?? PALETTE[taken.length % PALETTE.length];
}

/** Black or white, whichever reads better on a colour. */
export function inkOn(color: string): string {
  const [red, green, blue] = rgb(color);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 150 ? "#000" : "#fff";
}

// Cividis (Nunez, Anderton and Renslow 2018) at even steps: the same order for every eye.
const CIVIDIS: Rgb[] = [
  [0, 32, 77], [0, 54, 111], [57, 72, 107], [87, 91, 109], [112, 113, 115],
  [138, 134, 120], [166, 157, 117], [196, 181, 108], [228, 207, 91], [255, 234, 70],
];

/** Doubt = 1 - margin, 0..1, as a colour: dark where sure, yellow where in doubt. */
export function doubtColor(doubt: number): Rgb {
  const place = Math.min(Math.max(doubt, 0), 1) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const part = place - low;
  return CIVIDIS[low].map((value, k) => Math.round(value + part * (CIVIDIS[low + 1][k] - value))) as Rgb;
}

/** The scale as a CSS gradient, for legends. */
export const DOUBT_GRADIENT = `linear-gradient(to right, ${CIVIDIS.map((c) => `rgb(${c.join(" ")})`).join(", ")})`;
