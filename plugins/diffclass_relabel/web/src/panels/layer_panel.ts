// The left column's second part: layers with their keys, and how opaque each is.

import { el, keycap, section } from "../base/dom";
import { DOUBT_GRADIENT } from "../canvas/colors";
import type { Layer, Layers } from "../canvas/layers";

export function layerPanel(layers: Layers, onChange: (show: () => void) => void): HTMLElement {
  const rows = layers.list.map((layer) => layerRow(layer, layers, onChange));
  return section("Layers", el("div", { class: "layers" }, ...rows), optionRows(layers, onChange));
}

function layerRow(layer: Layer, layers: Layers, onChange: (show: () => void) => void): HTMLElement {
  const button = el("button", {
    class: "layer-name",
    title: `${layer.title} (${layer.key})`,
    attributes: { type: "button", "data-layer": layer.id },
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
  onChange(show);
  show();
  return row;
}

function doubtLegend(): HTMLElement {
  const bar = el("div", { class: "scale" });
  bar.style.background = DOUBT_GRADIENT;
  return el("div", { class: "legend" }, el("span", { text: "sure" }), bar, el("span", { text: "doubt" }));
}

function optionRows(layers: Layers, onChange: (show: () => void) => void): HTMLElement {
  const box = el("input", {
    attributes: { type: "checkbox" },
    on: { change: () => layers.setOutlines(box.checked) },
  });
  const whilePainting = el("input", {
    attributes: { type: "checkbox" },
    on: { change: () => layers.setOutlinesWhilePainting(whilePainting.checked) },
  });
  whilePainting.checked = layers.outlinesWhilePainting;
  const grey = el("input", {
    attributes: { type: "checkbox" },
    on: { change: () => layers.setGreyUnder(grey.checked) },
  });
  onChange(() => {
    box.checked = layers.outlines;
    grey.checked = layers.greyUnder;
    whilePainting.checked = layers.outlinesWhilePainting;
  });
  grey.checked = layers.greyUnder;
  return el(
    "div",
    { class: "checks" },
    el("label", { title: "The colours of the map are then those of the class list (y)" }, grey, "Grey picture under the map", keycap("y")),
    el("label", { title: "Borders of the map instead of areas (o)" }, box, "Map as outlines", keycap("o")),
    el("label", { title: "See the picture under the stroke while you draw" }, whilePainting, "Outlines while painting"),
  );
}
