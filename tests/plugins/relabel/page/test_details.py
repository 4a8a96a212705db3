"""What annotators stumble over: small windows, polygons, hidden classes, lost views, keyboards."""

from __future__ import annotations

import re

import numpy as np
from scipy import ndimage

from ..browser import engine_map


def is_inside(item, size):
    """Whether an element lies within a window of so many pixels."""
    box = item.bounding_box()
    ends = box["x"] + box["width"], box["y"] + box["height"]
    return min(box["x"], box["y"]) >= 0 and ends[0] <= size[0] and ends[1] <= size[1]


def resize(tab, size):
    tab.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))


def test_how_labels_count_is_chosen_and_the_walk_is_warped(tab, editor):
    assert not tab.find(".part").first.is_visible()
    tab.find(".made summary").click()
    assert tab.find(".made h3").all_inner_texts() == [
        "Time", "Class kernels", "How labels count", "Class sizes",
    ]  # fmt: skip
    tab.find("text=What is what").click()
    assert "Labels walk so many steps" in tab.find("dialog.help").inner_text()
    tab.key("Escape")
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
    tab.page.click("text=A kernel for each class")
    tab.wait("diffclass.state.warped")
    tab.idle()
    np.testing.assert_array_equal(tab.map, engine_map(editor))
    tab.page.click("text=A kernel for each class")
    tab.wait("!diffclass.state.warped")
    tab.idle()
    np.testing.assert_array_equal(tab.map, before)


def test_a_change_without_a_map_is_idle_again(tab):
    """A colour is an operation, but makes no map: waiting for one of that number took for ever."""
    for is_live, color in ((True, "#123456"), (False, "#654321")):
        if not is_live:
            tab.key("t")
            tab.wait("!diffclass.state.live")
            tab.stroke((20, 10), (20, 14))
            tab.wait("diffclass.state.stale")
        shown = tab.js("diffclass.lastMapVersion")
        tab.js(f"diffclass.apply({{ op: 'recolor_class', id: 1, color: '{color}' }})")
        late = "new Promise(resolve => setTimeout(() => resolve('late'), 20000))"
        assert tab.js(f"Promise.race([diffclass.idle().then(() => 'idle'), {late}])") == "idle"
        assert tab.state["classes"][0]["color"] == color
        assert tab.state["version"] > tab.state["map_version"] == shown


def test_everything_is_in_reach_in_small_windows(tab):
    names = "Keys (?)", "Undo (Ctrl+Z)"
    controls = ["[popovertarget=export-menu]", *(f"[aria-label='{name}']" for name in names)]
    for size in ((900, 700), (600, 700), (1280, 500)):
        resize(tab, size)
        for control in controls:
            assert is_inside(tab.find(control).first, size), control
        tab.find("[popovertarget=export-menu]").click()
        assert is_inside(tab.find(".menu.export"), size)
        header = tab.find("header.toolbar").bounding_box()
        assert tab.find(".menu.export").bounding_box()["y"] >= header["height"]
        status = tab.find(".status").bounding_box()
        for cell in tab.find(".status .cell:visible").all():
            box = cell.bounding_box()
            assert box["x"] + box["width"] <= status["width"]
        tab.key("Escape", "n")
        tab.find(".item.chosen").wait_for()
        tab.wait("document.querySelector('.item.chosen').getBoundingClientRect().height > 20")
    panel = tab.find("[role=tabpanel]:visible").bounding_box()
    assert panel["height"] >= 100
    assert panel["y"] + panel["height"] <= 500


def test_keys_are_listed_and_in_reach_in_small_windows(blank):
    blank.key("?")
    listed = blank.js("[...document.querySelectorAll('dialog.help kbd')].map(k => k.textContent)")
    listed = {key.lower().replace("\u2212", "-").replace("esc", "escape") for key in listed}
    keys = [key.lower() for key in blank.js("diffclass.keys")]
    parts = [re.findall(r"ctrl|shift|[a-z]{2,}|.$", key) for key in keys]
    assert {part for key in parts for part in key} - listed <= {"="}  # plus without Shift
    assert "next suggestion" in blank.find("dialog.help").inner_text()
    for size in ((1280, 500), (600, 700)):
        resize(blank, size)
        assert blank.js("document.querySelector('dialog.help').scrollWidth") <= size[0]
        right = blank.find("dialog.help").bounding_box()
        for key in blank.find("dialog.help dd").all():
            box = key.bounding_box()
            assert box["x"] + box["width"] <= right["x"] + right["width"]
    blank.key("Escape")
    assert not blank.find("dialog.help").is_visible()
    blank.find("[aria-label='Keys (?)']").click()
    blank.find("dialog.help [aria-label='Close (Esc)']").click()
    assert not blank.find("dialog.help").is_visible()
    size = "document.querySelector('.slider-row output').textContent"
    blank.key(".", ".")
    assert blank.js(size) == "5 px"
    blank.key(",")
    assert blank.js(size) == "4 px"
    # AltGr and 9 on a German keyboard, as Windows reports it
    blank.js(
        """dispatchEvent(new KeyboardEvent("keydown", {
             key: "]", ctrlKey: true, altKey: true, modifierAltGraph: true, cancelable: true}))"""
    )
    assert blank.js(size) == "5 px"


# what cuts its text without an ellipsis
CUT = """() => [...document.querySelectorAll(".right *")].filter(item => {
  const { overflowX, textOverflow } = getComputedStyle(item);
  const cuts = overflowX === "hidden" && item.scrollWidth > item.clientWidth + 1;
  return cuts && item.checkVisibility() &&
    (textOverflow !== "ellipsis" || /flex|grid/.test(getComputedStyle(item).display));
}).map(item => item.outerHTML.slice(0, 100))"""


def test_a_name_that_is_cut_short_shows_it(tab, editor):
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
        for size in ((1280, 720), (1024, 768), (900, 700)):
            resize(tab, size)
            assert tab.js(CUT) == [], (panel, size)


def test_a_hidden_class_that_is_painted_is_shown(tab):
    tab.find("[aria-label='Hide nuclei']").click()
    tab.wait("diffclass.state.classes[0].hidden")
    tab.paint(1, (40, 10), (40, 20))
    assert not tab.state["classes"][0]["hidden"]
    assert "shown again" in tab.find(".message").inner_text()
    assert (tab.labels[40, 11:20] == 1).all()


def test_a_class_that_is_merged_under_the_brush_takes_its_stroke_along(tab):
    tab.key("1")
    tab.press((20, 10), (20, 16))
    tab.js("diffclass.apply({ op: 'merge_classes', source: 1, into: 2 })")
    tab.wait("diffclass.pending === 0")
    tab.move(20, 22, steps=3)
    tab.release()
    tab.idle()
    assert (tab.labels[20, 10:22] == 2).all()
    assert tab.find(".message").is_hidden()


def test_fill_spares_labels_of_other_classes(tab, editor, places):
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


def test_points_without_a_class_are_counted_and_found(tab, editor):
    row = tab.find(".no-class")
    unclassified = int((engine_map(editor) == 0).sum())
    assert row.is_visible() == (unclassified > 0)
    assert tab.state["unclassified"] == unclassified
    tab.js("diffclass.apply({ op: 'tau', tau: 1 })")  # labels have gone one step
    tab.idle()
    tab.wait("!diffclass.state.stale")
    tab.idle()
    nothing = engine_map(editor) == 0
    count = f"{nothing.sum():,}".replace(",", "\u2009")
    assert nothing.sum() > 10
    assert row.inner_text().split("\n")[-1] == count
    assert f"{count} without a class" in tab.find(".cell.strokes").inner_text()
    tab.find("[data-tab=Numbers]").click()
    tab.find(".numbers th", has_text="no class").wait_for()
    assert count in tab.find(".numbers tr", has_text="no class").inner_text()
    tab.js("diffclass.view.zoom(12)")
    row.click()
    middle = tab.js("({ ...diffclass.view.middle })")
    rows, columns = np.nonzero(nothing)
    nearest = np.hypot(rows - middle["row"], columns - middle["column"]).min()
    assert nearest < 1 + np.hypot(*nothing.shape) / 12


def test_where_labels_are_few_the_page_points_at_the_next(tab):
    hint = tab.find(".status .cell", has_text="Suggest (n)")
    assert hint.is_hidden()
    tab.add_class("rare")
    assert hint.is_hidden()  # nothing is labelled with it yet
    tab.key("[", "[")
    tab.paint(4, (44, 10), (44, 13))
    assert hint.is_visible()
    tab.paint(4, (44, 20), (44, 30))
    assert hint.is_hidden()


def test_what_was_set_up_survives_a_reload(tab):
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
    tab.reload()
    tab.idle()
    assert tab.js(now) == before


def test_sizes_of_classes_are_given_undone_and_refused(tab, editor):
    tab.find(".made summary").click()
    field, note = tab.find("input[aria-label='Class sizes']"), tab.find("#sizes-note")
    before = tab.map
    assert (field.input_value(), note.inner_text()) == ("", "")
    field.fill("nuclei=half")
    field.press("Enter")
    note.filter(has_text="'half' of 'nuclei' is no size; write 20%").wait_for()
    assert field.input_value() == "nuclei=half"  # to be mended
    assert field.get_attribute("aria-invalid") == "true"
    assert not tab.find(".message:visible").count()
    assert tab.state["class_sizes"] == ""
    field.fill("nuclei = 50-60%, stroma=0.1-0.3ha")
    field.press("Enter")
    tab.wait("diffclass.state.sizes_met && diffclass.state.refined && !diffclass.state.stale")
    tab.idle()
    assert field.input_value() == "nuclei=50-60%,stroma=0.1-0.3ha"
    said = {"met": "sizes met", "unused": "not used: graph disagrees"}
    assert note.inner_text() == said[tab.state["sizes_met"]]
    assert field.get_attribute("aria-invalid") == "false"
    np.testing.assert_array_equal(tab.map, engine_map(editor))
    tab.js("diffclass.apply({ op: 'rename_class', id: 1, name: 'cells' })")
    tab.idle()
    assert field.input_value() == "cells=50-60%,stroma=0.1-0.3ha"
    field.blur()
    tab.key("Control+z", "Control+z")
    tab.wait("diffclass.state.class_sizes === '' && !diffclass.state.stale")
    tab.idle()
    assert (field.input_value(), note.inner_text()) == ("", "")
    np.testing.assert_array_equal(tab.map, before)
    field.fill("uniform")
    field.press("Enter")
    tab.wait("diffclass.state.sizes_met && diffclass.state.refined")
    field.fill("")
    field.press("Enter")
    tab.wait("diffclass.state.class_sizes === '' && !diffclass.state.stale")
    tab.idle()
    np.testing.assert_array_equal(tab.map, before)


def test_the_first_steps_are_shown_once(gate, open_tab):
    tab = open_tab(gate.url, tour=True)
    steps = tab.find("[aria-label='First steps']")
    for number in range(1, 5):
        assert steps.inner_text().startswith(f"{number} of 4. ")
        assert is_inside(steps, (1280, 720))
        tab.key("Enter")
    assert steps.count() == 0
    tab.reload()
    assert steps.count() == 0


def test_the_first_steps_can_be_skipped(gate, open_tab):
    tab = open_tab(gate.url, tour=True, width=1024)
    steps = tab.find("[aria-label='First steps']")
    steps.wait_for()
    tab.key("Escape")
    assert steps.count() == 0
    again = tab.open(tab.url)
    assert again.locator("[aria-label='First steps']").count() == 0


def test_the_spectrum_is_folded_and_stays_so(tab):
    plot = tab.find(".right canvas.spectrum")
    fold = tab.find("[aria-label='Plot under the pointer']")
    assert plot.is_visible()
    fold.click()
    assert plot.is_hidden()
    assert fold.get_attribute("aria-expanded") == "false"
    tab.reload()
    tab.idle()
    assert plot.is_hidden()
    fold.click()
    assert plot.is_visible()
