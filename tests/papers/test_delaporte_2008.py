"""de la Porte et al. 2008, item by item."""

from __future__ import annotations

import numpy as np

from diffclass import MarkovOperator, leading_eigenpairs
from diffclass.spectral import diffusion_distances
from tests.papers.dense import affinity
from tests.papers.items import deviation, item


@item(
    "(6)",
    "D_t(x, y)^2 = sum_z (p_t(x, z) - p_t(z, y))^2",
    'diffclass.spectral.diffusion_distances(kind="unweighted")',
)
def test_unweighted_distance():
    K = affinity()
    P = np.linalg.matrix_power(K / K.sum(axis=1, keepdims=True), 3)
    expected = np.sqrt(((P[:, None] - P[None]) ** 2).sum(axis=2))
    pairs = leading_eigenpairs(MarkovOperator.from_affinity(K), len(K))
    found = diffusion_distances(pairs, np.arange(len(K)), time=3, kind="unweighted")
    return deviation(found, expected)
