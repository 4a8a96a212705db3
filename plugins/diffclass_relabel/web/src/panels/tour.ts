// The first steps, shown once in each browser.

import { el, textButton } from "../base/dom";
import { store, stored } from "../base/storage";
import type { Session } from "../session/session";

const STORED = "diffclass-tour";
const GAP = 8; // CSS pixels
const LOWER = 56; // so much below the top of what it is about: a hint may stand there

const STEPS: [selector: string, text: string][] = [
  [".class-section", "Add the classes that you look for, and name them. The map needs two."],
  [".stage", "Paint a few strokes of each class on the picture. The map follows each of them."],
  [".tabs", "Suggest (n) leads to where a label helps most. Audit finds labels that the others contradict."],
  ["[popovertarget=export-menu]", "Every stroke is on disk at once. Export writes labels, map, polygons or a report."],
];

export function startTour(session: Session): void {
  const text = el("p", { attributes: { "aria-live": "polite" } });
  const next = textButton("Next", "", () => show(step + 1), "primary");
  const element = el("div", { class: "menu tour", attributes: { popover: "manual", role: "dialog", "aria-label": "First steps" }, on: { keydown: (event) => void (event.key === "Escape" && end()) } },
    text, el("div", { class: "choices" }, textButton("Skip", "Do not show this again", () => end()), next));
  let step = 0;
  const end = () => {
    store(STORED, "seen");
    element.remove();
  };
  const show = (to: number) => {
    step = to;
    if (to === STEPS.length) return end();
    const [selector, says] = STEPS[to];
    text.textContent = `${to + 1} of ${STEPS.length}. ${says}`;
    next.textContent = to + 1 < STEPS.length ? "Next" : "Done";
    element.showPopover();
    place(element, document.querySelector(selector)!.getBoundingClientRect());
    next.focus();
  };
  session.on("scene", () => {
    if (stored(STORED) || element.isConnected) return;
    document.body.append(element);
    show(0);
  });
}

/** Puts an element to the left of a box, below it or into its corner, wherever there is room. */
function place({ style, offsetWidth, offsetHeight }: HTMLElement, box: DOMRect): void {
  const left = box.left - offsetWidth - GAP;
  const isFlat = box.height < offsetHeight;
  style.left = `${Math.max(left > GAP && !isFlat ? left : Math.min(box.left + GAP, innerWidth - offsetWidth - GAP), GAP)}px`;
  style.top = `${Math.min(isFlat ? box.bottom + GAP : box.top + LOWER, innerHeight - offsetHeight - GAP)}px`;
}
