// Which bands make the picture: a preset, or any three; and how they are stretched.

import { el, section } from "../base/dom";
import type { Preset, SceneInfo } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { bandName, CHANNELS } from "./spectrum_plot";
import { type Stretch, StretchPanel } from "./stretch_panel";

const FREE = "bands"; // the choice of any three

export interface PictureChoice {
  preset: string;
  bands: number[];
  stretch: Stretch;
}

export class PicturePanel {
  readonly element: HTMLElement;
  /** Called with each new picture, and with the bands shown (none for components). */
  shown: (picture: ImageBitmap, bands: number[]) => void = () => {};
  failed: (message: string) => void = () => {};
  /** Called when something else was chosen. */
  changed: () => void = () => {};
  /** Whether the picture asked for last is still on its way. */
  isLoading = false;
  private readonly select = el("select", { attributes: { "aria-label": "Picture" } });
  private readonly inputs = CHANNELS.map((name) => bandInput(name));
  private readonly notes = CHANNELS.map(() => el("span", { class: "muted" }));
  private readonly bands: HTMLElement;
  private readonly stretch: StretchPanel;
  private kept: PictureChoice | null = null;
  private request = 0;

  constructor(private readonly session: Session) {
    const cells = this.inputs.map((input, k) => el("label", {}, el("span", { text: CHANNELS[k][0] }), input, this.notes[k]));
    this.bands = el("div", { class: "bands" }, ...cells);
    this.bands.hidden = true;
    this.stretch = new StretchPanel(session);
    this.stretch.changed = () => this.load();
    this.element = section("Picture", this.select, this.bands, this.stretch.element);
    this.select.addEventListener("change", () => this.choose());
    for (const input of this.inputs) input.addEventListener("change", () => this.choose());
    session.on("scene", ({ scene, presets }) => this.open(scene, presets));
  }

  get choice(): PictureChoice {
    return { preset: this.select.value, bands: this.chosen(), stretch: this.stretch.stretch };
  }

  /** What to begin with, if the scene has it. */
  restore(kept: PictureChoice): void {
    this.kept = kept;
  }

  /** Shows another band as red, green or blue (0, 1, 2); the other two stay. */
  setBand(channel: number, band: number): void {
    this.chosen().forEach((other, k) => (this.inputs[k].value = String(other + 1)));
    this.inputs[channel].value = String(band + 1);
    this.select.value = FREE;
    this.choose();
  }

  private open(scene: SceneInfo, presets: Preset[]): void {
    if (this.select.options.length) return; // after a reconnection the choice stays
    for (const { name, label } of presets) this.select.append(el("option", { text: label, attributes: { value: name } }));
    this.select.append(el("option", { text: "Three bands\u2026", attributes: { value: FREE } }));
    const { kept } = this;
    const known = kept !== null && [...this.select.options].some(({ value }) => value === kept.preset);
    if (known) this.select.value = kept.preset;
    this.inputs.forEach((input, k) => {
      input.max = String(scene.n_bands);
      input.value = String(((known ? kept.bands[k] : undefined) ?? scene.bands_true[k]) + 1);
    });
    this.choose(known ? kept.stretch : null);
  }

  private choose(stretch: Stretch | null = null): void {
    this.bands.hidden = this.select.value !== FREE;
    this.stretch.setSource(this.source());
    if (stretch) this.stretch.restore(stretch);
    this.load();
  }

  /** Bands of the picture, from 0; none where it is made of components. */
  private chosen(): number[] {
    const scene = this.session.scene!;
    if (this.select.value === "true") return scene.bands_true;
    if (this.select.value === "false") return scene.bands_false;
    if (this.select.value !== FREE) return [];
    return this.inputs.map((input) => Math.min(Math.max(Math.round(Number(input.value)) || 1, 1), scene.n_bands) - 1);
  }

  private source(): { preset: string } | { bands: string } {
    return this.select.value === FREE ? { bands: this.chosen().join(",") } : { preset: this.select.value };
  }

  /** Loads one picture at a time; what is chosen meanwhile comes next. */
  private load(): void {
    this.note();
    this.changed();
    this.request++;
    if (!this.isLoading) void this.fetch();
  }

  private async fetch(): Promise<void> {
    this.isLoading = true;
    for (let done = -1; done !== this.request; ) {
      done = this.request;
      const bands = this.chosen();
      const query = new URLSearchParams({ ...this.source(), ...this.stretch.query });
      const fetched = this.session.socket.transport.fetch(`picture.png?${query}`).then(createImageBitmap);
      const picture = await fetched.catch((error: Error) => error.message);
      if (typeof picture !== "string") this.shown(picture, bands);
      else if (done === this.request) this.failed(`The picture could not be made. ${picture}`);
    }
    this.isLoading = false;
  }

  private note(): void {
    const scene = this.session.scene!;
    this.inputs.forEach((input, k) => {
      this.notes[k].textContent = scene.wavelengths ? bandName(scene, Number(input.value) - 1).split(", ")[1] ?? "" : "";
    });
  }
}

function bandInput(name: string): HTMLInputElement {
  return el("input", { attributes: { type: "number", min: "1", step: "1", "aria-label": `${name}: band` } });
}
