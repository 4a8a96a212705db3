// Which bands make the picture: a preset, or any three.

import { el, section } from "./dom";
import type { Preset, SceneInfo } from "./protocol.generated";
import type { Session } from "./session";

const CHANNELS = ["Red", "Green", "Blue"];

export class PicturePanel {
  readonly element: HTMLElement;
  /** Called with each new picture, and with the bands shown (none for components). */
  shown: (picture: ImageBitmap, bands: number[]) => void = () => {};
  failed: (message: string) => void = () => {};
  /** Whether the picture asked for last is still on its way. */
  isLoading = false;
  private readonly select = el("select", { attributes: { "aria-label": "Picture" } });
  private readonly inputs = CHANNELS.map((name) => bandInput(name));
  private readonly notes = CHANNELS.map(() => el("span", { class: "muted" }));
  private readonly bands: HTMLElement;
  private request = 0;

  constructor(private readonly session: Session) {
    const cells = this.inputs.map((input, k) => el("label", {}, el("span", { text: CHANNELS[k][0] }), input, this.notes[k]));
    this.bands = el("div", { class: "bands" }, ...cells);
    this.bands.hidden = true;
    this.element = section("Picture", this.select, this.bands);
    this.select.addEventListener("change", () => this.choose());
    for (const input of this.inputs) input.addEventListener("change", () => void this.load());
    session.on("scene", ({ scene, presets }) => this.open(scene, presets));
  }

  private open(scene: SceneInfo, presets: Preset[]): void {
    if (this.select.options.length) return; // after a reconnection the choice stays
    for (const { name, label } of presets) this.select.append(el("option", { text: label, attributes: { value: name } }));
    this.select.append(el("option", { text: "Three bands\u2026", attributes: { value: "bands" } }));
    this.inputs.forEach((input, k) => {
      input.max = String(scene.n_bands);
      input.value = String(scene.bands_true[k] + 1);
    });
    void this.load();
  }

  private choose(): void {
    this.bands.hidden = this.select.value !== "bands";
    void this.load();
  }

  /** Bands of the picture, from 0; none where it is made of components. */
  private chosen(): number[] {
    const scene = this.session.scene!;
    if (this.select.value === "true") return scene.bands_true;
    if (this.select.value === "false") return scene.bands_false;
    if (this.select.value !== "bands") return [];
    return this.inputs.map((input) => Math.min(Math.max(Number(input.value) || 1, 1), scene.n_bands) - 1);
  }

  private async load(): Promise<void> {
    const bands = this.chosen();
    this.note();
    const query = this.select.value === "bands" ? `bands=${bands.join(",")}` : `preset=${this.select.value}`;
    const request = ++this.request;
    this.isLoading = true;
    const fetched = this.session.socket.transport.fetch(`picture.png?${query}`).then(createImageBitmap);
    const picture = await fetched.catch((error: Error) => error.message);
    if (request !== this.request) return; // another was chosen meanwhile
    this.isLoading = false;
    if (typeof picture !== "string") this.shown(picture, bands);
    else this.failed(`The picture could not be made. ${picture}`);
  }

  private note(): void {
    const { wavelengths, unit } = this.session.scene!;
    this.inputs.forEach((input, k) => {
      const length = wavelengths?.[Number(input.value) - 1];
      this.notes[k].textContent = length === undefined ? "" : `${length < 10 ? length.toFixed(2) : Math.round(length)} ${unit ?? ""}`;
    });
  }
}

function bandInput(name: string): HTMLInputElement {
  return el("input", { attributes: { type: "number", min: "1", step: "1", "aria-label": `${name}: band` } });
}
