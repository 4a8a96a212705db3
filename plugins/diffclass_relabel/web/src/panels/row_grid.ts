// Rows side by side, each answered with one key: suggestions, the surest and least sure of a class, contradicted labels.

import { choice, el, iconButton, keycap, muted, textButton } from "../base/dom";
import type { Overlay } from "../canvas/overlay";
import { classMark } from "./class_marks";
import { type ClassState, LONGEST_NAME } from "../session/protocol.generated";
import type { Session } from "../session/session";
import type { Suggestions } from "../session/suggestions";
import type { UiState } from "../tools/ui_state";
import type { RowContents } from "../session/row_contents";
import { fillRow, rowParts } from "./row_card";
import { pixelsOf } from "../base/raster";

/** Classes by their place in the list; q closes it. Those after these are named. */
const KEYS = "123456789abcdefghijklmnoprstuvwxyz";
const MOST = 24; // rows of a class, or contradicted ones
const FEW_VALUES = 3;

type Source = "suggested" | "unsure" | "sure" | "contradicted";

const SOURCES: [Source, string, string][] = [
  ["suggested", "What tells most", "Rows like many others in doubt"],
  ["unsure", "Least certain of the class", "Of the chosen class, by margin"],
  ["sure", "Most certain of the class", "Of the chosen class, by margin"],
  ["contradicted", "Contradicted labels", "Labels that others contradict"],
];

export class RowGrid {
  readonly element: HTMLElement;
  readonly #source = choice("Which rows", SOURCES, () => void this.refill());
  readonly #skipped = new Set<number>(); // Rows that are not to be shown again.
  readonly #cards = el("div", { class: "cards", attributes: { role: "listbox", "aria-label": "Rows to answer", "aria-orientation": "horizontal" } });
  readonly #classes = el("div", { class: "answers", attributes: { role: "group", "aria-label": "Answers" } });
  readonly #name = el("input", {
    class: "new-class",
    attributes: { type: "text", maxlength: String(LONGEST_NAME), placeholder: "class\u2026", "aria-label": "Name of a class, known or new; Enter answers", spellcheck: "false" },
    on: { keydown: (event) => this.#nameKey(event) },
  });
  readonly #note = muted("");
  #pixels: number[] = []; // Pixels of the rows that are shown.
  #at = 0;
  #wanted = 0; // Number of the last refill.
  #isLooking = false; // Rows that are shown are about to be replaced: keys would answer what nobody sees yet.
  #before: HTMLElement | null = null; // What had the focus before it was opened.
  #made = "";

  constructor(private readonly session: Session, private readonly ui: UiState, private readonly rows: RowContents, private readonly suggestions: Suggestions, private readonly overlay: Overlay) {
    const title = "Rows to answer";
    this.element = el("section", { class: "row-grid of-table", attributes: { "aria-label": title } },
      el("div", { class: "grid-head" }, el("h2", { text: title }), this.#source,
        textButton("Others", "Other rows", () => void this.refill(true), "small"), this.#note,
        iconButton("remove", "Close the rows (q)", () => this.toggle(), "icon small")),
      this.#cards,
      el("div", { class: "grid-foot" }, this.#classes, this.#name,
        el("span", { class: "muted keys" }, keycap("Enter"), " as found ", keycap("+"), " other class ", keycap("\u232b"), " no label")));
    this.element.hidden = true;
    this.element.addEventListener("keydown", (event) => this.#key(event));
    session.on("changed", () => this.#show());
    rows.on("changed", () => this.#show());
    ui.on("class", () => !this.element.hidden && ["unsure", "sure"].includes(this.#source.value) && void this.refill());
  }

  toggle(): void {
    this.element.hidden = !this.element.hidden;
    if (this.element.hidden) {
      this.overlay.mark(null);
      return this.#before?.focus();
    }
    this.#before = document.activeElement as HTMLElement | null;
    if (this.#pixels.length) this.#focus(this.#at);
    else void this.refill();
  }

  /** Shows rows anew, or others in place of these, and gives the first the focus. */
  async refill(others = false, after: Promise<unknown> = Promise.resolve()): Promise<void> {
    this.#isLooking = true;
    this.#note.textContent = "Looking\u2026";
    const wanted = ++this.#wanted;
    await after;
    if (!others) this.#skipped.clear();
    else for (const pixel of this.#pixels) this.#skipped.add(pixel);
    const found = await this.#found(others);
    if (wanted !== this.#wanted) return; // others were asked for meanwhile
    this.#isLooking = false;
    this.#pixels = found;
    this.#note.textContent = this.#pixels.length ? "" : "There are none.";
    this.#made = "";
    this.element.dataset.shows = this.#source.value;
    this.#show();
    if (document.activeElement !== this.#name) this.#focus(0); // nobody is typing
  }

  async #found(others: boolean): Promise<number[]> {
    const { session, suggestions } = this;
    const source = this.#source.value as Source;
    if (source === "suggested") {
      await (others ? suggestions.others() : suggestions.ask());
      return (suggestions.list?.pixels ?? []).filter((pixel) => !session.labels.shown[pixel]);
    }
    if (source === "contradicted") {
      const answer = await session.ask({ ask: "audit" });
      return (answer?.items ?? []).flatMap((item) => [...pixelsOf(item.pixels)]).filter((pixel) => !this.#skipped.has(pixel)).slice(0, MOST);
    }
    const { map } = session;
    if (!map) return [];
    const found: number[] = [];
    map.ids.forEach((id, pixel) => id === this.ui.classId && id !== 0 && !session.labels.shown[pixel] && !this.#skipped.has(pixel) && found.push(pixel));
    const sign = source === "sure" ? -1 : 1;
    return found.sort((a, b) => sign * (map.margin[a] - map.margin[b])).slice(0, MOST);
  }

  #show(): void {
    if (this.element.hidden) return;
    const shows = JSON.stringify(this.#pixels);
    if (shows !== this.#made) this.#cards.replaceChildren(...this.#pixels.map((pixel, k) => this.#card(pixel, k)));
    this.#made = shows;
    this.#pixels.forEach((pixel, k) => this.#fill(this.#cards.children[k] as HTMLElement, pixel));
    this.#showClasses();
  }

  #card(pixel: number, k: number): HTMLElement {
    return el("div", {
      class: "row-card",
      attributes: { role: "option", tabindex: "-1", "data-pixel": String(pixel) },
      on: { click: () => this.#focus(k), focus: () => this.#focused(k) },
    }, rowParts(), el("div", { class: "row-class" }));
  }

  #fill(card: HTMLElement, pixel: number): void {
    const { session } = this;
    fillRow(card.querySelector(".row-contents")!, this.rows, pixel, FEW_VALUES);
    const label = session.labels.shown[pixel];
    const id = label || session.mappedAt(pixel);
    const said = label ? "" : id ? ((session.map!.probability[pixel] ?? 0) / 255).toFixed(2) : "";
    card.classList.toggle("answered", label !== 0);
    const shows = JSON.stringify([id, session.classOf(id), said]);
    const element = card.querySelector<HTMLElement>(".row-class")!;
    if (element.dataset.shows === shows) return;
    element.dataset.shows = shows;
    element.replaceChildren(classMark(session.classOf(id)?.color, session.nameOf(id)), el("span", { class: "muted", text: label ? "\u2713" : said, title: label ? "labelled" : "Probability of the class found" }));
  }

  #showClasses(): void {
    const shows = JSON.stringify(this.session.classes.map(({ id, name, color }) => [id, name, color]));
    if (this.#classes.dataset.shows === shows) return;
    this.#classes.dataset.shows = shows;
    this.#classes.replaceChildren(...this.session.classes.map((item, k) => {
      const button = el("button", { class: "small", title: `It is ${item.name}`, on: { click: () => this.#answer(item) } }, keycap(KEYS[k] ?? "\u2013"), classMark(item.color, item.name));
      button.tabIndex = -1; // each has a key
      return button;
    }));
  }

  #key(event: KeyboardEvent): void {
    if (event.key === "Escape") return this.toggle();
    if (event.ctrlKey || event.metaKey || event.altKey || !this.#cards.contains(event.target as Node)) return;
    const item = this.session.classes[KEYS.indexOf(event.key.toLowerCase())];
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.#perLine, ArrowDown: this.#perLine }[event.key];
    if (by) this.#focus(this.#at + by);
    else if (event.key === "+") this.#name.focus();
    else if (this.#isLooking) void 0; // the rows are about to be others
    else if (event.key === "Enter" || event.key === " ") this.#accept();
    else if (event.key === "Backspace" || event.key === "Delete") void this.session.paint(new Set([this.#pixel]), { id: 0 });
    else if (item) this.#answer(item);
    else return;
    event.preventDefault();
    event.stopPropagation(); // while a row has the focus, keys answer
  }

  /** Enter in the field of names: the class of that name, or a new one. */
  #nameKey(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "Escape") return this.#focus(this.#at);
    const name = this.#name.value.trim();
    if (event.key !== "Enter" || !name || this.#isLooking) return;
    this.#name.value = "";
    const known = this.session.classes.find((item) => item.name.toLowerCase() === name.toLowerCase());
    if (known) return this.#answer(known);
    const id = this.session.addClass(name);
    if (id) this.#answer({ id });
  }

  #accept(): void {
    const found = this.session.classOf(this.session.mappedAt(this.#pixel));
    if (found) this.#answer(found);
  }

  #answer({ id }: Pick<ClassState, "id">): void {
    if (!this.#pixels.length || this.#isLooking) return;
    const painted = this.session.paint(new Set([this.#pixel]), this.session.classRef(id));
    const left = this.#pixels.findIndex((pixel, k) => k > this.#at && !this.session.labels.shown[pixel]);
    const first = this.#pixels.findIndex((pixel) => !this.session.labels.shown[pixel]);
    if (left >= 0 || first >= 0) return this.#focus(left < 0 ? first : left);
    this.#focus(this.#at); // from the field of names
    void this.refill(false, painted);
  }

  get #pixel(): number {
    return this.#pixels[this.#at];
  }

  /** Cards in a line. */
  get #perLine(): number {
    const cards = [...this.#cards.children] as HTMLElement[];
    return Math.max(cards.findIndex((card) => card.offsetTop > cards[0].offsetTop), 1);
  }

  #focus(k: number): void {
    const cards = this.#cards.children;
    if (!cards.length) return this.#source.focus();
    (cards[Math.min(Math.max(k, 0), cards.length - 1)] as HTMLElement).focus();
  }

  #focused(k: number): void {
    this.#at = k;
    ([...this.#cards.children] as HTMLElement[]).forEach((card, other) => {
      card.tabIndex = other === k ? 0 : -1;
      card.setAttribute("aria-selected", String(other === k));
    });
    this.#cards.children[k].scrollIntoView({ block: "nearest" });
    this.overlay.mark(this.session.placeOf(this.#pixel));
  }
}
