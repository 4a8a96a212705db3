// What was set up on the page, kept in this browser for the next time the session is opened.

import type { LayerId, Layers } from "./canvas/layers";
import type { Sight, View } from "./canvas/view";
import type { PictureChoice, PicturePanel } from "./panels/picture_panel";
import type { Hello } from "./session/protocol.generated";
import type { Session } from "./session/session";
import type { Ui } from "./tools/ui";

const SOON = 300; // ms after a change

interface Kept {
  tool: string;
  size: number;
  classId: number;
  layers: { id: LayerId; visible: boolean; opacity: number }[];
  outlines: boolean;
  outlinesWhilePainting: boolean;
  greyUnder: boolean;
  sight: Sight | null;
  picture?: PictureChoice;
}

export class Memory {
  /** Made later than this, so that it opens with what is restored. */
  picture: PicturePanel | null = null;
  private key = "";
  private timer = 0;

  constructor(session: Session, private readonly ui: Ui, private readonly layers: Layers, private readonly view: View) {
    session.on("scene", (hello) => this.open(hello));
    for (const name of ["tool", "size", "class"] as const) ui.on(name, () => this.keepSoon());
    addEventListener("pagehide", () => this.keep());
  }

  /** Called after every change of layers or view. */
  keepSoon(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.keep(), SOON);
  }

  private keep(): void {
    if (!this.key) return;
    const { ui, layers, view } = this;
    const kept: Kept = {
      tool: ui.tool,
      size: ui.size,
      classId: ui.classId,
      layers: layers.list.map(({ id, visible, opacity }) => ({ id, visible, opacity })),
      outlines: layers.outlines,
      outlinesWhilePainting: layers.outlinesWhilePainting,
      greyUnder: layers.greyUnder,
      sight: view.sight,
      picture: this.picture?.choice,
    };
    localStorage.setItem(this.key, JSON.stringify(kept));
  }

  private open({ scene, state }: Hello): void {
    if (this.key) return; // after a reconnection all is as it was
    this.key = `diffclass-page ${state.session} ${scene.rows} ${scene.columns}`;
    const text = localStorage.getItem(this.key);
    if (text) this.restore(JSON.parse(text));
  }

  private restore(kept: Kept): void {
    const { ui, layers, view } = this;
    ui.setTool(kept.tool);
    ui.setSize(kept.size);
    ui.setClass(kept.classId);
    for (const { id, visible, opacity } of kept.layers) Object.assign(layers.get(id), { visible, opacity });
    const { outlines, outlinesWhilePainting, greyUnder } = kept;
    Object.assign(layers, { outlines, outlinesWhilePainting, greyUnder });
    layers.changed();
    if (kept.sight) view.restore(kept.sight);
    if (kept.picture) this.picture?.restore(kept.picture);
  }
}
