// Which bands make the picture: a preset, or any three; and how they are stretched.

import { choice, el, muted, section } from "../base/dom";
import { Emitter, OneAtATime } from "../base/events";
import type { Preset, SceneInfo } from "../session/protocol.generated";
import type { Session } from "../session/session";
import type { PageSettings } from "./page_settings";
import { bandName, CHANNELS } from "./spectrum_plot";
import { type Stretch, StretchPanel } from "./stretch_panel";

const FREE = "bands"; // the choice of any three

interface Events {
  shown: { picture: ImageBitmap; bands: number[] }; // A new picture, and its bands (none for components).
}

export class PicturePanel extends Emitter<Events> {
  readonly element: HTMLElement;
  readonly #select = choice("Picture", [], () => this.#choose());
  readonly #inputs = CHANNELS.map((name) =>
    el("input", { attributes: { type: "number", min: "1", step: "1", "aria-label": `${name}: band` }, on: { change: () => this.#choose() } }));
  readonly #notes = CHANNELS.map(() => muted(""));
  readonly #bands: HTMLElement;
  readonly #stretch: StretchPanel;
  readonly #loading = new OneAtATime(() => this.#fetch());

  constructor(private readonly session: Session, private readonly settings: PageSettings) {
    super();
    const cells = this.#inputs.map((input, k) => el("label", {}, el("span", { text: CHANNELS[k][0] }), input, this.#notes[k]));
    this.#bands = el("div", { class: "bands" }, ...cells);
    this.#bands.hidden = true;
    this.#stretch = new StretchPanel(session, () => this.#load());
    this.element = section("Picture", this.#select, this.#bands, this.#stretch.element);
    session.on("scene", ({ scene, presets }) => this.#open(scene, presets));
  }

  /** Whether the picture asked for last is still on its way. */
  get isLoading(): boolean {
    return this.#loading.isRunning;
  }

  /** Shows another band as red, green or blue (0, 1, 2); the other two stay. */
  setBand(channel: number, band: number): void {
    this.#chosen().forEach((other, k) => (this.#inputs[k].value = String(other + 1)));
    this.#inputs[channel].value = String(band + 1);
    this.#select.value = FREE;
    this.#choose();
  }

  #open(scene: SceneInfo, presets: Preset[]): void {
    if (this.#select.options.length) return; // after a reconnection the choice stays
    this.#select.append(...presets.map(({ name, label }) => new Option(label, name)), ...(scene.bands ? [new Option("Three bands\u2026", FREE)] : []));
    const stored = this.settings.picture;
    const known = stored && [...this.#select.options].some(({ value }) => value === stored.preset) ? stored : null;
    if (known) this.#select.value = known.preset;
    const { bands } = scene;
    if (bands) this.#inputs.forEach((input, k) => {
      input.max = String(bands.n_bands);
      input.value = String((known?.bands[k] ?? bands.bands_true[k]) + 1);
    });
    this.#choose(known?.stretch);
  }

  #choose(stretch?: Stretch): void {
    this.#bands.hidden = this.#select.value !== FREE;
    this.#stretch.setSource(this.#source());
    if (stretch) this.#stretch.restore(stretch);
    this.#load();
  }

  /** Bands of the picture, from 0; none where it is made of components. */
  #chosen(): number[] {
    const { bands } = this.session.scene!;
    if (bands && this.#select.value === "true") return bands.bands_true;
    if (bands && this.#select.value === "false") return bands.bands_false;
    if (!bands || this.#select.value !== FREE) return [];
    return this.#inputs.map((input) => Math.min(Math.max(Math.round(Number(input.value)) || 1, 1), bands.n_bands) - 1);
  }

  #source(): { preset: string } | { bands: string } {
    return this.#select.value === FREE ? { bands: this.#chosen().join(",") } : { preset: this.#select.value };
  }

  #load(): void {
    this.#note();
    this.settings.picture = { preset: this.#select.value, bands: this.#chosen(), stretch: this.#stretch.stretch };
    void this.#loading.run();
  }

  async #fetch(): Promise<void> {
    const bands = this.#chosen();
    const query = new URLSearchParams({ ...this.#source(), ...this.#stretch.query });
    const fetched = this.session.socket.transport.fetch(`picture.png?${query}`).then(createImageBitmap);
    const picture = await fetched.catch((error: Error) => error.message);
    if (typeof picture !== "string") this.emit("shown", { picture, bands });
    else if (!this.#loading.isWanted) this.session.tell(`The picture could not be made. ${picture}`);
  }

  #note(): void {
    const { bands } = this.session.scene!;
    this.#inputs.forEach((input, k) => {
      this.#notes[k].textContent = bands?.wavelengths ? bandName(bands, Number(input.value) - 1).split(", ")[1] ?? "" : "";
    });
  }
}
