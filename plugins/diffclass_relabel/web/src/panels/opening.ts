// Until there is a scene: choosing one, and how far it is prepared.

import { choice, count, el, keptChanges, moveFocus, muted, renew } from "../base/dom";
import type { Moved, OfferedScene, OfferedSession, Preparing, Start } from "../session/protocol.generated";
import type { NewSession, SceneChoice, Socket } from "../session/socket";

const FEW = 3; // recent sessions that are shown at first

export class SceneChooser {
  #showsAll = false;
  #shown: Start | null = null;
  #problems = new Map<string, string>(); // Why scenes of the folder that is shown cannot be opened.
  readonly element = el("section", { class: "start", attributes: { "aria-label": "Choose a scene" } });
  readonly #problem = el("p", { class: "problem", attributes: { role: "alert" } });
  readonly #lists = el("div");
  readonly #features = choice("Features", [["", "spectral, or as begun"], ["spectral", "spectral"], ["spatial", "spectral and spatial"]], () => {});
  readonly #names = el("datalist", { attributes: { id: "files-here" } });
  readonly #further = fileField("Further scenes");
  readonly #reference = fileField("Reference");
  readonly #mask = fileField("Mask");

  constructor(private readonly socket: Socket) {
    this.element.append(el("h1", { text: "Choose a scene" }), this.#problem, this.#options(), this.#lists,
      hint("Labels of a file are imported once the scene is open. What is not chosen here is as the command\u2019s options say."));
    // arrows move from entry to entry, as in the lists of a file dialog
    this.#lists.addEventListener("keydown", (event) => moveFocus(event, [...this.#lists.querySelectorAll("button")]));
    this.element.hidden = true;
    socket.on("start", (start) => {
      [this.#shown, this.#problems] = [start, new Map()];
      this.#show(start);
    });
    socket.on("checked", ({ path, problems }) => {
      if (path !== this.#shown?.path) return;
      this.#problems = new Map(problems.map(({ name, problem }) => [name, problem]));
      this.#show(this.#shown);
    });
    socket.on("moved", (there) => this.#follow(there));
    for (const kind of ["preparing", "hello", "failed"] as const) socket.on(kind, () => (this.element.hidden = true));
  }

  #options(): HTMLElement {
    return el("details", { class: "options" },
      el("summary", { text: "More scenes, features, reference, mask" }),
      el("label", { title: "Scenes that share the map with the one that is chosen, with commas between their names" }, this.#further, "Further scenes"),
      el("label", { title: "Together with means of the spectra within fields: for fields and other patches" }, this.#features, "Features"),
      el("label", { title: "Known classes to compare maps with; no map is made with them" }, this.#reference, "Reference"),
      el("label", { title: "Pixels where this image is not 0, or inside these shapes, are left out" }, this.#mask, "Mask, pixels to leave out"),
      this.#names);
  }

  /** What was chosen for a new session; files lie in the folder that is shown. */
  #chosen(below: (name: string) => string): NewSession {
    const file = ({ value }: HTMLInputElement) => (value.trim() ? below(value.trim()) : undefined);
    const further = this.#further.value.split(",").map((name) => name.trim()).filter(Boolean).map(below);
    return { further, features: this.#features.value || undefined, reference: file(this.#reference), mask: file(this.#mask) };
  }

  #show(start: Start): void {
    document.title = "Choose a scene \u2013 diffclass relabel";
    this.element.hidden = false;
    this.#problem.textContent = start.problem ?? "";
    const recent = start.path ? [] : start.recent;
    renew(this.#lists, this.#folder(start), ...(recent.length ? [this.#recent(recent)] : []));
    // with the first entry in focus, arrows and Enter do at once
    if (!this.#lists.contains(document.activeElement)) this.#lists.querySelector("button")?.focus();
  }

  /** Goes to the session that was chosen; not with changes of another one that are nowhere but here. */
  #follow({ port, token }: Moved): void {
    if (this.socket.pending.length) return;
    const there = new URL(location.href);
    if (port !== null) there.port = String(port);
    there.search = new URLSearchParams({ token }).toString();
    location.replace(there);
  }

  #recent(sessions: OfferedSession[]): HTMLElement {
    const rows = sessions.map(({ name, session, shape, at, held }, number) =>
      this.#row({ recent: number }, name, held ? `${session} is open in another process` : session, `${shape.map(count).join(" \u00d7 ")}, ${when(at)}`),
    );
    const more = el("button", { text: `${rows.length - FEW} more`, on: { click: () => {
      this.#showsAll = true;
      more.parentElement!.replaceWith(...rows.slice(FEW));
      rows[FEW].querySelector("button")!.focus();
    } } });
    return group("Recent sessions", ...(this.#showsAll || rows.length <= FEW ? rows : [...rows.slice(0, FEW), el("li", {}, more)]));
  }

  #folder({ root, path, folders, scenes, whole }: Start): HTMLElement {
    const below = (name: string) => (path ? `${path}/${name}` : name);
    const up = path ? [this.#row({ look: path.split("/").slice(0, -1).join("/") }, "\u2191 Folder above", "", "")] : [];
    this.#names.replaceChildren(...scenes.map(({ name }) => el("option", { attributes: { value: name } })));
    const rows = [
      ...up,
      ...folders.map((name) => this.#row({ look: below(name) }, `${name}/`, "", "folder")),
      ...scenes.map((scene) => this.#row(() => ({ open: below(scene.name), ...this.#chosen(below) }), scene.name, this.#problems.get(scene.name) ?? "", facts(scene), this.#problems.has(scene.name))),
    ];
    const found = group(path ? `${root}/${path}` : root, ...rows);
    if (!scenes.length) found.append(hint("No scenes in this folder. Start diffclass relabel in the folder above your scenes, or with its name."));
    if (!whole) found.append(hint("The folder holds more than is shown; give the name of the scene to the command instead."));
    return found;
  }

  #row(wish: SceneChoice | (() => SceneChoice), name: string, place: string, facts: string, fails = false): HTMLElement {
    const button = el("button", { on: { click: () => fails || this.socket.choose(typeof wish === "function" ? wish() : wish) } },
      el("span", { class: "name", text: name }),
      muted(facts),
      place ? el("span", { class: fails ? "place fails" : "muted place", text: place }) : null,
    );
    if (fails) button.setAttribute("aria-disabled", "true");
    return el("li", {}, button);
  }
}

function fileField(label: string): HTMLInputElement {
  return el("input", { attributes: { type: "text", list: "files-here", placeholder: "a file in the folder below", "aria-label": label, spellcheck: "false" } });
}

function group(title: string, ...rows: HTMLElement[]): HTMLElement {
  return el("div", {}, el("h2", { text: title }), el("ul", {}, ...rows));
}

function hint(text: string): HTMLElement {
  return el("p", { class: "muted", text });
}

function facts({ bytes, at }: OfferedScene): string {
  return bytes === null ? when(at) : `${size(bytes)}, ${when(at)}`;
}

function size(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const unit = units[Math.min(Math.floor(Math.log10(bytes + 1) / 3), units.length - 1)]!;
  const number = bytes / 1000 ** units.indexOf(unit);
  return `${number < 10 && unit !== "B" ? number.toFixed(1) : Math.round(number)} ${unit}`;
}

/** The day, or the time of today. */
function when(seconds: number): string {
  const time = new Date(1000 * seconds);
  const isToday = time.toDateString() === new Date().toDateString();
  return isToday
    ? `today ${time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}`
    : time.toLocaleDateString([], { year: "numeric", month: "short", day: "numeric" });
}

const MARKS = { done: "\u2713", running: "\u2192", waiting: "" };

export class PreparationPanel {
  readonly element = el("section", { class: "preparation", attributes: { "aria-label": "Preparing the scene" } });
  readonly #title = el("h2");
  readonly #steps = el("ol");
  readonly #left = el("p", { attributes: { role: "status" } });
  readonly #hint = el("p", { class: "muted" });

  constructor(private readonly socket: Socket) {
    this.element.append(this.#title, this.#steps, this.#left, this.#hint);
    this.element.hidden = true;
    socket.on("preparing", (preparing) => this.#show(preparing));
    socket.on("failed", ({ message }) => this.#fail(message));
    for (const kind of ["start", "hello"] as const) socket.on(kind, () => (this.element.hidden = true));
  }

  #show({ scene, steps, left }: Preparing): void {
    this.element.hidden = false;
    this.#title.textContent = `Preparing ${scene}`;
    this.#steps.replaceChildren(...steps.map((step) => this.#row(step)));
    this.#left.textContent = left === null ? "Looking at the scene\u2026" : timeLeft(left);
    this.#hint.textContent = keptChanges(this.socket.pending.length, "then") || "Labelling can begin as soon as it is here.";
  }

  #row(step: Preparing["steps"][number]): HTMLElement {
    const bar = el("progress", { attributes: { max: "1", "aria-label": step.name } });
    if (step.share !== null) bar.value = step.share;
    const seconds = step.is === "done" && step.seconds !== null ? `${step.seconds.toFixed(1)} s` : "";
    return el("li", { class: step.is },
      el("span", { class: "mark", text: MARKS[step.is], attributes: { "aria-hidden": "true" } }),
      el("span", { class: "step-name", text: step.name }),
      bar,
      muted(seconds),
    );
  }

  #fail(message: string): void {
    this.element.hidden = false;
    this.#title.textContent = "The scene could not be opened";
    this.#steps.replaceChildren();
    this.#left.textContent = message;
    this.#hint.textContent = this.socket.transport.words.ended;
  }
}

function timeLeft(seconds: number): string {
  if (seconds < 1.5) return "Nearly there\u2026";
  if (seconds < 90) return `About ${Math.round(seconds)} s left`;
  return `About ${Math.round(seconds / 60)} min left`;
}
