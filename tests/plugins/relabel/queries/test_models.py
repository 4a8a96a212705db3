"""Models of sessions, and what they make of other scenes."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import classify_with_model, open_scene, read_labels
from diffclass_relabel.maps import unpack_frame
from diffclass_relabel.protocol import SentFile
from diffclass_relabel.queries.answers import compared_frame
from diffclass_relabel.queries.exports import export
from diffclass_relabel.queries.models import predict, session_model


@pytest.mark.parametrize("tau", [12, "auto"])
def test_the_model_is_that_of_the_map(labelled, tau):
    labelled.apply({"op": "tau", "tau": tau})
    labelled.refine()
    model = session_model(labelled)
    np.testing.assert_array_equal(model.classifier.transduction_, labelled.session.map_ids)
    assert model.table[2].name == "cytoplasm"
    assert model.table[2].hex_color == labelled.session.classes[1].color


def test_a_model_is_saved_applied_compared_and_exported(
    labelled, workspace, scene_folder, tmp_path
):
    (path,) = export(labelled, "model", tmp_path / "tissue.model")
    scene = open_scene(scene_folder / "scene.hdr")
    expected = classify_with_model(scene, path).result.class_map
    with pytest.raises(ParameterError, match="no model was applied"):
        compared_frame(labelled, prediction=True)
    with pytest.raises(ParameterError, match="no model was applied"):
        export(labelled, "prediction", tmp_path / "a.tif")
    answer = predict(labelled, path=str(path))
    has_data = workspace.points >= 0
    none = np.count_nonzero(expected.ravel()[has_data] == 0)
    assert answer == {"name": "tissue.model", "unclassified": none, "said": []}
    header, (plane,) = unpack_frame(compared_frame(labelled, prediction=True), workspace.n_pixels)
    assert header == {"kind": "compared", "step": None}
    np.testing.assert_array_equal(plane[has_data], expected.ravel()[has_data])
    shown = workspace.raster(labelled.session.map_ids).ravel()
    assert np.mean(plane[has_data] == shown[has_data]) > 0.9
    file = export(labelled, "prediction", tmp_path / "prediction.tif")[0]
    labels = read_labels(file)
    np.testing.assert_array_equal(labels.ids, expected)
    assert labels.table[1].name == "nuclei"


def test_its_classes_are_found_by_name(labelled, new_editor, workspace, tmp_path):
    (path,) = export(labelled, "model", tmp_path / "tissue.model")
    other = new_editor("other.jsonl")
    other.apply({"op": "add_class", "name": "stroma"})
    other.apply({"op": "add_class", "name": "cytoplasm"})
    answer = predict(other, path=str(path))
    ids = other.prediction.ids
    _, (plane,) = unpack_frame(compared_frame(other, prediction=True), workspace.n_pixels)
    np.testing.assert_array_equal(plane[workspace.pixels], np.array([0, 0, 2, 1])[ids])
    assert answer["unclassified"] == np.count_nonzero(ids < 2)


def test_what_is_no_model_is_refused(labelled, tmp_path):
    (tmp_path / "x.model").write_bytes(b"PK nothing")
    with pytest.raises(DataError, match=r"x\.model"):
        predict(labelled, path=str(tmp_path / "x.model"))
    with pytest.raises(DataError, match=r"^x\.model"):  # no temporary folder
        predict(labelled, files=[SentFile("x.model", b"PK nothing")])
    with pytest.raises(DataError, match=r"none\.model"):
        predict(labelled, path=str(tmp_path / "none.model"))
    with pytest.raises(ParameterError, match="either a path or files"):
        predict(labelled)
    assert labelled.prediction is None


def test_a_warped_walk_has_no_model(labelled):
    labelled.apply({"op": "label_mode", "mode": "free"})
    labelled.update()
    labelled.apply({"op": "warp"})
    with pytest.raises(ParameterError, match="unwarp it first"):
        session_model(labelled)
