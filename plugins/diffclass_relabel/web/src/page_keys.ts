// The keys of the page, in the order in which the help lists them.

import { toggleTheme } from "./base/theme";
import type { Layers } from "./canvas/layers";
import type { Overlay } from "./canvas/overlay";
import type { View } from "./canvas/view";
import type { Shortcut, ShortcutGroup } from "./panels/shortcuts";
import type { Session } from "./session/session";
import type { KeyCursor } from "./tools/key_cursor";
import type { Tool } from "./tools/tool";
import type { UiState } from "./tools/ui_state";

interface Parts {
  session: Session;
  ui: UiState;
  view: View;
  layers: Layers;
  overlay: Overlay;
  cursor: KeyCursor;
  tools: Tool[];
  /** The tool that is chosen. */
  tool: () => Tool;
  /** Goes to the next suggestion, or back. */
  walk: (direction: 1 | -1) => void;
  toggleCompare: () => void;
  toggleSpectra: () => void;
  toggleHelp: () => void;
}

export function pageKeys(parts: Parts): ShortcutGroup[] {
  return [["Paint", paintKeys(parts)], ["Without a pointer", cursorKeys(parts)], ["See", viewKeys(parts)], ["Steer", otherKeys(parts)]];
}

function paintKeys({ session, ui, overlay, cursor, tools, tool }: Parts): Shortcut[] {
  const smaller = () => ui.stepSize(-1);
  const larger = () => ui.stepSize(1);
  const breakOff = () => {
    cursor.cancel();
    tool().cancel();
    overlay.mark(null);
  };
  return [
    ...tools.map(({ key, name }): Shortcut => [[key], name, { [key]: () => ui.setTool(name) }]),
    [["[", "]"], "smaller, larger brush", { "[": smaller, "]": larger }],
    [[",", "."], "the same, on any keyboard", { ",": smaller, ".": larger }], // many have brackets only behind AltGr
    [["1", "\u2026", "9"], "class in the list; two digits for 10 and on"],
    [["Ctrl", "Z"], "undo", { "Ctrl+z": () => session.undo() }],
    [["Ctrl", "Shift", "Z"], "redo", { "Ctrl+Shift+z": () => session.redo() }],
    [["Ctrl", "Y"], "redo", { "Ctrl+y": () => session.redo() }],
    [["Esc"], "break off", { Escape: breakOff }],
    [["Enter"], "close a polygon; so do double and right click", { Enter: () => cursor.finish() || tool().finish() }],
    [["Backspace"], "take back its last corner", { Backspace: () => tool().back() }],
  ];
}

function cursorKeys({ cursor }: Parts): Shortcut[] {
  return [
    [["\u2190", "\u2191", "\u2193", "\u2192"], "on the canvas (Tab): move a cursor"],
    [["Shift"], "with an arrow: ten pixels"],
    [["x"], "put the tool down, lift it; or click", { x: () => cursor.press() }],
  ];
}

function viewKeys({ view, layers, toggleCompare }: Parts): Shortcut[] {
  const closer = () => view.zoom(1.5);
  return [
    ...layers.list.map(({ id, key, name }): Shortcut => [[key], id === "raw" ? "picture alone" : name.toLowerCase(), { [key]: () => layers.toggle(id) }]),
    [["o"], "map as outlines", { o: () => layers.setOption("outlines", !layers.outlines) }],
    [["y"], "grey picture under the map", { y: () => layers.setOption("greyUnder", !layers.greyUnder) }],
    [["k"], "compare the map, with a divider", { k: toggleCompare }],
    [["h"], "whole scene", { h: () => view.fit() }],
    [["+", "\u2212"], "zoom, or the wheel or two fingers", { "+": closer, "=": closer, "-": () => view.zoom(1 / 1.5) }],
    [["Space"], "hold and drag to move, or the middle button"],
  ];
}

function otherKeys({ session, ui, walk, toggleSpectra, toggleHelp }: Parts): Shortcut[] {
  return [
    [["n", "b"], "next suggestion, back", { n: () => walk(1), b: () => walk(-1) }],
    [["w"], "why this class, under the pointer", { w: () => ui.hover && ui.inspect(ui.hover) }],
    [["Alt"], "click: why this class"],
    [["q"], "spectra of the classes", { q: toggleSpectra }],
    [["t"], "live on or off", { t: () => session.toggleLive() }],
    [["r"], "update now", { r: () => session.updateMap() }],
    [["d"], "dark or light", { d: toggleTheme }],
    [["right click"], "or long press: menu"],
    [["?"], "this list", { "?": toggleHelp }],
  ];
}
