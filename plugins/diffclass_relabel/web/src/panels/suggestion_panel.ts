// The list of suggestions, with the rule that makes it.

import { el, iconButton, keycap, textButton } from "../base/dom";
import { ICONS } from "../base/icons";
import type { Place } from "../base/raster";
import type { Session } from "../session/session";
import { type Rule, RULES, type Suggestions } from "../session/suggestions";
import { className } from "./class_list";

export function suggestionPanel(session: Session, suggestions: Suggestions, go: (place: Place) => void): HTMLElement {
  const list = el("div", { class: "items" });
  const rule = el("select", {
    title: "The rule that ranks pixels",
    attributes: { "aria-label": "Rule" },
    on: { change: () => { suggestions.rule = rule.value as Rule; void suggestions.ask(); } },
  });
  for (const [name, [text, title]] of Object.entries(RULES)) rule.append(el("option", { text, title, attributes: { value: name } }));
  const ask = textButton("Suggest", "Ask for new suggestions", () => void suggestions.ask());
  const step = (direction: 1 | -1) => async () => {
    const place = await suggestions.step(direction);
    if (place) go(place);
  };
  const previous = iconButton(ICONS.previous, "Previous suggestion (b)", () => void step(-1)());
  const next = iconButton(ICONS.next, "Next suggestion (n)", () => void step(1)());
  const empty = el("p", { class: "muted empty" }, "The pixels whose labels would tell most. Walk through them with ", keycap("n"), " and ", keycap("b"), ".");

  const show = () => {
    const places = suggestions.places();
    ask.disabled = suggestions.busy || !session.hasMap;
    ask.textContent = suggestions.busy ? "Looking\u2026" : "Suggest";
    empty.hidden = places.length > 0;
    list.replaceChildren(...places.map(({ place, pixel, done }, k) => {
      const label = session.labels.shown[pixel];
      const row = el("button", { class: "item", attributes: { type: "button" }, on: { click: () => go(suggestions.select(k)) } },
        el("span", { class: "key", text: String(k + 1) }),
        done ? className(session, label) : className(session, session.map?.ids[pixel] ?? 0),
        el("span", { class: "muted end", text: done ? "labelled" : `${place.row}, ${place.column}` }),
      );
      row.classList.toggle("chosen", k === suggestions.current);
      row.classList.toggle("done", done);
      return row;
    }));
    list.querySelector(".chosen")?.scrollIntoView({ block: "nearest" });
  };
  const before = suggestions.changed;
  suggestions.changed = () => { before(); show(); };
  session.on("news", show);
  return el("div", {}, el("div", { class: "panel-bar" }, rule, ask, el("div", { class: "group" }, previous, next)), empty, list);
}
