"""From the start page to an exported map by keys alone, as who has no pointer does it."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass_hyperspectral import write_raster
from experiments.relabel.driver.browser import PATIENCE, PREPARED
from experiments.relabel.driver.processes import Relabel

POINTERS = """
window.pointers = 0;
for (const name of ["pointerdown", "pointermove", "wheel", "touchstart"])
  addEventListener(name, () => window.pointers++, true);
"""
FOCUS = """() => {
  const at = document.activeElement;
  return at.ariaLabel || at.title || at.textContent.trim();
}"""


class Keyboard:
    """A tab that knows keys alone."""

    def __init__(self, context, url):
        context.add_init_script(POINTERS)
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.goto(url)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def tab_to(self, begin, key="Tab", most=60):
        """Move the focus until it is on what begins so."""
        seen = []
        for _ in range(most):
            self.press(key)
            seen.append(self.page.evaluate(FOCUS))
            if seen[-1].startswith(begin):
                return
        raise AssertionError(f"no {begin}: {seen}")

    def wait(self, condition, patience=PATIENCE):
        self.page.wait_for_function(f"() => {condition}", polling=20, timeout=patience)


@pytest.mark.slow
def test_from_the_start_page_to_an_exported_map(tmp_path, browser, tissue, process_environment):
    write_raster(tmp_path / "tissue.tif", tissue.cube.astype(np.float32))
    environment = process_environment | {"XDG_STATE_HOME": str(tmp_path / "state")}
    process = Relabel(environment=environment, cwd=tmp_path)
    context = browser.new_context(accept_downloads=True)
    try:
        user = Keyboard(context, process.url)
        user.wait("document.querySelector('.start ul button')")
        user.tab_to("tissue.tif")
        user.press("Enter")
        user.wait("window.diffclass?.connection === 'open' && diffclass.state", PREPARED)
        if user.page.locator(".tour").is_visible():
            user.page.screenshot(path=tmp_path / "tour.png")
            user.press("Escape")
        for name, strokes in (
            ("nuclei", (["Shift+ArrowUp"] * 2, ["Shift+ArrowRight"])),
            ("stroma", (["Shift+ArrowDown"] * 4, ["Shift+ArrowLeft"])),
        ):
            user.tab_to("Add a class")
            user.press("Enter")
            user.page.keyboard.type(name)
            user.press("Enter")
            user.wait(f"diffclass.state.classes.some(item => item.name === '{name}')")
            way, stroke = strokes
            user.press("x", *way, "x", *stroke, "x")
            user.wait("diffclass.pending === 0")
        user.wait("diffclass.state.n_strokes === 2 && diffclass.state.refined", PREPARED)
        user.page.evaluate("diffclass.idle()")
        user.page.screenshot(path=tmp_path / "painted.png")
        user.tab_to("Export", key="Shift+Tab")
        user.press("Enter")
        with user.page.expect_download() as saved:
            user.tab_to("Map as NumPy")
            user.press("Enter")
        shown = user.page.evaluate("Array.from(diffclass.map)")
        exported = np.load(saved.value.path())
        assert saved.value.suggested_filename == "tissue_map.npy"
        np.testing.assert_array_equal(exported.ravel(), shown)
        assert set(np.unique(exported)) == {1, 2}
        user.press("Escape")
        assert user.page.evaluate("window.pointers") == 0
    finally:
        context.close()
        process.end()
