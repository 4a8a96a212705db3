// Making elements in one expression.

const GAP = 4; // px between a menu and what it hangs from

type Options = {
  class?: string;
  text?: string;
  title?: string;
  /** Trusted markup of this module only: icons. */
  icon?: string;
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
  if (options.class) element.className = options.class;
  if (options.text !== undefined) element.textContent = options.text;
  if (options.icon) element.innerHTML = options.icon;
  if (options.title) element.title = options.title;
  for (const [name, value] of Object.entries(options.attributes ?? {})) element.setAttribute(name, value);
  for (const [name, listener] of Object.entries(options.on ?? {})) {
    element.addEventListener(name, listener as EventListener);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A button with an icon; `title` is also its name for screen readers. */
export function iconButton(icon: string, title: string, act: () => void, className = "icon"): HTMLButtonElement {
  return el("button", {
    class: className,
    icon,
    title,
    attributes: { type: "button", "aria-label": title },
    on: { click: act },
  });
}

export function textButton(text: string, title: string, act: () => void, className = ""): HTMLButtonElement {
  return el("button", { class: className, text, title, attributes: { type: "button" }, on: { click: act } });
}

/** A key as it is drawn on a keyboard. */
export function keycap(key: string): HTMLElement {
  return el("kbd", { text: key });
}

/** A small square in a class's colour. */
export function swatch(color: string | undefined): HTMLElement {
  const square = el("span", { class: "swatch" });
  square.style.background = color ?? "transparent";
  return square;
}

export function section(title: string, ...children: Child[]): HTMLElement {
  return el("section", { attributes: { "aria-label": title } }, el("h2", { text: title }), ...children);
}

/** Whole numbers with thin spaces between thousands. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

/** Calls a function at most once per frame. */
export function oncePerFrame(act: () => void): () => void {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      act();
    });
  };
}

/** Opens a popover under something of any height. */
export function hangBelow(menu: HTMLElement, above: () => HTMLElement): void {
  menu.addEventListener("beforetoggle", () => (menu.style.top = `${above().getBoundingClientRect().bottom + GAP}px`));
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
