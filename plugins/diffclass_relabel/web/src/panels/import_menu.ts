// Import: labels of a file, sent from here or read by the server, as one operation that undo takes back.

import { count, el, hangBelow, textButton } from "../base/dom";
import { ICONS } from "../base/icons";
import { LONGEST_NAME, type Operation, type ReadLabelsAnswer, type SentFile } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { ClassMatching } from "./class_matching";

const MOST_BYTES = 40e6; // of all files together: a message holds a third more

export class ImportMenu {
  readonly element: HTMLElement;
  private readonly menu = el("div", { class: "menu import", attributes: { popover: "auto", id: "import-menu", "aria-label": "Import labels" } });
  private readonly result = el("p", { class: "muted files", attributes: { "aria-live": "polite" } });
  private readonly question = el("div", { class: "question" });
  private readonly files = el("input", { attributes: { type: "file", multiple: "", hidden: "", "aria-label": "Label files" }, on: { change: () => void this.send() } });
  private readonly path = el("input", {
    attributes: { type: "text", placeholder: "path beside the scene", "aria-label": "Path of a label file, beside the scene", spellcheck: "false" },
    on: { keydown: (event) => void (event.key === "Enter" && this.readPath()) },
  });
  private readonly variable = el("input", {
    attributes: { type: "text", placeholder: "only if there are several", "aria-label": "Array or class field", spellcheck: "false", maxlength: String(LONGEST_NAME) },
  });

  constructor(private readonly session: Session) {
    this.result.hidden = true;
    this.menu.append(
      el("p", { class: "muted", text: "An image of class numbers, or shapes on the map. What belongs together is chosen together: .hdr and .img; .shp, .shx, .dbf and .prj." }),
      el("label", { class: "import-field" }, el("span", { text: "Array or class field" }), this.variable),
      textButton("Choose files\u2026", "Label files of this machine", () => this.files.click()),
      this.files,
      el("div", { class: "import-path" }, this.path, textButton("Read", "Read the file at this path, on the server's machine", () => this.readPath())),
      this.question,
      this.result,
    );
    const button = el(
      "button",
      { class: "with-icon", title: "Import labels from a file", attributes: { type: "button", popovertarget: "import-menu" } },
      el("span", { class: "glyph", icon: ICONS.import }),
      "Import labels",
    );
    hangBelow(this.menu, () => button.closest("header")!);
    this.element = el("div", {}, button, this.menu);
  }

  private readPath(): void {
    const path = this.path.value.trim();
    if (path) void this.take({ path });
  }

  private async send(): Promise<void> {
    const chosen = [...this.files.files!];
    this.files.value = ""; // so that the same file can be chosen again
    if (chosen.reduce((sum, file) => sum + file.size, 0) > MOST_BYTES) {
      return this.tell(`More than ${MOST_BYTES / 1e6} MB are too much to send; give the path of the file on the server's machine.`);
    }
    if (chosen.length) await this.take({ files: await Promise.all(chosen.map(sentFile)) });
  }

  private async take(from: { path: string } | { files: SentFile[] }): Promise<void> {
    const variable = this.variable.value.trim();
    this.question.replaceChildren();
    this.tell("Reading\u2026");
    const seen = this.session.version; // the file's classes are matched with those of now
    const answer = await this.session.ask({ ask: "read_labels", ...from, ...(variable ? { variable } : {}) });
    if (answer?.asks) return this.ask(answer, seen);
    await this.add(answer && { ...answer, seen, chosen: new Map(answer.classes.map(({ id, to }) => [id, to])) });
  }

  private async add(labels: Chosen | null | undefined): Promise<void> {
    const done = labels && (await this.session.apply(operationOf(labels), { seen: labels.seen }));
    this.tell(done ? summary(labels) : "Nothing was imported.");
  }

  /** Neither names nor numbers tell which class is which: the user does. */
  private ask(answer: ReadLabelsAnswer, seen: number): void {
    const full = new Set(answer.classes.filter((item) => !item.new).map(({ id }) => id));
    const rows = answer.classes.filter((item) => item.count);
    const matching = new ClassMatching(this.session, rows, "new class", new Map(), full);
    const decide = (labels: Chosen | null) => {
      this.question.replaceChildren();
      void this.add(labels);
    };
    this.tell("");
    this.question.replaceChildren(
      el("p", { text: "Neither names nor numbers tell which classes of the file are the session\u2019s. Which are they?" }),
      matching.element,
      el("div", { class: "choices" },
        textButton("Cancel", "Import nothing", () => decide(null)),
        textButton("Import", "Import with these classes", () => decide({ ...answer, seen, classes: rows, chosen: matching.chosen }), "primary")),
    );
    matching.element.querySelector("select")?.focus();
  }

  private tell(text: string): void {
    this.result.hidden = !text;
    this.result.textContent = text;
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
