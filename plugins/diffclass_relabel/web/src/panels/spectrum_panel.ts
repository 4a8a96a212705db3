// The spectrum under the pointer with the means of the classes; a click chooses a band of the picture.

import { el, iconButton, section, textButton } from "../base/dom";
import { ICONS } from "../base/icons";
import type { Session } from "../session/session";
import type { UiState } from "../tools/ui_state";
import type { PicturePanel } from "./picture_panel";
import { FEW, type Spectra } from "./spectra";
import { bandName, CHANNELS, type Curve, SpectrumPlot } from "./spectrum_plot";

export class SpectrumPanel {
  readonly element: HTMLElement;
  private readonly plot = new SpectrumPlot("Spectrum under the pointer and class means", {
    redraw: () => this.draw(),
    point: (band) => this.point(band),
    click: (band) => {
      this.picture.setBand(this.channel, band);
      this.setChannel((this.channel + 1) % CHANNELS.length);
    },
  });
  private readonly note = el("span", { class: "note muted" });
  private readonly channels = CHANNELS.map((name, k) => textButton(name[0], name, () => this.setChannel(k), "channel small"));
  private channel = 0;
  private bands: number[] = [];

  constructor(private readonly session: Session, private readonly ui: UiState, private readonly spectra: Spectra, private readonly picture: PicturePanel, enlarge: () => void) {
    const tools = el("span", { class: "channels", attributes: { role: "group", "aria-label": "Colour of the picture whose band a click in the plot chooses" } }, ...this.channels);
    this.element = section("Spectrum", this.plot.canvas);
    this.element.querySelector("h2")!.append(this.note, tools, iconButton(ICONS.chart, "Spectra of the classes (q)", enlarge, "icon small"));
    this.setChannel(0);
    this.channels.forEach((button, k) => button.addEventListener("keydown", (event) => this.step(event, k)));
    picture.on("shown", ({ bands }) => this.setBands(bands));
    spectra.on("changed", () => this.draw());
  }

  /** Marks the bands of the picture. */
  private setBands(bands: number[]): void {
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
    if (band >= 0 && band < scene.n_bands) this.picture.setBand(channel, band);
  }

  private point(band: number | null): void {
    this.note.textContent = band === null ? this.where() : bandName(this.session.scene!, band);
    this.note.title = band === null ? "Row and column of the pixel in the ink's colour" : "";
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
    const { pointed } = this.spectra;
    if (pointed) curves.push({ values: pointed.values, color: this.plot.ink, width: 1.75 });
    this.plot.draw(scene, curves, this.bands);
    this.point(null);
  }

  /** Classes whose means are drawn: the one that is painted and the map's. */
  private focus(): Set<number> {
    const { pointed } = this.spectra;
    return new Set([this.ui.classId, pointed ? (this.session.map?.ids[pointed.pixel] ?? 0) : 0]);
  }

  private where(): string {
    const { pointed } = this.spectra;
    if (!pointed) return "";
    const { row, column } = this.session.placeOf(pointed.pixel);
    return `at ${row}, ${column}`;
  }
}
