// Puts the page together: its parts are made and connected here alone.

import { el, startTheme } from "./base/dom";
import type { Place } from "./base/raster";
import { Layers } from "./canvas/layers";
import { Overlay } from "./canvas/overlay";
import { Painter } from "./canvas/painter";
import { Stage, ViewportSync } from "./canvas/stage";
import { View } from "./canvas/view";
import { NotebookTransport } from "./notebook/transport";
import { ClassList } from "./panels/class_list";
import { Compare } from "./panels/compare";
import { HistoryPanel } from "./panels/history_panel";
import { Help, keysOf, listen, pageKeys } from "./panels/keys";
import { labelModePanel, layerPanel, toolPanel } from "./panels/left_column";
import { PixelMenu } from "./panels/menu";
import { NumbersPanel } from "./panels/numbers_panel";
import { PreparationPanel, SceneChooser } from "./panels/opening";
import { PageSettings } from "./panels/page_settings";
import { PicturePanel } from "./panels/picture_panel";
import { AuditPanel, StrokePanel, suggestionPanel, WhyPanel } from "./panels/place_lists";
import { Spectra, SpectraPanel, SpectrumPanel } from "./panels/spectra";
import { statusLine, StatusMessages } from "./panels/status";
import { Tabs } from "./panels/tabs";
import { toolbar } from "./panels/toolbar";
import { makeProbe } from "./probe";
import { Session } from "./session/session";
import { Socket } from "./session/socket";
import { Suggestions } from "./session/suggestions";
import { type Transport, WebTransport } from "./session/transport";
import { KeyCursor } from "./tools/key_cursor";
import { Pointer } from "./tools/pointer";
import type { Tool, ToolContext } from "./tools/tool";
import { Brush, Eraser, Fill, Inspect, Lasso, Polygon } from "./tools/tools";
import { UiState } from "./tools/ui_state";

/** The scene on its canvases, and the tools that work on it. */
function makeCanvas(session: Session, ui: UiState) {
  const view = new View();
  const layers = new Layers();
  const stage = new Stage(view);
  const suggestions = new Suggestions(session);
  const painter = new Painter(stage.base, session, view, layers);
  const overlay = new Overlay(stage.top, view, layers, suggestions);
  // After the painter, which tells the view of a scene first.
  const settings = new PageSettings(session, ui, layers, view);
  new ViewportSync(session, view);
  const context: ToolContext = { session, ui, view, painter, overlay };
  const tools: Tool[] = [Brush, Eraser, Lasso, Polygon, Fill, Inspect].map((Kind) => new Kind(context));
  const tool = followTools(session, ui, tools);
  const pixelMenu = new PixelMenu(session, ui, view);
  const pointer = new Pointer(stage.area, view, ui, tool, (x, y, at) => pixelMenu.open(x, y, at));
  const cursor = new KeyCursor(stage.area, context, tool);
  // A mark has done its work once something is painted at it; a tool may set another.
  stage.area.addEventListener("pointerdown", () => overlay.mark(null), { capture: true });
  return { view, layers, stage, suggestions, painter, overlay, settings, tools, tool, pointer, cursor };
}

type Canvas = ReturnType<typeof makeCanvas>;

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

/** Going to a place, and from suggestion to suggestion. */
function makeWalk({ view, overlay, suggestions }: Canvas, showSuggestions: () => void) {
  const go = (place: Place) => {
    overlay.mark(place);
    view.show(place);
  };
  const walk = async (direction: 1 | -1) => {
    showSuggestions();
    const place = await suggestions.step(direction);
    if (place) go(place);
  };
  return { go, walk: (direction: 1 | -1) => void walk(direction) };
}

/** The lists in the lower right. */
function makeTabs(session: Session, ui: UiState, { overlay, suggestions }: Canvas, compare: Compare, walking: ReturnType<typeof makeWalk>): Tabs {
  const { go } = walking;
  const why = new WhyPanel(session, go);
  const audit = new AuditPanel(session, go, (found) => tabs.setCount("Audit", found));
  const strokes = new StrokePanel(session, go);
  const history = new HistoryPanel(session, compare);
  const numbers = new NumbersPanel(session);
  const tabs = new Tabs([
    { name: "Suggest", title: "What to label next", element: suggestionPanel(session, suggestions, walking) },
    { name: "Audit", title: "Labels that the others contradict", element: audit.element },
    { name: "Why", title: "Which strokes decide a pixel's class", element: why.element },
    { name: "Strokes", title: "All strokes", element: strokes.element, shown: () => strokes.show() },
    { name: "History", title: "What was done, to go back to and forward again", element: history.element, shown: () => history.show() },
    { name: "Numbers", title: "Accuracy, areas, and what the last change did", element: numbers.element, shown: () => numbers.show() },
  ]);
  ui.on("inspect", (place) => {
    overlay.mark(place);
    tabs.show("Why");
    void why.ask(place);
  });
  return tabs;
}

function start(transport: Transport): void {
  startTheme();
  const session = new Session(new Socket(transport));
  // Without a scene its controls would control nothing.
  document.body.classList.add("without-scene");
  session.on("scene", () => document.body.classList.remove("without-scene"));
  const ui = new UiState();
  const canvas = makeCanvas(session, ui);
  const { view, layers, stage, painter, pointer, cursor } = canvas;

  const picture = new PicturePanel(session, canvas.settings);
  picture.on("shown", ({ picture }) => painter.setPicture(picture));
  const spectra = new Spectra(session, ui);
  const spectraPanel = new SpectraPanel(session, ui, spectra);
  const spectrum = new SpectrumPanel(session, ui, spectra, picture, () => spectraPanel.toggle());
  const classes = new ClassList(session, ui);
  const compare = new Compare(session);
  compare.on("shown", (compared) => painter.compare(compared));
  const walking = makeWalk(canvas, () => tabs.show("Suggest"));
  const tabs = makeTabs(session, ui, canvas, compare, walking);

  const shortcuts = pageKeys({
    session, ui, ...canvas, walk: walking.walk,
    toggleCompare: () => compare.toggle(), toggleSpectra: () => spectraPanel.toggle(), toggleHelp: () => help.toggle(),
  });
  const help = new Help(shortcuts);
  const keys = keysOf(shortcuts);
  listen(keys, (digit, now) => classes.pressDigit(digit, now), (held) => pointer.setSpace(held));

  stage.element.append(
    new StatusMessages(session).element, new PreparationPanel(session.socket).element, new SceneChooser(session.socket).element,
    spectraPanel.element, compare.divider,
  );
  document.body.append(
    toolbar(session, () => help.toggle()),
    el("aside", { class: "left", attributes: { "aria-label": "Tools, layers and picture" } },
      toolPanel(canvas.tools, ui), layerPanel(layers), compare.element, picture.element, labelModePanel(session)),
    stage.element,
    el("aside", { class: "right", attributes: { "aria-label": "Classes, spectrum and lists" } }, classes.element, spectrum.element, tabs.element),
    statusLine(session, ui),
    cursor.spoken,
    help.element,
  );
  // Leaving would lose changes that the server does not have.
  addEventListener("beforeunload", (event) => {
    if (session.socket.pending.length) event.preventDefault();
  });
  Object.assign(window, {
    diffclass: makeProbe({ session, ui, view, layers, painter, picture, pointer, suggestions: canvas.suggestions, keys, area: stage.area }),
  });
  session.socket.open();
}

const isInNotebook = location.href === "about:srcdoc";
void (isInNotebook ? NotebookTransport.begin() : Promise.resolve(new WebTransport())).then(start);
