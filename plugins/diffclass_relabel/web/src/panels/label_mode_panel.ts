// How labels count: the choices of the command, and what "auto" has chosen.

import { el, section } from "../base/dom";
import type { Session } from "../session/session";

const MODES = {
  auto: "as classify chooses; summed where tau is set by hand",
  summed: "labels diffuse away and count over the whole walk",
  free: "labels diffuse away and count at the end of the walk",
  absorbing: "labels stay where they are",
};

type Mode = keyof typeof MODES;

export function labelModePanel(session: Session): HTMLElement {
  const options = Object.keys(MODES).map((mode) => el("option", { text: mode, attributes: { value: mode } }));
  const picker = el("select", { attributes: { "aria-label": "How labels count" } }, ...options);
  picker.addEventListener("change", () => {
    const mode = picker.value as Mode;
    // a refused change must not stand there as if it were done
    void session.apply({ op: "label_mode", mode }).then(() => (picker.value = session.state?.label_mode ?? mode));
  });
  session.on("news", () => {
    const { label_mode, counted, refined } = session.state!;
    picker.value = label_mode;
    options[0].textContent = label_mode === "auto" && refined ? `auto: ${counted}` : "auto";
    picker.title = `How labels count. ${label_mode}: ${MODES[label_mode as Mode]}.`;
  });
  return section("How labels count", picker);
}
