// The notebook's side: the page in a frame of its own, so that neither styles nor keys get in each
// other's way, and its messages passed on to the model. Loaded by anywidget.

import { type FromPage, GREETING, type Look, type ToPage } from "./transport";

type Listener = (message: ToPage, buffers: DataView[]) => void;

/** What is used of anywidget's model. */
interface Model {
  get(name: "_page" | "height"): any;
  send(message: FromPage): void;
  on(event: string, listener: Listener | (() => void)): void;
  off(event: string, listener: Listener | (() => void)): void;
}

/** Told when the kernel's end of the model comes or goes. */
const LIVE = ["comm_live_update", "comm:close"];

/** One page: the document that is in the frame until it is loaded anew. */
class Page {
  readonly #clients = new Set<string>(); // Its own name, and those under which it sends what was kept.
  readonly #channel = new MessageChannel();

  constructor(private readonly model: Model, frame: Window) {
    this.#channel.port1.onmessage = (event) => this.#tell(event.data);
    model.on("msg:custom", this.#hear);
    for (const event of LIVE) model.on(event, this.#lose);
    frame.postMessage(GREETING, "*", [this.#channel.port2]);
  }

  leave(): void {
    this.model.off("msg:custom", this.#hear);
    for (const event of LIVE) this.model.off(event, this.#lose);
    for (const client of this.#clients) this.#send({ client, kind: "leave" });
    this.#channel.port1.close();
  }

  #tell(message: FromPage): void {
    this.#clients.add(message.client);
    if (!this.#send(message)) this.#lose();
  }

  /** Sends a message; false where there is no kernel any more. */
  #send(message: FromPage): boolean {
    try {
      this.model.send(message);
      return true;
    } catch {
      return false;
    }
  }

  /** Tells the page that what it sends may not arrive: it keeps what has no answer. */
  readonly #lose = (): void => {
    this.#channel.port1.postMessage({ client: "", kind: "closed" } satisfies ToPage);
  };

  readonly #hear: Listener = (message, [buffer]) => {
    if (!this.#clients.has(message.client)) return; // all views of a model hear everything
    const data = buffer?.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength);
    this.#channel.port1.postMessage({ ...message, data });
  };
}

/** Whether the notebook is dark: its text is light then, whatever it is made with. */
function lookOf(element: HTMLElement): Look {
  const [red, green, blue] = getComputedStyle(element).color.match(/[\d.]+/g)!.map(Number);
  return { theme: red + green + blue > 384 ? "dark" : "light" };
}

/** Keys of the notebook, which would end in the frame: saving and running cells. */
function isOfNotebook({ key, ctrlKey, metaKey, shiftKey }: KeyboardEvent): boolean {
  const isHeld = ctrlKey || metaKey;
  return (isHeld && key.toLowerCase() === "s") || (key === "Enter" && (isHeld || shiftKey));
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  let page: Page | null = null;
  const frame = document.createElement("iframe");
  frame.title = "diffclass relabel";
  frame.allow = "fullscreen";
  const resize = () => (frame.style.cssText = `display: block; width: 100%; height: ${model.get("height")}px; border: 0`);
  const dress = () => frame.contentWindow?.postMessage(lookOf(el), "*");
  const open = () => (frame.srcdoc = model.get("_page"));
  // also when the notebook has moved the frame: its document begins anew
  frame.addEventListener("load", () => {
    page?.leave();
    page = new Page(model, frame.contentWindow!);
    dress();
    frame.contentWindow!.addEventListener("keydown", (event) => {
      if (!isOfNotebook(event)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      (el.closest<HTMLElement>(".jp-Notebook") ?? document.body).focus();
      const { key, code, keyCode, ctrlKey, metaKey, shiftKey } = event;
      el.dispatchEvent(new KeyboardEvent("keydown", { key, code, keyCode, ctrlKey, metaKey, shiftKey, bubbles: true, cancelable: true, composed: true }));
    }, { capture: true });
  });
  const watch = new MutationObserver(dress);
  for (const part of [document.documentElement, document.body]) watch.observe(part, { attributes: true });
  resize();
  model.on("change:height", resize);
  model.on("change:_page", open);
  open();
  el.append(frame);
  return () => {
    watch.disconnect();
    model.off("change:height", resize);
    model.off("change:_page", open);
    page?.leave();
  };
}

export default { render };
