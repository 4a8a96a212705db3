"""The map beside something else on the page, with a divider to drag or to move by keys."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass_relabel.session.editor import SessionEditor
from diffclass_relabel.session.label_files import Reference

from ..conftest import CLASSES
from ..strokes import three_classes, truth_stroke

PLACES = [(row, column) for row in range(2, 47, 4) for column in range(3, 48, 4)]
# at full strength, "#e69f00", "#56b4e9", "#009e73"
COLORS = np.array([[0, 0, 0], [0xE6, 0x9F, 0], [0x56, 0xB4, 0xE9], [0, 0x9E, 0x73]])


@pytest.fixture
def compared(new_editor, scene_folder, serve, open_tab, tissue):
    """An editor with a reference and a tab on it, after a stroke that changes much."""
    editor = new_editor()
    editor = SessionEditor(
        editor.workspace, editor.log, Reference.read(scene_folder / "strokes.hdr", editor.workspace)
    )
    for operation in three_classes(tissue):
        editor.apply(operation)
    editor.apply(truth_stroke(tissue, 3, 40, start=30))
    tab = open_tab(serve(editor).url)
    tab.idle()
    tab.show_map_only()
    return tab, editor


def shares(tab):
    """Return the share of the stage's width at which each of the places is seen."""
    box = tab.find(".area").bounding_box()
    return np.array([(tab.at(*place)[0] - box["x"]) / box["width"] for place in PLACES])


def assert_shows(tab, left, right, share=0.5):
    ids = np.where(shares(tab) < share, *(np.array([m[p] for p in PLACES]) for m in (left, right)))
    seen = ids < 4
    np.testing.assert_array_equal(tab.colors(PLACES)[seen], COLORS[ids[seen]])


def state_map(editor, step):
    return editor.workspace.raster(editor.session.map_at(step), fill=255)


def test_an_earlier_state_is_left_of_the_divider(compared):
    tab, editor = compared
    tab.key("k")
    divider = tab.find("[role=separator]")
    tab.wait("document.querySelector('.left-side').textContent.includes('differ')")
    before, now = state_map(editor, 6), tab.map
    n_changed = int((before != now).sum())
    assert n_changed > 20
    said = divider.inner_text().replace("\u2009", "")
    assert f"before, {n_changed} pixels differ" in said
    assert_shows(tab, before, now)
    box = tab.find(".area").bounding_box()
    tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 300)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 300, steps=3)
    tab.page.mouse.up()
    assert divider.get_attribute("aria-valuenow") == "40"
    assert_shows(tab, before, now, 0.4)
    tab.key("Shift+ArrowRight", "Shift+ArrowRight", "ArrowRight")
    assert divider.get_attribute("aria-valuenow") == "61"
    assert_shows(tab, before, now, 0.61)
    tab.key("End")
    assert_shows(tab, before, now, 1)
    assert len(editor.session.strokes) == 4  # nothing was painted
    tab.key("k")
    assert divider.is_hidden()
    assert_shows(tab, now, now)


def test_a_state_is_chosen_in_the_history(compared):
    tab, editor = compared
    tab.find("[data-tab=History]").click()
    tab.find("[data-compare='5']").click()
    tab.wait("document.querySelector('.left-side').textContent.includes('differ')")
    assert tab.find("[data-compare='5']").get_attribute("aria-pressed") == "true"
    five = state_map(editor, 5)
    assert_shows(tab, five, tab.map)
    tab.paint(2, (45, 5), (45, 40))
    assert_shows(tab, five, tab.map)
    tab.find("[data-step='3']").click()  # back beyond it, and on by another way
    tab.idle()
    tab.paint(1, (5, 5), (5, 9))
    tab.wait("document.querySelector('[role=separator]').hidden")  # there is no such state
    assert "there are states 0 to 4" in tab.find(".message:visible").inner_text()


def test_reference_and_picture(compared, tissue):
    tab, editor = compared
    select = tab.find("select[aria-label='Compare the map with']")
    for class_id, name in enumerate(CLASSES, start=1):
        assert editor.session.classes[class_id - 1].name == name
    select.select_option("reference")
    tab.wait("document.querySelector('.left-side').textContent.includes('agree')")
    truth = np.where(tissue.labels > 0, tissue.labels, 9)
    assert_shows(tab, truth, tab.map)
    known = (tissue.labels > 0) & (tab.map < 255) & (tab.labels == 0)  # as under Numbers
    percent = 100 * (tab.map == tissue.labels)[known].mean()
    assert f"{percent:.1f} % agree" in tab.find(".left-side").inner_text()
    select.select_option("picture")
    left = shares(tab) < 0.5
    compared = tab.colors(PLACES)
    tab.key("i")
    np.testing.assert_array_equal(compared[left], tab.colors(PLACES)[left])


def test_without_a_reference_none_is_offered(tab):
    tab.wait("document.querySelector('[aria-label=\"Compare the map with\"]')")
    option = tab.find("select[aria-label='Compare the map with'] option[value=reference]")
    assert option.get_attribute("disabled") is not None


def test_server_refuses_what_is_not_there(painter):
    assert "--reference FILE" in painter.ask("compare")["message"]
    assert "states 0 to 6" in painter.ask("compare", step=7)["message"]
    said = painter.ask("compare", step=0)
    assert {name: said[name] for name in said if name != "seq"} == {
        "kind": "answer", "ask": "compare", "step": 0,
    }  # fmt: skip
    assert set(painter.frames["compared"][1][0]) == {0, 255}
