// `window.diffclass`: what tests (and curious users) may look at. Nothing in the page depends on it.
//
//   state           the session's state: as the server last sent it, with what was done here since
//   map, labels     Uint8Array of class ids, row * columns + column; map is null before the first
//   view, layers    the view (scale, offset) and the layers (visible, opacity)
//   lastMapVersion  version of the map on the screen, null before the first
//   lastLatency     ms from the last change to its map on the screen
//   lastComputing   those of them in which the map was computed
//   pending         operations that the server has not confirmed
//   connection      "connecting", "open", "lost" or "refused"
//   suggestions     pixel numbers of the present list, and `current`
//   previewing      whether the map shown is that of a tau being chosen
//   hover           the pixel under the pointer
//   keys            names of all keys of the page
//   pixelAt(x, y)   {row, column} under a point of the page (clientX, clientY)
//   clientOf(r, c)  {x, y} of the middle of a pixel on the page
//   canvasPixel(r, c)  [red, green, blue, alpha] on the canvas at the middle of a pixel, painted now
//   apply(operation)  does what a control would; a promise
//   drop()          loses the connection, as a network would
//   idle()          a promise: all confirmed and told, the picture there, and in live mode the map up
//                   to date and painted; it cannot know what another tab has sent a moment ago

import { pixelAt } from "./base/raster";
import type { Layers } from "./canvas/layers";
import type { Painter } from "./canvas/painter";
import type { View } from "./canvas/view";
import type { Keys } from "./panels/keys";
import type { PicturePanel } from "./panels/picture_panel";
import type { Operation, SessionState } from "./session/protocol.generated";
import type { Session } from "./session/session";
import type { Suggestions } from "./session/suggestions";
import type { Pointer } from "./tools/pointer";
import type { UiState } from "./tools/ui_state";

interface Parts {
  session: Session;
  ui: UiState;
  view: View;
  layers: Layers;
  painter: Painter;
  picture: PicturePanel;
  pointer: Pointer;
  suggestions: Suggestions;
  keys: Keys;
  area: HTMLElement;
}

export function makeProbe({ session, ui, view, layers, painter, picture, pointer, suggestions, keys, area }: Parts) {
  return {
    get state() { return session.state; },
    get scene() { return session.scene; },
    get map() { return session.map?.ids ?? null; },
    get labels() { return session.labels.shown; },
    get lastMapVersion() { return session.map?.version ?? null; },
    get lastLatency() { return session.latency; },
    get lastComputing() { return session.computing; },
    get pending() { return session.socket.pending.length; },
    get connection() { return session.socket.connection; },
    get suggestions() { return { pixels: suggestions.list?.pixels ?? [], current: suggestions.current }; },
    get previewing() { return session.preview !== null; },
    get hover() { return ui.hover; },
    get classId() { return ui.classId; },
    keys: Object.keys(keys),
    view,
    layers,
    pixelAt(x: number, y: number) {
      return pixelAt(pointer.place(x, y));
    },
    clientOf(row: number, column: number) {
      const box = area.getBoundingClientRect();
      const at = view.deviceMiddle({ row, column });
      return { x: box.left + at.x / view.ratio, y: box.top + at.y / view.ratio };
    },
    canvasPixel(row: number, column: number) {
      painter.paint();
      const at = view.deviceMiddle({ row, column });
      const context = painter.canvas.getContext("2d")!;
      return [...context.getImageData(Math.floor(at.x), Math.floor(at.y), 1, 1).data];
    },
    apply: (operation: Operation) => session.apply(operation),
    drop: () => session.socket.drop(),
    async idle() {
      const isMapDue = (state: SessionState) => state.computing || (state.live && state.stale && !state.problem);
      const busy = () =>
        session.socket.connection !== "open" || !session.state || session.isUnanswered || session.notice.isDue || picture.isLoading ||
        isMapDue(session.state) || (session.map?.version ?? null) !== session.state.map_version ||
        Boolean(session.map?.left);
      while (busy()) await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    },
  };
}
