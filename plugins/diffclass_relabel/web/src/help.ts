// The list of keys.

import { el, iconButton, keycap } from "./dom";
import { ICONS } from "./icons";

const KEYS: [string, [string[], string][]][] = [
  ["Paint", [
    [["p"], "brush"], [["e"], "eraser"], [["g"], "polygon"], [["a"], "lasso"], [["f"], "fill"],
    [["[", "]"], "smaller, larger brush"],
    [["1", "\u2026", "9"], "class in the list; two digits for 10 and on"],
    [["Ctrl", "Z"], "undo"], [["Ctrl", "Shift", "Z"], "redo"], [["Esc"], "break off"], [["Enter"], "close a polygon"],
  ]],
  ["See", [
    [["i"], "picture alone"], [["l"], "labels"], [["m"], "map"], [["u"], "doubt"], [["c"], "changes"],
    [["s"], "suggestions"], [["o"], "map as outlines"], [["y"], "grey picture under the map"], [["h"], "whole scene"], [["+", "\u2212"], "zoom, or the wheel"],
    [["Space"], "hold and drag to move, or the middle button"],
  ]],
  ["Steer", [
    [["n", "b"], "next suggestion, back"], [["v"], "inspect"], [["w"], "why this class, under the pointer"],
    [["t"], "live on or off"], [["r"], "update now"], [["?"], "this list"],
  ]],
];

let dialog: HTMLDialogElement | null = null;

export function helpButton(): HTMLButtonElement {
  return iconButton(ICONS.help, "Keys (?)", showHelp);
}

export function showHelp(): void {
  if (!dialog) {
    dialog = make();
    document.body.append(dialog);
  }
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

function make(): HTMLDialogElement {
  const columns = KEYS.map(([title, rows]) => {
    const list = el("dl");
    for (const [keys, text] of rows) {
      list.append(el("dt", {}, ...keys.map(keycap)), el("dd", { text }));
    }
    return el("section", {}, el("h2", { text: title }), list);
  });
  const made = el("dialog", { class: "help", attributes: { "aria-label": "Keys" } }, ...columns);
  made.addEventListener("click", () => made.close());
  return made;
}
