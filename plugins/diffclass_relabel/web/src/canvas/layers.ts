// The layers of the canvas: which are on, how opaque, which key toggles each.

import { debounce, Emitter } from "../base/events";

export type LayerId = "raw" | "labels" | "map" | "doubt" | "changes" | "suggestions";

/** How the map is drawn. */
export type LayerOption = "outlines" | "greyUnder" | "outlinesWhilePainting";

export interface Layer {
  id: LayerId;
  name: string;
  key: string;
  title: string;
  visible: boolean;
  opacity: number; // 0..1
}

const LOWERED = 1500; // ms that the picture shows after it was changed
const HALF = 0.5; // so that it shows through
const OVER_PICTURE = new Set<LayerId>(["map", "doubt", "changes"]);

export class Layers extends Emitter<{ changed: void }> {
  readonly list: Layer[] = [
    layer("labels", "Labels", "l", "What has been painted", true, 1),
    layer("map", "Map", "m", "The class of every pixel", true, HALF),
    layer("doubt", "Doubt", "u", "1 - margin: yellow where two classes are nearly as likely", false, 0.9),
    layer("changes", "Changes", "c", "Dims all that did not change in the last update", false, 0.7),
    layer("suggestions", "Suggestions", "s", "What to label next", true, 1),
    layer("raw", "Picture", "i", "The scene alone while it is on", true, 1),
  ];
  rawOnly = false; // Everything but the picture is hidden while set.
  readonly #empty = new Set<LayerId>(["map", "doubt", "changes", "suggestions"]); // Layers that have nothing to draw yet.
  #most = 1; // Opacity of what lies over the picture, while the picture is being changed.
  readonly #rise = debounce(() => this.#limit(1), LOWERED);
  outlines = false; // The map is drawn as outlines rather than filled.
  greyUnder = true; // The picture is grey under areas of colour: a map that is not opaque then keeps its hues.
  outlinesWhilePainting = true; // The map becomes outlines while a stroke is drawn.

  get(id: LayerId): Layer {
    return this.list.find((item) => item.id === id)!;
  }

  /** The opacity to draw with, 0 where the layer is off. */
  opacity(id: LayerId): number {
    const item = this.get(id);
    if (id === "raw") return item.visible ? item.opacity : 0;
    return item.visible && !this.rawOnly ? Math.min(item.opacity, OVER_PICTURE.has(id) ? this.#most : 1) : 0;
  }

  /** Whether a layer has nothing to draw yet, whatever its controls say. */
  isEmpty(id: LayerId): boolean {
    return this.#empty.has(id);
  }

  setEmpty(id: LayerId, isEmpty: boolean): void {
    if (isEmpty === this.#empty.has(id)) return;
    if (isEmpty) this.#empty.add(id);
    else this.#empty.delete(id);
    this.emit("changed");
  }

  /** Whether the picture shows through more than the layers' opacities say. */
  get isLowered(): boolean {
    return this.#most < 1;
  }

  /** Lowers for a moment what would hide a change of the picture that is being made. */
  lower(most = 0): void {
    this.#limit(most);
    this.#rise();
  }

  #limit(most: number): void {
    this.#most = most;
    this.emit("changed");
  }

  setVisible(id: LayerId, visible: boolean): void {
    this.get(id).visible = visible;
    this.rawOnly = false;
    this.emit("changed");
  }

  setOpacity(id: LayerId, opacity: number): void {
    this.get(id).opacity = opacity;
    if (id === "raw") return this.lower();
    if (id === "map") this.outlines = false; // they are never faint
    this.emit("changed");
  }

  /** What the layer's key does: on and off; for the picture, alone and with the rest. */
  toggle(id: LayerId): void {
    if (id === "raw") {
      this.rawOnly = !this.rawOnly;
      this.emit("changed");
    } else {
      this.setVisible(id, this.rawOnly || !this.get(id).visible);
    }
  }

  restore(layers: Pick<Layer, "id" | "visible" | "opacity">[], options: Record<LayerOption, boolean>): void {
    for (const { id, visible, opacity } of layers) Object.assign(this.get(id), { visible, opacity });
    Object.assign(this, options);
    this.emit("changed");
  }

  setOption(option: LayerOption, on: boolean): void {
    this[option] = on;
    if (option === "greyUnder") this.lower(HALF);
    else this.emit("changed");
  }
}

function layer(id: LayerId, name: string, key: string, title: string, visible: boolean, opacity: number): Layer {
  return { id, name, key, title, visible, opacity };
}
