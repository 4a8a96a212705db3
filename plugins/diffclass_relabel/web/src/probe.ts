// `window.diffclass`: what tests (and curious users) may look at. Nothing in the page depends on it.

import { pixelAt } from "./base/raster";
import type { Keys } from "./keys";
import type { PicturePanel } from "./panels/picture_panel";
import type { Operation, SessionState } from "./session/protocol.generated";
import type { Workbench } from "./workbench";

export function makeProbe({ session, ui, view, layers, painter, pointer, suggestions, stage }: Workbench, picture: PicturePanel, keys: Keys) {
  return {
    /** As the server last sent it, with what was done here since. */
    get state() { return session.state; },
    get scene() { return session.scene; },
    /** Class ids, row * columns + column, as `labels`; null before the first map. */
    get map() { return session.map?.ids ?? null; },
    get labels() { return session.labels.shown; },
    get lastMapVersion() { return session.map?.version ?? null; },
    /** Milliseconds from the last change to its map on the screen, and those in which it was computed. */
    get lastLatency() { return session.latency; },
    get lastComputing() { return session.computing; },
    /** Operations that the server has not confirmed. */
    get pending() { return session.socket.pending.length; },
    get connection() { return session.socket.connection; },
    get suggestions() { return { pixels: suggestions.list?.pixels ?? [], current: suggestions.current }; },
    /** Whether the map shown is that of a tau being chosen. */
    get previewing() { return session.preview !== null; },
    get hover() { return ui.hover; },
    get classId() { return ui.classId; },
    get tolerance() { return ui.tolerance; },
    keys: Object.keys(keys),
    view,
    layers,
    /** The pixel under a point of the page. */
    pixelAt: (x: number, y: number) => pixelAt(pointer.place(x, y)),
    /** The point of the page at the middle of a pixel. */
    clientOf(row: number, column: number) {
      const box = stage.area.getBoundingClientRect();
      const at = view.deviceMiddle({ row, column });
      return { x: box.left + at.x / view.ratio, y: box.top + at.y / view.ratio };
    },
    /** Red, green, blue and alpha on the canvas at the middle of a pixel, painted now. */
    canvasPixel(row: number, column: number) {
      painter.paint();
      const at = view.deviceMiddle({ row, column });
      const context = painter.canvas.getContext("2d")!;
      return [...context.getImageData(Math.floor(at.x), Math.floor(at.y), 1, 1).data];
    },
    /** Does what a control would. */
    apply: (operation: Operation) => session.apply(operation),
    /** Loses the connection, as a network would. */
    drop: () => session.socket.drop(),
    /** Waits until all is confirmed and told, the picture there, and in live mode the map up to date and
     *  painted; it cannot know what another tab has sent a moment ago. */
    async idle() {
      const isMapDue = (state: SessionState) => state.computing || (state.live && state.stale && !state.problem);
      const busy = () =>
        session.socket.connection !== "open" || !session.state || session.isUnanswered || session.notice.isDue || picture.isLoading || layers.isLowered ||
        isMapDue(session.state) || (session.map?.version ?? null) !== session.state.map_version ||
        Boolean(session.map?.left);
      while (busy()) await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    },
  };
}
