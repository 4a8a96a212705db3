// Line icons, which stand in index.html; drawn in the colour of the text around them.

export type IconName =
  | "brush" | "eraser" | "polygon" | "lasso" | "fill" | "wand" | "inspect" | "undo" | "redo" | "export" | "import"
  | "light" | "help" | "eye" | "eyeOff" | "lock" | "unlock" | "more" | "plus" | "minus" | "fit" | "previous"
  | "next" | "compare" | "chart" | "remove" | "panels";

export function iconMarkup(name: IconName): string {
  return `<svg class="line-icon" aria-hidden="true"><use href="#${name}-icon"/></svg>`;
}
