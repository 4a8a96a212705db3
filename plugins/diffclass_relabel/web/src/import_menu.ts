// Import: labels of a file, sent from here or read by the server, as one operation that undo takes back.

import { count, el, hangBelow, textButton } from "./dom";
import { ICONS } from "./icons";
import { LONGEST_NAME, type Operation, type ReadLabelsAnswer, type SentFile } from "./protocol.generated";
import type { Session } from "./session";

const MOST_BYTES = 40e6; // of all files together: a message holds a third more

export class ImportMenu {
  readonly element: HTMLElement;
  private readonly menu = el("div", { class: "menu import", attributes: { popover: "auto", id: "import-menu", "aria-label": "Import labels" } });
  private readonly result = el("p", { class: "muted files", attributes: { "aria-live": "polite" } });
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
    this.tell("Reading\u2026");
    const answer = await this.session.ask({ ask: "read_labels", ...from, ...(variable ? { variable } : {}) });
    const done = answer && (await this.session.apply(operationOf(answer)));
    this.tell(done ? summary(answer!) : "Nothing was imported.");
  }

  private tell(text: string): void {
    this.result.hidden = false;
    this.result.textContent = text;
  }
}

function operationOf({ title, classes, strokes }: ReadLabelsAnswer): Operation {
  return {
    op: "batch",
    name: title,
    operations: [
      ...classes.map((item): Operation => ({ op: "add_class", ...item })),
      ...strokes.map((item): Operation => ({ op: "stroke", ...item })),
    ],
  };
}

function summary({ classes, strokes, count: pixels, left_out }: ReadLabelsAnswer): string {
  const found = strokes.length === 1 ? "1 class" : `${strokes.length} classes`;
  const added = classes.length ? `, ${classes.length} of them new to the list` : "";
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
