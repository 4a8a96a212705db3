// How the map is made: the time, class kernels, how labels count and the classes' sizes, with a line on each.

import { choice, el, textButton } from "../base/dom";
import type { Operation } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { TauSlider } from "./tau_slider";

/** What the help says of it. */
export const GUIDE: [string, string][] = [
  ["Time", "Labels walk so many steps on a graph of similar pixels. By themselves they take the step at which the classes are told apart best."],
  ["Class kernels", "The graph is made anew, with slower steps between the classes of the present map: where two classes run into each other, and the map is nearly right."],
  ["How labels count", "Summed for few labels that lie well; absorbing for many; auto compares them by the cut of the map."],
  ["Class sizes", "A share (20%), pixels (1200px), an area (3.5ha) or a range (10-20%) of some classes, or uniform. More in plugins/README.md, The page\u2019s panels and keys."],
];

/** `explain` opens the guide to it. */
export function mapPanel(session: Session, explain: () => void): HTMLElement {
  return el("details", { class: "made" },
    el("summary", { text: "How the map is made" }),
    sentence("Labels decide all of it, until you do."),
    textButton("What is what", "The guide to these four", explain, "link"),
    part("Time", "How far labels reach: early maps keep to the strokes, late ones follow what is alike.", new TauSlider(session).element),
    part("Class kernels", "For classes that run into each other: a kernel for each, from the present map.", warpSwitch(session)),
    labelMode(session),
    sizes(session));
}

/** A choice with its name, and a line on what it is good for. */
function part(name: string, gain: string | HTMLElement, ...controls: HTMLElement[]): HTMLElement {
  return el("div", { class: "part", attributes: { role: "group", "aria-label": name } }, el("h3", { text: name }), ...controls, typeof gain === "string" ? sentence(gain) : gain);
}

function sentence(text: string): HTMLElement {
  return el("p", { class: "muted", text });
}

function warpSwitch(session: Session): HTMLElement {
  const button = textButton("A kernel for each class", "", () => {
    void session.apply({ op: session.state?.warped ? "unwarp" : "warp" });
  });
  session.on("changed", () => {
    const { warped, strokes } = session.state!;
    button.classList.toggle("on", warped);
    button.setAttribute("aria-pressed", String(warped));
    button.disabled = !warped && strokes.length === 0;
    button.title = warped ? "Back to one kernel for all classes" : "";
  });
  return button;
}

type Mode = Extract<Operation, { op: "label_mode" }>["mode"];

const MODES: Record<Mode, string> = {
  auto: "The labels choose, as for classify; summed where the time is set by hand.",
  summed: "Labels diffuse away and count all the way: near ones most.",
  free: "Labels diffuse away and count where they arrive in the end.",
  absorbing: "Labels stay: a walk ends at the first label that it meets.",
};

function labelMode(session: Session): HTMLElement {
  const says = sentence("");
  const picker = choice("How labels count", Object.keys(MODES).map((mode) => [mode, mode]), () => {
    const mode = picker.value as Mode;
    // a refused change must not stand there as if it were done
    void session.apply({ op: "label_mode", mode }).then(() => (picker.value = session.state?.label_mode ?? mode));
  });
  session.on("changed", () => {
    const { label_mode, counted, refined } = session.state!;
    picker.value = label_mode;
    picker.options[0].textContent = label_mode === "auto" && refined ? `auto: ${counted}` : "auto";
    says.textContent = MODES[label_mode as Mode];
  });
  return part("How labels count", says, picker);
}

const MET = {
  met: "sizes met",
  unused: "not used: graph disagrees",
  waiting: "not used: label other classes",
};

/** A text of sizes, and under it whether they count, or why they cannot. */
function sizes(session: Session): HTMLElement {
  const note = el("div", { class: "legend", attributes: { id: "sizes-note", role: "status" } });
  const field = el("input", {
    title: "What is known of classes' sizes: NAME=SIZE, ... with 20%, 1200px, 3.5ha (m2, km2) or a range, 10-20%; or uniform. "
      + "Ignored for a class until it has a label.",
    attributes: { type: "text", "aria-label": "Class sizes", "aria-describedby": note.id, placeholder: "corn=10-20%, soy=3ha" },
    on: { change: () => void set() },
  });
  let known = "";
  let wrong = "";
  const show = () => {
    const { class_sizes, sizes_met } = session.state!;
    if (class_sizes !== known) [known, wrong, field.value] = [class_sizes, "", class_sizes];
    note.textContent = wrong || (known && (sizes_met ? MET[sizes_met] : session.hasMap ? "counting\u2026" : ""));
    note.classList.toggle("wrong", wrong !== "");
    field.setAttribute("aria-invalid", String(wrong !== ""));
  };
  const set = async () => {
    wrong = "";
    const text = field.value.trim();
    await session.apply({ op: "class_sizes", ...(text && { sizes: text }) }, { refused: (why) => (wrong = why) });
    show();
    note.scrollIntoView({ block: "nearest" });
  };
  session.on("changed", show);
  return part("Class sizes", "What you know of them keeps small classes from being drowned.", field, note);
}
