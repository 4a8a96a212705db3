// The scene on its canvases, and the tools that work on it.

import { Layers } from "./canvas/layers";
import { Overlay } from "./canvas/overlay";
import { Painter } from "./canvas/painter";
import { Stage, ViewportSync } from "./canvas/stage";
import { View } from "./canvas/view";
import { PixelMenu } from "./panels/menu";
import { PageSettings } from "./panels/page_settings";
import type { Session } from "./session/session";
import { RowContents } from "./session/row_contents";
import { Suggestions } from "./session/suggestions";
import { KeyCursor } from "./tools/key_cursor";
import { Pointer } from "./tools/pointer";
import type { Tool, ToolContext } from "./tools/tool";
import { Brush, Eraser, Fill, Inspect, Lasso, Polygon } from "./tools/tools";
import type { UiState } from "./tools/ui_state";
import { Wand } from "./tools/wand";

export function makeWorkbench(session: Session, ui: UiState) {
  const view = new View();
  const layers = new Layers();
  const stage = new Stage(view);
  const suggestions = new Suggestions(session);
  const rows = new RowContents(session);
  const painter = new Painter(stage.base, session, view, layers, rows);
  const overlay = new Overlay(stage.top, view, layers, suggestions);
  // After the painter, which tells the view of a scene first.
  const settings = new PageSettings(session, ui, layers, view);
  new ViewportSync(session, view);
  suggestions.on("changed", () => layers.setEmpty("suggestions", !suggestions.list?.pixels.length));
  session.on("changed", () => {
    for (const id of ["map", "doubt", "changes"] as const) layers.setEmpty(id, !session.hasMap);
  });
  const context: ToolContext = { session, ui, view, painter, overlay };
  const tools: Tool[] = [Brush, Eraser, Lasso, Polygon, Fill, Wand, Inspect].map((Kind) => new Kind(context));
  const tool = followTools(session, ui, tools);
  const pixelMenu = new PixelMenu(session, ui, view);
  const pointer = new Pointer(stage.area, view, ui, tool, (x, y, at) => pixelMenu.open(x, y, at));
  const cursor = new KeyCursor(stage.area, context, tool);
  // A mark has done its work once something is painted at it; a tool may set another.
  stage.area.addEventListener("pointerdown", () => overlay.mark(null), { capture: true });
  return { session, ui, view, layers, rows, stage, suggestions, painter, overlay, settings, tools, tool, pointer, cursor };
}

export type Workbench = ReturnType<typeof makeWorkbench>;

/** Breaks off what a tool was doing when another is chosen; returns the one that is. */
function followTools(session: Session, ui: UiState, tools: Tool[]): () => Tool {
  const chosen = () => tools.find((tool) => tool.name === ui.tool)!;
  let before = chosen();
  ui.on("tool", () => {
    before.cancel();
    before.hover(null);
    before = chosen();
  });
  session.on("labels", () => chosen().refresh());
  session.on("numbered", ({ from, to }) => ui.classId === from && ui.setClass(to));
  return chosen;
}
