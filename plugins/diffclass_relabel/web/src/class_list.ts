// The classes: legend and chooser in one; add, rename, recolour, hide, lock, merge, remove.

import { count, el, iconButton, renew, section, swatch, textButton } from "./dom";
import { ICONS } from "./icons";
import { onMenu } from "./long_press";
import { Menu } from "./menu";
import { LONGEST_NAME, type ClassState } from "./protocol.generated";
import type { Session } from "./session";
import type { Ui } from "./ui";

const TWO_DIGITS = 700; // ms within which a second digit joins the first
const MENU_WIDTH = 168; // CSS pixels, as in the style sheet

export class ClassList {
  readonly element: HTMLElement;
  private readonly list = el("div", { class: "classes", attributes: { role: "group", "aria-label": "Class to paint" } });
  private readonly menu = new Menu("Class");
  private readonly empty = el("div", { class: "empty" }, textButton("Add a class", "Begin with what you want to find", () => void this.add()));
  private digits = "";
  private digitsAt = 0;
  /** What the rows on the screen show; the same again is not made again, so that focus stays. */
  private made = "";
  private renaming = 0;

  constructor(private readonly session: Session, private readonly ui: Ui) {
    const add = iconButton(ICONS.plus, "Add a class", () => void this.add());
    this.element = section("Classes", this.list, this.empty, this.menu.element);
    this.element.classList.add("class-section");
    this.element.querySelector("h2")!.append(add);
    session.on("news", () => this.update());
    ui.on("class", () => {
      this.mark();
      this.list.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
    });
  }

  /** A number key: the class at that place of the list; two digits soon after each other join. */
  pressDigit(digit: string, now: number): void {
    const joined = now - this.digitsAt < TWO_DIGITS ? this.digits + digit : digit;
    const place = this.session.classes[Number(joined) - 1] ? joined : digit;
    const found = this.session.classes[Number(place) - 1];
    [this.digits, this.digitsAt] = [place, now];
    if (found) this.ui.setClass(found.id);
  }

  private async add(): Promise<void> {
    const done = await this.session.apply({ op: "add_class" });
    if (done?.class === undefined) return;
    this.ui.setClass(done.class);
    this.renaming = done.class;
    this.startRenaming();
  }

  private update(): void {
    const classes = this.session.classes;
    if (!this.session.classOf(this.ui.classId)) this.ui.setClass(classes[0]?.id ?? 0);
    this.empty.hidden = classes.length > 0;
    const made = JSON.stringify(classes.map(({ pixels: _, mapped: __, ...shown }) => shown));
    if (made !== this.made) {
      this.made = made;
      renew(this.list, ...classes.map((item, k) => this.row(item, k + 1)));
    }
    classes.forEach((item, k) => this.showCounts(this.list.children[k] as HTMLElement, item));
    this.mark();
    this.startRenaming();
  }

  private row(item: ClassState, place: number): HTMLElement {
    const row = el("div", { class: "class-row", attributes: { "data-class": String(item.id) } });
    row.classList.toggle("hidden-class", item.hidden);
    onMenu(row, () => this.openMenu(item, row));
    row.append(
      el("span", { class: "key", text: String(place) }),
      this.colorButton(item),
      this.nameButton(item),
      el("span", { class: "counts" }),
      this.flag(item.hidden ? ICONS.eyeOff : ICONS.eye, item.hidden ? `Show ${item.name}` : `Hide ${item.name}`, item.hidden, () =>
        void this.session.apply({ op: "hide_class", id: item.id, hidden: !item.hidden }),
      ),
      this.flag(item.locked ? ICONS.lock : ICONS.unlock, item.locked ? `Unlock ${item.name}` : `Lock ${item.name}: its labels cannot be painted over`, item.locked, () =>
        void this.session.apply({ op: "lock_class", id: item.id, locked: !item.locked }),
      ),
      iconButton(ICONS.more, `Rename, hide, lock, merge or remove ${item.name}`, () => this.openMenu(item, row), "icon small"),
    );
    return row;
  }

  private colorButton(item: ClassState): HTMLElement {
    const input = el("input", {
      title: `Colour of ${item.name}`,
      attributes: { type: "color", "aria-label": `Colour of ${item.name}` },
      on: { change: () => void this.session.apply({ op: "recolor_class", id: item.id, color: input.value }) },
    });
    input.value = item.color.toLowerCase();
    return input;
  }

  private nameButton(item: ClassState): HTMLElement {
    return el("button", {
      class: "class-name",
      text: item.name,
      title: `Paint ${item.name}; double click renames`,
      attributes: { type: "button" },
      on: { click: () => this.ui.setClass(item.id), dblclick: () => this.rename(item.id) },
    });
  }

  private flag(icon: string, title: string, on: boolean, act: () => void): HTMLElement {
    const button = iconButton(icon, title, act, "icon small flag");
    button.setAttribute("aria-pressed", String(on));
    return button;
  }

  private showCounts(row: HTMLElement, item: ClassState): void {
    const counts = row.querySelector<HTMLElement>(".counts")!;
    counts.textContent = item.pixels ? count(item.pixels) : "";
    counts.title = `${count(item.pixels)} labelled, ${count(item.mapped)} in the map`;
  }

  private mark(): void {
    for (const row of this.list.children as HTMLCollectionOf<HTMLElement>) {
      const chosen = Number(row.dataset.class) === this.ui.classId;
      row.classList.toggle("chosen", chosen);
      row.querySelector(".class-name")?.setAttribute("aria-pressed", String(chosen));
    }
  }

  rename(id: number): void {
    this.renaming = id;
    this.startRenaming();
  }

  /** Puts a field in the place of the name, once the row is there. */
  private startRenaming(): void {
    const item = this.session.classOf(this.renaming);
    const name = this.list.querySelector(`[data-class="${this.renaming}"] .class-name`);
    if (!item || !name) return;
    this.renaming = 0;
    const field = el("input", { class: "class-name", attributes: { type: "text", maxlength: String(LONGEST_NAME), "aria-label": "Name of the class" } });
    field.value = item.name;
    let over = false;
    const finish = (keep: boolean) => {
      if (over) return;
      over = true;
      const text = field.value.trim();
      field.replaceWith(name);
      if (keep && text && text !== item.name) void this.session.apply({ op: "rename_class", id: item.id, name: text });
    };
    field.addEventListener("blur", () => finish(true));
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") finish(true);
      if (event.key === "Escape") finish(false);
    });
    name.replaceWith(field);
    field.select();
    field.focus();
  }

  private openMenu(item: ClassState, row: HTMLElement): void {
    const { session, menu } = this;
    const others = session.classes.filter((other) => other.id !== item.id);
    const entries: Node[] = [
      menu.entry("Rename", "", () => this.rename(item.id)),
      menu.entry(item.hidden ? "Show" : "Hide", "In the map and among the labels", () =>
        void session.apply({ op: "hide_class", id: item.id, hidden: !item.hidden })),
      menu.entry(item.locked ? "Unlock" : "Lock", "Locked labels cannot be painted over", () =>
        void session.apply({ op: "lock_class", id: item.id, locked: !item.locked })),
    ];
    if (others.length) entries.push(el("p", { class: "muted", text: "Merge into" }));
    for (const other of others) {
      const entry = menu.entry(other.name, `${item.name} becomes ${other.name}`, () =>
        void session.apply({ op: "merge_classes", source: item.id, into: other.id }));
      entry.prepend(swatch(other.color));
      entries.push(entry);
    }
    const remove = menu.entry("Remove", "Remove this class", () => void session.apply({ op: "remove_class", id: item.id }));
    remove.disabled = item.pixels > 0;
    if (remove.disabled) remove.title = "It has labels: erase them first, or merge it";
    const box = row.getBoundingClientRect();
    menu.open([...entries, el("hr"), remove], box.right - MENU_WIDTH, box.bottom);
  }
}

/** The hint beside a class in other lists. */
export function className(session: Session, id: number): HTMLElement {
  const item = session.classOf(id);
  return classMark(item?.color, item?.name ?? (id ? `class ${id}` : "no class"));
}

/** A colour and a name, which is cut short where there is no room for it. */
export function classMark(color: string | undefined, name: string): HTMLElement {
  return el("span", { class: "class-mark", title: name }, swatch(color), el("span", { text: name }));
}

