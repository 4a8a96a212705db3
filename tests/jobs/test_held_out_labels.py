"""Labels are held out in one way, whatever the points are."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from diffclass.blocks import Scratch
from diffclass.exceptions import DataError, ParameterError
from diffclass.jobs import Holdout, InBlocks
from diffclass_hyperspectral import LabelImage, Scene, classify_scene
from diffclass_tables import Rows, classify_rows, open_table

N = 120
TRUTH = np.repeat([1, 2, 3], N // 3)
POINTS = np.random.default_rng(0).normal(size=(N, 4)) + 3 * np.eye(4)[TRUTH]


@pytest.fixture
def rows(tmp_path):
    np.save(tmp_path / "rows.npy", POINTS.astype(np.float32))
    return Rows(open_table(tmp_path / "rows.npy"), metric="cosine")


def known(n_labels=N):
    """Return the classes of every third of the first points, as ids and as words."""
    ids = np.where((np.arange(N) % 3 == 0) & (np.arange(N) < n_labels), TRUTH, 0)
    return ids, np.array([f"c{i}" if i else None for i in ids], dtype=object)


def of_scene(ids, **options):
    scene, labels = Scene.from_array(POINTS.reshape(1, N, 4)), LabelImage.from_array(ids[None])
    return classify_scene(scene, labels, **options).report


@pytest.mark.parametrize(
    "holdout",
    [Holdout("random"), Holdout(labels_per_class=4), Holdout("random", 6, 5), Holdout(None, 1, 2)],
    ids=str,
)
def test_the_same_labels_are_drawn_of_rows_and_of_pixels(rows, holdout):
    ids, words = known()
    found = classify_rows(rows, words, holdout=holdout).report
    expected = of_scene(ids, holdout=holdout)
    assert [one.labels for one in found.classes] == [one.labels for one in expected.classes]
    assert found.holdout.n_fit == expected.holdout.n_fit
    n_true = (
        one.scores.confusion.sum(axis=1).tolist() for one in (found.holdout, expected.holdout)
    )
    assert next(n_true) == next(n_true)
    assert found.fit.seed == expected.fit.seed == holdout.random_state


def test_classes_with_few_labels_are_told_of_both(rows):
    ids, words = known()
    said = r"fewer than twice 10 {} are labelled in .*3 \(13\).*: half of them"
    with pytest.warns(UserWarning, match=said.format("rows")):
        classify_rows(rows, words, holdout=Holdout(labels_per_class=10))
    with pytest.warns(UserWarning, match=said.format("pixels")):
        of_scene(ids, holdout=Holdout(labels_per_class=10))


@pytest.mark.parametrize("kind", ["blocks", "both"])
def test_rows_have_no_blocks(rows, kind):
    with pytest.raises(ParameterError, match="its rows lie on no grid"):
        classify_rows(rows, known()[1], holdout=Holdout(kind))


def test_nothing_is_left(rows):
    ids, words = np.zeros(N, dtype=int), np.full(N, None)
    for k in range(3):
        ids[k * 40], words[k * 40] = k + 1, f"c{k}"
    with pytest.raises(DataError, match="no label is left to be held out of the rows"):
        classify_rows(rows, words, holdout=Holdout("random"))
    with pytest.raises(DataError, match="no label is left to be held out of the pixels"):
        of_scene(ids, holdout=Holdout("random"))


@pytest.mark.parametrize("n_labels", [0, 30])
def test_one_class_is_not_enough(rows, n_labels):
    said = f"{'only one' if n_labels else 'no'} class is labelled among the rows with data"
    with pytest.raises(DataError, match=said):
        classify_rows(rows, known(n_labels)[1])


def test_blocks_take_no_hints_and_no_graph(rows, tmp_path):
    place = InBlocks(Scratch(tmp_path / "scratch"), 1e9)
    with pytest.raises(ParameterError, match="hints need the graph in memory"):
        classify_rows(rows, known()[1], scores=object(), place=place)
    graph = Rows(rows.table, graph=sp.csr_array(np.ones((N, N))))
    with pytest.raises(ParameterError, match="affinity = 'precomputed' needs the whole graph"):
        classify_rows(graph, known()[1], place=place)
