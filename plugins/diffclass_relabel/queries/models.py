"""The model of a session, for other scenes, and the maps that models of others make of this one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from diffclass import DiffusionClassifier, StoppingRule
from diffclass.exceptions import ParameterError, kept_warnings
from diffclass_hyperspectral import (
    ClassTable,
    LabelImage,
    SceneFeatures,
    classify_scene,
    classify_with_model,
)
from diffclass_hyperspectral.jobs.class_sizes import class_prior_of
from diffclass_hyperspectral.jobs.classification import SceneModel
from diffclass_relabel.protocol import PredictAnswer, SentFile
from diffclass_relabel.queries.answers import folder_of, in_own_classes, place_beside
from diffclass_relabel.session import Reference, SessionEditor, class_table
from diffclass_relabel.workspace import SceneWorkspace, Workspace, sizes_text


def session_model(editor: SessionEditor) -> SceneModel:
    """Return the model of a session's refined map; `ParameterError` where the walk is warped.

    It takes as long as ``diffclass classify``.
    """
    session, workspace = editor.session, editor.workspace
    if session.is_warped:
        raise ParameterError(
            "the walk is warped by an earlier map, which a model cannot hold; unwarp it first"
        )
    of = _scene_of(workspace)
    scene, settings = of.scene, of.settings
    with editor.lock:
        ids, table = editor.labels.ids.astype(np.int32), class_table(session.classes)
    labels = _image(ids, table, editor.log.path)
    by_rule = session.tau_mode == "auto"
    sizes = sizes_text(session, session.counted_sizes)
    classifier = DiffusionClassifier(
        n_neighbors=settings.neighbors,
        label_mode=session.asked_label_mode if by_rule else session.label_mode,
        tau=StoppingRule(max_time=settings.max_time) if by_rule else session.tau,
        class_prior=None if sizes is None else class_prior_of(sizes, labels, scene),
        random_state=settings.random_state,
    )
    features = SceneFeatures(settings.components, spatial=settings.features == "spatial")
    run = classify_scene(scene, labels, features=features, classifier=classifier)
    return run.result.model


def predict(
    editor: SessionEditor, path: str | None = None, files: list[SentFile] | None = None
) -> PredictAnswer:
    """Classify the scene with a model, to be compared with and exported."""
    if (path is None) == (files is None):
        raise ParameterError("predict: give either a path or files")
    with kept_warnings() as said:
        if files is None:
            found = _predicted(editor, place_beside(editor.workspace, str(path)))
        else:
            with folder_of(files) as folder:
                found = _predicted(editor, folder / files[0].name)
    editor.prediction = found
    unclassified = int(np.count_nonzero(in_own_classes(editor, found) == 0))
    return {"name": str(found.labels.path), "unclassified": unclassified, "said": said}


def _predicted(editor: SessionEditor, path: Path) -> Reference:
    """Return the map that a model makes of a session's scene."""
    workspace = _scene_of(editor.workspace)
    result = classify_with_model(workspace.scene, path).result
    labels = _image(result.class_map, result.table, Path(path.name))
    return Reference(labels, labels.ids.ravel()[workspace.pixels])


def _scene_of(workspace: Workspace) -> SceneWorkspace:
    """Return a workspace if it is one of a scene; refuse a table."""
    if not isinstance(workspace, SceneWorkspace):
        raise ParameterError(f"{workspace.name} is a table; models are for scenes")
    return workspace


def _image(ids: np.ndarray, table: ClassTable, path: Path) -> LabelImage:
    names = {entry.id: entry.name for entry in table}
    colors = {entry.id: entry.color for entry in table}
    return LabelImage.from_array(ids, names=names, colors=colors, path=path)
