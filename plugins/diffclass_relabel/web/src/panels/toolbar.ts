// The top line: scene, live, how fast and how fresh the map is, saved, undo, redo, import, export.

import { count, el, iconButton, plural, textButton, toggleTheme } from "../base/dom";
import type { SessionState } from "../session/protocol.generated";
import type { Session } from "../session/session";
import { exportButton, ImportMenu } from "./import_export";

/** A map that stands in for the one that is being computed. */
const FIRST = "first map";

export function toolbar(session: Session, toggleHelp: () => void): HTMLElement {
  const undo = iconButton("undo", "Undo (Ctrl+Z)", () => session.undo());
  const redo = iconButton("redo", "Redo (Ctrl+Shift+Z)", () => session.redo());
  session.on("changed", () => {
    const { can_undo, can_redo } = session.state!;
    undo.disabled = !can_undo;
    redo.disabled = !can_redo;
  });
  return el(
    "header",
    { class: "toolbar" },
    sceneName(session),
    liveSwitch(session),
    el("div", { class: "space" }),
    badges(session),
    el("div", { class: "group" }, undo, redo),
    new ImportMenu(session).element,
    exportButton(session),
    el("div", { class: "group" }, iconButton("light", "Dark or light", toggleTheme), iconButton("help", "Keys (?)", toggleHelp)),
  );
}

function sceneName(session: Session): HTMLElement {
  const name = el("h1");
  const size = el("span", { class: "muted" });
  session.on("scene", ({ scene }) => {
    name.textContent = scene.name;
    size.textContent = scene.table ? plural(scene.table.n_rows, "row") : `${count(scene.rows)} \u00d7 ${count(scene.columns)} \u00d7 ${count(scene.bands?.n_bands ?? 0)}`;
    size.title = "rows \u00d7 columns \u00d7 bands";
    document.title = `${scene.name} \u2013 diffclass relabel`;
  });
  return el("div", { class: "scene" }, name, size);
}

/** The map follows each stroke, or waits for "Update", which can be pressed only then. */
function liveSwitch(session: Session): HTMLElement {
  const label = el("span");
  const button = el("button", { class: "switch", attributes: { role: "switch" }, on: { click: () => void session.toggleLive() } }, el("span", { class: "knob" }), label);
  const update = textButton("Update", "Compute the map now (r)", () => session.updateMap(), "primary");
  session.on("changed", () => {
    const { live, stale, computing } = session.state!;
    button.setAttribute("aria-checked", String(live));
    label.textContent = live ? "Live" : "Live off";
    button.title = live ? "The map follows each change (t)" : "The map waits for Update (t)";
    update.disabled = live || !stale || computing;
  });
  return el("div", { class: "group" }, button, update);
}

function badges(session: Session): HTMLElement {
  const fresh = el("span", { class: "badge", attributes: { role: "status" } });
  const latency = el("span", { class: "badge quiet latency" });
  const saved = el("span", { class: "badge quiet" });
  const show = () => {
    const { state, isStale } = session;
    if (!state) return;
    const [text, kind] = freshness(state, isStale, session.hasMap);
    fresh.textContent = text;
    fresh.className = `badge ${kind}`;
    fresh.title = state.problem ?? (state.preparing !== null ? "The graph of similar pixels is being built; paint already" : text === FIRST ? firstMap(session) : "");
    const pending = session.socket.pending.length;
    saved.textContent = pending ? `saving ${pending}` : "saved";
    saved.title = state.session ? `Every change is in ${state.session}` : "Every change is on disk";
  };
  session.on("changed", show);
  session.on("latency", (ms) => {
    latency.textContent = `${Math.round(ms)} ms`;
    latency.title = `From your stroke to its map on the screen; ${Math.round(session.computing ?? 0)} ms of it computing`;
  });
  return el("div", { class: "badges" }, fresh, latency, saved);
}

function freshness(state: SessionState, stale: boolean, any: boolean): [string, string] {
  if (state.problem) return ["update failed", "bad"];
  if (state.preparing !== null) return [`maps in ${Math.max(Math.round(state.preparing), 1)} s`, "busy"];
  if (stale) return state.live || state.computing ? ["updating", "busy"] : ["map is stale", "warn"];
  if (any && !state.refined) return [FIRST, "busy"];
  return any ? ["up to date", "quiet"] : ["no map yet", "quiet"];
}

/** What a first map is made of, and what follows it. */
function firstMap({ state }: Session): string {
  const groups = state!.n_aggregates;
  if (!groups && state!.tau_mode !== "auto") return "Class sizes are being counted; the map by them follows";
  return groups
    ? `Made of ${count(groups)} groups of similar pixels; that of every pixel is being computed and follows when painting rests`
    : `Labels after ${count(state!.tau)} steps; tau is being chosen, and its map follows`;
}
