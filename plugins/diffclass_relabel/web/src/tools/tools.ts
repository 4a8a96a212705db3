// The tools: brush and eraser, lasso and polygon, fill and inspect.

import { count } from "../base/dom";
import { distance, eachPixel, pixelAt, type Place } from "../base/raster";
import type { ClassRef } from "../session/optimistic_state";
import { addDisc, addLine, outline, polygonPixels } from "./shapes";
import { Tool } from "./tool";

const CALM = 3; // raster pixels of travel after which a click is a stroke

abstract class Disc extends Tool {
  override readonly drags = true;
  #pixels: Set<number> | null = null;
  #last: Place | null = null;
  #first: Place | null = null;
  #painted: ClassRef = { id: 0 };

  /** What the disc paints; null where it cannot. */
  protected abstract paints(): ClassRef | null;

  override down(at: Place): void {
    const painted = this.paints();
    if (!painted) return;
    [this.#painted, this.#pixels, this.#last, this.#first] = [painted, new Set(), at, at];
    addDisc(this.#pixels, at, this.context.ui.size, this.grid);
    this.#show(this.#pixels);
  }

  override drag(places: Place[]): void {
    if (!this.#pixels || !this.#last) return;
    const fresh = new Set<number>();
    for (const place of places) {
      addLine(fresh, this.#last, place, this.context.ui.size, this.grid);
      this.#last = place;
    }
    for (const pixel of fresh) this.#pixels.add(pixel);
    this.context.painter.painting ||= distance(this.#first!, this.#last) > CALM;
    this.#show(fresh);
  }

  override up(): void {
    const pixels = this.#pixels;
    this.#end();
    if (pixels) void this.context.session.paint(pixels, this.#painted);
  }

  override cancel(): void {
    if (!this.#pixels) return;
    this.#end();
    this.context.session.changeLabels();
  }

  override refresh(): void {
    if (this.#pixels) this.#show(this.#pixels);
  }

  override hover(at: Place | null): void {
    const { overlay, view, ui } = this.context;
    const pixels = new Set<number>();
    if (at) addDisc(pixels, at, ui.size, this.grid);
    overlay.brush = pixels.size ? outline(pixels, view.columns) : null;
    overlay.request();
  }

  #end(): void {
    this.#pixels = this.#last = null;
    this.context.painter.painting = false;
    this.context.painter.request();
  }

  #show(pixels: Set<number>): void {
    const { session, painter } = this.context;
    painter.patchLabels(session.labels.draw(pixels, this.#painted));
  }
}

export class Brush extends Disc {
  readonly name = "brush";
  readonly title = "Brush";
  readonly key = "p";

  protected paints(): ClassRef | null {
    return this.classToPaint();
  }
}

export class Eraser extends Disc {
  readonly name = "eraser";
  readonly title = "Eraser";
  readonly key = "e";

  protected paints(): ClassRef {
    return { id: 0 };
  }
}

const CLOSE = 8; // CSS pixels: a click this near to the first corner closes the polygon, to the last is none

abstract class Outline extends Tool {
  protected corners: Place[] = [];
  protected painted: ClassRef | null = null;

  override cancel(): void {
    this.corners = [];
    this.sketch();
  }

  protected fill(painted: ClassRef | null): void {
    const pixels = polygonPixels(this.corners, this.grid);
    this.cancel();
    if (painted) void this.context.session.paint(pixels, painted);
  }

  protected sketch(tip: Place | null = null): void {
    const corners = tip ? [...this.corners, tip] : this.corners;
    this.context.overlay.sketch = corners.length ? { corners, closed: corners.length > 2 } : null;
    this.context.overlay.request();
  }
}

export class Polygon extends Outline {
  readonly name = "polygon";
  readonly title = "Polygon: click the corners; Enter, double or right click closes";
  readonly key = "g";

  #pressed: Place | null = null;
  override down(at: Place): void {
    this.painted = this.classToPaint();
    if (!this.painted) return;
    this.#pressed = at;
    this.sketch(at);
  }

  override up(): void {
    const at = this.#pressed;
    this.#pressed = null;
    if (!at) return;
    if (this.corners.length > 2 && this.#isNear(at, this.corners[0])) return this.fill(this.painted);
    const last = this.corners.at(-1);
    if (!last || !this.#isNear(at, last)) this.corners.push(at); // a double click makes one corner
    this.sketch();
  }

  override hover(at: Place | null): void {
    if (this.corners.length) this.sketch(at);
  }

  override retract(): void {
    this.#pressed = null;
    this.sketch();
  }

  override get isOpen(): boolean {
    return this.corners.length > 0;
  }

  override cancel(): void {
    this.#pressed = null;
    super.cancel();
  }

  override finish(): void {
    if (this.corners.length > 2) this.fill(this.classToPaint());
  }

  override back(): void {
    this.corners.pop();
    this.sketch();
  }

  #isNear(a: Place, b: Place): boolean {
    const { scale, ratio } = this.context.view;
    return distance(a, b) * scale < CLOSE * ratio;
  }
}

export class Lasso extends Outline {
  override readonly drags = true;
  readonly name = "lasso";
  readonly title = "Lasso";
  readonly key = "a";

  override down(at: Place): void {
    this.painted = this.classToPaint();
    if (this.painted) this.corners = [at];
  }

  override drag(places: Place[]): void {
    if (!this.corners.length) return;
    this.corners.push(...places);
    this.sketch();
  }

  override up(): void {
    if (this.corners.length) this.fill(this.painted);
  }
}

abstract class ClickTool extends Tool {
  #pressed: Place | null = null;

  protected abstract act(pixel: Place): void;

  override down(at: Place): void {
    this.#pressed = pixelAt(at);
  }

  override up(): void {
    const pixel = this.#pressed;
    this.#pressed = null;
    if (pixel && this.context.view.contains(pixel)) this.act(pixel);
  }

  override cancel(): void {
    this.#pressed = null;
  }
}

/** Flood fill: the connected piece of the map under the pointer becomes a stroke; labels of other
 *  classes in it were painted by hand and stay. */
export class Fill extends ClickTool {
  readonly name = "fill";
  readonly title = "Fill a connected piece of the map";
  readonly key = "f";

  #painted: ClassRef | null = null;

  override down(at: Place): void {
    this.#painted = this.classToPaint();
    if (this.#painted) super.down(at);
  }

  protected act(place: Place): void {
    void this.#flood(place, this.#painted!);
  }

  async #flood(place: Place, painted: ClassRef): Promise<void> {
    const { session } = this.context;
    if (!session.hasMap) return session.tell("There is no map to fill from yet. Paint two classes first.", () => session.hasMap);
    const answer = await session.ask({ ask: "segment", pixel: session.pixelOf(place) });
    if (!answer) return;
    const pixels = new Set<number>();
    let spared = 0;
    eachPixel(answer.pixels, (item) => {
      const label = session.labels.shown[item];
      if (label !== 0 && label !== painted.id) spared++;
      pixels.add(item);
    });
    if (spared) session.tell(`${count(spared)} pixels keep the label of another class.`);
    await session.paint(pixels, { ...painted, spare: true });
  }
}

/** Changes nothing: asks why a pixel has its class. */
export class Inspect extends ClickTool {
  readonly name = "inspect";
  readonly title = "Inspect: why is a pixel in its class?";
  readonly key = "v";

  protected act(place: Place): void {
    this.context.ui.inspect(place);
  }
}
