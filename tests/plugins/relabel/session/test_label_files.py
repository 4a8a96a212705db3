"""Labels of files in a running session: through the real page, and what the server refuses."""

from __future__ import annotations

import base64
import io
import json

import numpy as np
import pytest

from diffclass.exceptions import ParameterError
from diffclass_hyperspectral import ClassTable, read_labels, write_class_map
from diffclass_hyperspectral.io.georeference import Georeference, map_info_of
from diffclass_relabel.queries.answers import _main_file, read_at
from diffclass_relabel.queries.exports import export
from diffclass_relabel.session.label_files import label_import

RESULT = ".message"  # once the menu is closed
REFUSED = ".menu.import .files"


@pytest.fixture
def shapes(tmp_path, tissue):
    """Rectangles over rows 10-13 and 30-33, in map coordinates of the scene."""

    def box(row, column, name):
        west, north = 500000 + 2 * column, 4470000 - 2 * row
        ring = [[west, north], [west + 8, north], [west + 8, north - 8], [west, north - 8]]
        return {
            "type": "Feature",
            "properties": {"class": name},
            "geometry": {"type": "Polygon", "coordinates": [[*ring, ring[0]]]},
        }

    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32633"}}
    content = {
        "type": "FeatureCollection",
        "crs": crs,
        "features": [box(10, 20, "nuclei"), box(30, 40, "vessel")],
    }
    path = tmp_path / "shapes.geojson"
    path.write_text(json.dumps(content))
    return path


def test_files_are_chosen_and_imported_as_one_operation(blank, scene_folder, tissue):
    blank.page.click("text=Import labels")
    files = [scene_folder / "strokes.hdr", scene_folder / "strokes.img"]
    blank.find(".menu.import [aria-label='Label files']").set_input_files(files)
    blank.find(RESULT, has_text="Imported").wait_for()
    assert blank.find(".menu.import").is_hidden()
    blank.idle()
    assert np.array_equal(blank.labels, tissue.labels)
    assert "of 3 classes, 3 of them new" in blank.find(RESULT).inner_text()
    assert [item["name"] for item in blank.state["classes"]] == ["nuclei", "cytoplasm", "stroma"]
    assert set(np.unique(blank.map)) >= {1, 2, 3}
    blank.key("Escape", "Control+z")
    blank.idle()
    assert not blank.labels.any()
    assert blank.state["classes"] == []
    blank.key("Control+y")
    blank.idle()
    assert np.array_equal(blank.labels, tissue.labels)


def test_shapes_come_by_their_coordinates_and_join_classes_of_their_name(tab, shapes):
    before = tab.labels
    tab.page.click("text=Import labels")
    tab.find(".import-path input").fill(str(shapes))
    tab.find(".import-path button").click()
    tab.find(RESULT, has_text="Imported 32 pixels of 2 classes, 1 of them new").wait_for()
    tab.idle()
    before[10:14, 20:24], before[30:34, 40:44] = 1, 4
    assert np.array_equal(tab.labels, before)
    assert tab.state["classes"][3]["name"] == "vessel"


@pytest.fixture
def fine(tissue, tmp_path):
    """The labels on a grid that is twice as fine, but for the last rows."""
    labels = np.kron(tissue.labels, np.ones((2, 2), int))[: -2 * 4]
    place = map_info_of(Georeference((1.0, 0.0, 500000.0, 0.0, -1.0, 4470000.0), "EPSG:32633"))
    write_class_map(tmp_path / "fine.tif", labels, map_info=place)
    return tmp_path / "fine.tif"


def test_images_of_another_grid_come_by_their_coordinates(workspace, tissue, fine):
    with pytest.warns(UserWarning, match="0 of .* labelled pixels lie outside; 0 pixels"):
        found = read_at(workspace, str(fine))
    np.testing.assert_array_equal(found.ids[:-4], tissue.labels[:-4])
    assert not found.ids[-4:].any()


def test_pages_hear_what_was_assumed_of_a_file_that_was_sent(page, fine):
    with pytest.warns(UserWarning, match="lies on another grid"):
        answer = page.ask("read_labels", files=sent(**{"fine.tif": fine.read_bytes()}))
    (said,) = answer["said"]
    assert said.startswith("fine.tif: lies on another grid")
    assert "0 of" in said
    answer = page.ask("read_labels", path="a.png", files=None)
    assert answer["kind"] == "refused"


def test_a_file_that_is_none_is_refused_and_changes_nothing(tab, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    tab.page.click("text=Import labels")
    tab.find(".menu.import [aria-label='Label files']").set_input_files(tmp_path / "broken.png")
    tab.find(REFUSED, has_text="Nothing was imported").wait_for()
    message = tab.find(".message").inner_text()
    assert message.startswith("broken.png")  # by its own name, not where the server put it
    assert tab.state["can_redo"] is False
    assert len(tab.state["strokes"]) == 6


def test_labels_of_a_session_come_back_in_another(labelled, new_editor, tmp_path, workspace):
    """What is exported can be imported: the same labels, names and colours."""
    for ending in (".img", ".tif", ".png"):
        files = export(labelled, "labels", tmp_path / f"labels{ending}")
        other = new_editor(f"other{ending}")
        read = read_labels(files[0], grid=workspace.scene)
        for _ in range(2):  # the second time it changes nothing
            other.apply(label_import(read, workspace, other.session.classes).operation)
            assert np.array_equal(other.labels.ids, labelled.labels.ids)
            assert other.session.classes == labelled.session.classes


def test_a_batch_is_done_whole_or_not_at_all(editor, new_editor):
    editor.apply({"op": "add_class"})
    good = {"op": "stroke", "class": 1, "pixels": [100, 5]}
    with pytest.raises(ParameterError, match=r"^stroke \(number 2\): there is no class 9"):
        editor.apply({"op": "batch", "operations": [good, good | {"class": 9}]})
    assert not editor.labels.ids.any()
    for wrong in ([], "x", [{"op": "undo"}], [{"op": "batch", "operations": [good]}], [3]):
        with pytest.raises(ParameterError, match=r"op(erations)? = |give a mapping"):
            editor.apply({"op": "batch", "operations": wrong})
    editor.apply({"op": "batch", "operations": [good, good | {"pixels": [300, 2]}], "name": "two"})
    assert editor.labels.ids.sum() == 7
    editor.close()
    again = new_editor()
    assert np.array_equal(again.labels.ids, editor.labels.ids)
    assert again.session.classes == editor.session.classes
    again.apply({"op": "undo"})
    assert not again.labels.ids.any()


def sent(**files):
    """Return files as a page sends them."""
    return [
        {"name": name, "data": base64.b64encode(content).decode()}
        for name, content in files.items()
    ]


def test_sent_files_are_kept_in_their_folder(page, tmp_path):
    for name in ("../up.png", "/etc/x.png", "a\\b.png", "..", "", "a\n.png"):
        answer = page.ask("read_labels", files=[{"name": name, "data": ""}])
        assert answer["kind"] == "refused"
        assert "a list of at least one file" in answer["message"]
    for wrong in ([], [{"name": "a.png"}], [{"name": "a.png", "data": "%"}], "a"):
        assert page.ask("read_labels", files=wrong)["kind"] == "refused"
    assert page.ask("read_labels")["kind"] == "refused"
    assert page.ask("read_labels", path="a", files=sent(a=b""))["kind"] == "refused"


def test_sent_files_of_every_kind(page, tmp_path, tissue):
    table = ClassTable.from_ids([1, 2, 3])
    for ending in (".img", ".tif", ".png", ".npy"):
        write_class_map(tmp_path / f"l{ending}", tissue.labels, table, legend=False)
        files = {path.name: path.read_bytes() for path in tmp_path.glob("l.*")}
        answer = page.ask("read_labels", files=sent(**files))
        assert answer["kind"] == "answer", answer
        found = sum(item["count"] for item in answer["classes"])
        assert found + answer["left_out"] == np.count_nonzero(tissue.labels)
        for path in tmp_path.glob("l.*"):
            path.unlink()


def test_labels_of_another_size_are_refused(page, tmp_path):
    np.save(tmp_path / "a.npy", np.ones((4, 5), dtype=np.uint8))
    content = (tmp_path / "a.npy").read_bytes()
    answer = page.ask("read_labels", files=sent(**{"a.npy": content}))
    assert answer["kind"] == "refused"
    assert "a.npy" in answer["message"]


def test_refusals_of_sent_files_name_them_and_no_folder(page, tissue):
    """Also those of labels that could be read, but not taken."""
    without_data, large = np.zeros((2, *tissue.labels.shape), dtype=np.uint16)
    without_data[20, 31], large[tissue.labels > 0] = 1, 300
    for content in (without_data, large):
        np.save(file := io.BytesIO(), content)
        answer = page.ask("read_labels", files=sent(**{"a.npy": file.getvalue()}))
        assert answer["kind"] == "refused"
        assert answer["message"].startswith("a.npy: "), answer["message"]


def test_the_file_to_read_is_found_among_several():
    assert _main_file(["a.dbf", "a.shp", "a.shx"]) == "a.shp"
    assert _main_file(["a.img", "a.hdr"]) == "a.hdr"
    assert _main_file(["a.tif", "a.tif.aux.xml"]) == "a.tif"
    with pytest.raises(ParameterError, match="which of them"):
        _main_file(["a.png", "b.png"])
