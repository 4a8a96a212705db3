// Spectra of the classes at large, over the picture: mean, spread, a legend that turns each on and off.

import { count, el, iconButton, swatch } from "../base/dom";
import { ICONS } from "../base/icons";
import type { ClassSpectrum } from "../session/protocol.generated";
import type { Session } from "../session/session";
import type { Ui } from "../tools/ui";
import { type ClassSpectra, FEW } from "./class_spectra";
import type { Spectrum } from "./spectrum";
import { type Curve, SpectrumPlot } from "./spectrum_plot";

export class SpectraPanel {
  readonly element: HTMLElement;
  private readonly plot = new SpectrumPlot("Mean spectra of the classes");
  private readonly legend = el("div", { class: "spectra-legend", attributes: { role: "group", "aria-label": "Classes that are drawn" } });
  private readonly spread = checkbox(true, () => this.draw());
  private made = "";
  /** What had the focus before it was opened. */
  private before: HTMLElement | null = null;

  constructor(private readonly session: Session, private readonly ui: Ui, private readonly spectra: ClassSpectra, private readonly spectrum: () => Spectrum) {
    const title = "Spectra of the classes";
    this.element = el("section", { class: "spectra", attributes: { "aria-label": title } },
      el("div", { class: "spectra-head" }, el("h2", { text: title }),
        el("label", { title: "Between which values 80 % of the labelled pixels are in each band; of more than four classes, for the one in hand" }, this.spread, "Spread, 10\u201390 %"),
        iconButton(ICONS.remove, "Close (q)", () => this.toggle(), "icon small")),
      this.plot.canvas, this.legend);
    this.element.hidden = true;
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.toggle();
    });
    this.plot.wanted = () => this.draw();
    spectra.on("changed", () => this.draw());
    ui.on("class", () => this.draw());
  }

  toggle(): void {
    this.element.hidden = !this.element.hidden;
    if (this.element.hidden) return this.before?.focus();
    this.before = document.activeElement as HTMLElement | null;
    this.draw();
    this.spread.focus();
  }

  draw(): void {
    const { scene } = this.session;
    if (!scene || this.element.hidden) return;
    const { shown } = this.spectra;
    // of many classes only that in hand has a spread: more of them would hide each other
    const isSpread = ({ class: id }: ClassSpectrum) => this.spread.checked && (shown.length <= FEW || id === this.ui.classId);
    const curves: Curve[] = shown.map(({ spectrum, color }) => ({
      values: spectrum.mean, spread: isSpread(spectrum) ? spectrum : undefined, color, width: 1.75,
    }));
    const { answer } = this.spectrum();
    if (answer) curves.push({ values: answer.values, color: this.plot.ink, width: 1.25 });
    this.plot.draw(scene, curves, []);
    this.showLegend();
  }

  private showLegend(): void {
    const rows = this.spectra.list.map((spectrum) => ({ spectrum, item: this.session.classOf(spectrum.class) }));
    const { answer } = this.spectrum();
    const made = JSON.stringify([answer !== null, rows.map(({ spectrum, item }) => [spectrum.count, item?.name, item?.color, item?.hidden, this.spectra.off.has(spectrum.class)])]);
    if (made === this.made) return;
    this.made = made;
    const focused = (document.activeElement as HTMLElement | null)?.dataset.spectrum;
    this.legend.replaceChildren(...rows.map(({ spectrum, item }) => {
      const box = checkbox(!this.spectra.off.has(spectrum.class) && !item?.hidden, () => this.spectra.setShown(spectrum.class, box.checked));
      box.dataset.spectrum = String(spectrum.class);
      box.disabled = item?.hidden ?? true;
      return el("label", {}, box, swatch(item?.color), item?.name ?? "", el("span", { class: "muted", text: `${count(spectrum.count)} px` }));
    }));
    if (!rows.length) this.legend.append(el("span", { class: "muted", text: "Classes appear here once they are painted." }));
    else if (answer) this.legend.append(el("span", { class: "muted pointer-line", text: "under the pointer" }));
    this.legend.querySelector<HTMLElement>(`[data-spectrum="${focused}"]`)?.focus();
  }
}

function checkbox(checked: boolean, act: () => void): HTMLInputElement {
  const box = el("input", { attributes: { type: "checkbox" }, on: { change: act } });
  box.checked = checked;
  return box;
}
