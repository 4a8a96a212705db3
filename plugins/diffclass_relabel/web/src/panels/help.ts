// The list of keys.

import { el, iconButton, keycap } from "../base/dom";
import { ICONS } from "../base/icons";

const KEYS: [string, [string[], string][]][] = [
  ["Paint", [
    [["p"], "brush"], [["e"], "eraser"], [["g"], "polygon"], [["a"], "lasso"], [["f"], "fill"],
    [["[", "]"], "smaller, larger brush"], [[",", "."], "the same, on any keyboard"],
    [["1", "\u2026", "9"], "class in the list; two digits for 10 and on"],
    [["Ctrl", "Z"], "undo"], [["Ctrl", "Shift", "Z"], "redo"], [["Ctrl", "Y"], "redo"],
    [["Esc"], "break off"], [["Enter"], "close a polygon; so do double and right click"], [["Backspace"], "take back its last corner"],
  ]],
  ["Without a pointer", [
    [["\u2190", "\u2191", "\u2193", "\u2192"], "on the canvas (Tab): move a cursor"], [["Shift"], "with an arrow: ten pixels"],
    [["x"], "put the tool down, lift it; or click"],
  ]],
  ["See", [
    [["i"], "picture alone"], [["l"], "labels"], [["m"], "map"], [["u"], "doubt"], [["c"], "changes"],
    [["s"], "suggestions"], [["o"], "map as outlines"], [["y"], "grey picture under the map"], [["k"], "compare the map, with a divider"], [["h"], "whole scene"], [["+", "\u2212"], "zoom, or the wheel or two fingers"],
    [["Space"], "hold and drag to move, or the middle button"],
  ]],
  ["Steer", [
    [["n", "b"], "next suggestion, back"], [["v"], "inspect"], [["w"], "why this class, under the pointer"],
    [["Alt"], "click: why this class"], [["q"], "spectra of the classes"], [["t"], "live on or off"], [["r"], "update now"],
    [["d"], "dark or light"], [["right click"], "or long press: menu"], [["?"], "this list"],
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
  const made = el("dialog", { class: "help", attributes: { "aria-label": "Keys", tabindex: "0" } }, el("div", { class: "key-columns" }, ...columns));
  made.addEventListener("click", () => made.close());
  return made;
}
