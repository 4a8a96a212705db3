// The session in numbers: accuracy and its course, the confusion matrix, the classes, the last change.

import { choice, count, el, muted, plural, svg, textButton } from "../base/dom";
import { debounce, OneAtATime } from "../base/events";
import { type AccuracyFacts, type AccuracyPoint, type AreaFacts, type ChangeFacts, type ClassNumbers, type ForeignClass, NO_DATA, type NumbersAnswer, type ReferenceMatch } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { ClassMatching, markOf } from "./class_marks";

type By = NumbersAnswer["by"];

const WIDTH = 276;
const HEIGHT = 64;
const WAIT = 250; // ms that the map rests before anything is held out

export class NumbersPanel {
  readonly element: HTMLElement;
  readonly #choice = choice("What the map is compared with", [["held_out", "Own labels, held out"], ["reference", "Reference image"]], () => void this.#asking.run());
  readonly #content = el("div", { class: "numbers" });
  readonly #state = el("span", { class: "muted state", attributes: { role: "status" } });
  #by: By | null = null;
  readonly #asking = new OneAtATime(() => this.#ask());
  #shown: number | null = null; // version of the map that the numbers are of
  #opened = new Set<string>();
  readonly #chosen = new Map<number, number>(); // class of the session by that of the reference, not confirmed yet

  constructor(private readonly session: Session) {
    this.element = el("div", {}, el("div", { class: "panel-bar" }, this.#choice, this.#state), this.#content);
    session.on("changed", debounce(() => !this.element.hidden && !session.isStale && this.show(), WAIT));
  }

  /** Called when the panel comes to the front. */
  show(): void {
    if (this.#shown !== this.session.state?.version) void this.#asking.run();
  }

  async #ask(): Promise<void> {
    const version = this.session.state?.version;
    if (version === undefined || (this.#shown === version && this.#by === this.#choice.value)) return;
    const by = this.#by === null ? {} : { by: this.#choice.value as By };
    this.#state.textContent = "Computing\u2026";
    const answer = await this.session.ask({ ask: "numbers", ...by });
    this.#state.textContent = "";
    if (!answer) return;
    this.#shown = version;
    if (this.#by === null) this.#choice.value = answer.by;
    this.#by = answer.by;
    this.#choice.options[1].disabled = !answer.has_reference;
    this.#choice.options[1].title = answer.has_reference ? "" : "Start diffclass relabel with --reference FILE";
    this.#draw(answer);
  }

  #draw(answer: NumbersAnswer): void {
    const { accuracy, change, history, match } = answer;
    this.#content.replaceChildren(
      ...(match?.asks ? [this.#matching(match)] : []),
      ...(accuracy ? [this.#headline(accuracy, answer), course(history)] : [el("p", { class: "muted empty", text: answer.note })]),
      ...(match && !match.asks ? [this.#matching(match)] : []),
      this.#classes(answer.classes, answer.pixel_area, accuracy !== null),
      ...(accuracy && answer.areas ? [this.#areas(answer.areas, answer.pixel_area, accuracy)] : []),
      ...(accuracy ? [this.#confusion(accuracy)] : []),
      ...(change ? [this.#change(change)] : []),
    );
  }

  #headline(found: AccuracyFacts, { by, match }: NumbersAnswer): HTMLElement {
    const [lower, upper] = found.interval;
    const what = by === "reference" ? "pixels of the reference that are not labelled" : "labelled pixels, a third of the pieces held out at a time";
    return el("div", {},
      el("dl", { class: "figures" },
        el("dt", { text: "overall" }), el("dd", {}, el("b", { text: percent(found.overall) }), el("span", { class: "muted", text: ` ${number(lower)} \u2013 ${number(upper)}`, title: "95 % interval" })),
        el("dt", { text: "average" }), el("dd", {}, el("b", { text: percent(found.average) })),
        el("dt", { text: "kappa" }), el("dd", {}, el("b", { text: found.kappa === null ? "\u2013" : found.kappa.toFixed(3).replace("-", "\u2212") })),
      ),
      el("p", { class: "muted", text: `on ${count(found.n_pixels)} ${what}${match?.by === "overlap" ? "; upper bounds, as classes are matched by best overlap" : ""}` }),
    );
  }

  /** Which class of the reference is which of the session's: asked where it is not clear. */
  #matching(match: ReferenceMatch): HTMLElement {
    const matching = new ClassMatching(this.session, match.classes, "none of these", this.#chosen);
    const buttons = [textButton("Match", "Count with these classes", () => void this.#match(matching.chosen), match.asks ? "primary" : "")];
    if (match.asks && match.by !== "overlap") {
      const present = new Map(match.classes.map(({ id, to }) => [id, to]));
      buttons.unshift(textButton("Leave as it is", "Count as before, and do not ask again", () => void this.#match(present)));
    }
    const box = [el("p", { class: match.asks ? "" : "muted", text: saying(match) }), matching.element, el("div", { class: "choices" }, ...buttons)];
    return match.asks ? el("div", { class: "question" }, ...box) : this.#fold("Classes of the reference", false, ...box);
  }

  async #match(chosen: Map<number, number>): Promise<void> {
    const answer = await this.session.ask({ ask: "match_reference", pairs: [...chosen].filter(([, to]) => to).flat() });
    if (!answer) return;
    this.#chosen.clear();
    this.#draw(answer);
  }

  #classes(rows: ClassNumbers[], area: number | null, scored: boolean): HTMLElement {
    const head: [string, string][] = [["class", ""], ["labels", "labelled pixels"], ["map", "pixels of the map"]];
    if (area !== null) head.push(["area", "on the ground"]);
    head.push(["p", "mean probability of the class's pixels"]);
    if (scored) head.push(["recall", "share of the class's pixels that were found, %"], ["precision", "share of the pixels given the class that have it, %"]);
    const body = rows.map((row) => {
      const cells = [count(row.labelled), count(row.mapped)];
      if (area !== null) cells.push(ground(row.mapped * area));
      cells.push(row.probability === null ? "\u2013" : row.probability.toFixed(2));
      if (scored) cells.push(share(row.recall), share(row.precision));
      return { mark: markOf(this.session, row.class), cells };
    });
    const { unclassified } = this.session;
    if (unclassified) {
      const cells = ["", count(unclassified), ...(area === null ? [] : [ground(unclassified * area)])];
      while (cells.length < head.length - 1) cells.push("");
      body.push({ mark: el("span", { class: "class-mark muted", text: "no class" }), cells });
    }
    return this.#fold("Classes", true, scrolled("Classes", table(head, body)));
  }

  /** Areas that allow for the errors that were found. */
  #areas({ classes, not_sampled, total }: AreaFacts, area: number | null, { foreign }: AccuracyFacts): HTMLElement {
    const [name, metres] = area === null ? ["px", 0] : unitOf(total * area);
    const size = (pixels: number) => (area === null ? count(Math.round(pixels)) : plain((pixels * area) / metres));
    const head: [string, string][] = [["class", ""], [`map, ${name}`, "as mapped"], ["corrected", "by the pixels that were compared"], ["95 %", "interval of the corrected area"]];
    const rows = classes.map((row) => {
      const cells = [size(row.mapped), size(row.pixels), row.interval ? `${size(row.interval[0])} \u2013 ${size(row.interval[1])}` : "\u2013"];
      return { mark: this.#mark(row.class, foreign), cells };
    });
    const left = not_sampled.length ? ` Without ${not_sampled.map((id) => this.#nameOf(id, foreign)).join(", ")}: no pixel there tells.` : "";
    return this.#fold("Areas", false,
      el("p", { class: "muted", text: `Corrected by the errors found (Olofsson et al. 2014), as if the pixels had been drawn at random from each mapped class.${left}` }),
      scrolled("Areas", table(head, rows)));
  }

  #nameOf(id: number, foreign: ForeignClass[]): string {
    return foreign.find((item) => item.class === id)?.name ?? this.session.nameOf(id);
  }

  #mark(id: number, foreign: ForeignClass[]): HTMLElement {
    return id > 0 ? markOf(this.session, id) : el("span", { class: "class-mark muted", text: this.#nameOf(id, foreign) });
  }

  #confusion({ classes, confusion, foreign }: AccuracyFacts): HTMLElement {
    const nameOf = (id: number) => this.#nameOf(id, foreign);
    const mark = (id: number) => this.#mark(id, foreign);
    const columns = classes.filter((_, k) => confusion.some((row) => row[k]));
    const rows = classes.filter((_, k) => confusion[k].some(Boolean));
    const cell = (truth: number, found: number) => {
      const line = confusion[classes.indexOf(truth)];
      const value = line[classes.indexOf(found)];
      const part = value / line.reduce((sum, item) => sum + item, 0);
      const box = el("td", { text: value ? count(value) : "\u00b7", title: `${nameOf(truth)}, in the map ${nameOf(found)}: ${count(value)}` });
      if (value) box.style.background = `color-mix(in srgb, var(${truth === found ? "--accent" : "--bad"}) ${Math.round(8 + 30 * part)}%, transparent)`;
      return box;
    };
    return this.#fold("Confusion", false,
      el("p", { class: "muted", text: "Rows are the truth, columns the map." }),
      scrolled("Confusion", el("table", { class: "confusion" },
        el("thead", {}, el("tr", {}, el("td"), ...columns.map((id) => el("th", { title: nameOf(id), attributes: { scope: "col", "aria-label": nameOf(id) } }, short(mark(id)))))),
        el("tbody", {}, ...rows.map((truth) => el("tr", {}, el("th", { attributes: { scope: "row" } }, mark(truth)), ...columns.map((found) => cell(truth, found))))))));
  }

  #change(change: ChangeFacts): HTMLElement {
    const mark = (id: number) => (id === 0 || id === NO_DATA ? muted("no class") : markOf(this.session, id));
    const facts = [
      `${plural(change.pixels, this.session.thing)} changed`,
      ...(change.overall === null ? [] : [`overall ${signed(100 * change.overall, 1)} points`]),
      `mean probability ${signed(change.probability, 3)}`,
      `mean margin ${signed(change.margin, 3)}`,
    ];
    return this.#fold("Last change", true, el("p", { text: facts.join(", ") }),
      ...change.flows.map((flow) => el("div", { class: "flow" }, mark(flow.before), muted("\u2192"), mark(flow.after), el("span", { class: "end", text: `${count(flow.pixels)} px` }))));
  }

  /** A part that can be folded away, and stays as it was left. */
  #fold(title: string, open: boolean, ...children: Node[]): HTMLElement {
    const box = el("details", {}, el("summary", { text: title }), ...children);
    box.open = open !== this.#opened.has(title);
    box.addEventListener("toggle", () => (box.open === open ? this.#opened.delete(title) : this.#opened.add(title)));
    return box;
  }
}

/** What decided which class of the reference is which of the session's. */
function saying({ by, asks, agreement, by_overlap }: ReferenceMatch): string {
  if (by === "overlap") {
    return asks ? "The reference and the session have no class name or number in common. Which classes are they?" : "Matched by best overlap.";
  }
  if (asks) {
    return `By ${by === "names" ? "name" : "number"} ${percent(agreement)} agree, but ${percent(by_overlap)} with the classes below: reference and session seem to number them differently. Which are they?`;
  }
  return { names: "Matched by name.", ids: "Matched by number.", choice: "Matched as chosen here." }[by];
}

/** Overall (strong) and average accuracy of the maps so far, the axis cut below the lowest. */
function course(points: AccuracyPoint[]): Node {
  if (points.length < 2) return el("p", { class: "muted", text: "Its course appears here as labels grow." });
  const values = points.flatMap(({ overall, average }) => [overall, average]);
  const least = Math.max(Math.floor(20 * Math.min(...values)) / 20 - 0.05, 0);
  const at = (value: number, k: number) =>
    `${((WIDTH * k) / (points.length - 1)).toFixed(1)} ${(HEIGHT * (1 - (value - least) / (1 - least))).toFixed(1)}`;
  const line = (values: number[]) => `M${values.map(at).join("L")}`;
  const last = points[points.length - 1];
  const name = `Overall accuracy of ${points.length} maps, from ${percent(points[0].overall)} with ${count(points[0].labelled)} labelled pixels to ${percent(last.overall)} with ${count(last.labelled)}`;
  const picture = svg("svg", { viewBox: `0 -2 ${WIDTH} ${HEIGHT + 4}`, class: "course", preserveAspectRatio: "none", role: "img", "aria-label": name },
    svg("path", { d: line(points.map(({ average }) => average)), class: "average" }),
    svg("path", { d: line(points.map(({ overall }) => overall)), class: "overall" }));
  return el("figure", {}, el("div", { class: "course-axis muted" }, el("span", { text: "100 %" }), el("span", { text: `${Math.round(100 * least)} %` })), picture,
    el("figcaption", { class: "muted" }, `${count(points[0].labelled)} \u2192 ${count(last.labelled)} labelled pixels; `, el("span", { class: "key-overall", text: "overall" }), ", ", el("span", { class: "key-average", text: "average" })));
}

/** A table with a column for the class and one for each number; columns have a head and a title. */
function table(columns: [string, string][], rows: { mark: HTMLElement; cells: string[] }[]): HTMLElement {
  return el("table", {},
    el("thead", {}, el("tr", {}, ...columns.map(([text, title]) => el("th", { text, title, attributes: { scope: "col" } })))),
    el("tbody", {}, ...rows.map(({ mark, cells }) => el("tr", {}, el("th", { attributes: { scope: "row" } }, mark), ...cells.map((text) => el("td", { text }))))));
}

/** A table that may be wider than the panel, and that keys can scroll. */
function scrolled(name: string, table: HTMLElement): HTMLElement {
  return el("div", { class: "wide", attributes: { role: "region", "aria-label": name, tabindex: "0" } }, table);
}

/** The head of a column has room for the colour alone. */
function short(mark: HTMLElement): HTMLElement {
  const square = mark.querySelector<HTMLElement>(".swatch");
  return square ?? el("span", { text: "\u2013" });
}

function percent(value: number): string {
  return `${number(value)} %`;
}

function number(value: number): string {
  return (100 * value).toFixed(1);
}

function share(value: number | null): string {
  return value === null ? "\u2013" : number(value);
}

function signed(value: number, places: number): string {
  const text = Math.abs(value).toFixed(places);
  return Number(text) === 0 ? `\u00b1${text}` : `${value < 0 ? "\u2212" : "+"}${text}`;
}

/** An area in m\u00b2, ha or km\u00b2, whichever reads best. */
function ground(area: number): string {
  const [name, metres] = unitOf(area);
  const value = area / metres;
  return `${value.toFixed(value < (metres === 1 ? 10 : 100) ? 1 : 0)} ${name}`;
}

function unitOf(area: number): [string, number] {
  if (area < 1e4) return ["m\u00b2", 1];
  return area < 1e6 ? ["ha", 1e4] : ["km\u00b2", 1e6];
}

/** A number with four digits that count. */
function plain(value: number): string {
  return value >= 1000 ? count(Math.round(value)) : value.toFixed(Math.max(3 - Math.floor(Math.log10(Math.max(value, 0.1))), 0));
}
