"""Accuracy, table and changes: on the page, and against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass import diffuse_labels
from diffclass.evaluation import stratified_areas
from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import ClassTable, write_class_map
from diffclass_relabel.maps import NO_DATA
from diffclass_relabel.queries.numbers import Numbers, held_out
from diffclass_relabel.session.editor import SessionEditor
from diffclass_relabel.session.label_files import Reference
from diffclass_relabel.session.session_files import open_editor

from ..conftest import NAMES
from ..strokes import three_classes, truth_stroke


@pytest.fixture
def truth_file(tmp_path, tissue):
    """The whole truth, its classes in another order than a session may have them."""
    path = tmp_path / "truth.tif"
    write_class_map(path, tissue.truth, ClassTable.from_ids(NAMES, names=NAMES))
    return path


@pytest.fixture
def compared(editor, workspace, truth_file):
    """An editor with a reference."""
    return SessionEditor(workspace, editor.log, Reference.read(truth_file, workspace))


def painted_by_name(editor, tissue, names):
    for name in names:
        editor.apply({"op": "add_class", "name": name})
    by_name = {name: class_id for class_id, name in NAMES.items()}
    for info in editor.session.classes:
        stroke = truth_stroke(tissue, by_name[info.name], start=4)
        editor.apply(stroke | {"class": info.id})
    editor.update()


def test_accuracy_is_counted_on_what_is_not_labelled(compared, tissue):
    painted_by_name(compared, tissue, ["stroma", "nuclei", "cytoplasm"])  # ids 1, 2, 3
    found = Numbers(compared).answer()
    truth = np.array([0, 2, 3, 1])[tissue.truth]
    used = (compared.labels.ids == 0) & (compared.map.ids != NO_DATA) & (truth > 0)
    right = truth[used] == compared.map.ids[used]
    assert found["by"] == "reference"
    assert found["accuracy"]["n_pixels"] == used.sum()
    assert found["accuracy"]["overall"] == pytest.approx(right.mean())
    recalls = [right[truth[used] == i].mean() for i in (1, 2, 3)]
    assert found["accuracy"]["average"] == pytest.approx(np.mean(recalls))
    table = {row["class"]: row for row in found["classes"]}
    for i in (1, 2, 3):
        assert table[i]["recall"] == pytest.approx(recalls[i - 1])
        assert table[i]["labelled"] == 12
        assert table[i]["mapped"] == (compared.map.ids == i).sum()
        mean = compared.session.probability[compared.session.map_ids == i].mean()
        assert table[i]["probability"] == pytest.approx(mean, abs=0.01)
    assert found["pixel_area"] == pytest.approx(4.0)  # the scene has pixels of 2 m


def test_a_class_that_the_session_lacks_counts_as_missed(compared, tissue):
    painted_by_name(compared, tissue, ["stroma", "nuclei"])
    accuracy = Numbers(compared).answer()["accuracy"]
    assert accuracy["foreign"] == [{"class": -2, "name": "cytoplasm"}]
    row = accuracy["confusion"][accuracy["classes"].index(-2)]
    assert row[accuracy["classes"].index(-2)] == 0
    assert sum(row) > 0


def test_areas_are_corrected_by_the_errors_found(compared, tissue):
    painted_by_name(compared, tissue, ["nuclei", "cytoplasm", "stroma"])
    areas = Numbers(compared).answer()["areas"]
    used = (compared.labels.ids == 0) & (compared.map.ids != NO_DATA) & (tissue.truth > 0)
    ids = compared.map.ids[compared.map.ids != NO_DATA]
    counts = {i: int((ids == i).sum()) for i in np.unique(ids).tolist()}
    twin = stratified_areas(tissue.truth[used], compared.map.ids[used], counts)
    assert areas["total"] == twin.total == len(ids)
    assert areas["not_sampled"] == []
    for row in areas["classes"]:
        share = twin.area_share[row["class"]]
        assert row["mapped"] == counts[row["class"]]
        assert row["pixels"] == pytest.approx(share.value * len(ids))
        ends = np.array(share.interval(0.95)) * len(ids)
        np.testing.assert_allclose(row["interval"], ends)
        # nearly every pixel has been compared: the truth is within, and the map may be far off
        assert ends[0] - 5 <= (tissue.truth == row["class"]).sum() <= ends[1] + 5


def test_own_labels_are_held_out_in_whole_pieces(editor, workspace, tissue):
    ids = np.zeros(workspace.shape, dtype=np.uint8)
    boxes = [(1, 2, 2), (2, 2, 40), (1, 20, 5), (2, 30, 30), (1, 40, 10), (1, 44, 40), (3, 10, 20)]
    for class_id, row, column in boxes:
        ids[row : row + 2, column : column + 3] = class_id
    found = held_out(workspace.new_session(), workspace, ids, label_mode="summed", tau=12)
    assert len(found.truth) == 6 * 6  # the only piece of class 3 stays
    assert set(found.truth) == {1, 2}
    # pieces of class 1 in their order: parts 0, 1, 2, 0; of class 2: parts 0, 1
    parts = {(1, 2, 2): 0, (1, 20, 5): 1, (1, 40, 10): 2, (1, 44, 40): 0,
             (2, 2, 40): 0, (2, 30, 30): 1}  # fmt: skip
    twin = np.zeros(workspace.shape, dtype=int)
    for part in range(3):
        kept = ids.astype(int)
        mine = [box for box, own in parts.items() if own == part]
        for _, row, column in mine:
            kept[row : row + 2, column : column + 3] = 0
        y = kept.ravel()[workspace.pixels]
        y[y == 0] = -1
        diffused = diffuse_labels(workspace.operator, y, label_mode="summed", tau=12)
        classes = np.append(diffused.classes, 0)[diffused.codes]
        for _, row, column in mine:
            area = np.s_[row : row + 2, column : column + 3]
            twin[area] = workspace.raster(classes)[area]
    is_tested = np.isin(ids, [1, 2]).ravel()[workspace.pixels]
    np.testing.assert_array_equal(found.found, twin.ravel()[workspace.pixels][is_tested])


def test_what_cannot_be_compared_says_why(editor, tissue):
    numbers = Numbers(editor)
    assert "--reference FILE" in numbers.answer("reference")["note"]
    assert "two separate places" in numbers.answer()["note"]
    with pytest.raises(DataError, match="second stroke"):
        held_out(editor.session, editor.workspace, editor.labels.ids, label_mode="summed", tau=12)


def test_a_change_is_counted_by_class(compared, tissue):
    painted_by_name(compared, tissue, ["nuclei", "cytoplasm", "stroma"])
    numbers = Numbers(compared)
    numbers.note()
    before = compared.map
    compared.apply(truth_stroke(tissue, 2, 30, start=25))
    compared.update()
    numbers.note()
    change = numbers.answer()["change"]
    assert change["pixels"] == (before.ids != compared.map.ids).sum() == compared.map.n_changed
    for flow in change["flows"]:
        moved = (before.ids == flow["before"]) & (compared.map.ids == flow["after"])
        assert flow["pixels"] == moved.sum()
    history = numbers.answer()["history"]
    assert [point["labelled"] for point in history] == [36, 66]
    assert change["overall"] == pytest.approx(history[1]["overall"] - history[0]["overall"])


def test_a_reference_has_to_lie_on_the_scene(scene_folder, tmp_path):
    np.save(tmp_path / "small.npy", np.ones((4, 4), dtype=int))
    with pytest.raises(DataError, match="rows"):
        open_editor(
            scene_folder / "scene.hdr", tmp_path / "a.jsonl", reference=tmp_path / "small.npy"
        )
    np.save(tmp_path / "empty.npy", np.zeros((48, 50), dtype=int))
    with pytest.raises((DataError, ParameterError), match=r"empty\.npy"):
        open_editor(
            scene_folder / "scene.hdr", tmp_path / "a.jsonl", reference=tmp_path / "empty.npy"
        )
    assert not (tmp_path / "a.jsonl").exists()


def test_the_panel_follows_the_map(compared, serve, open_tab, tissue):
    for operation in three_classes(tissue):
        compared.apply(operation)
    for class_id, name in NAMES.items():
        compared.apply({"op": "rename_class", "id": class_id, "name": name + " "})
    tab = open_tab(serve(compared).url)
    tab.idle()
    tab.page.click("[data-tab=Numbers]")
    first = tab.find(".figures dd b").first
    first.wait_for()
    shown = float(first.inner_text().removesuffix("%"))
    used = (compared.labels.ids == 0) & (compared.map.ids != NO_DATA)
    right = (compared.map.ids == tissue.truth)[used & (tissue.truth > 0)]
    assert shown == pytest.approx(100 * right.mean(), abs=0.06)
    row, column = np.argwhere((tissue.truth == 1) & (compared.map.ids != 1))[0]
    tab.paint(1, (int(row), int(column)))
    tab.find("svg.course").wait_for()
    tab.find("text=pixels changed,").wait_for()
    tab.page.select_option("[aria-label='What the map is compared with']", "held_out")
    tab.find("text=held out at a time").wait_for()
    assert tab.find(".confusion tbody tr").count() >= 1
    tab.find("summary:has-text('Areas')").click()
    table = tab.find("[aria-label=Areas] tbody tr")
    assert table.count() >= 1  # classes that were held out
    assert "\u2013" in table.first.inner_text()
