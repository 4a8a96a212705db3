"""A page of the relabel tool in a real browser, driven with mouse and keys as a user would."""

from __future__ import annotations

import shutil

import numpy as np

PATIENCE = 30_000  # ms
PREPARED = 300_000  # ms until a scene is prepared, loops compiled
OPEN = "window.diffclass?.connection === 'open' && diffclass.state"


# the shell is Chromium without windows of its own, and tests take half the processor time with it
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser")


def chromium(playwright):
    """Launch Debian's Chromium; raises FileNotFoundError without it."""
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        raise FileNotFoundError("no chromium; apt-get install chromium-headless-shell")
    return playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])


class Tab:
    """A tab on the tool; errors in its console are one when it is closed.

    ``script`` runs before those of each page. The first steps count as seen, unless ``tour``.
    """

    def __init__(self, browser, url, *, width=1280, height=720, script="", tour=False, **options):
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, accept_downloads=True, **options
        )
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(script)
        if not tour:
            self.context.add_init_script("localStorage.setItem('diffclass-tour', 'seen')")
        self.errors = []
        self.url = url
        self.open(url)

    def open(self, url):
        """Open an address in a page of its own within this tab's browser profile."""
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.errors.append(error.stack or str(error)))
        self.page.goto(url)
        self.wait(OPEN, PREPARED)
        return self.page

    def reload(self):
        """Load the page anew and wait for its session."""
        self.page.reload()
        self.wait(OPEN)

    def close(self):
        self.context.close()
        assert not self.errors, self.errors

    def js(self, code, argument=None):
        return self.page.evaluate(code, argument)

    def wait(self, condition, patience=PATIENCE):
        self.page.wait_for_function(f"() => {condition}", polling=10, timeout=patience)

    def idle(self):
        """Wait until everything this tab did is confirmed, and picture and (live) map are drawn."""
        self.js("diffclass.idle()")

    def key(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def find(self, selector, **options):
        return self.page.locator(selector, **options)

    def at(self, row, column):
        """Return where the middle of a pixel is on the page."""
        place = self.js("([row, column]) => diffclass.clientOf(row, column)", [row, column])
        return place["x"], place["y"]

    def move(self, row, column, steps=1):
        self.page.mouse.move(*self.at(row, column), steps=steps)

    def press(self, *places):
        """Press the button at the first place and drag over the others; it stays down."""
        self.move(*places[0])
        self.page.mouse.down()
        for place in places[1:]:
            self.move(*place, steps=3)

    def release(self):
        self.page.mouse.up()

    def stroke(self, *places):
        self.press(*places)
        self.release()

    def click(self, row, column):
        self.page.mouse.click(*self.at(row, column))

    def paint(self, class_place, *places):
        """Paint with the class at a place of the list and wait for the map."""
        self.key(str(class_place))
        self.stroke(*places)
        self.idle()

    def undo(self, times=1):
        """Take back by key and wait for the map."""
        self.key(*["Control+z"] * times)
        self.idle()

    def download(self, title, **options):
        """Press the button of a title that gives a file, and return what comes."""
        with self.page.expect_download() as waiting:
            self.find(f"[title='{title}']", **options).click()
        return waiting.value

    def add_class(self, name):
        self.find("[aria-label='Add a class']").click()
        field = self.find("input.class-name")
        field.fill(name)
        field.press("Enter")
        named = f"diffclass.state.classes.some(item => item.name === {name!r})"
        self.wait(f"diffclass.pending === 0 && {named}")

    def show_map_only(self):
        """Show the map as areas at full strength, so that canvas colours are class colours."""
        self.js("diffclass.layers.setOpacity('map', 1)")
        self.js("['labels', 'suggestions'].forEach(id => diffclass.layers.setVisible(id, false))")

    def color(self, row, column):
        """Return the colour on the canvas, "#rrggbb"."""
        pixel = self.js("([row, column]) => diffclass.canvasPixel(row, column)", [row, column])
        return "#{:02x}{:02x}{:02x}".format(*pixel[:3])

    def colors(self, places):
        """Return the colours on the canvas at pixels, shape (n, 3)."""
        code = "places => places.map(([row, column]) => diffclass.canvasPixel(row, column))"
        return np.array(self.js(code, np.asarray(places).tolist()))[:, :3]

    @property
    def state(self):
        return self.js("diffclass.state")

    @property
    def map(self):
        return self._plane("Array.from(diffclass.map)")

    @property
    def labels(self):
        return self._plane("Array.from(diffclass.labels)")

    def _plane(self, code):
        scene = self.js("diffclass.scene")
        plane = np.array(self.js(code), dtype=np.uint8)
        return plane.reshape(scene["rows"], scene["columns"])
