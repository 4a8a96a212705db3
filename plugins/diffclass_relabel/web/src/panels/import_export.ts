// Import of labels from a file, and export of results to files.

import { checkbox, count, el, popoverButton, textButton } from "../base/dom";
import { type ExportAnswer, type ExportFormat, LONGEST_NAME, type Operation, type ReadLabelsAnswer, type SentFile } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { ClassMatching } from "./class_marks";

const MOST_BYTES = 40e6; // of all files together: a message holds a third more

export class ImportMenu {
  readonly element: HTMLElement;
  readonly #menu = el("div", { class: "menu import", attributes: { id: "import-menu", "aria-label": "Import labels" } });
  readonly #result = el("p", { class: "muted files", attributes: { "aria-live": "polite" } });
  readonly #question = el("div", { class: "question" });
  readonly #files = el("input", { attributes: { type: "file", multiple: "", hidden: "", "aria-label": "Label files" }, on: { change: () => void this.#send() } });
  readonly #model = el("input", { attributes: { type: "file", hidden: "", "aria-label": "Model" }, on: { change: () => void this.#apply() } });
  readonly #path = el("input", {
    attributes: { type: "text", placeholder: "path in the scene's folder", "aria-label": "Path of a label file in the scene's folder", spellcheck: "false" },
    on: { keydown: (event) => void (event.key === "Enter" && this.#readPath()) },
  });
  readonly #variable = el("input", {
    attributes: { type: "text", placeholder: "only if there are several", "aria-label": "Array or class field", spellcheck: "false", maxlength: String(LONGEST_NAME) },
  });

  constructor(private readonly session: Session) {
    this.#result.hidden = true;
    this.#menu.append(
      el("p", { class: "muted", text: "An image of class numbers, shapes on the map, or a spectral library, each spectrum of which labels the ten pixels most like it. What belongs together is chosen together: .hdr and .img or .sli; .shp, .shx, .dbf and .prj." }),
      el("label", { class: "import-field" }, el("span", { text: "Array or class field" }), this.#variable),
      textButton("Choose files\u2026", "Files of this machine", () => this.#files.click()),
      this.#files,
      el("div", { class: "import-path" }, this.#path, textButton("Read", "Read this path on the server's machine", () => this.#readPath())),
      el("p", { class: "muted", text: "Or a model of another scene: its map is shown under Compare with." }),
      textButton("Apply a model\u2026", "Classify this scene with a model that was exported from a session, or saved by classify", () => this.#model.click()),
      this.#model,
      this.#question,
      this.#result,
    );
    this.element = popoverButton("import", "Import labels", "Import labels from a file", this.#menu);
  }

  #readPath(): void {
    const path = this.#path.value.trim();
    if (path) void this.#take({ path });
  }

  async #send(): Promise<void> {
    const files = await this.#chosen(this.#files, "give the path of the file on the server\u2019s machine");
    if (files.length) await this.#take({ files });
  }

  async #apply(): Promise<void> {
    const files = await this.#chosen(this.#model, "apply the model with diffclass classify --model");
    if (!files.length) return;
    this.#tell("Applying\u2026");
    const answer = await this.session.ask({ ask: "predict", files });
    this.#tell(answer ? `The map of ${answer.name} is under Compare with. ${count(answer.unclassified)} pixels have none of the classes here.${sentences(answer.said)}` : "No model was applied.");
  }

  /** The chosen files, to be sent; none where they are too much, which is said with what to do. */
  async #chosen(field: HTMLInputElement, instead: string): Promise<SentFile[]> {
    const chosen = [...field.files!];
    field.value = ""; // so that the same file can be chosen again
    if (chosen.reduce((sum, file) => sum + file.size, 0) > MOST_BYTES) {
      this.#tell(`More than ${MOST_BYTES / 1e6} MB are too much to send; ${instead}.`);
      return [];
    }
    return Promise.all(chosen.map(sentFile));
  }

  async #take(from: { path: string } | { files: SentFile[] }): Promise<void> {
    const variable = this.#variable.value.trim();
    this.#question.replaceChildren();
    this.#tell("Reading\u2026");
    const seen = this.session.version; // the file's classes are matched with those of now
    const answer = await this.session.ask({ ask: "read_labels", ...from, ...(variable ? { variable } : {}) });
    if (answer?.asks) return this.#ask(answer, seen);
    await this.#add(answer && { ...answer, seen, chosen: new Map(answer.classes.map(({ id, to }) => [id, to])) });
  }

  async #add(labels: Chosen | null | undefined): Promise<void> {
    const done = labels && (await this.session.apply(operationOf(labels), { seen: labels.seen }));
    if (!done) return this.#tell("Nothing was imported.");
    this.#tell("");
    this.#menu.hidePopover();
    this.session.tell(summary(labels) + sentences(labels.said));
  }

  /** Neither names nor numbers tell which class is which: the user does. */
  #ask(answer: ReadLabelsAnswer, seen: number): void {
    const full = new Set(answer.classes.filter((item) => !item.new).map(({ id }) => id));
    const rows = answer.classes.filter((item) => item.count);
    const matching = new ClassMatching(this.session, rows, "new class", new Map(), full);
    const decide = (labels: Chosen | null) => {
      this.#question.replaceChildren();
      void this.#add(labels);
    };
    this.#tell("");
    this.#question.replaceChildren(
      el("p", { text: "Neither names nor numbers tell which classes of the file are the session\u2019s. Which are they?" }),
      matching.element,
      el("div", { class: "choices" },
        textButton("Cancel", "Import nothing", () => decide(null)),
        textButton("Import", "Import with these classes", () => decide({ ...answer, seen, classes: rows, chosen: matching.chosen }), "primary")),
    );
    matching.element.querySelector("select")?.focus();
    this.#question.scrollIntoView({ block: "nearest" });
  }

  #tell(text: string): void {
    this.#result.hidden = !text;
    this.#result.textContent = text;
  }
}

/** Labels of a file, which of the session's classes each of theirs is (0: a new one), and the state that had these. */
type Chosen = ReadLabelsAnswer & { chosen: Map<number, number>; seen: number };

function operationOf({ title, classes, chosen }: Chosen): Operation {
  const added = classes.filter(({ id }) => !chosen.get(id)).map((item): Operation => ({ op: "add_class", ...item.new }));
  const strokes = classes.filter((item) => item.count).map((item): Operation => ({ op: "stroke", class: chosen.get(item.id) || (item.new?.id ?? 0), pixels: item.pixels }));
  return { op: "batch", name: title, operations: [...added, ...strokes] };
}

function summary({ classes, chosen, left_out }: Chosen): string {
  const filled = classes.filter((item) => item.count);
  const pixels = filled.reduce((sum, item) => sum + item.count, 0);
  const found = filled.length === 1 ? "1 class" : `${filled.length} classes`;
  const n = classes.filter(({ id }) => !chosen.get(id)).length;
  const added = n ? `, ${n} of them new to the list` : "";
  const without = left_out ? `; ${count(left_out)} without data were left out` : "";
  return `Imported ${count(pixels)} pixels of ${found}${added}${without}. Undo takes it back.`;
}

/** What the server assumed, or lost, after another sentence. */
function sentences(said: string[]): string {
  return said.map((text) => ` ${text}.`).join("");
}

/** A file with its content in base 64. */
async function sentFile(file: File): Promise<SentFile> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  return { name: file.name, data: url.slice(url.indexOf(",") + 1) };
}

const SMOOTH = 2; // pixels of tolerance
const KEPT = 60_000; // ms that the browser has to save a file

export function exportButton(session: Session): HTMLElement {
  const rows = el("div");
  const files = el("p", { class: "muted files", attributes: { "aria-live": "polite" } });
  files.hidden = true;
  const polygons = new PolygonOptions();
  const save = async (format: ExportFormat) => {
    files.hidden = false;
    files.textContent = !["labels", "spectra", "prediction"].includes(format.what) && (session.isStale || !session.state?.refined) ? "Waiting for the map\u2026" : "Writing\u2026";
    const saved = await saveFiles(session, format, format.what === "polygons" ? polygons.values : {}).catch(() => []);
    files.textContent = saved.length ? `Saved ${saved.join(", ")}` : session.socket.connection === "open" ? "Nothing was saved." : "Nothing was saved: the server does not answer.";
  };
  const showPrediction = () => rows.querySelectorAll<HTMLElement>("[data-what=prediction]").forEach((row) => (row.hidden = !session.state?.has_prediction));
  session.on("changed", showPrediction);
  session.on("scene", ({ exports }) => rows.replaceChildren(...resultsOf(exports).flatMap((formats) => [row(formats, save), ...(formats[0].what === "polygons" ? [polygons.element] : [])])));
  const note = el("p", { class: "muted map-note" });
  const tell = () => {
    note.textContent = mapNote(session);
    note.hidden = !note.textContent;
  };
  session.on("scene", tell);
  session.on("changed", tell);
  const menu = el("div", { class: "menu export", attributes: { id: "export-menu" } }, note, rows, files);
  return popoverButton("export", "Export", "Export labels, map, margin or a report", menu);
}

/** What the exported map is made of, where that is not every pixel. */
function mapNote({ scene, state }: Session): string {
  const notes = [];
  if (scene && scene.block > 1)
    notes.push(`The map is of blocks of ${scene.block} \u00d7 ${scene.block} pixels. For that of every pixel run diffclass classify with the exported labels and the options in the report.`);
  if (scene?.coarse_answers && state?.warped)
    notes.push(`Each class has its kernel: the map is of ${count(state.n_aggregates!)} groups of similar pixels. Take one kernel for all for that of every pixel.`);
  return notes.join(" ");
}

/** The formats that the server offers, those of one result together. */
function resultsOf(offered: ExportFormat[]): ExportFormat[][] {
  return [...new Set(offered.map(({ what }) => what))].map((what) => offered.filter((format) => format.what === what));
}

function row(formats: ExportFormat[], save: (format: ExportFormat) => Promise<void>): HTMLElement {
  const { what } = formats[0];
  const name = what[0].toUpperCase() + what.slice(1);
  const buttons = formats.map((format) =>
    textButton(format.label, `${name} as ${format.label} (${format.suffix})`, () => void save(format), "small"),
  );
  return el("div", { class: "export-row", attributes: { "data-what": what } }, el("span", { text: name }), el("div", { class: "group" }, ...buttons));
}

/** How outlines of polygons are made. */
class PolygonOptions {
  readonly #area = el("input", { title: "Smaller pieces join a neighbour", attributes: { type: "number", min: "1", value: "1", "aria-label": "Smallest polygon, pixels" } });
  readonly #smooth = checkbox(false, () => {});
  readonly element = el("div", { class: "export-row" }, el("span"),
    el("label", {}, "from", this.#area, "pixels"),
    el("label", { title: "Outlines may leave the pixels' edges by about a pixel; neighbours keep common borders" }, this.#smooth, "smooth"));

  get values() {
    return { min_area: Math.max(Math.round(this.#area.valueAsNumber) || 1, 1), simplify: this.#smooth.checked ? SMOOTH : 0 };
  }
}

/** Has the server write a result and the browser save it; returns the names of the files. */
async function saveFiles(session: Session, { what, name }: ExportFormat, options: PolygonOptions["values"] | object): Promise<string[]> {
  const answer = await session.ask({ ask: "export", what, name, ...options });
  if (!answer) return [];
  for (const file of [answer.url, ...others(answer)]) await download(session, file);
  return answer.files.map((file) => file.split("/").pop()!);
}

/** Files that belong to the first one: the header of an ENVI image, the names of a GeoTIFF. */
function others({ url, files }: ExportAnswer): string[] {
  const folder = url.slice(0, url.lastIndexOf("/") + 1);
  return files.map((file) => folder + encodeURIComponent(file.split("/").pop()!)).filter((file) => file !== url);
}

async function download(session: Session, path: string): Promise<void> {
  const address = URL.createObjectURL(await session.socket.transport.fetch(path));
  const link = el("a", { attributes: { href: address, download: decodeURIComponent(path.split("/").pop()!) } });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), KEPT);
}
