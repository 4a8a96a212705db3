// The classes: legend and chooser in one; add, rename, recolour, hide, lock, merge, remove.

import { count, el, iconButton, plural, renew, section, textButton } from "../base/dom";
import type { IconName } from "../base/icons";
import { type ClassState, LONGEST_NAME } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { onMenu } from "../tools/gestures";
import type { UiState } from "../tools/ui_state";
import { swatch } from "./class_marks";
import { Menu } from "./menu";

const TWO_DIGITS = 700; // ms within which a second digit joins the first
const MENU_WIDTH = 168; // CSS pixels, as in the style sheet

/** What a row shows; its counts follow later. */
type ShownClass = Omit<ClassState, "pixels" | "mapped" | "since">;

export class ClassList {
  readonly element: HTMLElement;
  readonly #list = el("div", { class: "classes", attributes: { role: "group", "aria-label": "Class to paint" } });
  readonly #menu = new Menu("Class");
  readonly #none = el("button", { class: "item no-class", title: "Go to the nearest", on: { click: () => this.goToNone() } }, swatch(undefined), el("span", { text: "no class" }), el("span", { class: "end" }));
  readonly #empty = el("div", { class: "empty" }, textButton("Add a class", "Begin with what you want to find", () => this.#add()));
  #digits = "";
  #digitsAt = 0;
  /** The rows on the screen by class, and what they show: one that shows the same again is left alone. */
  #rows = new Map<number, { shows: string; row: HTMLElement }>();
  /** The class that is being named, the field for it, and what that stands in for. */
  #naming: { id: number; field: HTMLInputElement; name: HTMLElement | null } | null = null;
  #isPlacing = false;
  #since = 0; // When the chosen class was added, as far as the server has said.

  /** `goToNone` leads to a pixel without a class. */
  constructor(private readonly session: Session, private readonly ui: UiState, private readonly goToNone: () => void) {
    const add = iconButton("plus", "Add a class", () => this.#add());
    this.element = section("Classes", this.#list, this.#empty, this.#none, this.#menu.element);
    this.element.classList.add("class-section");
    this.element.querySelector("h2")!.append(add);
    session.on("state", () => this.#update()); // what is painted with must not lag behind
    session.on("changed", () => this.#showCounts());
    session.on("numbered", ({ from, to }) => this.#renumber(from, to));
    ui.on("class", (id) => {
      this.#since = session.classOf(id)?.since ?? 0;
      this.#mark();
      this.#list.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
    });
  }

  /** A number key: the class at that place of the list; two digits soon after each other join. */
  pressDigit(digit: string, now: number): void {
    const joined = now - this.#digitsAt < TWO_DIGITS ? this.#digits + digit : digit;
    const place = this.session.classes[Number(joined) - 1] ? joined : digit;
    const found = this.session.classes[Number(place) - 1];
    [this.#digits, this.#digitsAt] = [place, now];
    if (found) this.ui.setClass(found.id);
  }

  #add(): void {
    const id = this.session.addClass();
    if (!id) return;
    this.ui.setClass(id);
    this.#rename(id);
  }

  #update(): void {
    const { classes } = this.session;
    this.#keepChoice();
    this.#empty.hidden = classes.length > 0;
    const before = this.#rows;
    this.#rows = new Map(classes.map((item, k) => [item.id, this.#rowOf(item, k + 1)]));
    const isSame = before.size === this.#rows.size && [...this.#rows].every(([id, { row }], k) => this.#list.children[k] === row && before.has(id));
    if (!isSame) this.#placing(() => renew(this.#list, ...[...this.#rows.values()].map(({ row }) => row)));
    this.#placeField();
    if (isSame) return;
    this.#showCounts();
    this.#mark();
  }

  /** Keeps the chosen class while it is there, but not another class with its id. Of a list that was empty the
   *  first is taken. */
  #keepChoice(): void {
    const { session, ui } = this;
    const since = this.#since;
    const item = session.classOf(ui.classId);
    const isIt = item && (!since || !item.since || item.since === since);
    const other = this.#rows.size ? 0 : (session.classes[0]?.id ?? 0);
    if (isIt) this.#since = item.since;
    else if (ui.classId !== other) ui.setClass(other);
  }

  #renumber(from: number, to: number): void {
    this.#menu.close();
    if (this.#naming?.id === from) this.#naming.id = to;
  }

  /** The row of a class: the one on the screen if it would show the same. */
  #rowOf({ pixels: _, mapped: __, since: ___, ...item }: ClassState, place: number): { shows: string; row: HTMLElement } {
    const shows = JSON.stringify([item, place]);
    const known = this.#rows.get(item.id);
    return known?.shows === shows ? known : { shows, row: this.#row(item, place) };
  }

  #row(item: ShownClass, place: number): HTMLElement {
    const row = el("div", { class: "class-row", attributes: { "data-class": String(item.id) } });
    row.classList.toggle("hidden-class", item.hidden);
    onMenu(row, () => this.#openMenu(item, row));
    row.append(
      el("span", { class: "key", text: String(place) }),
      this.#colorButton(item),
      this.#nameButton(item),
      el("span", { class: "counts" }),
      this.#flag(item.hidden ? "eyeOff" : "eye", `${item.hidden ? "Show" : "Hide"} ${item.name}`, item.hidden, () => this.#hide(item)),
      this.#flag(item.locked ? "lock" : "unlock", item.locked ? `Unlock ${item.name}` : `Lock ${item.name}: its labels cannot be painted over`, item.locked, () => this.#lock(item)),
      iconButton("more", `Rename, hide, lock, merge or remove ${item.name}`, () => this.#openMenu(item, row), "icon small"),
    );
    return row;
  }

  #colorButton(item: ShownClass): HTMLElement {
    const input = el("input", {
      title: `Colour of ${item.name}`,
      attributes: { type: "color", "aria-label": `Colour of ${item.name}` },
      on: { change: () => void this.session.apply({ op: "recolor_class", id: item.id, color: input.value }) },
    });
    input.value = item.color.toLowerCase();
    return input;
  }

  #nameButton(item: ShownClass): HTMLElement {
    return el("button", {
      class: "class-name",
      text: item.name,
      title: `Paint ${item.name}; double click renames`,
      on: { click: () => this.ui.setClass(item.id), dblclick: () => this.#rename(item.id) },
    });
  }

  #flag(icon: IconName, title: string, on: boolean, act: () => void): HTMLElement {
    const button = iconButton(icon, title, act, "icon small flag");
    button.setAttribute("aria-pressed", String(on));
    return button;
  }

  #showCounts(): void {
    for (const { id, pixels, mapped } of this.session.classes) {
      const counts = this.#rows.get(id)!.row.querySelector<HTMLElement>(".counts")!;
      counts.textContent = pixels ? count(pixels) : "";
      counts.title = `${count(pixels)} labelled, ${count(mapped)} in the map`;
    }
    const { unclassified } = this.session;
    this.#none.hidden = !unclassified;
    this.#none.lastElementChild!.textContent = count(unclassified);
  }

  #mark(): void {
    for (const row of this.#list.children as HTMLCollectionOf<HTMLElement>) {
      const chosen = Number(row.dataset.class) === this.ui.classId;
      row.classList.toggle("chosen", chosen);
      row.querySelector(".class-name")?.setAttribute("aria-pressed", String(chosen));
    }
  }

  /** Puts a field in the place of a class's name. */
  #rename(id: number): void {
    this.#finish(true);
    const field = el("input", { class: "class-name", attributes: { type: "text", maxlength: String(LONGEST_NAME), "aria-label": "Name of the class" } });
    field.value = this.session.classOf(id)?.name ?? "";
    field.addEventListener("blur", () => this.#finish(true));
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter" || event.key === "Escape") this.#finish(event.key === "Enter", true);
    });
    this.#naming = { id, field, name: null };
    this.#placeField();
    field.select();
  }

  /** Shows the field where the name is; rows that are made anew meanwhile do not disturb what is typed. */
  #placeField(): void {
    const naming = this.#naming;
    if (!naming || naming.field.closest(".class-row") === this.#rows.get(naming.id)?.row) return;
    this.#placing(() => {
      if (naming.name) naming.field.replaceWith(naming.name); // the row may be that of another class now
      naming.name = this.#rows.get(naming.id)?.row.querySelector<HTMLElement>(".class-name") ?? null;
      if (!naming.name) this.#naming = null; // the class is gone
      naming.name?.replaceWith(naming.field);
    });
    naming.field.focus();
  }

  /** Moves rows and the field, which is blurred by that but not left. */
  #placing(move: () => void): void {
    this.#isPlacing = true;
    move();
    this.#isPlacing = false;
  }

  /** Puts the name back in the place of its field, if need be with the focus. */
  #finish(keep: boolean, focus = false): void {
    const naming = this.#naming;
    if (!naming || this.#isPlacing) return;
    this.#naming = null; // taking the field away blurs it
    const { id, field, name } = naming;
    const text = field.value.trim();
    field.replaceWith(name!);
    if (focus) name!.focus();
    if (keep && text && text !== this.session.classOf(id)?.name) void this.session.apply({ op: "rename_class", id, name: text });
  }

  #hide({ id, hidden }: ShownClass): void {
    void this.session.apply({ op: "hide_class", id, hidden: !hidden });
  }

  #lock({ id, locked }: ShownClass): void {
    void this.session.apply({ op: "lock_class", id, locked: !locked });
  }

  /** Merges a class into another, which is then chosen in its place. */
  #merge(source: number, into: number): void {
    const wasChosen = this.ui.classId === source;
    void this.session.apply({ op: "merge_classes", source, into });
    if (wasChosen && !this.session.classOf(source)) this.ui.setClass(into);
  }

  #openMenu(item: ShownClass, row: HTMLElement): void {
    const { session } = this;
    const menu = this.#menu;
    const others = session.classes.filter((other) => other.id !== item.id);
    const entries: Node[] = [
      menu.entry("Rename", "", () => this.#rename(item.id)),
      menu.entry(item.hidden ? "Show" : "Hide", "In the map and among the labels", () => this.#hide(item)),
      menu.entry(item.locked ? "Unlock" : "Lock", "Locked labels cannot be painted over", () => this.#lock(item)),
    ];
    if (others.length) entries.push(el("p", { class: "muted", text: "Merge into" }));
    for (const other of others) {
      const entry = menu.entry(other.name, `${item.name} becomes ${other.name}`, () => this.#merge(item.id, other.id));
      entry.prepend(swatch(other.color));
      entries.push(entry);
    }
    const pixels = session.classOf(item.id)?.pixels ?? 0;
    const remove = menu.entry(pixels ? "Remove with labels" : "Remove", pixels ? `Erase ${plural(pixels, "label")} too` : "Remove this class",
      () => void session.apply({ op: "remove_class", id: item.id, with_labels: pixels > 0 }));
    remove.disabled = item.locked;
    if (item.locked) remove.title = "Unlock it first";
    const box = row.getBoundingClientRect();
    menu.open([...entries, el("hr"), remove], box.right - MENU_WIDTH, box.bottom);
  }
}
