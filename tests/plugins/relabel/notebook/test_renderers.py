"""The widget in frames such as VS Code and Colab show outputs in, as far as they document them.

VS Code's are sandboxed, replace `window.parent`, and may have a content security policy
(``notebook.experimental.enableCsp``). Colab's are of another site than the notebook, to which
browsers refuse storage; the smallest of them does not, so that a script does it here.
"""

from __future__ import annotations

import base64
import queue

import numpy as np
import pytest

from diffclass_relabel.notebook.pages import SessionThread
from experiments.relabel.driver.browser import PATIENCE, PREPARED

from ..jupyter import FramedTab

widget = pytest.importorskip("diffclass_relabel.notebook.widget", reason="no anywidget")

STYLE = "width: 1200px; height: 705px; border: 0"
SANDBOX = "allow-same-origin allow-pointer-lock allow-scripts allow-downloads"
POLICY = """<meta http-equiv="Content-Security-Policy" content="default-src 'none';
  script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline';
  img-src 'self' https: http: data:; font-src 'self' https:; connect-src https:;
  child-src https: data:;">"""
AS_VS_CODE = "<script>window.parent = window; window.top = window; frameElement = null;</script>"
#: The outer page's address, the output's, the frame's sandbox, and what the output's head holds.
RENDERERS = {
    "VS Code": ("https://code.test", "https://code.test", SANDBOX, AS_VS_CODE),
    "VS Code with its policy": ("https://code.test", "https://code.test", SANDBOX, POLICY),
    "Colab": ("https://colab.test", "https://output.test", "", ""),
}
NO_STORAGE = """if (origin !== "https://colab.test")
  Object.defineProperty(window, "localStorage", {
    get() { throw new DOMException("refused", "SecurityError"); },
  });"""

# What is used of a model, as anywidget gives it; the kernel's end is the test.
OUTPUT = """<!doctype html><html><head>{head}</head><body><div id="output"></div>
<script type="module">
  import widget from "./widget.js";
  const listeners = {};
  window.model = {
    get: (name) => ({ height: 700, _page: window.pageText })[name],
    send: (message) => void window.toKernel(message),
    on: (name, act) => (listeners[name] ??= new Set()).add(act),
    off: (name, act) => listeners[name]?.delete(act),
  };
  window.hear = (message, data) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    const parts = ["binary", "got"].includes(message.kind) ? [new DataView(bytes.buffer)] : [];
    for (const act of listeners["msg:custom"] ?? []) act(message, parts);
  };
  window.start = (text) => {
    window.pageText = text;
    widget.render({ model, el: document.getElementById("output") });
  };
</script></body></html>"""


class Rendered(FramedTab):
    """A tab on the widget in a frame of a renderer, and its kernel."""

    def __init__(self, browser, editor, renderer):
        self.kernel = SessionThread(lambda preparation: editor, self._post, scene="scene")
        self._posted = queue.SimpleQueue()
        self._renderer = RENDERERS[renderer]
        script = NO_STORAGE if renderer == "Colab" else ""
        super().__init__(browser, self._renderer[0], tour=True, script=script)

    def open(self, url):
        outer, output, sandbox, head = self._renderer
        script = (widget._STATIC / "widget.js").read_text(encoding="utf-8")
        allowed = f'sandbox="{sandbox}"' if sandbox else ""
        frame = f'<iframe id="out" {allowed} src="{output}/output.html" style="{STYLE}"></iframe>'
        answers = {
            f"{outer}/": ("text/html", frame),
            f"{output}/output.html": ("text/html", OUTPUT.replace("{head}", head)),
            f"{output}/widget.js": ("text/javascript", script),
        }

        def answer(route):
            kind, text = answers.get(route.request.url, ("text/plain", ""))
            route.fulfill(content_type=kind, body=text)

        self.context.route("**/*", answer)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(error.stack or str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        self.page.expose_function("toKernel", self.kernel.take)
        self.page.goto(outer)
        self.output = self.page.wait_for_selector("#out").content_frame()
        self.output.wait_for_function("() => window.start")
        self.output.evaluate("text => start(text)", widget.page_text())
        self.handle = self.output.wait_for_selector("iframe")
        self.frame = self.handle.content_frame()
        self.wait("window.diffclass?.connection === 'open' && diffclass.state", PREPARED)
        return self.page

    def _post(self, message, buffers):
        data = base64.b64encode(b"".join(buffers)).decode()
        self._posted.put([dict(message), data])

    def pump(self):
        """Bring the frame what the kernel has posted."""
        while not self._posted.empty():
            self.output.evaluate("([message, data]) => hear(message, data)", self._posted.get())
        self.page.wait_for_timeout(5)

    def wait(self, condition, patience=PATIENCE):
        for _ in range(patience // 5):
            self.pump()
            if self.frame.evaluate(f"() => Boolean({condition})"):
                return
        raise AssertionError(condition)

    def idle(self):
        self.js("window.isIdle = false; void diffclass.idle().then(() => (window.isIdle = true))")
        self.wait("window.isIdle")

    def close(self):
        self.kernel.close()
        super().close()


@pytest.mark.parametrize("renderer", RENDERERS)
def test_painting_and_exporting(browser, editor, renderer, tmp_path):
    tab = Rendered(browser, editor, renderer)
    tab.find(".tour button:has-text('Skip')").click()
    for class_id, row in ((1, 5), (2, 30)):
        tab.add_class(f"class {class_id}")
        tab.paint(class_id, (row, 5), (row, 20))
    tab.wait("diffclass.state.n_strokes === 2 && diffclass.state.refined")
    tab.idle()
    tab.page.screenshot(path=tmp_path / "page.png")
    assert editor.version == 4
    shown = tab.map
    tab.find("button:has-text('Export')").click()
    saved = []
    tab.page.on("download", lambda file: saved.append(file))
    tab.find("[title='Map as NumPy, ids alone (.npy)']").click()
    while not saved:
        tab.pump()
    np.testing.assert_array_equal(np.load(saved[0].path()) % 255, shown % 255)
    tab.find("[title='Dark or light']").click()
    assert tab.js("document.documentElement.dataset.theme") == "dark"
    with_storage = "() => { try { return Boolean(localStorage) } catch { return false } }"
    assert tab.js(with_storage) == (renderer != "Colab")
    tab.close()
