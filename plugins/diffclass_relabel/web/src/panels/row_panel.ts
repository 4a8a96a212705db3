// The row under the pointer.

import { iconButton, muted, section } from "../base/dom";
import type { Session } from "../session/session";
import type { UiState } from "../tools/ui_state";
import type { RowContents } from "../session/row_contents";
import { fillRow, rowParts } from "./row_card";

const MOST = 12; // values

export class RowPanel {
  readonly element: HTMLElement;
  readonly #empty = muted("Point at a row to see it.");
  #parts = rowParts();
  #pixel = -1; // Pixel of the row that is shown: the last one under the pointer.

  constructor(private readonly session: Session, ui: UiState, private readonly rows: RowContents, enlarge: () => void) {
    this.element = section("Row", this.#empty, this.#parts);
    this.element.classList.add("of-table");
    this.element.querySelector("h2")!.append(iconButton("chart", "Rows to answer (q)", enlarge, "icon small"));
    this.#parts.hidden = true;
    ui.on("hover", (place) => place && this.#show(session.pixelOf(place)));
    rows.on("changed", () => this.#show(this.#pixel));
  }

  #show(pixel: number): void {
    if (!this.session.scene?.table || pixel < 0 || !this.session.hasData(pixel)) return;
    if (pixel !== this.#pixel) {
      const fresh = rowParts();
      this.#parts.replaceWith(fresh);
      [this.#parts, this.#pixel] = [fresh, pixel];
    }
    this.#empty.hidden = true;
    fillRow(this.#parts, this.rows, pixel, MOST);
  }
}
