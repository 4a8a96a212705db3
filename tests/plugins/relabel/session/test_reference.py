"""References and imported labels that number classes otherwise: matched, asked for, and said."""

from __future__ import annotations

import base64
import io
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diffclass.command_line.main import run
from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import ClassTable, LabelImage, read_labels, write_class_map
from diffclass_relabel.maps import NO_DATA, unpack_frame
from diffclass_relabel.queries.answers import compared_frame
from diffclass_relabel.queries.numbers import Numbers
from diffclass_relabel.session.editor import SessionEditor
from diffclass_relabel.session.label_files import Reference, label_import
from diffclass_relabel.session.session_files import open_editor

from ..conftest import NAMES
from ..strokes import three_classes

ASKED = ".question:has(.matching)"
QUESTION = f"{ASKED} .matching"


def renumbered(ids, numbers):
    """Return ids with other numbers; 0 stays."""
    return np.array([0, *numbers])[ids]


def as_file(ids):
    """Return an image without names as a page sends it."""
    content = io.BytesIO()
    np.save(content, ids)
    return [{"name": "l.npy", "data": base64.b64encode(content.getvalue()).decode()}]


@pytest.fixture
def mapped(labelled):
    """A session of three named classes, with its map."""
    labelled.update()
    return labelled


@pytest.fixture
def nearly(mapped):
    """The classes of the session's map in one pixel of a thousand otherwise."""
    ids = np.where(mapped.map.ids == NO_DATA, 0, mapped.map.ids).astype(int)
    free = np.flatnonzero((ids.ravel() > 0) & (mapped.labels.ids.ravel() == 0))[::1000]
    ids.ravel()[free] = ids.ravel()[free] % 3 + 1
    return ids


def with_reference(editor, ids, path, names=None, match=None):
    """Return the session with a reference of a file, its map, and the numbers it is given."""
    write_class_map(path, ids, ClassTable.from_ids(np.unique(ids), names=names), legend=False)
    reference = Reference.read(path, editor.workspace, match=match)
    compared = SessionEditor(editor.workspace, editor.log, reference)
    compared.update()
    return compared, Numbers(compared)


# References


@pytest.mark.parametrize("numbers", [[11, 12, 13], [2, 3, 1]])
def test_a_reference_with_other_ids_asks(mapped, nearly, tmp_path, numbers):
    editor, counter = with_reference(mapped, renumbered(nearly, numbers), tmp_path / "r.npy")
    match = counter.answer()["match"]
    assert match["asks"]
    assert match["by_overlap"] > 0.998
    assert [item["proposed"] for item in sorted(match["classes"], key=lambda item: item["id"])] == [
        1 + numbers.index(i) for i in sorted(numbers)
    ]
    assert match["agreement"] == (
        match["by_overlap"] if numbers[0] > 3 else pytest.approx(0, abs=3e-3)
    )
    for item in match["classes"]:
        assert 0.99 * item["compared"] < item["agreed"] <= item["compared"] == item["count"]
    # what the user says counts from now on, and nothing is asked again
    told = counter.match({numbers[i]: i + 1 for i in range(3)})
    assert told["match"]["by"] == "choice"
    assert not told["match"]["asks"]
    assert told["accuracy"]["overall"] == match["by_overlap"]
    assert len(told["history"]) == 1  # earlier maps were counted otherwise
    _, planes = unpack_frame(compared_frame(editor), nearly.size)
    has = nearly.ravel() > 0
    assert np.array_equal(np.array(planes[0])[has], nearly.ravel()[has])


def test_a_reference_is_read_by_ids_unless_these_are_contradicted(mapped, nearly, tmp_path):
    found = with_reference(mapped, nearly, tmp_path / "r.npy")[1].answer()
    assert found["accuracy"]["overall"] > 0.998
    assert (found["match"]["by"], found["match"]["asks"]) == ("ids", False)


def test_a_reference_that_names_its_classes_is_read_by_names(mapped, nearly, tmp_path):
    names = {3: " Nuclei", 1: "CYTOPLASM", 2: "stroma"}
    ids = renumbered(nearly, [3, 1, 2])
    found = with_reference(mapped, ids, tmp_path / "r.tif", names)[1].answer()
    assert found["accuracy"]["overall"] > 0.998
    assert (found["match"]["by"], found["match"]["asks"]) == ("names", False)


@pytest.mark.parametrize(("rule", "right"), [("ids", False), ("overlap", True)])
def test_a_rule_can_be_asked_for(mapped, nearly, tmp_path, rule, right):
    ids = renumbered(nearly, [2, 3, 1])
    found = with_reference(mapped, ids, tmp_path / "r.npy", match=rule)[1].answer()
    assert found["match"]["by"] == rule
    assert (found["accuracy"]["overall"] > 0.998) == right
    assert found["match"]["asks"] != right  # what is so far off is said whatever was asked for


def test_names_that_a_reference_lacks_are_said(mapped, nearly, tmp_path):
    _, numbers = with_reference(mapped, nearly, tmp_path / "r.npy", match="names")
    assert "no class name in common" in numbers.answer()["note"]


def test_what_a_user_says_has_to_be_there(mapped, nearly, tmp_path):
    editor, _ = with_reference(mapped, nearly, tmp_path / "r.npy")
    for pairs in ({9: 1}, {1: 9}):
        with pytest.raises(ParameterError, match="there is no such class"):
            editor.match_reference(pairs)
    with pytest.raises(ParameterError, match="there is no reference"):
        mapped.match_reference({1: 1})


def test_a_class_that_was_chosen_and_is_gone_is_missed(mapped, nearly, tmp_path):
    ids = renumbered(nearly, [11, 12, 13])
    editor, numbers = with_reference(mapped, ids, tmp_path / "r.npy")
    editor.match_reference({11: 1, 12: 2, 13: 3})
    editor.apply({"op": "merge_classes", "source": 3, "into": 2})
    editor.update()
    found = numbers.answer()
    assert found["accuracy"]["foreign"] == [{"class": -13, "name": "class 13"}]


# Imports


@settings(
    deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.permutations([1, 2, 3, 7, 250]))
def test_by_overlap_labels_join_the_same_classes_whatever_their_ids(mapped, nearly, numbers):
    labels = LabelImage.from_array(renumbered(nearly, numbers[:3]))
    found = label_import(
        labels, mapped.workspace, mapped.session.classes, known=mapped.known_classes(), by="overlap"
    )
    assert {one.entry.id: one.to for one in found.classes} == {numbers[i]: i + 1 for i in range(3)}
    assert not found.asks
    asked = label_import(
        labels, mapped.workspace, mapped.session.classes, known=mapped.known_classes()
    )
    assert asked.asks == (numbers[:3] != [1, 2, 3])
    assert {one.entry.id: one.proposed for one in asked.classes} == {
        numbers[i]: i + 1 for i in range(3)
    }
    if asked.asks:
        assert [one.to for one in asked.classes] == [0, 0, 0]


def test_without_anything_to_compare_labels_are_new(editor, tissue):
    """Two sessions may both have a class 1: that is no reason to take one for the other."""
    for name in ("nuclei", "cytoplasm"):
        editor.apply({"op": "add_class", "name": name})
    labels = LabelImage.from_array(tissue.labels)
    found = label_import(
        labels, editor.workspace, editor.session.classes, known=editor.known_classes()
    )
    assert found.asks
    by_ids = label_import(labels, editor.workspace, editor.session.classes, by="ids")
    assert [one.to for one in by_ids.classes] == [1, 2, 0]
    with pytest.raises(DataError, match="no class name in common"):
        label_import(labels, editor.workspace, editor.session.classes, by="names")
    editor.apply(found.operation)
    assert [info.name for info in editor.session.classes][:2] == ["nuclei", "cytoplasm"]
    assert len(editor.session.classes) == 5
    assert not set(np.unique(editor.labels.ids)) & {1, 2}
    # the new ones are called as the file's are: class 1, 2, 3
    by_names = label_import(labels, editor.workspace, editor.session.classes, by="names")
    assert [one.to for one in by_names.classes] == [4, 5, 3]


def test_ids_and_names_of_new_classes_are_free_whatever_is_chosen(mapped, nearly):
    labels = LabelImage.from_array(renumbered(nearly, [2, 4, 1]))
    found = label_import(labels, mapped.workspace, mapped.session.classes)
    new = [one.new for one in found.classes]
    taken = mapped.session.classes
    assert len({item["id"] for item in new} | {info.id for info in taken}) == 6
    assert len({item["name"] for item in new} | {info.name for info in taken}) == 6


def test_labels_on_the_command_line_join_by_the_rule_that_is_named(
    scene_folder, tmp_path, tissue, nearly, mapped
):
    scene, labels = scene_folder / "scene.hdr", tmp_path / "l.npy"
    np.save(labels, np.where(tissue.labels > 0, renumbered(nearly, [12, 13, 11]), 0))
    options = {"settings": {"components": 6, "label_mode": "summed", "tau": 12}}

    def opened(name, **more):
        editor = open_editor(scene, tmp_path / name, **options)
        if not editor.session.strokes:
            for operation in three_classes(tissue):
                editor.apply(operation)
        editor.close()
        return open_editor(scene, tmp_path / name, labels=labels, **options, **more)

    with pytest.warns(UserWarning, match="3 are new.*11 may be 3.*--match ids"):
        plain = opened("a.jsonl")
    joined = opened("b.jsonl", match="overlap")
    plain.close(), joined.close()
    assert len(plain.session.classes) == 6
    assert len(joined.session.classes) == 3
    where = (tissue.labels > 0) & (nearly > 0)
    assert np.array_equal(joined.labels.ids[where], nearly[where])
    # and it is in the session's file: neither continuing nor replaying asks again
    for name, editor in (("a.jsonl", plain), ("b.jsonl", joined)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = opened(name)
        assert np.array_equal(again.labels.ids, editor.labels.ids)
        again.close()
        out = tmp_path / f"{name}.npy"
        words = ["--scene", str(scene), "-o", str(tmp_path / "m.npy"), "--overwrite"]
        assert run(["replay", str(tmp_path / name), *words, "--labels", str(out), "-q"]) == 0
        assert np.array_equal(read_labels(out).ids, editor.labels.ids)


def test_match_needs_something_to_match(scene_folder, capsys):
    assert run(["relabel", str(scene_folder / "scene.hdr"), "--match", "ids", "--no-browser"]) == 2
    assert "--labels or --reference" in capsys.readouterr().err


# The page and its server


def test_the_server_proposes_and_asks(mapped, nearly, serve, connect):
    page = connect(serve(mapped))
    answer = page.ask("read_labels", files=as_file(renumbered(nearly, [2, 3, 1])))
    assert answer["asks"]
    rows = {item["id"]: item for item in answer["classes"]}
    assert {i: rows[i]["proposed"] for i in rows} == {2: 1, 3: 2, 1: 3}
    assert all(item["to"] == 0 and item["new"]["id"] > 3 for item in answer["classes"])
    assert rows[2]["agreed"] > 0.99 * rows[2]["compared"] > 0
    again = page.ask("read_labels", files=as_file(nearly))
    assert not again["asks"]
    assert [item["to"] for item in again["classes"]] == [1, 2, 3]
    for pairs in ([1], [1, 2, 1, 3], "x", [1.5, 2]):
        assert page.ask("match_reference", pairs=pairs)["kind"] == "refused"
    refused = page.ask("match_reference", pairs=[1, 1])
    assert "there is no reference" in refused["message"]


def test_the_page_asks_which_class_is_which(mapped, nearly, serve, open_tab, tmp_path):
    labels = np.zeros_like(nearly)
    labels[30:34] = renumbered(nearly, [12, 13, 11])[30:34]
    np.save(tmp_path / "l.npy", labels)
    tab = open_tab(serve(mapped).url)
    tab.idle()
    before, n_classes = tab.labels, len(tab.state["classes"])
    tab.page.click("text=Import labels")
    tab.find(".import-path input").fill(str(tmp_path / "l.npy"))
    tab.find(".import-path button").click()
    tab.find(QUESTION).wait_for()
    chosen = {
        i: tab.find(f"[aria-label='Class of the session for class {i}']") for i in (11, 12, 13)
    }
    shown = {i: select.input_value() for i, select in chosen.items() if select.count()}
    assert shown == {i: str({12: 1, 13: 2, 11: 3}[i]) for i in shown}
    assert np.array_equal(tab.labels, before)  # nothing is done before the answer
    picked = next(iter(shown))
    chosen[picked].select_option("0")
    tab.page.set_viewport_size({"width": 960, "height": 600})
    button = tab.find(f"{ASKED} button", has_text="Import").bounding_box()
    menu = tab.find(".menu.import").bounding_box()
    assert button["y"] + button["height"] <= menu["y"] + menu["height"] <= 600
    tab.find(f"{ASKED} button", has_text="Import").click()
    tab.find(".message", has_text="1 of them new").wait_for()
    assert tab.find(".menu.import").is_hidden()
    tab.idle()
    expected = before.copy()
    for i in shown:
        own = 11 if i == picked == 11 else int(shown[i]) if i != picked else i
        expected[(labels == i) & (tab.map != NO_DATA)] = own
    assert np.array_equal(tab.labels, expected)
    assert len(tab.state["classes"]) == n_classes + 1
    tab.key("Escape", "Control+z")
    tab.idle()
    assert np.array_equal(tab.labels, before)


def test_the_page_asks_for_the_classes_of_a_reference(mapped, nearly, serve, open_tab, tmp_path):
    editor, _ = with_reference(mapped, renumbered(nearly, [2, 3, 1]), tmp_path / "r.npy")
    tab = open_tab(serve(editor).url)
    tab.idle()
    tab.page.click("[data-tab=Numbers]")
    tab.find(QUESTION).wait_for()
    assert "By number 0." in tab.find(ASKED).inner_text()
    assert "99.9 %" in tab.find(ASKED).inner_text()
    tab.page.select_option("select[aria-label='Compare the map with']", "reference")
    tab.find(".left-side", has_text="reference image, 0.").wait_for()
    tab.find(f"{ASKED} button", has_text="Match").click()
    tab.find(QUESTION).wait_for(state="detached")
    assert float(tab.find(".figures dd b").first.inner_text().removesuffix("%")) > 99.7
    tab.find(".left-side", has_text="reference image, 99.9 % agree").wait_for()
    tab.find("summary", has_text="Classes of the reference").click()
    tab.find("text=Matched as chosen here.").wait_for()
    assert NAMES[1] == "nuclei"
    tab.paint(1, (3, 3), (3, 8))
    tab.find("text=pixels changed,").wait_for()
    assert tab.find(QUESTION).count() == 0  # asked once


def test_the_page_says_that_overlap_gives_upper_bounds(mapped, nearly, serve, open_tab, tmp_path):
    ids = renumbered(nearly, [12, 13, 11])
    for rule, asks in ((None, 1), ("overlap", 0)):
        editor, _ = with_reference(mapped, ids, tmp_path / "r.npy", match=rule)
        tab = open_tab(serve(editor).url)
        tab.idle()
        tab.page.click("[data-tab=Numbers]")
        tab.find("text=upper bounds, as classes are matched by best overlap").wait_for()
        assert tab.find(QUESTION).count() == asks
        (tmp_path / "r.npy").unlink()
