"""The list of what was done: what it says, and stepping back and forth in it."""

from __future__ import annotations

import numpy as np

from ..browser import engine_map
from ..strokes import truth_stroke


def test_each_step_says_what_was_done(labelled, new_editor, tissue):
    labelled.apply({"op": "move", "stroke": 2, "class": 3})
    labelled.apply({"op": "remove", "stroke": 1})
    labelled.apply({"op": "merge_classes", "source": 1, "into": 2})
    labelled.apply({"op": "hide_class", "id": 2, "hidden": True})
    labelled.apply({"op": "tau", "tau": 20})
    painted = truth_stroke(tissue, 2, 5, start=20)
    labelled.apply({"op": "batch", "operations": [painted, painted], "name": "labels of a.tif"})
    history = labelled.history()
    assert (history["step"], history["n_steps"]) == (12, 12)
    said = [(s["title"], s["name"], s["class"], s["count"]) for s in history["steps"]]
    assert said == [
        ("new class", "nuclei", 1, None),
        ("new class", "cytoplasm", 2, None),
        ("new class", "stroma", 3, None),
        ("painted", "nuclei", 1, 12),
        ("painted", "cytoplasm", 2, 12),
        ("painted", "stroma", 3, 12),
        ("took over stroke 2", "stroma", 3, 12),
        ("lost stroke 1", "nuclei", 1, 12),
        ("took over nuclei", "cytoplasm", 2, None),
        ("hidden", "cytoplasm", 2, None),
        ("time 20", "", 0, None),
        ("labels of a.tif", "", 0, 10),
    ]
    labelled.apply({"op": "undo", "steps": 8})
    assert [s["step"] for s in labelled.history()["steps"]] == list(range(1, 13))
    labelled.log.close()
    again = new_editor()
    assert again.history()["step"] == 4
    again.apply(painted)
    assert [s["title"] for s in again.history()["steps"]][3:] == ["painted", "painted"]
    assert again.history()["steps"][-1]["at"] >= history["steps"][0]["at"]


def test_only_the_newest_steps_are_told(editor, tissue):
    editor.apply({"op": "add_class"})
    for k in range(520):
        editor.apply({"op": "rename_class", "id": 1, "name": f"name {k}"})
    history = editor.history()
    assert [s["step"] for s in history["steps"]] == list(range(22, 522))
    editor.apply({"op": "undo", "steps": 471})
    assert [s["step"] for s in editor.history()["steps"]] == list(range(1, 522))


def test_a_click_goes_back_and_forward(tab, editor):
    before, strokes = tab.map, tab.state["n_strokes"]
    tab.paint(3, (24, 5), (24, 40))
    tab.paint(1, (40, 10), (40, 20))
    after = tab.map
    tab.find("[data-tab=History]").click()
    rows = tab.find(".history .item")
    rows.nth(2).wait_for()
    assert rows.count() == 12
    assert "nuclei" in rows.first.inner_text()
    assert "39 px" in rows.first.inner_text()
    assert rows.last.inner_text().split() == ["0", "beginning"]
    tab.find("[data-step='9']").click()
    tab.find("[data-step='9'][aria-current=step]").wait_for()
    tab.idle()
    np.testing.assert_array_equal(tab.map, before)
    assert editor.version == 12  # one operation, however far
    tab.find("[data-step='11']").click()
    tab.find("[data-step='11'][aria-current=step]").wait_for()
    tab.idle()
    np.testing.assert_array_equal(tab.map, after)
    np.testing.assert_array_equal(tab.map, engine_map(editor))
    tab.key("Control+z")
    tab.find("[data-step='10'][aria-current=step]").wait_for()
    assert tab.state["n_strokes"] == strokes + 1


def test_history_by_keys(tab):
    tab.find("[data-tab=Suggest]").focus()
    tab.key("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
    assert tab.js("document.activeElement.dataset.tab") == "History"
    tab.find("[data-step='9'][aria-current=step]").focus()
    tab.key("ArrowDown", "ArrowDown", "Enter")
    tab.find("[data-step='7'][aria-current=step]").wait_for()
    assert tab.js("document.activeElement.dataset.step") == "7"
    tab.key("Home", "Enter")
    tab.find("[data-step='9'][aria-current=step]").wait_for()
    tab.key("End", "Enter")
    tab.find("[data-step='0'][aria-current=step]").wait_for()
    assert tab.state["n_strokes"] == 0
