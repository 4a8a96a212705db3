"""A user's script: `make types` checks it as `mypy --strict` does, `test_typed.py` runs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from diffclass import (
    DiffusionClassifier,
    DiffusionMap,
    MarkovOperator,
    RelabelSession,
    diffuse_labels,
    markov_operator,
    neighbors_graph,
    suggest,
)
from diffclass.datasets import make_tissue_scene
from diffclass.label_diffusion import LabelDiffusion
from diffclass_hyperspectral import (
    LabelImage,
    Scene,
    SceneFeatures,
    open_scene,
    read_labels,
    write_class_map,
)

Array = NDArray[Any]


def classify(points: Array, y: Array) -> Array:
    classifier = assert_type(
        DiffusionClassifier(n_neighbors=8, label_mode="free", tau=16).fit(points, y),
        DiffusionClassifier,
    )
    assert_type(classifier.operator_, MarkovOperator)
    assert_type(classifier.tau_, int)
    probabilities: Array = classifier.predict_proba(points[:3])
    assert probabilities.shape == (3, len(classifier.classes_))
    return classifier.predict(points)


def embed(points: Array) -> Array:
    embedding = assert_type(DiffusionMap(2, bandwidth="self-tuning").fit(points), DiffusionMap)
    return embedding.transform(points)


def in_steps(points: Array, y: Array) -> LabelDiffusion:
    graph = neighbors_graph(points, 8)
    assert graph.shape == (len(points), len(points))
    operator = assert_type(markov_operator(points, n_neighbors=8), MarkovOperator)
    found = assert_type(diffuse_labels(operator, y, label_mode="absorbing"), LabelDiffusion)
    wanted: Array = suggest(operator, found, np.flatnonzero(y >= 0), 3).points
    assert len(wanted) == 3
    return found


def relabel(points: Array) -> int:
    session = RelabelSession(markov_operator(points, n_neighbors=8), ["one", "two"])
    session.apply({"op": "stroke", "class": 1, "points": [0, 1, 2]})
    session.update()
    labels: Array = session.label_ids
    return int(np.count_nonzero(labels))


def scene_to_map(folder: Path) -> None:
    made = make_tissue_scene(48, 48, n_bands=8, random_state=0)
    np.save(folder / "scene.npy", made.cube)
    np.save(folder / "labels.npy", made.truth)
    scene = assert_type(open_scene(folder / "scene.npy"), Scene)
    labels = assert_type(read_labels(folder / "labels.npy"), LabelImage)
    points: Array = SceneFeatures(5).fit_transform(scene)
    y = np.where(np.arange(len(points)) % 7 == 0, labels.ids.ravel().astype(int), -1)
    class_map = classify(points, y).reshape(labels.ids.shape)
    written = write_class_map(folder / "map.img", class_map)
    assert all(path.exists() for path in written)
    assert embed(points).shape == (len(points), 2)
    assert in_steps(points, y).posteriors.shape[0] == len(points)
    assert relabel(points) == 3


if __name__ == "__main__":
    scene_to_map(Path(sys.argv[1]))
