// The list of suggestions, with the rule that makes it.

import { choice, el, iconButton, keycap, textButton } from "../base/dom";
import { ICONS } from "../base/icons";
import type { Place } from "../base/raster";
import type { Session } from "../session/session";
import { type Rule, RULES, type Suggestions } from "../session/suggestions";
import { markOf } from "./class_mark";

export function suggestionPanel(session: Session, suggestions: Suggestions, { go, walk }: { go: (place: Place) => void; walk: (direction: 1 | -1) => void }): HTMLElement {
  const list = el("div", { class: "items" });
  const rule = choice("Rule", Object.entries(RULES).map(([name, [text, title]]) => [name, text, title]), () => {
    suggestions.rule = rule.value as Rule;
    void suggestions.ask();
  });
  rule.title = "The rule that ranks pixels";
  const ask = textButton("Suggest", "Ask for new suggestions", () => void suggestions.ask());
  const previous = iconButton(ICONS.previous, "Previous suggestion (b)", () => walk(-1));
  const next = iconButton(ICONS.next, "Next suggestion (n)", () => walk(1));
  const empty = el("p", { class: "muted empty" }, "The pixels whose labels would tell most. Walk through them with ", keycap("n"), " and ", keycap("b"), ".");

  const show = () => {
    const places = suggestions.places();
    ask.disabled = suggestions.busy || !session.hasMap;
    ask.textContent = suggestions.busy ? "Looking\u2026" : "Suggest";
    empty.hidden = places.length > 0;
    list.replaceChildren(...places.map(({ place, pixel, done }, k) => {
      const label = session.labels.shown[pixel];
      const row = el("button", { class: "item", on: { click: () => go(suggestions.select(k)) } },
        el("span", { class: "key", text: String(k + 1) }),
        markOf(session, done ? label : (session.map?.ids[pixel] ?? 0)),
        el("span", { class: "muted end", text: done ? "labelled" : `${place.row}, ${place.column}` }),
      );
      row.classList.toggle("chosen", k === suggestions.current);
      row.classList.toggle("done", done);
      return row;
    }));
    list.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
  };
  suggestions.on("changed", show);
  session.on("changed", show);
  return el("div", {}, el("div", { class: "panel-bar" }, rule, ask, el("div", { class: "group" }, previous, next)), empty, list);
}
