// Spectra of the classes and of the pixel under the pointer: what is asked, and the two plots of them.

import { checkbox, count, el, iconButton, muted, section, textButton } from "../base/dom";
import { Emitter, OneAtATime } from "../base/events";
import { iconMarkup } from "../base/icons";
import type { ClassSpectrum, SpectrumAnswer } from "../session/protocol.generated";
import type { Session } from "../session/session";
import type { UiState } from "../tools/ui_state";
import { swatch } from "./class_marks";
import type { PicturePanel } from "./picture_panel";
import { bandName, CHANNELS, type Curve, SpectrumPlot } from "./spectrum_plot";

/** Classes up to which all are drawn alike; of more, those that matter stand out. */
export const FEW = 4;

export class Spectra extends Emitter<{ changed: void }> {
  classes: ClassSpectrum[] = [];
  pointed: SpectrumAnswer | null = null; // Of the pixel under the pointer.
  readonly off = new Set<number>(); // Classes that are not drawn.
  #version = -1;
  readonly #askingClasses = new OneAtATime(() => this.#askClasses());
  readonly #askingPointed = new OneAtATime(() => this.#askPointed());

  constructor(private readonly session: Session, private readonly ui: UiState) {
    super();
    session.on("changed", () => {
      // With each map rather than each stroke: reading spectra shall not delay it.
      if (!session.state?.live || !session.isStale || this.#version < 0) void this.#askingClasses.run();
      this.emit("changed"); // names, colours, the map's class under the pointer
    });
    ui.on("hover", () => void this.#askingPointed.run());
    ui.on("class", () => this.emit("changed"));
  }

  /** Those that are drawn, of classes that are shown, with their colours. */
  get shown(): { spectrum: ClassSpectrum; color: string }[] {
    return this.classes.flatMap((spectrum) => {
      const item = this.session.classOf(spectrum.class);
      return item && !item.hidden && !this.off.has(spectrum.class) ? [{ spectrum, color: item.color }] : [];
    });
  }

  setShown(id: number, on: boolean): void {
    if (on) this.off.delete(id);
    else this.off.add(id);
    this.emit("changed");
  }

  async #askClasses(): Promise<void> {
    const version = this.session.state?.version;
    if (!this.session.scene?.bands || version === undefined || version === this.#version) return;
    const answer = await this.session.ask({ ask: "class_spectra" });
    if (!answer) return;
    [this.classes, this.#version] = [answer.classes, version];
    this.emit("changed");
  }

  async #askPointed(): Promise<void> {
    const { hover } = this.ui;
    const pixel = hover && this.session.pixelOf(hover);
    if (!this.session.scene?.bands || pixel === null || pixel === this.pointed?.pixel) return;
    const answer = await this.session.ask({ ask: "spectrum", pixel });
    if (!answer) return;
    this.pointed = answer;
    this.emit("changed");
  }
}

export class SpectrumPanel {
  readonly element: HTMLElement;
  readonly #plot = new SpectrumPlot("Spectrum under the pointer and class means", {
    redraw: () => this.#draw(),
    point: (band) => this.#point(band),
    click: (band) => {
      this.picture.setBand(this.#channel, band);
      this.#setChannel((this.#channel + 1) % CHANNELS.length);
    },
  });
  readonly #note = el("span", { class: "note muted" });
  readonly #channels = CHANNELS.map((name, k) => textButton(name[0], name, () => this.#setChannel(k), "channel small"));
  #channel = 0;
  #bands: number[] = [];

  constructor(private readonly session: Session, private readonly ui: UiState, private readonly spectra: Spectra, private readonly picture: PicturePanel, enlarge: () => void) {
    const tools = el("span", { class: "channels", attributes: { role: "group", "aria-label": "Colour of the picture whose band a click in the plot chooses" } }, ...this.#channels);
    this.element = section("Spectrum", this.#plot.canvas);
    this.element.classList.add("of-scene");
    this.element.querySelector("h2")!.append(this.#note, tools, iconButton("chart", "Spectra of the classes (q)", enlarge, "icon small"), this.#fold());
    this.#setChannel(0);
    this.#channels.forEach((button, k) => button.addEventListener("keydown", (event) => this.#step(event, k)));
    picture.on("shown", ({ bands }) => this.#setBands(bands));
    spectra.on("changed", () => this.#draw());
  }

  /** Hides the plot, or shows it again. */
  #fold(): HTMLElement {
    const button = iconButton("minus", "Plot under the pointer", () => this.ui.setOptions({ spectrum: !this.ui.isShown("spectrum") }), "icon small");
    const show = () => {
      const isShown = this.ui.isShown("spectrum");
      this.#plot.canvas.hidden = !isShown;
      button.innerHTML = iconMarkup(isShown ? "minus" : "plus");
      button.setAttribute("aria-expanded", String(isShown));
      this.#draw();
    };
    this.ui.on("options", show);
    button.setAttribute("aria-expanded", "true");
    return button;
  }

  /** Marks the bands of the picture. */
  #setBands(bands: number[]): void {
    this.#bands = bands;
    this.#channels.forEach((button, k) => this.#name(button, k));
    this.#draw();
  }

  #name(button: HTMLElement, k: number): void {
    const at = this.#bands[k] === undefined ? "" : `: ${bandName(this.session.scene!.bands!, this.#bands[k])}`;
    button.title = `${CHANNELS[k]}${at}; click in the plot, or press an arrow, to choose its band`;
    button.setAttribute("aria-label", `${CHANNELS[k]}${at}`);
  }

  #setChannel(channel: number): void {
    this.#channel = channel;
    this.#channels.forEach((button, k) => button.setAttribute("aria-pressed", String(k === channel)));
  }

  /** Arrows on a channel's button: the next good band. */
  #step(event: KeyboardEvent, channel: number): void {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const bands = this.session.scene?.bands;
    if (!by || !bands || this.#bands[channel] === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    let band = this.#bands[channel] + by;
    while (band >= 0 && band < bands.n_bands && !bands.good[band]) band += by;
    this.#setChannel(channel);
    if (band >= 0 && band < bands.n_bands) this.picture.setBand(channel, band);
  }

  #point(band: number | null): void {
    this.#note.textContent = band === null ? this.#where() : bandName(this.session.scene!.bands!, band);
    this.#note.title = band === null ? "Row and column of the pixel in the ink's colour" : "";
  }

  #draw(): void {
    const bands = this.session.scene?.bands;
    if (!bands) return;
    const focus = this.#focus();
    const shown = this.spectra.shown;
    const curves: Curve[] = shown.map(({ spectrum, color }) => ({
      values: spectrum.mean,
      spread: spectrum.class === this.ui.classId ? spectrum : undefined,
      color,
      width: 1.25,
      faint: shown.length > FEW && !focus.has(spectrum.class),
    }));
    const { pointed } = this.spectra;
    if (pointed) curves.push({ values: pointed.values, color: this.#plot.ink, width: 1.75 });
    this.#plot.draw(bands, curves, this.#bands);
    this.#point(null);
  }

  /** Classes whose means are drawn: the one that is painted and the map's. */
  #focus(): Set<number> {
    const { pointed } = this.spectra;
    return new Set([this.ui.classId, pointed ? this.session.mappedAt(pointed.pixel) : 0]);
  }

  #where(): string {
    const { pointed } = this.spectra;
    if (!pointed) return "";
    const { row, column } = this.session.placeOf(pointed.pixel);
    return `at ${row}, ${column}`;
  }
}

export class SpectraPanel {
  readonly element: HTMLElement;
  readonly #plot = new SpectrumPlot("Mean spectra of the classes", { redraw: () => this.#draw() });
  readonly #legend = el("div", { class: "spectra-legend", attributes: { role: "group", "aria-label": "Classes that are drawn" } });
  readonly #spread = checkbox(true, () => this.#draw());
  #made = "";
  #before: HTMLElement | null = null; // What had the focus before it was opened.

  constructor(private readonly session: Session, private readonly ui: UiState, private readonly spectra: Spectra) {
    const title = "Spectra of the classes";
    this.element = el("section", { class: "spectra of-scene", attributes: { "aria-label": title } },
      el("div", { class: "spectra-head" }, el("h2", { text: title }),
        el("label", { title: "Between which values 80 % of the labelled pixels are in each band; of more than four classes, for the chosen one" }, this.#spread, "Spread, 10\u201390 %"),
        iconButton("remove", "Close (q)", () => this.toggle(), "icon small")),
      this.#plot.canvas, this.#legend);
    this.element.hidden = true;
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.toggle();
    });
    spectra.on("changed", () => this.#draw());
  }

  toggle(): void {
    this.element.hidden = !this.element.hidden;
    if (this.element.hidden) return this.#before?.focus();
    this.#before = document.activeElement as HTMLElement | null;
    this.#draw();
    this.#spread.focus();
  }

  #draw(): void {
    const bands = this.session.scene?.bands;
    if (!bands || this.element.hidden) return;
    const { shown, pointed } = this.spectra;
    // of many classes only the chosen one has a spread: more of them would hide each other
    const isSpread = ({ class: id }: ClassSpectrum) => this.#spread.checked && (shown.length <= FEW || id === this.ui.classId);
    const curves: Curve[] = shown.map(({ spectrum, color }) => ({
      values: spectrum.mean, spread: isSpread(spectrum) ? spectrum : undefined, color, width: 1.75,
    }));
    if (pointed) curves.push({ values: pointed.values, color: this.#plot.ink, width: 1.25 });
    this.#plot.draw(bands, curves, []);
    this.#showLegend();
  }

  #showLegend(): void {
    const { classes, off, pointed } = this.spectra;
    const rows = classes.map((spectrum) => ({ spectrum, item: this.session.classOf(spectrum.class) }));
    const made = JSON.stringify([pointed !== null, rows.map(({ spectrum, item }) => [spectrum.count, item?.name, item?.color, item?.hidden, off.has(spectrum.class)])]);
    if (made === this.#made) return;
    this.#made = made;
    const focused = (document.activeElement as HTMLElement | null)?.dataset.spectrum;
    this.#legend.replaceChildren(...rows.map(({ spectrum, item }) => {
      const box = checkbox(!off.has(spectrum.class) && !item?.hidden, () => this.spectra.setShown(spectrum.class, box.checked));
      box.dataset.spectrum = String(spectrum.class);
      box.disabled = item?.hidden ?? true;
      return el("label", {}, box, swatch(item?.color), item?.name ?? "", muted(`${count(spectrum.count)} px`));
    }));
    if (!rows.length) this.#legend.append(muted("Classes appear here once they are painted."));
    else if (pointed) this.#legend.append(el("span", { class: "muted pointer-line", text: "under the pointer" }));
    this.#legend.querySelector<HTMLElement>(`[data-spectrum="${focused}"]`)?.focus();
  }
}
