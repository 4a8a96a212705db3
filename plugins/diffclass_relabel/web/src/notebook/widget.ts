// The notebook's side: the page in a frame of its own, so that neither styles nor keys get in each
// other's way, and its messages passed on to the model. Loaded by anywidget.

import { type FromPage, GREETING, type ToPage } from "./transport";

type Listener = (message: ToPage, buffers: DataView[]) => void;

/** What is used of anywidget's model. */
interface Model {
  get(name: "_page" | "height"): any;
  send(message: FromPage): void;
  on(event: string, listener: Listener | (() => void)): void;
  off(event: string, listener: Listener | (() => void)): void;
}

/** One page: the document that is in the frame until it is loaded anew. */
class Page {
  #client = "";
  readonly #channel = new MessageChannel();

  constructor(private readonly model: Model, frame: Window) {
    this.#channel.port1.onmessage = (event) => this.#tell(event.data);
    model.on("msg:custom", this.#hear);
    frame.postMessage(GREETING, "*", [this.#channel.port2]);
  }

  leave(): void {
    this.model.off("msg:custom", this.#hear);
    if (this.#client) this.model.send({ client: this.#client, kind: "leave" });
    this.#channel.port1.close();
  }

  #tell(message: FromPage): void {
    this.#client = message.client;
    this.model.send(message);
  }

  readonly #hear: Listener = (message, [buffer]) => {
    if (message.client !== this.#client) return; // all views of a model hear everything
    const data = buffer?.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength);
    this.#channel.port1.postMessage({ ...message, data });
  };
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  let page: Page | null = null;
  const frame = document.createElement("iframe");
  frame.title = "diffclass relabel";
  frame.allow = "fullscreen";
  const resize = () => (frame.style.cssText = `display: block; width: 100%; height: ${model.get("height")}px; border: 0`);
  resize();
  model.on("change:height", resize);
  // also when the notebook has moved the frame: its document begins anew
  frame.addEventListener("load", () => {
    page?.leave();
    page = new Page(model, frame.contentWindow!);
  });
  frame.srcdoc = model.get("_page");
  el.append(frame);
  return () => {
    model.off("change:height", resize);
    page?.leave();
  };
}

export default { render };
