// Puts the page together: parts are made here and told of each other, and nowhere else.

import { el } from "./base/dom";
import type { Place } from "./base/raster";
import { startTheme, toggleTheme } from "./base/theme";
import { Layers } from "./canvas/layers";
import { Overlay } from "./canvas/overlay";
import { Painter } from "./canvas/painter";
import { Stage } from "./canvas/stage";
import { View } from "./canvas/view";
import { ViewportSync } from "./canvas/viewport_sync";
import { NotebookTransport } from "./notebook/transport";
import { AuditPanel } from "./panels/audit_panel";
import { ClassList } from "./panels/class_list";
import { Compare } from "./panels/compare";
import { showHelp } from "./panels/help";
import { HistoryPanel } from "./panels/history_panel";
import { labelModePanel } from "./panels/label_mode_panel";
import { layerPanel } from "./panels/layer_panel";
import { NumbersPanel } from "./panels/numbers_panel";
import { PageSettings } from "./panels/page_settings";
import { PicturePanel } from "./panels/picture_panel";
import { PixelMenu } from "./panels/pixel_menu";
import { PreparationPanel } from "./panels/preparation_panel";
import { SceneChooser } from "./panels/scene_chooser";
import { Spectra } from "./panels/spectra";
import { SpectraPanel } from "./panels/spectra_panel";
import { SpectrumPanel } from "./panels/spectrum_panel";
import { statusLine } from "./panels/status_line";
import { StatusMessages } from "./panels/status_messages";
import { StrokePanel } from "./panels/stroke_panel";
import { suggestionPanel } from "./panels/suggestion_panel";
import { Tabs } from "./panels/tabs";
import { toolPanel } from "./panels/tool_panel";
import { toolbar } from "./panels/toolbar";
import { WhyPanel } from "./panels/why_panel";
import { Session } from "./session/session";
import { Socket } from "./session/socket";
import { Suggestions } from "./session/suggestions";
import { type Transport, WebTransport } from "./session/transport";
import { Brush, Eraser } from "./tools/brush";
import { Fill, Inspect } from "./tools/click_tools";
import { KeyCursor } from "./tools/key_cursor";
import { Pointer } from "./tools/pointer";
import { Lasso, Polygon } from "./tools/polygon";
import type { Tool, ToolContext } from "./tools/tool";
import { UiState } from "./tools/ui_state";
import { makeProbe } from "./probe";
import { type Keys, listen } from "./shortcuts";

function start(transport: Transport): void {
  startTheme();
  const session = new Session(new Socket(transport));
  // Until there is a scene, its controls would be of nothing.
  document.body.classList.add("without-scene");
  session.on("scene", () => document.body.classList.remove("without-scene"));
  const ui = new UiState();
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
  const inHand = () => tools.find((tool) => tool.name === ui.tool)!;
  let before = inHand();
  ui.on("tool", () => {
    before.cancel();
    before.hover(null);
    before = inHand();
  });
  session.on("labels", () => inHand().refresh());
  session.on("numbered", ({ from, to }) => ui.classId === from && ui.setClass(to));
  const pixelMenu = new PixelMenu(session, ui, view);
  const pointer = new Pointer(stage.area, view, ui, inHand, (x, y, at) => pixelMenu.open(x, y, at));
  const cursor = new KeyCursor(stage.area, context, inHand);
  // A mark has done its work once something is painted at it; a tool may set another.
  stage.area.addEventListener("pointerdown", () => overlay.mark(null), { capture: true });

  const go = (place: Place) => {
    overlay.mark(place);
    view.show(place);
  };
  const walk = async (direction: 1 | -1) => {
    tabs.show("Suggest");
    const place = await suggestions.step(direction);
    if (place) go(place);
  };
  const picture = new PicturePanel(session, settings);
  picture.on("shown", ({ picture }) => painter.setPicture(picture));
  const spectra = new Spectra(session, ui);
  const spectraPanel = new SpectraPanel(session, ui, spectra);
  const spectrum = new SpectrumPanel(session, ui, spectra, picture, () => spectraPanel.toggle());
  const classes = new ClassList(session, ui);
  const compare = new Compare(session);
  compare.on("shown", (compared) => painter.compare(compared));
  const why = new WhyPanel(session, go);
  const audit = new AuditPanel(session, go, (found) => tabs.setCount("Audit", found));
  const strokes = new StrokePanel(session, go);
  const history = new HistoryPanel(session, compare);
  const numbers = new NumbersPanel(session);
  const tabs = new Tabs([
    { name: "Suggest", title: "What to label next", element: suggestionPanel(session, suggestions, { go, walk }) },
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

  stage.element.append(
    new StatusMessages(session).element, new PreparationPanel(session.socket).element, new SceneChooser(session.socket).element,
    spectraPanel.element, compare.divider,
  );
  document.body.append(
    toolbar(session),
    el("aside", { class: "left", attributes: { "aria-label": "Tools, layers and picture" } }, toolPanel(tools, ui), layerPanel(layers), compare.element, picture.element, labelModePanel(session)),
    stage.element,
    el("aside", { class: "right", attributes: { "aria-label": "Classes, spectrum and lists" } }, classes.element, spectrum.element, tabs.element),
    statusLine(session, ui),
    cursor.spoken,
  );

  const keys: Keys = {
    ...Object.fromEntries(tools.map((tool) => [tool.key, () => ui.setTool(tool.name)])),
    ...Object.fromEntries(layers.list.map((layer) => [layer.key, () => layers.toggle(layer.id)])),
    "[": () => ui.stepSize(-1),
    "]": () => ui.stepSize(1),
    // Many layouts have brackets only behind AltGr.
    ",": () => ui.stepSize(-1),
    ".": () => ui.stepSize(1),
    o: () => layers.setOption("outlines", !layers.outlines),
    y: () => layers.setOption("greyUnder", !layers.greyUnder),
    h: () => view.fit(),
    "+": () => view.zoom(1.5),
    "=": () => view.zoom(1.5),
    "-": () => view.zoom(1 / 1.5),
    n: () => void walk(1),
    b: () => void walk(-1),
    k: () => compare.toggle(),
    q: () => spectraPanel.toggle(),
    w: () => ui.hover && ui.inspect(ui.hover),
    t: () => void session.toggleLive(),
    r: () => session.updateMap(),
    d: toggleTheme,
    "?": showHelp,
    x: () => cursor.press(),
    Enter: () => cursor.finish() || inHand().finish(),
    Backspace: () => inHand().back(),
    Escape: () => {
      cursor.cancel();
      inHand().cancel();
      overlay.mark(null);
    },
    "Ctrl+z": () => session.undo(),
    "Ctrl+Shift+z": () => session.redo(),
    "Ctrl+y": () => session.redo(),
  };
  listen(
    keys,
    (digit, now) => classes.pressDigit(digit, now),
    (held) => pointer.setSpace(held),
  );
  // Leaving with changes that are nowhere but here would lose them.
  addEventListener("beforeunload", (event) => {
    if (session.socket.pending.length) event.preventDefault();
  });
  Object.assign(window, {
    diffclass: makeProbe({ session, ui, view, layers, painter, picture, pointer, suggestions, keys, area: stage.area }),
  });
  session.socket.open();
}

const isInNotebook = location.href === "about:srcdoc";
void (isInNotebook ? NotebookTransport.begin() : Promise.resolve(new WebTransport())).then(start);
