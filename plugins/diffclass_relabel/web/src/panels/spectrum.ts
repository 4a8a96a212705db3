// The spectrum under the pointer beside the means of the classes; a click chooses a band of the picture.

import { el, iconButton, section, textButton } from "../base/dom";
import { ICONS } from "../base/icons";
import type { SpectrumAnswer } from "../session/protocol.generated";
import type { Session } from "../session/session";
import type { Ui } from "../tools/ui";
import { type ClassSpectra, FEW } from "./class_spectra";
import { bandName, CHANNELS, type Curve, SpectrumPlot } from "./spectrum_plot";

export class Spectrum {
  readonly element: HTMLElement;
  /** Called with a channel, 0 to 2, and the band that was chosen for it. */
  chosen: (channel: number, band: number) => void = () => {};
  /** Called with each new spectrum. */
  drawn: () => void = () => {};
  answer: SpectrumAnswer | null = null;
  private readonly plot = new SpectrumPlot("Spectrum under the pointer and class means");
  private readonly note = el("span", { class: "note muted" });
  private readonly channels = CHANNELS.map((name, k) => textButton(name[0], name, () => this.setChannel(k), "channel small"));
  private channel = 0;
  private bands: number[] = [];
  private asking = false;

  constructor(private readonly session: Session, private readonly ui: Ui, private readonly spectra: ClassSpectra, enlarge: () => void) {
    const tools = el("span", { class: "channels", attributes: { role: "group", "aria-label": "Colour of the picture whose band a click in the plot chooses" } }, ...this.channels);
    this.element = section("Spectrum", this.plot.canvas);
    this.element.querySelector("h2")!.append(this.note, tools, iconButton(ICONS.chart, "Spectra of the classes (q)", enlarge, "icon small"));
    this.setChannel(0);
    this.plot.wanted = () => this.draw();
    this.plot.pointed = (band) => this.point(band);
    this.plot.clicked = (band) => {
      this.chosen(this.channel, band);
      this.setChannel((this.channel + 1) % CHANNELS.length);
    };
    this.channels.forEach((button, k) => button.addEventListener("keydown", (event) => this.step(event, k)));
    ui.on("hover", () => void this.follow());
    ui.on("class", () => this.draw());
    spectra.on("changed", () => this.draw());
  }

  /** Marks the bands of the picture. */
  setBands(bands: number[]): void {
    this.bands = bands;
    this.channels.forEach((button, k) => this.name(button, k));
    this.draw();
  }

  private name(button: HTMLElement, k: number): void {
    const at = this.bands[k] === undefined ? "" : `: ${bandName(this.session.scene!, this.bands[k])}`;
    button.title = `${CHANNELS[k]}${at}; click in the plot, or press an arrow, to choose its band`;
    button.setAttribute("aria-label", `${CHANNELS[k]}${at}`);
  }

  private setChannel(channel: number): void {
    this.channel = channel;
    this.channels.forEach((button, k) => button.setAttribute("aria-pressed", String(k === channel)));
  }

  /** Arrows on a channel's button: the next good band. */
  private step(event: KeyboardEvent, channel: number): void {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const scene = this.session.scene;
    if (!by || !scene || this.bands[channel] === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    let band = this.bands[channel] + by;
    while (band >= 0 && band < scene.n_bands && !scene.good[band]) band += by;
    this.setChannel(channel);
    if (band >= 0 && band < scene.n_bands) this.chosen(channel, band);
  }

  private point(band: number | null): void {
    this.note.textContent = band === null ? this.where() : bandName(this.session.scene!, band);
    this.note.title = band === null ? "Row and column of the pixel in the ink's colour" : "";
  }

  /** Asks for one spectrum at a time; the pixel that the pointer is on by then comes next. */
  private async follow(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    for (let pixel = this.pixel(); pixel !== null && pixel !== this.answer?.pixel; pixel = this.pixel()) {
      const answer = await this.session.ask({ ask: "spectrum", pixel });
      if (!answer) break;
      this.answer = answer;
      this.draw();
      this.drawn();
    }
    this.asking = false;
  }

  private pixel(): number | null {
    const { hover } = this.ui;
    return hover && hover.row * this.session.scene!.columns + hover.column;
  }

  private draw(): void {
    const { scene } = this.session;
    if (!scene) return;
    const focus = this.focus();
    const shown = this.spectra.shown;
    const curves: Curve[] = shown.map(({ spectrum, color }) => ({
      values: spectrum.mean,
      spread: spectrum.class === this.ui.classId ? spectrum : undefined,
      color,
      width: 1.25,
      faint: shown.length > FEW && !focus.has(spectrum.class),
    }));
    if (this.answer) curves.push({ values: this.answer.values, color: this.plot.ink, width: 1.75 });
    this.plot.draw(scene, curves, this.bands);
    this.point(null);
  }

  /** Classes whose means are drawn: the one that is painted and the map's. */
  private focus(): Set<number> {
    const { answer, session, ui } = this;
    return new Set([ui.classId, answer ? (session.map?.ids[answer.pixel] ?? 0) : 0]);
  }

  private where(): string {
    if (!this.answer) return "";
    const { columns } = this.session.scene!;
    return `at ${Math.floor(this.answer.pixel / columns)}, ${this.answer.pixel % columns}`;
  }
}
