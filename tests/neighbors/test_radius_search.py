"""What a bound on the degree leaves out of the balls is told."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from diffclass import neighbors_graph
from diffclass.neighbors import RadiusSearch
from tests import naive
from tests.neighbors.test_search import pattern

SHAPES = {
    "normal": lambda rng: rng.normal(size=(80, 2)),
    "lattice": lambda rng: np.argwhere(np.ones((8, 8))) / 2,
    "star": lambda rng: np.vstack([0.4 * np.eye(12), np.zeros((1, 12))]),
    "equal": lambda rng: np.repeat(rng.normal(size=(9, 2)), 7, axis=0),
    "one": lambda rng: np.zeros((1, 2)),
}


@pytest.mark.parametrize("max_degree", [1, 2, 4, 8, 12, 79, 100])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_bound_tells_of_just_the_pairs_it_leaves_out(shape, max_degree, rng):
    X = SHAPES[shape](rng)
    within = naive.squared_distances(X) <= 0.25
    search = RadiusSearch(0.5, max_degree=max_degree)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = neighbors_graph(X, search=search)
    n_within, n_joined = (np.count_nonzero(pairs) - len(X) for pairs in (within, pattern(graph)))
    assert told(caught) == _counts(n_within // 2, n_joined // 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = search.transform(X[::3])
    assert told(caught) == _counts(np.count_nonzero(within[::3]), found.nnz)


def test_what_a_bound_leaves_out_of_many_points_is_estimated(rng, monkeypatch):
    X = rng.normal(size=(900, 2))
    n_within = (np.count_nonzero(naive.squared_distances(X) <= 0.25) - 900) // 2
    monkeypatch.setattr("diffclass.neighbors.radius_search._COUNTED", 200_000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = neighbors_graph(X, search=RadiusSearch(0.5, max_degree=6))
    assert "leaves out about " in str(caught[0].message)
    ((left_out, of),) = told(caught)
    assert left_out == pytest.approx(n_within - (graph.nnz - 900) // 2, rel=0.1)
    assert of == pytest.approx(n_within, rel=0.1)


def _counts(n_within, n_joined):
    return [(n_within - n_joined, n_within)] if n_within > n_joined else []


def told(caught):
    numbers = r"leaves out (?:about )?([\d,]+) of ([\d,]+) pairs"
    found = [re.search(numbers, str(one.message)).groups() for one in caught]
    return [tuple(int(number.replace(",", "")) for number in pair) for pair in found]
