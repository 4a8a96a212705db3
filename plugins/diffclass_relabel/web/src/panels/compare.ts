// The map compared with something else: a divider on the canvas, left of it an earlier state, the reference or the picture.

import { choice, count, el, section } from "../base/dom";
import { Emitter, OneAtATime } from "../base/events";
import type { Compared } from "../canvas/painter";
import { NO_DATA } from "../session/protocol.generated";
import type { Session } from "../session/session";

type Other = "nothing" | "before" | "state" | "reference" | "prediction" | "picture";

const NAMES: [Other, string][] = [
  ["nothing", "Nothing"],
  ["before", "Previous map"],
  ["reference", "Reference image"],
  ["prediction", "Map of a model"],
  ["picture", "Picture"],
];
const MIDDLE = 0.5;
const STEP = 0.01; // of the width, by an arrow key; ten times that with Shift

interface Events {
  shown: Compared | null; // What is shown left of the divider.
  state: number | null; // The state of the history that is compared, null for none.
}

export class Compare extends Emitter<Events> {
  readonly element: HTMLElement;
  readonly divider: HTMLElement; // Lies over the canvas.
  readonly #select = choice("Compare the map with", NAMES, () => this.show(this.#select.value as Other));
  readonly #left = el("span", { class: "side left-side", attributes: { role: "status" } });
  #other: Other = "nothing";
  #last: Other = "before"; // that was compared
  #step = 0;
  #share = MIDDLE;
  #ids: Uint8Array | null = null;
  #asked = -1; // version of the session
  readonly #asking = new OneAtATime(() => this.#ask());

  constructor(private readonly session: Session) {
    super();
    this.element = section("Compare with", this.#select);
    this.divider = el("div", {
      class: "divider",
      attributes: { role: "separator", tabindex: "0", "aria-orientation": "vertical", "aria-valuemin": "0", "aria-valuemax": "100" },
      on: { pointerdown: (event) => this.#grab(event), pointermove: (event) => this.#drag(event), keydown: (event) => this.#key(event), dblclick: () => this.#move(MIDDLE) },
    }, el("span", { class: "grip" }), this.#left, el("span", { class: "side right-side", text: "now" }));
    this.divider.hidden = true;
    session.on("compared", (ids) => this.#receive(ids));
    session.on("changed", () => {
      this.#say();
      this.#follow();
    });
  }

  /** Compares with something else; the same again: with nothing. */
  show(other: Other, step = 0): void {
    if (other === this.#other && step === this.#step && other === "state") other = "nothing";
    if (other !== "nothing") this.#last = other;
    [this.#other, this.#step, this.#ids, this.#asked] = [other, step, null, -1];
    this.divider.hidden = other === "nothing";
    this.emit("state", other === "state" ? step : null);
    this.#name();
    this.#tell();
    void this.#asking.run();
  }

  /** On with what was compared last, and off. */
  toggle(): void {
    this.show(this.#other === "nothing" ? this.#last : "nothing", this.#step);
  }

  #name(): void {
    const option = this.#select.querySelector<HTMLOptionElement>("[value=state]");
    if (this.#other !== "state") option?.remove();
    else if (option) option.text = this.#title;
    else this.#select.append(el("option", { text: this.#title, attributes: { value: "state" } }));
    this.#select.value = this.#other;
    this.divider.setAttribute("aria-label", `Divider: ${this.#title.toLowerCase()} on the left, the map on the right`);
    this.#move(this.#share);
    this.#say();
  }

  get #title(): string {
    return this.#other === "state" ? `State ${this.#step}` : NAMES.find(([value]) => value === this.#other)![1];
  }

  /** Asks again for what may have become another map. */
  #follow(): void {
    const state = this.session.state!;
    const option = (value: Other) => this.#select.querySelector<HTMLOptionElement>(`[value=${value}]`)!;
    option("reference").disabled = !state.has_reference;
    option("reference").title = state.has_reference ? "" : "Choose one where a scene is chosen, or start diffclass relabel with --reference FILE";
    option("prediction").disabled = !state.has_prediction;
    option("prediction").title = state.has_prediction ? "" : "Apply a model under Import";
    if (["before", "reference", "prediction"].includes(this.#other) || (this.#other === "state" && state.step < this.#step)) this.#asked = -1;
    void this.#asking.run();
  }

  async #ask(): Promise<void> {
    const { session } = this;
    const other = this.#other;
    const version = session.state?.version;
    if (other === "nothing" || other === "picture" || version === undefined) return;
    if (this.#asked === version || (other === "state" && this.#asked >= 0)) return;
    this.#asked = version;
    const before = Math.max(session.state!.step - 1, 0);
    const answer = await session.ask({ ask: "compare", ...(other === "prediction" ? { prediction: true } : other !== "reference" && { step: other === "state" ? this.#step : before }) });
    if (!answer && this.#other === other && this.#asked === version) this.show("nothing"); // the page has said why
  }

  #receive(ids: Uint8Array): void {
    if (this.#other === "nothing" || this.#other === "picture") return;
    this.#ids = ids;
    this.#say();
    this.#tell();
  }

  #tell(): void {
    const ready = this.#other === "picture" || this.#ids;
    this.emit("shown", this.#other !== "nothing" && ready ? { ids: this.#ids, share: this.#share } : null);
  }

  /** Says what is on the left, and how far the map agrees with it. */
  #say(): void {
    const what = this.#other === "before" ? "before" : this.#title.toLowerCase();
    this.#left.textContent = [what, this.#agreement()].filter(Boolean).join(", ");
  }

  #agreement(): string {
    const now = this.session.map?.ids;
    if (this.#other === "nothing" || this.#other === "picture" || !now) return "";
    if (!this.#ids) return "computing\u2026";
    let [known, same] = [0, 0];
    const isReference = this.#other === "reference";
    const labels = this.session.labels.shown;
    this.#ids.forEach((id, pixel) => {
      // What was labelled says nothing of how good the map is, as under Numbers.
      if (id === NO_DATA || (isReference && (id === 0 || labels[pixel]))) return;
      known++;
      if (id === now[pixel]) same++;
    });
    if (isReference) return known ? `${((100 * same) / known).toFixed(1)} % agree` : "";
    return `${count(known - same)} ${this.session.thing}s differ`;
  }

  #move(share: number): void {
    this.#share = Math.min(Math.max(share, 0), 1);
    const percent = Math.round(100 * this.#share);
    this.divider.style.left = `${100 * this.#share}%`;
    this.divider.setAttribute("aria-valuenow", String(percent));
    this.#tell();
  }

  #grab(event: PointerEvent): void {
    event.preventDefault();
    this.divider.focus();
    this.divider.setPointerCapture(event.pointerId);
  }

  #drag(event: PointerEvent): void {
    if (!this.divider.hasPointerCapture(event.pointerId)) return;
    const box = this.divider.parentElement!.getBoundingClientRect();
    this.#move((event.clientX - box.left) / box.width);
  }

  #key(event: KeyboardEvent): void {
    const by = event.shiftKey ? 10 * STEP : STEP;
    const to = { ArrowLeft: this.#share - by, ArrowRight: this.#share + by, Home: 0, End: 1 }[event.key];
    if (event.key === "Escape") this.show("nothing");
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.#move(to);
  }
}
