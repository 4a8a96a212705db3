"""The page without a pointer and without eyes: keys, names and roles, contrast."""

from __future__ import annotations

import numpy as np
import pytest

from ..browser import engine_map, lacking
from .test_build import WEB

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
INTERACTIVE = {
    "button", "checkbox", "combobox", "spinbutton", "slider", "radio", "switch", "tab", "textbox",
    "menuitem", "application", "ColorWell", "image", "tabpanel", "radiogroup",
}  # fmt: skip


def go(tab, row, column):
    """Move the keyboard's cursor to a pixel, wherever it is."""
    here = tab.js("diffclass.hover")
    for delta, forth, back in (
        (row - here["row"], "ArrowDown", "ArrowUp"),
        (column - here["column"], "ArrowRight", "ArrowLeft"),
    ):
        tab.key(*[forth if delta > 0 else back] * abs(delta))


def test_a_map_without_a_pointer(tab, editor):
    tab.find(".area").focus()
    tab.key("ArrowRight")  # the cursor appears in the middle of what is seen
    assert tab.js("diffclass.hover") == {"row": 24, "column": 25}
    tab.key("3")
    go(tab, 40, 10)
    assert tab.find(".spoken").text_content().startswith("row 40, column 10, map ")
    tab.key("x", "Shift+ArrowRight", "x")
    tab.idle()
    assert (tab.labels[40, 10:21] == 3).all()
    np.testing.assert_array_equal(tab.map, engine_map(editor))
    tab.key("2", "g")
    for place in [(10, 30), (10, 40), (20, 40), (20, 30)]:
        go(tab, *place)
        tab.key("x")
    tab.key("Enter")
    tab.idle()
    assert (tab.labels[11:20, 31:40] == 2).all()
    version = tab.state["version"]
    tab.key("p", "x", "ArrowRight", "Escape")
    tab.idle()
    assert tab.state["version"] == version
    # the view follows the cursor
    tab.js("diffclass.view.zoom(6)")
    go(tab, 24, 25)
    tab.key("Shift+ArrowRight", "Shift+ArrowRight", "ArrowRight")
    place = tab.js("diffclass.hover")
    assert place["column"] > 45
    window = tab.js("diffclass.view.window")
    assert window["left"] <= place["column"] < window["right"]


def test_menus_work_by_keys(tab):
    tab.find("[aria-label^='Rename, hide']").nth(1).focus()
    tab.key("Enter")
    tab.find(".menu-item:visible").first.wait_for()
    tab.key("ArrowDown", "Enter")  # Hide
    tab.wait("diffclass.state.classes[1].hidden")
    tab.find("[aria-label^='Rename, hide']").nth(1).focus()
    tab.key("Enter", "Escape")
    assert tab.find(".menu-item:visible").count() == 0
    assert "Rename, hide" in tab.js("document.activeElement.ariaLabel")


def test_the_focus_stays_while_the_list_is_made_anew(tab):
    button = tab.find("[aria-label^='Rename, hide']").nth(1)
    button.focus()
    lock = (
        "() => diffclass.apply({ op: 'lock_class', id: diffclass.state.classes[1].id, locked: %s })"
    )
    for is_open, is_locked in ((False, "true"), (True, "false")):
        if is_open:
            tab.key("Enter")
            tab.find(".menu-item:visible").first.wait_for()
        tab.js("() => { window.before = document.querySelectorAll('.class-row')[1] }")
        tab.js(lock % is_locked)
        tab.wait("!window.before.isConnected")
        if is_open:
            tab.key("Escape")
        focused = "document.querySelectorAll('.class-row')[1].contains(document.activeElement)"
        assert tab.js(focused)
        assert "Rename, hide" in tab.js("document.activeElement.ariaLabel")


def test_the_tree_that_screen_readers_get(tab):
    tab.find("summary:text('How the map is made')").click()
    client = tab.context.new_cdp_session(tab.page)
    nodes = client.send("Accessibility.getFullAXTree")["nodes"]
    found = [
        (node["role"]["value"], node.get("name", {}).get("value", "").strip())
        for node in nodes
        if not node["ignored"]
    ]
    assert [role for role, name in found if role in INTERACTIVE and not name] == []
    for role, name in [
        ("heading", "scene.hdr"),
        ("main", ""),
        ("region", "Tools"),
        ("complementary", "Layers and picture"),
        ("radio", "Brush"),
        ("slider", "Brush size, pixels"),
        ("slider", "Diffusion time tau, steps"),
        ("switch", "Live"),
        ("button", "nuclei"),
        ("tab", "Suggest"),
        ("tabpanel", "Suggest"),
    ]:
        assert (role, name) in found


CONTRASTS = """() => {
  const part = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => {
    const [r, g, b] = c.match(/[0-9.]+/g).map(Number);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = light(getComputedStyle(document.querySelector(".right")).backgroundColor);
  return [...document.querySelectorAll("button:enabled svg")].map(icon => {
    let opacity = 1;
    for (let e = icon; e; e = e.parentElement) opacity *= getComputedStyle(e).opacity;
    const ink = light(getComputedStyle(icon).color);
    const ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    return opacity < 1 ? 0 : ratio;
  });
}"""


def assert_axe_finds_nothing_serious(tab):
    found = tab.js("axe.run().then(({ violations }) => violations)")
    grave = [
        (item["id"], [node["html"][:120] + node["failureSummary"] for node in item["nodes"]])
        for item in found
        if item["impact"] in ("serious", "critical")
    ]
    assert grave == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("tablet", [False, True])
def test_axe_finds_nothing_serious_and_icons_stand_out(painted_url, open_tab, scheme, tablet):
    if not AXE.is_file():
        lacking(f"no axe-core; run npm install in {WEB}")
    size = {"width": 1024, "height": 768} if tablet else {}
    tab = open_tab(painted_url, color_scheme=scheme, has_touch=tablet, **size)
    tab.idle()
    ratios = tab.js(CONTRASTS)
    assert len(ratios) > 10
    assert min(ratios) >= 3
    tab.js(AXE.read_text(encoding="utf-8") + "; 0")
    panels = ("Suggest", "Audit", "Why", "Strokes", "History", "Numbers")
    for panel in (*panels, "Import labels", "Export", "help"):
        if panel == "help":
            tab.key("Escape", "?")
        elif panel not in panels:
            tab.page.click(f"text={panel}")
        else:
            tab.find(f"[data-tab={panel}]").click()
        assert_axe_finds_nothing_serious(tab)
    tab.key("Escape")
    tab.find(".stretch summary").click()
    tab.wait("document.querySelector(\"[aria-label='Red, low']\").value === '2'")
    tab.key("q")
    tab.wait("document.querySelectorAll('.spectra-legend input').length === 3")
    tab.find("[data-tab=History]").click()
    tab.find(".history-row").first.wait_for()
    tab.key("k")
    tab.wait("document.querySelector('.left-side').textContent.includes('differ')")
    assert_axe_finds_nothing_serious(tab)
