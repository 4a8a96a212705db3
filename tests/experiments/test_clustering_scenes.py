"""The comparison of clusters of scenes: its methods on simple points, its rows and its table."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from experiments.clustering import scenes
from experiments.markdown import read_rows


@pytest.fixture
def blobs(monkeypatch):
    X, codes = make_blobs(300, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    truth = np.where(np.arange(300) % 3 == 0, 0, codes + 1)
    monkeypatch.setattr(scenes, "points_of", lambda *_: (X, truth))
    return X, codes


@pytest.mark.parametrize("method", [*scenes.METHODS])
@pytest.mark.filterwarnings("ignore:Graph is not fully connected:UserWarning")
@pytest.mark.filterwarnings("ignore:the graph has .* components:UserWarning")
def test_every_method_finds_blobs(blobs, method):
    X, codes = blobs
    found = scenes.METHODS[method](X, 3, 0, codes + 1)
    assert adjusted_rand_score(codes, found) > 0.98


@pytest.mark.parametrize(("pixels", "k"), [("all", 4), ("labelled", 3)])
def test_rows(blobs, pixels, k):
    rows = list(scenes.compute("Salinas-A", "spectra", pixels, ["k-means"], 2))
    assert [row["seed"] for row in rows] == [0, 1]
    assert {row["k"] for row in rows} == {k}
    assert all(row["overall"] > 0.5 for row in rows)


def test_the_table_holds_all_that_was_run():
    rows = read_rows(scenes.NAME)
    assert {row["scene"] for row in rows} == set(scenes.SCENES)
    assert {row["method"] for row in rows} == set(scenes.METHODS)
    lines = scenes.table(rows)
    assert len(lines) == 2 + len(scenes.problems())
    first = lines[2].split(" | ")
    own = [
        float(row["overall"])
        for row in rows
        if (row["scene"], row["features"], row["pixels"]) == scenes.problems()[0]
        and row["method"] == scenes.OURS[0]
    ]
    assert float(first[4].split(" / ")[0]) == pytest.approx(100 * np.mean(own), abs=0.06)
