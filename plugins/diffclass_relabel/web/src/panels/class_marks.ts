// A class as lists show it, and which class of a file is which of the session's.

import { choice, count, el, muted } from "../base/dom";
import type { GivenClass } from "../session/protocol.generated";
import type { Session } from "../session/session";

/** A small square in a class's colour. */
export function swatch(color: string | undefined): HTMLElement {
  const square = el("span", { class: "swatch" });
  square.style.background = color ?? "transparent";
  return square;
}

/** A colour and a name, which is cut short where there is no room for it. */
export function classMark(color: string | undefined, name: string): HTMLElement {
  return el("span", { class: "class-mark", title: name }, swatch(color), el("span", { text: name }));
}

/** The mark of a class of the session. */
export function markOf(session: Session, id: number): HTMLElement {
  return classMark(session.classOf(id)?.color, session.nameOf(id));
}

const NONE = "0";

/** A line for each class of a file, with the session's classes to choose from. */
export class ClassMatching {
  readonly element: HTMLElement;
  readonly #selects = new Map<number, HTMLSelectElement>();

  /** `none` is what a class is that is none of the session's; `chosen` what the user chose before. */
  constructor(session: Session, rows: GivenClass[], none: string, chosen: Map<number, number>, noneLeft = new Set<number>()) {
    this.element = el("div", { class: "matching", attributes: { role: "group", "aria-label": "Which class is which" } });
    for (const row of rows) {
      const why = el("span", { class: "muted why", text: reason(row), title: "Its pixels that the session has in the class proposed" });
      const choose = () => {
        chosen.set(row.id, Number(select.value));
        why.hidden = Number(select.value) !== row.proposed;
      };
      const select = choice(`Class of the session for ${row.name}`, [[NONE, none], ...session.classes.map(({ id, name }): [string, string] => [String(id), name])], choose);
      select.options[0].disabled = noneLeft.has(row.id);
      const before = String(chosen.get(row.id) ?? row.proposed);
      select.value = [...select.options].some((option) => option.value === before) ? before : NONE;
      why.hidden = Number(select.value) !== row.proposed;
      this.#selects.set(row.id, select);
      this.element.append(classMark(row.color, row.name), muted("\u2192"), select, why);
    }
  }

  /** The session's class of each of the file's, 0 for none. */
  get chosen(): Map<number, number> {
    return new Map([...this.#selects].map(([id, select]) => [id, Number(select.value)]));
  }
}

function reason({ count: pixels, compared, agreed, proposed }: GivenClass): string {
  if (!pixels) return "no pixels";
  if (!compared) return `${count(pixels)} px, not known`;
  return proposed ? `${((100 * agreed) / compared).toFixed(1)} % of ${count(compared)} px` : `${count(pixels)} px`;
}
