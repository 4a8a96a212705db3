"""Labels are held out in one way, whatever the points are."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from diffclass.blocks import Scratch
from diffclass.datasets import make_tissue_scene
from diffclass.exceptions import DataError, ParameterError, ScaleWarning
from diffclass.jobs import MEMORY, Holdout, InBlocks
from diffclass_hyperspectral import LabelImage, Scene, classify_scene
from diffclass_hyperspectral.jobs.classification import runs
from diffclass_hyperspectral.jobs.evaluation import hold_out
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


@pytest.mark.parametrize("scores", [None, 0, 10], ids=["alone", "same ids", "other ids"])
@pytest.mark.parametrize("kind", ["random", "blocks"])
def test_what_is_held_out_has_no_say(monkeypatch, kind, scores):
    tissue = make_tissue_scene(48, 60, random_state=0)
    ids = np.where(np.random.default_rng(0).random(tissue.truth.shape) < 0.1, tissue.truth, 0)
    hints = None if scores is None else LabelImage.from_array(tissue.truth + scores)
    split = hold_out(ids, Holdout(kind, 6))
    monkeypatch.setattr(runs, "hold_out", lambda *_, **__: split)
    held = (ids > 0) & ~split.fit

    def found(labels):
        scene, given = Scene.from_array(tissue.cube), LabelImage.from_array(labels)
        return classify_scene(scene, given, hints=hints, holdout=Holdout(kind, 6)).result

    first, other = found(ids), found(np.where(held, ids % 3 + 1, ids))
    assert np.array_equal(first.class_map, other.class_map)
    assert np.array_equal(first.posteriors, other.posteriors, equal_nan=True)


def test_features_that_count_for_nothing_are_told_of_rows_wherever_they_are_worked_on(tmp_path):
    np.save(tmp_path / "rows.npy", (POINTS * [1e6, 1, 1, 1]).astype(np.float32))
    y, said = known()[1], []
    for place in (MEMORY, InBlocks(Scratch(tmp_path / "scratch"), 4e9)):
        rows = Rows(open_table(tmp_path / "rows.npy"))
        with pytest.warns(ScaleWarning, match="3 of 4 features count for nothing") as warned:
            classify_rows(rows, y, place=place)
        said.append([str(one.message) for one in warned])
    assert said[0] == said[1]
