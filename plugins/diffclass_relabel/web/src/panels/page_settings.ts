// What was set up on the page, kept in this browser for the next time the session is opened.

import { debounce } from "../base/events";
import { store, stored } from "../base/storage";
import type { LayerId, LayerOption, Layers } from "../canvas/layers";
import type { View, Viewport } from "../canvas/view";
import type { Hello } from "../session/protocol.generated";
import type { Session } from "../session/session";
import type { UiState } from "../tools/ui_state";
import type { Stretch } from "./stretch_panel";

const SOON = 300; // ms after a change

interface PictureChoice {
  preset: string;
  bands: number[];
  stretch: Stretch;
}

interface Stored extends Record<LayerOption, boolean> {
  tool: string;
  size: number;
  tolerance: number;
  connected: boolean;
  spare: boolean;
  spectrum: boolean | null;
  lists: boolean | null;
  classId: number;
  layers: { id: LayerId; visible: boolean; opacity: number }[];
  viewport: Viewport | null;
  picture: PictureChoice | null;
}

export class PageSettings {
  #key = "";
  #storedPicture: PictureChoice | null = null;
  readonly #storeSoon = debounce(() => this.#store(), SOON);

  /** Made before the parts that open with what is stored. */
  constructor(session: Session, private readonly ui: UiState, private readonly layers: Layers, private readonly view: View) {
    session.on("scene", (hello) => this.#open(hello));
    for (const name of ["tool", "size", "options", "class"] as const) ui.on(name, this.#storeSoon);
    for (const part of [layers, view]) part.on("changed", this.#storeSoon);
    addEventListener("pagehide", () => this.#store());
  }

  get picture(): PictureChoice | null {
    return this.#storedPicture;
  }

  set picture(choice: PictureChoice) {
    this.#storedPicture = choice;
    this.#storeSoon();
  }

  #store(): void {
    if (!this.#key) return;
    const { ui, layers, view, picture } = this;
    const kept: Stored = {
      tool: ui.tool,
      size: ui.size,
      tolerance: ui.tolerance,
      connected: ui.connected,
      spare: ui.spare,
      spectrum: ui.spectrum,
      lists: ui.lists,
      classId: ui.classId,
      layers: layers.list.map(({ id, visible, opacity }) => ({ id, visible, opacity })),
      outlines: layers.outlines,
      outlinesWhilePainting: layers.outlinesWhilePainting,
      greyUnder: layers.greyUnder,
      viewport: view.viewport,
      picture,
    };
    store(this.#key, JSON.stringify(kept));
  }

  #open({ scene, state }: Hello): void {
    if (this.#key) return; // after a reconnection all is as it was
    this.#key = `diffclass-page ${state.session} ${scene.rows} ${scene.columns}`;
    const text = stored(this.#key);
    if (text) this.#restore(JSON.parse(text));
  }

  #restore({ tool, size, tolerance, connected, spare, spectrum, lists, classId, layers, viewport, picture, ...options }: Stored): void {
    this.ui.setTool(tool);
    this.ui.setSize(size);
    this.ui.setTolerance(tolerance);
    this.ui.setOptions({ connected, spare, spectrum, lists });
    this.ui.setClass(classId);
    this.layers.restore(layers, options);
    if (viewport) this.view.restore(viewport);
    this.#storedPicture = picture;
  }
}
