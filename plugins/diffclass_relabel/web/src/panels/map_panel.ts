// How the map is made: the time, warping, how labels count and the classes' sizes, with a sentence on each.

import { choice, el, textButton } from "../base/dom";
import type { Operation } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { TauSlider } from "./tau_slider";

export function mapPanel(session: Session): HTMLElement {
  return el("details", { class: "made", attributes: { open: "" } },
    el("summary", { text: "How the map is made" }),
    new TauSlider(session).element,
    sentence("The steps that labels diffuse. Early maps keep to the strokes, late ones follow clusters."),
    warpSwitch(session),
    sentence("Takes a kernel of its own for each class, made from the present map."),
    ...labelMode(session),
    ...sizes(session));
}

function sentence(text: string): HTMLElement {
  return el("p", { class: "muted", text });
}

function warpSwitch(session: Session): HTMLElement {
  const button = textButton("Warp", "", () => {
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
  auto: "as classify chooses; summed where tau is set by hand",
  summed: "labels diffuse away and count over the whole walk",
  free: "labels diffuse away and count at the end of the walk",
  absorbing: "labels stay where they are",
};

function labelMode(session: Session): HTMLElement[] {
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
    says.textContent = `How labels count: ${MODES[label_mode as Mode]}.`;
  });
  return [picker, says];
}

const MET = {
  met: "sizes met",
  unused: "not used: graph disagrees",
  waiting: "not used: label other classes",
};

/** A text of sizes, and under it whether they count, or why they cannot. */
function sizes(session: Session): HTMLElement[] {
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
  return [field, sentence("What is known of the classes' sizes."), note];
}
