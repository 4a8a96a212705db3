// Keys of the page: what each does, the list of them, and listening. Every one has a button too.

import { el, iconButton, keycap, toggleTheme } from "./base/dom";
import type { Workbench } from "./workbench";

/** By `KeyboardEvent.key`; with "Ctrl+" before it where Control or Command is held. */
export type Keys = Record<string, (event: KeyboardEvent) => void>;

/** A line of the list of keys: the keys as they are drawn, what they do, and how it is done unless
 *  another part listens for them. */
type Shortcut = [shown: string[], text: string, keys?: Keys];

type ShortcutGroup = [title: string, shortcuts: Shortcut[]];

export function keysOf(groups: ShortcutGroup[]): Keys {
  return Object.assign({}, ...groups.flatMap(([, shortcuts]) => shortcuts.map(([, , keys]) => keys)));
}

/** A dialog has its own keys, and where a scene is being chosen there is nothing to paint. */
const NOTHING_TO_DO = "dialog[open], .start:not([hidden])";

/** Listens to the whole page, but not while something is typed; a focused button keeps its own keys. */
export function listen(keys: Keys, digit: (digit: string, now: number) => void, space: (held: boolean) => void): void {
  addEventListener("keydown", (event) => {
    const altGr = event.getModifierState("AltGraph"); // Windows tells of it as Control and Alt
    if (isTyping(event.target) || (event.altKey && !altGr) || document.querySelector(NOTHING_TO_DO)) return;
    if ((event.key === " " || event.key === "Enter") && isPressed(event.target)) return;
    if (event.key === " ") return holdSpace(event, space);
    const held = (event.ctrlKey || event.metaKey) && !altGr;
    const name = held ? `Ctrl+${event.shiftKey ? "Shift+" : ""}${event.key.toLowerCase()}` : event.key;
    if (!held && /^[0-9]$/.test(event.key)) return digit(event.key, event.timeStamp);
    const act = keys[name] ?? (held ? undefined : keys[event.key.toLowerCase()]);
    if (!act) return;
    if (event.key !== "Escape") event.preventDefault(); // Escape closes menus too
    act(event);
  });
  addEventListener("keyup", (event) => {
    if (event.key === " ") space(false);
  });
  addEventListener("blur", () => space(false));
}

function holdSpace(event: KeyboardEvent, space: (held: boolean) => void): void {
  event.preventDefault(); // it would scroll
  space(true);
}

/** Whether Space or Enter are the control's own: they press it. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches("button, summary, input[type=checkbox], input[type=color]");
}

function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return true;
  return target instanceof HTMLInputElement && !["range", "checkbox", "color"].includes(target.type);
}

interface Parts extends Workbench {
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
    [["j"], "paint the class under the pointer", { j: () => ui.hover && ui.setClass(session.classAt(ui.hover)?.id ?? ui.classId) }],
    [["q"], "spectra of the classes; of a table: rows to answer", { q: toggleSpectra }],
    [["t"], "live on or off", { t: () => session.toggleLive() }],
    [["r"], "update now", { r: () => session.updateMap() }],
    [["d"], "dark or light", { d: toggleTheme }],
    [["right click"], "or long press: menu"],
    [["?"], "this list", { "?": toggleHelp }],
  ];
}

export class Help {
  readonly element: HTMLDialogElement;

  /** `guide`: what is explained below the keys, under a title. */
  constructor(groups: ShortcutGroup[], title: string, guide: [string, string][]) {
    const columns = groups.map(([title, shortcuts]) => el("section", {}, el("h2", { text: title }), el("dl", {}, ...shortcuts.flatMap(line))));
    this.element = el("dialog", { class: "help", attributes: { "aria-label": "Keys", tabindex: "0" }, on: { click: () => this.element.close() } },
      el("header", {}, el("h1", { text: "Keys" }), iconButton("remove", "Close (Esc)", () => this.element.close())),
      el("div", { class: "key-columns" }, ...columns),
      el("h2", { text: title }), el("dl", { class: "guide" }, ...guide.flatMap(([name, text]) => [el("dt", { text: name }), el("dd", { text })])));
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }

  /** Opens at the guide. */
  explain(): void {
    this.element.showModal();
    this.element.querySelector(".guide")!.scrollIntoView();
  }
}

function line([shown, text]: Shortcut): HTMLElement[] {
  return [el("dt", {}, ...shown.map(keycap)), el("dd", { text })];
}
