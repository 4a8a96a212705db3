// Spectra of the classes at large, over the picture: mean, spread, a legend that turns each on and off.

import { checkbox, el, iconButton, muted } from "../base/dom";
import { count } from "../base/format";
import { ICONS } from "../base/icons";
import type { ClassSpectrum } from "../session/protocol.generated";
import type { Session } from "../session/session";
import type { UiState } from "../tools/ui_state";
import { swatch } from "./class_mark";
import { FEW, type Spectra } from "./spectra";
import { type Curve, SpectrumPlot } from "./spectrum_plot";

export class SpectraPanel {
  readonly element: HTMLElement;
  private readonly plot = new SpectrumPlot("Mean spectra of the classes", { redraw: () => this.draw() });
  private readonly legend = el("div", { class: "spectra-legend", attributes: { role: "group", "aria-label": "Classes that are drawn" } });
  private readonly spread = checkbox(true, () => this.draw());
  private made = "";
  /** What had the focus before it was opened. */
  private before: HTMLElement | null = null;

  constructor(private readonly session: Session, private readonly ui: UiState, private readonly spectra: Spectra) {
    const title = "Spectra of the classes";
    this.element = el("section", { class: "spectra", attributes: { "aria-label": title } },
      el("div", { class: "spectra-head" }, el("h2", { text: title }),
        el("label", { title: "Between which values 80 % of the labelled pixels are in each band; of more than four classes, for the chosen one" }, this.spread, "Spread, 10\u201390 %"),
        iconButton(ICONS.remove, "Close (q)", () => this.toggle(), "icon small")),
      this.plot.canvas, this.legend);
    this.element.hidden = true;
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.toggle();
    });
    spectra.on("changed", () => this.draw());
  }

  toggle(): void {
    this.element.hidden = !this.element.hidden;
    if (this.element.hidden) return this.before?.focus();
    this.before = document.activeElement as HTMLElement | null;
    this.draw();
    this.spread.focus();
  }

  private draw(): void {
    const { scene } = this.session;
    if (!scene || this.element.hidden) return;
    const { shown, pointed } = this.spectra;
    // of many classes only the chosen one has a spread: more of them would hide each other
    const isSpread = ({ class: id }: ClassSpectrum) => this.spread.checked && (shown.length <= FEW || id === this.ui.classId);
    const curves: Curve[] = shown.map(({ spectrum, color }) => ({
      values: spectrum.mean, spread: isSpread(spectrum) ? spectrum : undefined, color, width: 1.75,
    }));
    if (pointed) curves.push({ values: pointed.values, color: this.plot.ink, width: 1.25 });
    this.plot.draw(scene, curves, []);
    this.showLegend();
  }

  private showLegend(): void {
    const { classes, off, pointed } = this.spectra;
    const rows = classes.map((spectrum) => ({ spectrum, item: this.session.classOf(spectrum.class) }));
    const made = JSON.stringify([pointed !== null, rows.map(({ spectrum, item }) => [spectrum.count, item?.name, item?.color, item?.hidden, off.has(spectrum.class)])]);
    if (made === this.made) return;
    this.made = made;
    const focused = (document.activeElement as HTMLElement | null)?.dataset.spectrum;
    this.legend.replaceChildren(...rows.map(({ spectrum, item }) => {
      const box = checkbox(!off.has(spectrum.class) && !item?.hidden, () => this.spectra.setShown(spectrum.class, box.checked));
      box.dataset.spectrum = String(spectrum.class);
      box.disabled = item?.hidden ?? true;
      return el("label", {}, box, swatch(item?.color), item?.name ?? "", muted(`${count(spectrum.count)} px`));
    }));
    if (!rows.length) this.legend.append(muted("Classes appear here once they are painted."));
    else if (pointed) this.legend.append(el("span", { class: "muted pointer-line", text: "under the pointer" }));
    this.legend.querySelector<HTMLElement>(`[data-spectrum="${focused}"]`)?.focus();
  }
}

