// Keys of the page: what a table of them says, and listening for them. Every one has a button too.

/** By `KeyboardEvent.key`; with "Ctrl+" before it where Control or Command is held. */
export type Keys = Record<string, (event: KeyboardEvent) => void>;

/** A line of the list of keys: the keys as they are drawn, what they do, and how it is done unless
 *  another part listens for them. */
export type Shortcut = [shown: string[], text: string, keys?: Keys];

export type ShortcutGroup = [title: string, shortcuts: Shortcut[]];

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
