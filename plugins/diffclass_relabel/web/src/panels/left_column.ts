// Tools and the size of the brush; layers.

import { checkbox, el, keycap, section } from "../base/dom";
import type { Layer, LayerOption, Layers } from "../canvas/layers";
import { DOUBT_GRADIENT } from "../canvas/raster_image";
import type { Tool } from "../tools/tool";
import { LARGEST_BRUSH, LARGEST_TOLERANCE, type UiState } from "../tools/ui_state";

export function toolPanel(tools: Tool[], ui: UiState): HTMLElement {
  const buttons = tools.map((tool) => toolButton(tool, ui));
  const grid = el("div", { class: "tools", attributes: { role: "radiogroup", "aria-label": "Tool" } }, ...buttons);
  const panel = section("Tools", grid, sizeRow(ui), paintOptions(ui));
  panel.classList.add("tool-section");
  return panel;
}

function toolButton(tool: Tool, ui: UiState): HTMLButtonElement {
  const button = el("button", {
    icon: tool.name,
    title: `${tool.title} (${tool.key})`,
    attributes: { role: "radio", "aria-label": tool.title, "data-tool": tool.name },
    on: { click: () => ui.setTool(tool.name) },
  });
  const show = () => button.setAttribute("aria-checked", String(ui.tool === tool.name));
  ui.on("tool", show);
  show();
  return button;
}

/** The size of brush and eraser, or the wand's tolerance. Slider positions are square roots: small
 *  values need the finer choice. */
function sizeRow(ui: UiState): HTMLElement {
  const name = el("span");
  const range = el("input", {
    attributes: { type: "range", min: "1", step: "0.01" },
    on: { input: () => (ui.tool === "wand" ? ui.setTolerance(Number(range.value) ** 2) : ui.setSize(Number(range.value) ** 2)) },
  });
  const value = el("output", { class: "value" });
  const row = el("label", { class: "slider-row" }, name, range, value);
  const show = () => {
    const isWand = ui.tool === "wand";
    const what = isWand ? "How many of the scene\u2019s pixels the wand may take, percent" : "Diameter of brush and eraser, pixels";
    name.textContent = isWand ? "Range" : "Size";
    range.title = `${what} ([ and ], or comma and full stop)`;
    range.ariaLabel = isWand ? "Range of the wand, percent" : "Brush size, pixels";
    range.max = String(Math.sqrt(isWand ? LARGEST_TOLERANCE : LARGEST_BRUSH));
    range.value = String(Math.sqrt(isWand ? ui.tolerance : ui.size));
    value.textContent = isWand ? `${(50 * (ui.tolerance / LARGEST_TOLERANCE) ** 2).toFixed(1)} %` : `${ui.size} px`;
    row.classList.toggle("dim", !["brush", "eraser", "wand"].includes(ui.tool));
  };
  ui.on("size", show);
  ui.on("tool", show);
  show();
  return row;
}

function paintOptions(ui: UiState): HTMLElement {
  const spare = checkbox(ui.spare, () => ui.setOptions({ spare: spare.checked }));
  const connected = checkbox(ui.connected, () => ui.setOptions({ connected: connected.checked }));
  const connectedRow = el("label", { title: "Only similar pixels that hang together with the one under the wand" }, connected, "Connected pixels only");
  const show = () => {
    [spare.checked, connected.checked, connectedRow.hidden] = [ui.spare, ui.connected, ui.tool !== "wand"];
  };
  ui.on("tool", show);
  ui.on("options", show);
  show();
  return el("div", { class: "checks" },
    el("label", { title: "Strokes take no pixel from another class" }, spare, "Keep other classes"), connectedRow);
}

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
  const none = el("span", { class: "muted none", text: "none" });
  const row = el("div", { class: "layer" }, button, range, none);
  if (layer.id === "doubt") row.append(doubtLegend());
  const show = () => {
    const alone = layer.id === "raw" && layers.rawOnly;
    const on = layer.id === "raw" ? layers.rawOnly : layers.opacity(layer.id) > 0 || (layer.visible && !layers.rawOnly);
    button.setAttribute("aria-pressed", String(on));
    button.querySelector("span")!.textContent = alone ? "Picture alone" : layer.name;
    range.value = String(layer.opacity);
    range.hidden = layers.isEmpty(layer.id);
    none.hidden = !range.hidden;
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
    optionRow(layers, "greyUnder", "Grey under the map", "A map that is not opaque keeps its hues over grey (y)", "y"),
    optionRow(layers, "outlines", "Map as outlines", "Borders of the map instead of areas (o)", "o"),
    optionRow(layers, "outlinesWhilePainting", "Outlines while painting", "See the picture under the stroke while you draw"),
  );
}

function optionRow(layers: Layers, option: LayerOption, text: string, title: string, key?: string): HTMLElement {
  const box = checkbox(layers[option], () => layers.setOption(option, box.checked));
  layers.on("changed", () => (box.checked = layers[option]));
  return el("label", { title }, box, text, key ? keycap(key) : null);
}
