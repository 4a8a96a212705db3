// Export: what, in which format; the server writes the file and the browser fetches it.

import { el, textButton } from "./dom";
import { ICONS } from "./icons";
import type { ExportAnswer } from "./protocol";
import type { Session } from "./session";

const RASTERS: [string, string][] = [
  [".img", "ENVI"],
  [".tif", "GeoTIFF"],
  [".png", "PNG"],
  [".npy", "NumPy"],
];
const ITEMS: { what: string; name: string; formats: [string, string][] }[] = [
  { what: "labels", name: "Labels", formats: RASTERS },
  { what: "map", name: "Map", formats: RASTERS },
  { what: "margin", name: "Margin", formats: RASTERS.filter(([ending]) => ending !== ".png") },
  { what: "probability", name: "Probability", formats: RASTERS.filter(([ending]) => ending !== ".png") },
  { what: "report", name: "Report", formats: [[".json", "JSON"]] },
];

export function exportButton(session: Session): HTMLElement {
  const menu = el("div", { class: "menu export", attributes: { popover: "auto", id: "export-menu" } });
  for (const { what, name, formats } of ITEMS) {
    const buttons = formats.map(([ending, label]) =>
      textButton(label, `${name} as ${label} (${ending})`, () => void save(session, what, ending, menu), "small"),
    );
    menu.append(el("div", { class: "export-row" }, el("span", { text: name }), el("div", { class: "group" }, ...buttons)));
  }
  const files = el("p", { class: "muted files", attributes: { "aria-live": "polite" } });
  files.hidden = true;
  menu.append(files);
  const button = el(
    "button",
    { class: "with-icon", title: "Export labels, map, margin or a report", attributes: { type: "button", popovertarget: "export-menu" } },
    el("span", { class: "glyph", icon: ICONS.export }),
    "Export",
  );
  return el("div", {}, button, menu);
}

async function save(session: Session, what: string, ending: string, menu: HTMLElement): Promise<void> {
  const answer = await session.ask<ExportAnswer>({ ask: "export", what, name: what + ending });
  if (!answer) return;
  for (const file of [answer.url, ...others(answer)]) download(file);
  const files = menu.querySelector<HTMLElement>(".files")!;
  files.hidden = false;
  files.textContent = `Saved ${answer.files.map((file) => file.split("/").pop()).join(", ")}`;
}

/** Files that belong to the first one: the header of an ENVI image, the names of a GeoTIFF. */
function others({ url, files }: ExportAnswer): string[] {
  const folder = url.slice(0, url.lastIndexOf("/") + 1);
  return files.map((file) => folder + encodeURIComponent(file.split("/").pop()!)).filter((file) => file !== url);
}

function download(url: string): void {
  const link = el("a", { attributes: { href: url, download: "" } });
  document.body.append(link);
  link.click();
  link.remove();
}
