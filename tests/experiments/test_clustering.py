"""The comparison of clusters: a draw of a simple set, its time limit, and its table."""

from __future__ import annotations

import time

from sklearn.cluster import SpectralClustering

from experiments.clustering import comparison
from experiments.markdown import read_rows
from experiments.problems import PROBLEMS


def test_halves_are_those_of_the_problems():
    assert len(comparison.SETS) == len(set(comparison.SETS)) >= 12
    assert set(comparison.SETS) <= set(PROBLEMS)


def test_a_draw_of_three_blobs():
    rows = list(comparison.compute("three-blobs", list(comparison.METHODS), 1))
    assert [row["method"] for row in rows] == list(comparison.SHOWN)
    index = {row["method"]: row["adjusted_rand"] for row in rows}
    assert index[comparison.OURS] > index["k-means"] - 0.05
    assert rows[0]["found"] == 3


def test_what_takes_too_long_is_stopped(monkeypatch):
    class Endless(SpectralClustering):
        def fit_predict(self, X, y=None):
            start = time.process_time()
            while time.process_time() < start + 5:
                pass

    monkeypatch.setattr(comparison, "LIMIT", 0.05)
    monkeypatch.setitem(comparison.METHODS, "spectral", lambda k, draw: Endless(k))
    (row,) = comparison.compute("three-blobs", ["spectral"], 1)
    assert (row["found"], row["adjusted_rand"]) == ("", 0.0)


def test_ours_is_ahead_on_average_and_rarely_behind():
    """Of the committed runs: strips a hundred times as long as wide are the exception."""
    found = comparison.means(read_rows(comparison.NAME))
    assert list(found) == comparison.SETS
    leads = {
        name: values[comparison.OURS] - max(values[other] for other in comparison.OTHERS)
        for name, values in found.items()
    }
    assert [name for name, lead in leads.items() if lead < -0.05] == ["strips-three"]
    assert sum(leads.values()) / len(leads) > 0.05
