"""What annotators stumble over: small windows, polygons, hidden classes, lost views, keyboards."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import ndimage

from ..browser import engine_map


def is_inside(item, size):
    """Whether an element lies within a window of so many pixels."""
    box = item.bounding_box()
    ends = box["x"] + box["width"], box["y"] + box["height"]
    return min(box["x"], box["y"]) >= 0 and ends[0] <= size[0] and ends[1] <= size[1]


def test_how_labels_count_is_chosen(painted, editor):
    tab = painted
    picker = tab.find("select[aria-label='How labels count']")
    assert picker.input_value() == "summed"
    before = tab.map
    picker.select_option("absorbing")
    tab.wait("diffclass.state.label_mode === 'absorbing'")
    tab.idle()
    np.testing.assert_array_equal(tab.map, engine_map(editor))
    assert editor.session.label_mode == "absorbing"
    assert (tab.map != before).any()
    tab.key("Control+z")
    tab.wait("diffclass.state.label_mode === 'summed'")
    tab.idle()
    assert picker.input_value() == "summed"
    np.testing.assert_array_equal(tab.map, before)


@pytest.mark.parametrize("is_live", [True, False])
def test_a_change_without_a_map_is_idle_again(painted, is_live):
    """A colour is an operation, but makes no map: waiting for one of that number took for ever."""
    tab = painted
    if not is_live:
        tab.key("t")
        tab.wait("!diffclass.state.live")
        tab.stroke((20, 10), (20, 14))
        tab.wait("diffclass.state.stale")
    shown = tab.js("diffclass.lastMapVersion")
    tab.js("diffclass.apply({ op: 'recolor_class', id: 1, color: '#123456' })")
    late = "new Promise(resolve => setTimeout(() => resolve('late'), 20000))"
    assert tab.js(f"Promise.race([diffclass.idle().then(() => 'idle'), {late}])") == "idle"
    assert tab.state["classes"][0]["color"] == "#123456"
    assert tab.state["version"] > tab.state["map_version"] == shown


@pytest.mark.parametrize("size", [(900, 700), (600, 700), (1280, 500)])
def test_everything_is_in_reach_in_small_windows(painted, size):
    tab = painted
    tab.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    for control in ("text=Export", "[aria-label='Keys (?)']", "[aria-label='Undo (Ctrl+Z)']"):
        assert is_inside(tab.find(control).first, size), control
    tab.page.click("text=Export")
    assert is_inside(tab.find(".menu.export"), size)
    header = tab.find("header").bounding_box()
    assert tab.find(".menu.export").bounding_box()["y"] >= header["height"]
    status = tab.find(".status").bounding_box()
    for cell in tab.find(".status .cell:visible").all():
        box = cell.bounding_box()
        assert box["x"] + box["width"] <= status["width"]
    tab.key("Escape", "n")
    tab.find(".item.chosen").wait_for()
    tab.wait("document.querySelector('.item.chosen').getBoundingClientRect().height > 20")
    if size[1] <= 500:
        panel = tab.find("[role=tabpanel]:visible").bounding_box()
        assert panel["height"] >= 100
        assert panel["y"] + panel["height"] <= size[1]


@pytest.mark.parametrize("size", [(1280, 500), (600, 700)])
def test_all_keys_are_in_reach_in_small_windows(tab, size):
    tab.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    tab.key("?")
    assert tab.js("document.querySelector('dialog.help').scrollWidth") <= size[0]
    right = tab.find("dialog.help").bounding_box()
    for key in tab.find("dialog.help dd").all():
        box = key.bounding_box()
        assert box["x"] + box["width"] <= right["x"] + right["width"]


@pytest.mark.parametrize("size", [(1280, 720), (1024, 768), (900, 700)])
def test_a_name_that_is_cut_short_shows_it(painted, editor, size):
    """Whatever has no room for its text ends in an ellipsis."""
    tab = painted
    tab.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    for info in list(editor.session.classes):
        tab.js("op => diffclass.apply(op)", {"op": "rename_class", "id": info.id,
               "name": f"{info.name} of a long name, at least"})  # fmt: skip
    tab.key("1")
    tab.stroke((20, 10), (20, 20))
    tab.idle()
    for panel in ("Audit", "Strokes", "History"):
        tab.find(f"[data-tab={panel}]").click()
        if panel == "Audit":
            tab.find("text=Check labels").click()
        tab.find(".item:visible").first.wait_for()
        cut = tab.js(
            """() => [...document.querySelectorAll(".right *")].filter(item => {
              const { overflowX, textOverflow } = getComputedStyle(item);
              const cuts = overflowX === "hidden" && item.scrollWidth > item.clientWidth + 1;
              return cuts && item.checkVisibility() &&
                (textOverflow !== "ellipsis" || /flex|grid/.test(getComputedStyle(item).display));
            }).map(item => item.outerHTML.slice(0, 100))"""
        )
        assert cut == [], panel


@pytest.mark.parametrize("way", ["double", "right"])
def test_a_polygon_is_closed_by_double_or_right_click(painted, way):
    tab = painted
    tab.key("2", "g")
    for place in [(10, 30), (10, 40), (20, 40)]:
        tab.click(*place)
    if way == "double":
        tab.page.mouse.dblclick(*tab.at(20, 30))
    else:
        tab.click(20, 30)
        tab.page.mouse.click(*tab.at(5, 5), button="right")
    tab.idle()
    assert (tab.labels[11:20, 31:40] == 2).all()
    assert tab.labels[5, 5] == 0
    assert tab.find(".menu-item:visible").count() == 0


def test_the_view_cannot_be_lost(painted):
    tab = painted
    tab.js("diffclass.view.pan(1e5, -1e5)")
    corner = tab.js("diffclass.view.window")
    assert corner["right"] > corner["left"]
    assert corner["bottom"] > corner["top"]
    before = tab.js("diffclass.view.scale")
    tab.key("h")
    window = tab.js("diffclass.view.window")
    assert window == {"top": 0, "left": 0, "bottom": 48, "right": 50}
    assert tab.js("diffclass.view.scale") == before


def test_a_hidden_class_that_is_painted_is_shown(painted):
    tab = painted
    tab.find("[aria-label='Hide nuclei']").click()
    tab.wait("diffclass.state.classes[0].hidden")
    tab.paint(1, (40, 10), (40, 20))
    assert not tab.state["classes"][0]["hidden"]
    assert "shown again" in tab.find(".message").inner_text()
    assert (tab.labels[40, 11:20] == 1).all()


def test_fill_spares_labels_of_other_classes(painted, editor, places):
    tab = painted
    row, column = places[2][1]
    pieces, _ = ndimage.label(engine_map(editor) == engine_map(editor)[row, column])
    piece = pieces == pieces[row, column]
    mine = (tab.labels > 0) & piece
    assert mine.any()
    before = tab.labels[mine]
    version = tab.state["version"]
    tab.key("3", "f")
    tab.click(row, column)
    tab.wait(f"diffclass.state.version === {version + 1}")
    tab.idle()
    np.testing.assert_array_equal(tab.labels[mine], before)
    np.testing.assert_array_equal(tab.labels[piece & ~mine], 3)
    assert "keep the label of another class" in tab.find(".message").inner_text()


def test_where_labels_are_few_the_page_points_at_the_next(painted):
    tab = painted
    hint = tab.find(".status .cell", has_text="Suggest (n)")
    assert hint.is_hidden()
    tab.add_class("rare")
    assert hint.is_hidden()  # nothing is labelled with it yet
    tab.key("[", "[")
    tab.paint(4, (44, 10), (44, 13))
    assert hint.is_visible()
    tab.paint(4, (44, 20), (44, 30))
    assert hint.is_hidden()


def test_brush_sizes_on_any_keyboard(tab):
    size = "document.querySelector('.slider-row output').textContent"
    tab.key(".", ".")
    assert tab.js(size) == "5 px"
    tab.key(",")
    assert tab.js(size) == "4 px"
    # AltGr and 9 on a German keyboard, as Windows reports it
    tab.js(
        """dispatchEvent(new KeyboardEvent("keydown", {
             key: "]", ctrlKey: true, altKey: true, modifierAltGraph: true, cancelable: true}))"""
    )
    assert tab.js(size) == "5 px"


def test_every_key_is_listed(tab):
    tab.key("?")
    listed = tab.js("[...document.querySelectorAll('dialog.help kbd')].map(k => k.textContent)")
    listed = {key.lower().replace("\u2212", "-").replace("esc", "escape") for key in listed}
    keys = [key.lower() for key in tab.js("diffclass.keys")]
    parts = [re.findall(r"ctrl|shift|[a-z]{2,}|.$", key) for key in keys]
    assert {part for key in parts for part in key} - listed <= {"="}  # plus without Shift


def test_what_was_set_up_survives_a_reload(painted):
    tab = painted
    tab.key("2", "e", ".", ".", "o", "y", "u", "d")
    tab.js("diffclass.layers.setOpacity('doubt', 0.5)")
    tab.js("diffclass.view.zoom(4)")
    tab.js("diffclass.view.pan(-150, 90)")
    now = """({...diffclass.view.window,
              size: document.querySelector(".slider-row output").textContent,
              tool: document.querySelector("[data-tool][aria-checked=true]").dataset.tool,
              theme: document.documentElement.dataset.theme,
              classId: diffclass.classId, outlines: diffclass.layers.outlines,
              grey: diffclass.layers.greyUnder, doubt: diffclass.layers.opacity("doubt")})"""
    before = tab.js(now)
    assert (before["tool"], before["theme"]) == ("eraser", "dark")
    tab.page.reload()
    tab.wait("window.diffclass?.connection === 'open' && diffclass.state")
    tab.idle()
    assert tab.js(now) == before
