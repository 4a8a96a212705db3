// The pictures of rows on the canvas, where it is large enough for them.

import type { View } from "./view";
import type { Session } from "../session/session";
import type { RowContents } from "../session/row_contents";

const LEGIBLE = 20; // CSS pixels of a cell
const FRAME = 0.08; // share of a cell on each side where the colour of its class is seen

export class RowPictures {
  constructor(private readonly session: Session, private readonly view: View, private readonly rows: RowContents) {}

  /** Draws in raster coordinates. */
  draw(context: CanvasRenderingContext2D): void {
    const { view, session, rows } = this;
    if (!session.scene?.table?.images || view.scale < LEGIBLE * view.ratio) return;
    const { top, left, bottom, right } = view.window;
    context.globalAlpha = 1;
    context.imageSmoothingEnabled = true;
    for (let row = top; row < bottom; row++) {
      for (let column = left; column < right; column++) {
        const picture = rows.pictureOf(session.pixelOf({ row, column }));
        if (!picture) continue;
        const scale = (1 - 2 * FRAME) / Math.max(picture.width, picture.height);
        const [width, height] = [picture.width * scale, picture.height * scale];
        context.drawImage(picture, column + (1 - width) / 2, row + (1 - height) / 2, width, height);
      }
    }
    context.imageSmoothingEnabled = false;
  }
}
