// Colours as numbers, and the scale of doubt.

export type Rgb = [number, number, number];

export function rgb(color: string): Rgb {
  const value = parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
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
