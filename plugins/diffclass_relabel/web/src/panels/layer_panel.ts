// The left column's second part: layers with their keys, and how opaque each is.

import { checkbox, el, keycap, section } from "../base/dom";
import { DOUBT_GRADIENT } from "../canvas/colors";
import type { Layer, LayerOption, Layers } from "../canvas/layers";

export function layerPanel(layers: Layers): HTMLElement {
  const rows = layers.list.map((layer) => layerRow(layer, layers));
  return section("Layers", el("div", { class: "layers" }, ...rows), optionRows(layers));
}

function layerRow(layer: Layer, layers: Layers): HTMLElement {
  const button = el("button", {
    class: "layer-name",
    title: `${layer.title} (${layer.key})`,
    attributes: { "data-layer": layer.id },
    on: { click: () => layers.toggle(layer.id) },
  }, keycap(layer.key), el("span", { text: layer.name }));
  const range = el("input", {
    title: `Opacity of ${layer.name.toLowerCase()}`,
    attributes: { type: "range", min: "0", max: "1", step: "0.02", "aria-label": `Opacity of ${layer.name.toLowerCase()}` },
    on: { input: () => layers.setOpacity(layer.id, Number(range.value)) },
  });
  const row = el("div", { class: "layer" }, button, range);
  if (layer.id === "doubt") row.append(doubtLegend());
  const show = () => {
    const alone = layer.id === "raw" && layers.rawOnly;
    const on = layer.id === "raw" ? layers.rawOnly : layers.opacity(layer.id) > 0 || (layer.visible && !layers.rawOnly);
    button.setAttribute("aria-pressed", String(on));
    button.querySelector("span")!.textContent = alone ? "Picture alone" : layer.name;
    range.value = String(layer.opacity);
    row.classList.toggle("off", layer.id !== "raw" && !on);
  };
  layers.on("changed", show);
  show();
  return row;
}

function doubtLegend(): HTMLElement {
  const bar = el("div", { class: "scale" });
  bar.style.background = DOUBT_GRADIENT;
  return el("div", { class: "legend" }, el("span", { text: "sure" }), bar, el("span", { text: "doubt" }));
}

function optionRows(layers: Layers): HTMLElement {
  return el("div", { class: "checks" },
    optionRow(layers, "greyUnder", "Grey picture under the map", "The colours of the map are then those of the class list (y)", "y"),
    optionRow(layers, "outlines", "Map as outlines", "Borders of the map instead of areas (o)", "o"),
    optionRow(layers, "outlinesWhilePainting", "Outlines while painting", "See the picture under the stroke while you draw"),
  );
}

function optionRow(layers: Layers, option: LayerOption, text: string, title: string, key?: string): HTMLElement {
  const box = checkbox(layers[option], () => layers.setOption(option, box.checked));
  layers.on("changed", () => (box.checked = layers[option]));
  return el("label", { title }, box, text, key ? keycap(key) : null);
}
