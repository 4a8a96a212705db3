// Making elements in one expression, moving the focus among them, numbers as text, dark or light.

import { type IconName, iconMarkup } from "./icons";
import { store, stored } from "./storage";

const GAP = 4; // px between a menu and what it hangs from

type Options = {
  class?: string;
  text?: string;
  title?: string;
  icon?: IconName;
  attributes?: Record<string, string>;
  on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
};

type Child = Node | string | null;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: Options = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (element instanceof HTMLButtonElement) element.type = "button"; // else it would submit a form
  if (options.class) element.className = options.class;
  if (options.text !== undefined) element.textContent = options.text;
  if (options.icon) element.innerHTML = iconMarkup(options.icon);
  if (options.title) element.title = options.title;
  for (const [name, value] of Object.entries(options.attributes ?? {})) element.setAttribute(name, value);
  for (const [name, listener] of Object.entries(options.on ?? {})) {
    element.addEventListener(name, listener as EventListener);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A button with an icon; `title` is also its name for screen readers. */
export function iconButton(icon: IconName, title: string, act: () => void, className = "icon"): HTMLButtonElement {
  return el("button", {
    class: className,
    icon,
    title,
    attributes: { "aria-label": title },
    on: { click: act },
  });
}

export function textButton(text: string, title: string, act: () => void, className = ""): HTMLButtonElement {
  return el("button", { class: className, text, title, on: { click: act } });
}

/** A list of values to choose from, each with its text and, where given, its title. */
export function choice(label: string, options: [value: string, text: string, title?: string][], act: () => void): HTMLSelectElement {
  const entries = options.map(([value, text, title]) => el("option", { text, title, attributes: { value } }));
  return el("select", { attributes: { "aria-label": label }, on: { change: act } }, ...entries);
}

export function checkbox(checked: boolean, act: () => void): HTMLInputElement {
  const box = el("input", { attributes: { type: "checkbox" }, on: { change: act } });
  box.checked = checked;
  return box;
}

/** A remark in the quieter colour of text. */
export function muted(text: string): HTMLElement {
  return el("span", { class: "muted", text });
}

/** A key as it is drawn on a keyboard. */
export function keycap(key: string): HTMLElement {
  return el("kbd", { text: key });
}

export function section(title: string, ...children: Child[]): HTMLElement {
  return el("section", { attributes: { "aria-label": title } }, el("h2", { text: title }), ...children);
}

/** Makes an element of a drawing. */
export function svg(tag: string, attributes: Record<string, string>, ...children: Node[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A button of the toolbar that opens a popover below the toolbar. */
export function popoverButton(icon: IconName, text: string, title: string, menu: HTMLElement): HTMLElement {
  const button = el("button", { class: "with-icon", title, attributes: { popovertarget: menu.id } }, el("span", { class: "glyph", icon }), el("span", { class: "words", text }));
  menu.popover = "auto";
  menu.addEventListener("beforetoggle", () => (menu.style.top = `${button.closest("header")!.getBoundingClientRect().bottom + GAP}px`));
  return el("div", {}, button, menu);
}

/** Moves the focus in a list as an arrow key, Home or End says; at the ends it stays, or goes round. */
export function moveFocus(event: KeyboardEvent, list: HTMLElement[], round = false): void {
  const here = list.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: list.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  list[round ? (to + list.length) % list.length : Math.min(Math.max(to, 0), list.length - 1)]?.focus();
}

/** Puts other children in the place of an element's; those that stay are not touched if as many are
 *  there, so that a press on one becomes a click. The focus stays at its place among them. */
export function renew(parent: Element, ...children: Element[]): void {
  const path: number[] = [];
  let focused = document.activeElement;
  if (!parent.contains(focused)) focused = null;
  for (let at = focused; at && at !== parent; at = at.parentElement) path.unshift([...at.parentElement!.children].indexOf(at));
  if (children.length !== parent.children.length) parent.replaceChildren(...children);
  else children.forEach((child, k) => child !== parent.children[k] && parent.children[k].replaceWith(child));
  if (!focused || parent.contains(document.activeElement)) return;
  const there = path.reduce<Element | undefined>((at, place) => at?.children[place], parent);
  (there as HTMLElement | undefined)?.focus({ preventScroll: true });
}

/** Whole numbers with thin spaces between thousands. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

export function plural(value: number, thing: string): string {
  return `${count(value)} ${thing}${value === 1 ? "" : "s"}`;
}

/** What is done with changes that the server does not have yet; nothing where there are none. */
export function keptChanges(waiting: number, until: string): string {
  if (!waiting) return "";
  return `${waiting === 1 ? "1 change is" : `${waiting} changes are`} kept here and sent ${until}.`;
}

const STORED = "diffclass-theme";

type Theme = "light" | "dark";

export function startTheme(): void {
  const chosen = stored(STORED);
  if (chosen === "light" || chosen === "dark") show(chosen);
  // a notebook tells its own, which counts until somebody chooses
  addEventListener("message", ({ source, data }) => source === parent && data.theme && !stored(STORED) && show(data.theme));
}

export function toggleTheme(): void {
  const next = current() === "dark" ? "light" : "dark";
  store(STORED, next);
  show(next);
}

function current(): Theme {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function show(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}
