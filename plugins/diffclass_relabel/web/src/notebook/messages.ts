// What passes between the page in a notebook's frame and `diffclass_relabel.notebook.pages` in Python.

export interface FromPage {
  client: string;
  /** "heard": one "text" or "binary" has arrived, so that the next may be sent. */
  kind: "join" | "text" | "heard" | "get" | "leave";
  text?: string;
  /** Of a "get"; its answer has the same. */
  number?: number;
  path?: string;
}

export interface ToPage {
  client: string;
  kind: "text" | "binary" | "got" | "closed";
  text?: string;
  number?: number;
  /** Why nothing was got. */
  problem?: string;
  /** Of "binary" and "got". */
  data?: ArrayBuffer;
}

/** What the frame is told, with a port, to begin with. */
export const GREETING = "diffclass relabel";
