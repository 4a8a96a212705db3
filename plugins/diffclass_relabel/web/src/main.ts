// Puts the page together: parts are made here and told of each other, and nowhere else.

import { el } from "./base/dom";
import type { Place } from "./base/raster";
import { startTheme, toggleTheme } from "./base/theme";
import { Layers } from "./canvas/layers";
import { Overlay } from "./canvas/overlay";
import { Painter } from "./canvas/painter";
import { Stage } from "./canvas/stage";
import { View } from "./canvas/view";
import { SightTeller } from "./canvas/viewport_sync";
import { NotebookTransport } from "./notebook/transport";
import { AuditPanel } from "./panels/audit_panel";
import { ClassList } from "./panels/class_list";
import { ClassSpectra } from "./panels/class_spectra";
import { Compare } from "./panels/compare";
import { showHelp } from "./panels/help";
import { HistoryPanel } from "./panels/history_panel";
import { labelModePanel } from "./panels/label_mode_panel";
import { layerPanel } from "./panels/layer_panel";
import { Notices } from "./panels/notices";
import { NumbersPanel } from "./panels/numbers_panel";
import { PicturePanel } from "./panels/picture_panel";
import { PixelMenu } from "./panels/pixel_menu";
import { PreparationPanel } from "./panels/preparation_panel";
import { StartPanel } from "./panels/scene_chooser";
import { SpectraPanel } from "./panels/spectra_panel";
import { Spectrum } from "./panels/spectrum";
import { statusLine } from "./panels/status_line";
import { StrokePanel } from "./panels/stroke_panel";
import { suggestionPanel } from "./panels/suggestion_panel";
import { Tabs } from "./panels/tabs";
import { toolPanel } from "./panels/tool_panel";
import { toolbar } from "./panels/toolbar";
import { WhyPanel } from "./panels/why_panel";
import { Session } from "./session/session";
import { Socket } from "./session/socket";
import { Suggestions } from "./session/suggestions";
import type { Transport } from "./session/transport";
import { WebTransport } from "./session/web_transport";
import { Brush, Eraser } from "./tools/brush";
import { Fill } from "./tools/fill";
import { Inspect } from "./tools/inspect";
import { KeyCursor } from "./tools/key_cursor";
import { Pointer } from "./tools/pointer";
import { Lasso, Polygon } from "./tools/polygon";
import type { Bench, Tool } from "./tools/tool";
import { Ui } from "./tools/ui";
import { Memory } from "./page_settings";
import { makeProbe } from "./probe";
import { type Keys, listen } from "./shortcuts";

function start(transport: Transport): void {
  startTheme();
  const session = new Session(new Socket(transport));
  // Until there is a scene, its controls would be of nothing.
  document.body.classList.add("without-scene");
  session.on("scene", () => document.body.classList.remove("without-scene"));
  const ui = new Ui();
  const view = new View();
  const layers = new Layers();
  const notices = new Notices(session);
  const stage = new Stage(view, notices.element);
  stage.element.append(new PreparationPanel(session.socket).element, new StartPanel(session.socket).element);
  const suggestions = new Suggestions(session);
  const painter = new Painter(stage.base, session, view, layers);
  const overlay = new Overlay(stage.top, view, layers, suggestions);
  const repaint = () => {
    painter.request();
    overlay.request();
  };
  suggestions.changed = repaint;
  painter.painted = () => session.drawn(view.window);
  const memory = new Memory(session, ui, layers, view);
  const sight = new SightTeller(session, view);
  view.changed = () => {
    memory.keepSoon();
    sight.tellSoon();
    stage.showZoom();
    repaint();
  };

  const bench: Bench = { session, ui, view, painter, overlay, tell: (text) => notices.tell(text) };
  const tools: Tool[] = [Brush, Eraser, Lasso, Polygon, Fill, Inspect].map((Kind) => new Kind(bench));
  const inHand = () => tools.find((tool) => tool.name === ui.tool)!;
  let before = inHand();
  ui.on("tool", () => {
    before.cancel();
    before.hover(null);
    before = inHand();
  });
  session.on("labels", () => inHand().refresh());
  session.on("numbered", ({ from, to }) => ui.classId === from && ui.setClass(to));
  const pointer = new Pointer(stage.area, view, ui, inHand);
  const cursor = new KeyCursor(stage.area, { session, view, ui, overlay, tool: inHand });
  const pixelMenu = new PixelMenu(session, ui, view);
  pointer.menu = (x, y, at) => pixelMenu.open(x, y, at);

  const go = (place: Place) => {
    overlay.target = place;
    view.show(place);
  };
  const picture = new PicturePanel(session);
  memory.picture = picture;
  picture.changed = () => memory.keepSoon();
  const classSpectra = new ClassSpectra(session);
  const spectra = new SpectraPanel(session, ui, classSpectra, () => spectrum);
  const spectrum = new Spectrum(session, ui, classSpectra, () => spectra.toggle());
  spectrum.drawn = () => spectra.draw();
  spectrum.chosen = (channel, band) => picture.setBand(channel, band);
  stage.element.append(spectra.element);
  const classes = new ClassList(session, ui);
  const why = new WhyPanel(session, go);
  const audit = new AuditPanel(session, go);
  const numbers = new NumbersPanel(session);
  const compare = new Compare(session);
  compare.changed = (compared) => painter.compare(compared);
  stage.element.append(compare.divider);
  const history = new HistoryPanel(session, (step) => compare.show("state", step));
  compare.stateChosen = (step) => history.markCompared(step);
  const strokes = new StrokePanel(session, go);
  const tabs = new Tabs([
    { name: "Suggest", title: "What to label next", element: suggestionPanel(session, suggestions, go) },
    { name: "Audit", title: "Labels that the others contradict", element: audit.element },
    { name: "Why", title: "Which strokes decide a pixel's class", element: why.element },
    { name: "Strokes", title: "All strokes", element: strokes.element, shown: () => strokes.show() },
    { name: "History", title: "What was done, to go back to and forward again", element: history.element, shown: () => history.show() },
    { name: "Numbers", title: "Accuracy, areas, and what the last change did", element: numbers.element, shown: () => numbers.show() },
  ]);
  audit.counted = (found) => tabs.setCount("Audit", found);
  picture.shown = (image, bands) => {
    painter.setPicture(image);
    spectrum.setBands(bands);
  };
  picture.failed = (message) => notices.tell(message);
  const inspect = (place: Place) => {
    overlay.target = place;
    overlay.request();
    tabs.show("Why");
    void why.ask(place);
  };
  ui.on("inspect", inspect);

  // A mark has done its work once something is painted at it; a tool may set another.
  stage.area.addEventListener("pointerdown", () => {
    overlay.target = null;
    overlay.request();
  }, { capture: true });

  const layerListeners: (() => void)[] = [repaint, () => memory.keepSoon()];
  layers.changed = () => layerListeners.forEach((listener) => listener());
  document.body.append(
    toolbar(session),
    el("aside", { class: "left", attributes: { "aria-label": "Tools, layers and picture" } }, toolPanel(tools, ui), layerPanel(layers, (show) => layerListeners.push(show)), compare.element, picture.element, labelModePanel(session)),
    stage.element,
    el("aside", { class: "right", attributes: { "aria-label": "Classes, spectrum and lists" } }, classes.element, spectrum.element, tabs.element),
    statusLine(session, ui),
    cursor.spoken,
  );

  const walk = async (direction: 1 | -1) => {
    tabs.show("Suggest");
    const place = await suggestions.step(direction);
    if (place) go(place);
  };
  const undo = () => void (session.state?.can_undo && session.apply({ op: "undo" }));
  const redo = () => void (session.state?.can_redo && session.apply({ op: "redo" }));
  const keys: Keys = {
    ...Object.fromEntries(tools.map((tool) => [tool.key, () => ui.setTool(tool.name)])),
    ...Object.fromEntries(layers.list.map((layer) => [layer.key, () => layers.toggle(layer.id)])),
    "[": () => ui.stepSize(-1),
    "]": () => ui.stepSize(1),
    // Many layouts have brackets only behind AltGr.
    ",": () => ui.stepSize(-1),
    ".": () => ui.stepSize(1),
    o: () => layers.setOutlines(!layers.outlines),
    y: () => layers.setGreyUnder(!layers.greyUnder),
    h: () => view.fit(),
    "+": () => view.zoom(1.5),
    "=": () => view.zoom(1.5),
    "-": () => view.zoom(1 / 1.5),
    n: () => void walk(1),
    b: () => void walk(-1),
    k: () => compare.toggle(),
    q: () => spectra.toggle(),
    w: () => ui.hover && ui.inspect(ui.hover),
    t: () => void session.setLive(!session.state?.live),
    r: () => void session.ask({ ask: "update" }),
    d: toggleTheme,
    "?": showHelp,
    x: () => cursor.press(),
    Enter: () => cursor.finish() || inHand().finish(),
    Backspace: () => inHand().back(),
    Escape: () => {
      cursor.cancel();
      inHand().cancel();
      overlay.target = null;
      overlay.request();
    },
    "Ctrl+z": undo,
    "Ctrl+Shift+z": redo,
    "Ctrl+y": redo,
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
