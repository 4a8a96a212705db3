// Export: what, in which format; the server writes the file and the browser fetches it.

import { count, el, hangBelow, textButton } from "../base/dom";
import { ICONS } from "../base/icons";
import type { ExportAnswer, ExportFormat } from "../session/protocol.generated";
import type { Session } from "../session/session";

const KEPT = 60_000; // ms that the browser has to save a file

export function exportButton(session: Session): HTMLElement {
  const menu = el("div", { class: "menu export", attributes: { popover: "auto", id: "export-menu" } });
  const rows = el("div");
  session.on("scene", ({ exports }) => rows.replaceChildren(...resultsOf(exports).map((formats) => row(session, formats, menu))));
  const note = el("p", { class: "muted map-note" });
  const tell = () => {
    note.textContent = mapNote(session);
    note.hidden = !note.textContent;
  };
  session.on("scene", tell);
  session.on("news", tell);
  menu.append(note, rows);
  const files = el("p", { class: "muted files", attributes: { "aria-live": "polite" } });
  files.hidden = true;
  menu.append(files);
  const button = el(
    "button",
    { class: "with-icon", title: "Export labels, map, margin or a report", attributes: { type: "button", popovertarget: "export-menu" } },
    el("span", { class: "glyph", icon: ICONS.export }),
    "Export",
  );
  hangBelow(menu, () => button.closest("header")!);
  return el("div", {}, button, menu);
}

/** What the exported map is made of, where that is not every pixel. */
function mapNote({ scene, state }: Session): string {
  const notes = [];
  if (scene && scene.block > 1)
    notes.push(`The map is of blocks of ${scene.block} \u00d7 ${scene.block} pixels. For that of every pixel run diffclass classify with the exported labels and the options in the report.`);
  if (scene?.coarse_answers && state?.warped)
    notes.push(`The walk is warped: the map is of ${count(scene.n_aggregates!)} groups of similar pixels. Unwarp for that of every pixel.`);
  return notes.join(" ");
}

/** The formats that the server offers, those of one result together. */
function resultsOf(offered: ExportFormat[]): ExportFormat[][] {
  return [...new Set(offered.map(({ what }) => what))].map((what) => offered.filter((format) => format.what === what));
}

function row(session: Session, formats: ExportFormat[], menu: HTMLElement): HTMLElement {
  const { what } = formats[0];
  const name = what[0].toUpperCase() + what.slice(1);
  const buttons = formats.map((format) =>
    textButton(format.label, `${name} as ${format.label} (${format.suffix})`, () => void save(session, format, menu), "small"),
  );
  return el("div", { class: "export-row" }, el("span", { text: name }), el("div", { class: "group" }, ...buttons));
}

async function save(session: Session, { what, name }: ExportFormat, menu: HTMLElement): Promise<void> {
  const answer = await session.ask({ ask: "export", what, name });
  if (!answer) return;
  for (const file of [answer.url, ...others(answer)]) await download(session, file);
  const files = menu.querySelector<HTMLElement>(".files")!;
  files.hidden = false;
  files.textContent = `Saved ${answer.files.map((file) => file.split("/").pop()).join(", ")}`;
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
