// Where nothing is open yet: recent sessions, then folders and scenes below the server's folder.

import { count, el } from "../base/dom";
import type { Moved, OfferedScene, OfferedSession, Start } from "../session/protocol.generated";
import type { Socket, Wish } from "../session/socket";

export class StartPanel {
  readonly element = el("section", { class: "start", attributes: { "aria-label": "Choose a scene" } });
  private readonly problem = el("p", { class: "problem", attributes: { role: "alert" } });
  private readonly lists = el("div");

  constructor(private readonly socket: Socket) {
    this.element.append(el("h1", { text: "Choose a scene" }), this.problem, this.lists, hint(
      "New sessions take the options of the command, as --features spatial. Labels of a file are imported once the scene is open. " +
      "To count accuracy against a reference, name it with the scene: diffclass relabel SCENE --reference FILE"));
    this.element.addEventListener("keydown", (event) => this.step(event));
    this.element.hidden = true;
    socket.on("start", (news) => this.show(news));
    socket.on("moved", (there) => this.follow(there));
    for (const kind of ["preparing", "hello", "failed"] as const) socket.on(kind, () => (this.element.hidden = true));
  }

  private show(news: Start): void {
    document.title = "Choose a scene \u2013 diffclass relabel";
    this.element.hidden = false;
    this.problem.textContent = news.problem ?? "";
    const recent = news.path ? [] : news.recent;
    this.lists.replaceChildren(...(recent.length ? [this.recent(recent)] : []), this.folder(news));
    // with the first entry in focus, arrows and Enter do at once
    this.lists.querySelector("button")?.focus();
  }

  /** Goes to the session that was chosen; not with changes of another one that are nowhere but here. */
  private follow({ port, token }: Moved): void {
    if (this.socket.pending.length) return;
    const there = new URL(location.href);
    if (port !== null) there.port = String(port);
    there.search = new URLSearchParams({ token }).toString();
    location.replace(there);
  }

  private recent(sessions: OfferedSession[]): HTMLElement {
    const rows = sessions.map(({ name, folder, shape, at }, number) =>
      this.row({ recent: number }, name, folder, `${shape.map(count).join(" \u00d7 ")}, ${when(at)}`),
    );
    return group("Recent sessions", ...rows);
  }

  private folder({ root, path, folders, scenes, whole }: Start): HTMLElement {
    const below = (name: string) => (path ? `${path}/${name}` : name);
    const up = path ? [this.row({ look: path.split("/").slice(0, -1).join("/") }, "\u2191 Folder above", "", "")] : [];
    const rows = [
      ...up,
      ...folders.map((name) => this.row({ look: below(name) }, `${name}/`, "", "folder")),
      ...scenes.map((scene) => this.row({ open: below(scene.name) }, scene.name, "", facts(scene))),
    ];
    const found = group(path ? `${root}/${path}` : root, ...rows);
    if (!scenes.length) found.append(hint("No scenes in this folder. Start diffclass relabel in the folder above your scenes, or with its name."));
    if (!whole) found.append(hint("The folder holds more than is shown; give the name of the scene to the command instead."));
    return found;
  }

  private row(wish: Wish, name: string, place: string, facts: string): HTMLElement {
    const button = el("button", { attributes: { type: "button" }, on: { click: () => this.socket.wish(wish) } },
      el("span", { class: "name", text: name }),
      el("span", { class: "muted", text: facts }),
      place ? el("span", { class: "muted place", text: place }) : null,
    );
    return el("li", {}, button);
  }

  /** Arrows move from entry to entry, as in the lists of a file dialog. */
  private step(event: KeyboardEvent): void {
    const buttons = [...this.lists.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    buttons[Math.min(Math.max(to, 0), buttons.length - 1)]?.focus();
  }
}

function group(title: string, ...rows: HTMLElement[]): HTMLElement {
  return el("div", {}, el("h2", { text: title }), el("ul", {}, ...rows));
}

function hint(text: string): HTMLElement {
  return el("p", { class: "muted", text });
}

function facts({ bytes, at }: OfferedScene): string {
  return bytes === null ? when(at) : `${size(bytes)}, ${when(at)}`;
}

function size(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const unit = units[Math.min(Math.floor(Math.log10(bytes + 1) / 3), units.length - 1)]!;
  const number = bytes / 1000 ** units.indexOf(unit);
  return `${number < 10 && unit !== "B" ? number.toFixed(1) : Math.round(number)} ${unit}`;
}

/** The day, or the time of today. */
function when(seconds: number): string {
  const time = new Date(1000 * seconds);
  const isToday = time.toDateString() === new Date().toDateString();
  return isToday
    ? `today ${time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}`
    : time.toLocaleDateString([], { year: "numeric", month: "short", day: "numeric" });
}
