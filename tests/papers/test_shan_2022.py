"""Shan and Daubechies 2022, item by item."""

from __future__ import annotations

import numpy as np

from diffclass import neighbors_graph
from diffclass.spectral import semigroup_error
from tests.papers.dense import points, squared_distances
from tests.papers.items import deviation, item


@item(
    "(15)",
    "SGE(t) = ||S_t^2 - S_2t||, spectral norm, alpha = 1",
    "diffclass.spectral.semigroup_error(epsilon=4 * t)",
    within=1e-3,
)
def test_semigroup_error():
    distances = squared_distances(points())

    def conjugate(t):
        W = np.exp(-distances / (4 * t))
        q = W.sum(axis=1)
        W = W / np.outer(q, q)
        d = W.sum(axis=1)
        return W / np.sqrt(np.outer(d, d))

    t = 0.2
    expected = np.linalg.norm(conjugate(t) @ conjugate(t) - conjugate(2 * t), 2)
    graph = neighbors_graph(points(), n_neighbors=len(distances) - 1)
    return deviation(semigroup_error(graph, 4 * t), expected)
