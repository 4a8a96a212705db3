// The left column's first part: the tools and the size of the brush.

import { el, section } from "../base/dom";
import type { Tool } from "../tools/tool";
import { LARGEST_BRUSH, type Ui } from "../tools/ui";

export function toolPanel(tools: Tool[], ui: Ui): HTMLElement {
  const buttons = tools.map((tool) => toolButton(tool, ui));
  const grid = el("div", { class: "tools", attributes: { role: "radiogroup", "aria-label": "Tool" } }, ...buttons);
  return section("Tools", grid, sizeRow(ui));
}

function toolButton(tool: Tool, ui: Ui): HTMLButtonElement {
  const button = el("button", {
    icon: tool.icon,
    title: `${tool.title} (${tool.key})`,
    attributes: { type: "button", role: "radio", "aria-label": tool.title, "data-tool": tool.name },
    on: { click: () => ui.setTool(tool.name) },
  });
  const show = () => button.setAttribute("aria-checked", String(ui.tool === tool.name));
  ui.on("tool", show);
  show();
  return button;
}

/** Slider positions are square roots of sizes: small brushes need the finer choice. */
function sizeRow(ui: Ui): HTMLElement {
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
