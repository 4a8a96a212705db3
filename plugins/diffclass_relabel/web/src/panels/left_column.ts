// The left column: tools and the size of the brush, layers, how labels count, the classes' sizes.

import { checkbox, choice, el, keycap, section } from "../base/dom";
import type { Layer, LayerOption, Layers } from "../canvas/layers";
import { DOUBT_GRADIENT } from "../canvas/raster_image";
import { ICONS } from "../base/icons";
import type { Session } from "../session/session";
import type { Tool } from "../tools/tool";
import { LARGEST_BRUSH, type UiState } from "../tools/ui_state";

export function toolPanel(tools: Tool[], ui: UiState): HTMLElement {
  const buttons = tools.map((tool) => toolButton(tool, ui));
  const grid = el("div", { class: "tools", attributes: { role: "radiogroup", "aria-label": "Tool" } }, ...buttons);
  return section("Tools", grid, sizeRow(ui));
}

function toolButton(tool: Tool, ui: UiState): HTMLButtonElement {
  const button = el("button", {
    icon: ICONS[tool.name],
    title: `${tool.title} (${tool.key})`,
    attributes: { role: "radio", "aria-label": tool.title, "data-tool": tool.name },
    on: { click: () => ui.setTool(tool.name) },
  });
  const show = () => button.setAttribute("aria-checked", String(ui.tool === tool.name));
  ui.on("tool", show);
  show();
  return button;
}

/** Slider positions are square roots of sizes: small brushes need the finer choice. */
function sizeRow(ui: UiState): HTMLElement {
  const end = Math.sqrt(LARGEST_BRUSH);
  const range = el("input", {
    title: "Diameter of brush and eraser, pixels ([ and ], or comma and full stop)",
    attributes: { type: "range", min: "1", max: String(end), step: "0.01", "aria-label": "Brush size, pixels" },
    on: { input: () => ui.setSize(Number(range.value) ** 2) },
  });
  const value = el("output", { class: "value" });
  const show = () => {
    range.value = String(Math.sqrt(ui.size));
    value.textContent = `${ui.size} px`;
  };
  ui.on("size", show);
  show();
  const row = el("label", { class: "slider-row" }, el("span", { text: "Size" }), range, value);
  const dim = () => row.classList.toggle("dim", !["brush", "eraser"].includes(ui.tool));
  ui.on("tool", dim);
  return row;
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
    optionRow(layers, "greyUnder", "Grey under the map", "A grey picture: the colours of the map are those of the class list (y)", "y"),
    optionRow(layers, "outlines", "Map as outlines", "Borders of the map instead of areas (o)", "o"),
    optionRow(layers, "outlinesWhilePainting", "Outlines while painting", "See the picture under the stroke while you draw"),
  );
}

function optionRow(layers: Layers, option: LayerOption, text: string, title: string, key?: string): HTMLElement {
  const box = checkbox(layers[option], () => layers.setOption(option, box.checked));
  layers.on("changed", () => (box.checked = layers[option]));
  return el("label", { title }, box, text, key ? keycap(key) : null);
}

const MODES = {
  auto: "as classify chooses; summed where tau is set by hand",
  summed: "labels diffuse away and count over the whole walk",
  free: "labels diffuse away and count at the end of the walk",
  absorbing: "labels stay where they are",
};

type Mode = keyof typeof MODES;

export function labelModePanel(session: Session): HTMLElement {
  const picker = choice("How labels count", Object.keys(MODES).map((mode) => [mode, mode]), () => {
    const mode = picker.value as Mode;
    // a refused change must not stand there as if it were done
    void session.apply({ op: "label_mode", mode }).then(() => (picker.value = session.state?.label_mode ?? mode));
  });
  session.on("changed", () => {
    const { label_mode, counted, refined } = session.state!;
    picker.value = label_mode;
    picker.options[0].textContent = label_mode === "auto" && refined ? `auto: ${counted}` : "auto";
    picker.title = `How labels count. ${label_mode}: ${MODES[label_mode as Mode]}.`;
  });
  return section("How labels count", picker);
}

const MET = {
  matched: "sizes met",
  loosened: "met within a factor of 8",
  unused: "not used: graph disagrees",
  waiting: "not used: label other classes",
};

/** A text of sizes, and under it whether they count, or why they cannot. */
export function sizesPanel(session: Session): HTMLElement {
  const note = el("div", { class: "legend", attributes: { id: "sizes-note", role: "status" } });
  const field = el("input", {
    title: "What is known of classes' sizes: NAME=SIZE, ... with 20%, 1200px, 3.5ha (m2, km2) or a range, 10-20%; or uniform. "
      + "Ignored for a class until it has a label.",
    attributes: { type: "text", "aria-label": "Class sizes", "aria-describedby": note.id, placeholder: "corn=10-20%, soy=3ha" },
    on: { change: () => void set() },
  });
  let known = "";
  let wrong = "";
  const show = () => {
    const { class_sizes, sizes_met } = session.state!;
    if (class_sizes !== known) [known, wrong, field.value] = [class_sizes, "", class_sizes];
    note.textContent = wrong || (known && (sizes_met ? MET[sizes_met] : session.hasMap ? "counting\u2026" : ""));
    note.classList.toggle("wrong", wrong !== "");
    field.setAttribute("aria-invalid", String(wrong !== ""));
  };
  const set = async () => {
    wrong = "";
    const text = field.value.trim();
    await session.apply({ op: "class_sizes", ...(text && { sizes: text }) }, { refused: (why) => (wrong = why) });
    show();
    note.scrollIntoView({ block: "nearest" });
  };
  session.on("changed", show);
  return section("Class sizes", field, note);
}
