// Puts the page together: its parts are made and connected here alone.

import { el, startTheme } from "./base/dom";
import type { Place } from "./base/raster";
import { NotebookTransport } from "./notebook/transport";
import { ClassList } from "./panels/class_list";
import { Compare } from "./panels/compare";
import { HistoryPanel } from "./panels/history_panel";
import { Help, keysOf, listen, pageKeys } from "./keys";
import { foldByRoom, panelsButton } from "./panels/folds";
import { layerPanel, toolPanel } from "./panels/left_column";
import { GUIDE, mapPanel } from "./panels/map_panel";
import { NumbersPanel } from "./panels/numbers_panel";
import { PreparationPanel, SceneChooser } from "./panels/opening";
import { PicturePanel } from "./panels/picture_panel";
import { AuditPanel, StrokePanel, suggestionPanel, WhyPanel } from "./panels/place_lists";
import { Spectra, SpectraPanel, SpectrumPanel } from "./panels/spectra";
import { statusLine, StatusMessages } from "./panels/status";
import { Tabs } from "./panels/tabs";
import { toolbar } from "./panels/toolbar";
import { startTour } from "./panels/tour";
import { makeProbe } from "./probe";
import { RowGrid } from "./panels/row_grid";
import { RowPanel } from "./panels/row_panel";
import { makeWorkbench, type Workbench } from "./workbench";
import { keepChanges } from "./session/kept_changes";
import { Session } from "./session/session";
import { Socket } from "./session/socket";
import { type Transport, WebTransport } from "./session/transport";
import { UiState } from "./tools/ui_state";

const isInNotebook = location.href === "about:srcdoc";

/** Going to a place, and from suggestion to suggestion. */
function makeWalk({ session, view, overlay, suggestions }: Workbench, showSuggestions: () => void) {
  const go = (place: Place) => {
    overlay.mark(place);
    view.show(place);
  };
  const walk = async (direction: 1 | -1) => {
    showSuggestions();
    const place = await suggestions.step(direction);
    if (place) go(place);
  };
  const toUnclassified = () => {
    const place = session.nearestUnclassified(view.middle);
    if (place) go(place);
  };
  return { go, walk: (direction: 1 | -1) => void walk(direction), toUnclassified };
}

/** The lists in the lower right. */
function makeTabs({ session, ui, overlay, suggestions, rows }: Workbench, compare: Compare, walking: ReturnType<typeof makeWalk>): Tabs {
  const { go } = walking;
  const why = new WhyPanel(session, go);
  const audit = new AuditPanel(session, go, (found) => tabs.setCount("Audit", found));
  const strokes = new StrokePanel(session, go);
  const history = new HistoryPanel(session, compare);
  const numbers = new NumbersPanel(session);
  const tabs = new Tabs([
    { name: "Suggest", title: "What to label next", element: suggestionPanel(session, suggestions, rows, walking) },
    { name: "Audit", title: "Labels that the others contradict", element: audit.element },
    { name: "Why", title: "Which strokes decide a pixel's class", element: why.element },
    { name: "Strokes", title: "All strokes", element: strokes.element, shown: () => strokes.show() },
    { name: "History", title: "What was done, to go back to and forward again", element: history.element, shown: () => history.show() },
    { name: "Numbers", title: "Accuracy, areas, and what the last change did", element: numbers.element, shown: () => numbers.show() },
  ], ui);
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
  session.on("scene", ({ scene }) => {
    document.body.classList.remove("without-scene");
    document.body.classList.toggle("over-table", scene.table !== null);
  });
  const ui = new UiState();
  const bench = makeWorkbench(session, ui);
  const { layers, stage, painter, pointer } = bench;

  const picture = new PicturePanel(session, bench.settings);
  picture.on("shown", ({ picture }) => painter.setPicture(picture));
  const spectra = new Spectra(session, ui);
  const spectraPanel = new SpectraPanel(session, ui, spectra);
  const spectrum = new SpectrumPanel(session, ui, spectra, picture, () => spectraPanel.toggle());
  const classes = new ClassList(session, ui, () => walking.toUnclassified());
  const rowGrid = new RowGrid(session, ui, bench.rows, bench.suggestions, bench.overlay);
  const rowPanel = new RowPanel(session, ui, bench.rows, () => rowGrid.toggle());
  const compare = new Compare(session);
  compare.on("shown", (compared) => painter.compare(compared));
  const walking = makeWalk(bench, () => tabs.show("Suggest"));
  const tabs = makeTabs(bench, compare, walking);

  const shortcuts = pageKeys({
    ...bench, walk: walking.walk,
    toggleCompare: () => compare.toggle(), toggleSpectra: () => (session.scene?.table ? rowGrid : spectraPanel).toggle(), toggleHelp: () => help.toggle(),
  });
  const help = new Help(shortcuts, "How the map is made", GUIDE);
  const keys = keysOf(shortcuts);
  listen(keys, (digit, now) => classes.pressDigit(digit, now), (held) => pointer.setSpace(held));

  stage.element.append(
    new StatusMessages(session).element, new PreparationPanel(session.socket).element, new SceneChooser(session.socket).element,
    spectraPanel.element, rowGrid.element, compare.divider,
  );
  const tools = toolPanel(bench.tools, ui);
  tools.append(panelsButton());
  const right = el("aside", { class: "right", attributes: { "aria-label": "Classes, spectrum and lists" } }, classes.element, spectrum.element, rowPanel.element, tabs.element);
  const left = el("aside", { class: "left", attributes: { "aria-label": "Layers and picture" } }, layerPanel(layers), compare.element, picture.element, mapPanel(session, () => help.explain()));
  foldByRoom(right, session, ui);
  document.body.append(
    toolbar(session, () => help.toggle()),
    tools,
    stage.element,
    el("div", { class: "columns" }, right, left),
    statusLine(session, ui, bench.rows),
    bench.cursor.spoken,
    help.element,
  );
  startTour(session);
  // Leaving would lose changes that the server does not have.
  addEventListener("beforeunload", (event) => {
    if (session.socket.pending.length) event.preventDefault();
  });
  Object.assign(window, { diffclass: makeProbe(bench, picture, keys) });
  if (isInNotebook) keepChanges(session.socket);
  session.socket.open();
}
void (isInNotebook ? NotebookTransport.begin() : Promise.resolve(new WebTransport())).then(start);
