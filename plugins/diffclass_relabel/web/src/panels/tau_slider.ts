// The time of the diffusion, chosen on the curve that shows what it does to the mean margin.

import { el, svg, textButton } from "../base/dom";
import { debounce, OneAtATime } from "../base/events";
import type { CurveAnswer } from "../session/protocol.generated";
import type { Session } from "../session/session";

const STEPS = 1000; // of the slider
const WIDTH = 1000; // of the curve's own coordinates
const HEIGHT = 100;
const IDLE = 2500; // ms after a map before the curve is asked for by itself
const SMALL = 60_000; // pixels up to which that costs little

export class TauSlider {
  readonly element: HTMLElement;
  readonly #range = el("input", {
    attributes: { type: "range", min: "0", max: String(STEPS), step: "1", "aria-label": "Diffusion time tau, steps" },
  });
  readonly #curve = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  readonly #value = el("output", { class: "value" });
  readonly #rule = textButton("auto", "Let the labels choose tau, as classify does", () => this.#choose("auto"), "small");
  #version = -1; // Map version of the curve on the screen.
  #wanted: number | null = null; // while the slider is held
  readonly #previews = new OneAtATime(() => this.#preview());
  readonly #asking = new OneAtATime(() => this.#ask());
  readonly #askWhenIdle = debounce(() => void this.#asking.run(), IDLE);

  constructor(private readonly session: Session) {
    const track = el("div", { class: "tau-track" }, this.#curve, this.#range);
    const label = el("span", { class: "tau-name", text: "\u03c4", title: "Diffusion time, steps" });
    this.element = el("div", { class: "tau" }, label, track, this.#value, this.#rule);
    this.#range.addEventListener("input", () => this.#slide());
    this.#range.addEventListener("change", () => this.#choose(this.#tau));
    this.#range.addEventListener("keydown", (event) => this.#step(event));
    track.addEventListener("pointerenter", () => void this.#asking.run());
    this.#range.addEventListener("focus", () => void this.#asking.run());
    session.on("changed", () => {
      this.#show();
      if (session.scene!.rows * session.scene!.columns <= SMALL) this.#askWhenIdle();
    });
  }

  get #longest(): number {
    return Math.max(this.session.state?.max_time ?? 256, 2);
  }

  /** tau under the slider; its scale is logarithmic. */
  get #tau(): number {
    return Math.round(Math.exp((Number(this.#range.value) / STEPS) * Math.log(this.#longest)));
  }

  #place(tau: number): number {
    return Math.log(Math.max(tau, 1)) / Math.log(this.#longest);
  }

  #show(): void {
    const state = this.session.state!;
    if (this.#wanted !== null) return;
    this.#range.value = String(Math.round(STEPS * this.#place(state.tau)));
    this.#write(state.tau, state.refined || state.tau_mode !== "auto");
    const byRule = state.tau_mode !== "fixed";
    this.#rule.classList.toggle("on", byRule);
    this.#rule.setAttribute("aria-pressed", String(byRule));
  }

  #write(tau: number, isKnown = true): void {
    this.#value.textContent = isKnown ? String(tau) : "\u2026";
    this.#value.title = isKnown ? "Steps" : "A first map is shown while tau is being chosen";
    this.#range.setAttribute("aria-valuetext", isKnown ? `${tau} steps` : "being chosen");
    this.#range.title = `tau = ${tau} steps. The curve is the mean margin over tau; the ground, the share of the scene that labels reach.`;
  }

  /** Keys move by one step of tau or a tenth, whichever is more. */
  #step(event: KeyboardEvent): void {
    const up = event.key === "ArrowRight" || event.key === "ArrowUp";
    if (!up && event.key !== "ArrowLeft" && event.key !== "ArrowDown") return;
    event.preventDefault();
    event.stopPropagation();
    const tau = this.session.state?.tau ?? 1;
    const step = Math.max(Math.round(tau * 0.1), 1);
    this.#choose(Math.min(Math.max(tau + (up ? step : -step), 1), this.#longest));
  }

  #slide(): void {
    this.#wanted = this.#tau;
    this.#write(this.#wanted);
    void this.#previews.run();
  }

  /** Shows the map at the tau under the slider; once that was let go, the present one. */
  async #preview(): Promise<void> {
    if (this.#wanted !== null && this.session.hasMap) await this.session.ask({ ask: "preview_tau", tau: this.#wanted });
    if (this.#wanted === null) this.session.setPreview(null);
  }

  async #choose(tau: number | "auto"): Promise<void> {
    const { session } = this;
    this.#wanted = null;
    if (tau === session.state?.tau && session.state.tau_mode === "fixed") return session.setPreview(null);
    const done = session.apply({ op: "tau", tau });
    this.#show();
    await done;
    if (!session.state?.live && this.#wanted === null) session.setPreview(null);
  }

  async #ask(): Promise<void> {
    const version = this.session.map?.version;
    if (version === undefined || !this.session.hasMap || version === this.#version) return;
    const answer = await this.session.ask({ ask: "curve" });
    if (!answer) return;
    this.#version = version;
    this.#draw(answer);
  }

  #draw({ times, margin, coverage }: CurveAnswer): void {
    const top = Math.max(...margin, 1e-6) / 0.86;
    const at = (time: number, height: number) =>
      `${(WIDTH * this.#place(time)).toFixed(1)} ${(HEIGHT * (1 - height)).toFixed(1)}`;
    const line = times.map((time, k) => at(time, margin[k] / top)).join("L");
    const reached = times.map((time, k) => at(time, coverage[k])).join("L");
    const ground = `M${reached}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`;
    this.#curve.replaceChildren(
      svg("path", { d: ground, class: "ground" }),
      svg("path", { d: `M${line}`, class: "line", "vector-effect": "non-scaling-stroke" }),
    );
  }
}
