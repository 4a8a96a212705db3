"""Socher 2008, item by item."""

from __future__ import annotations

import numpy as np

from diffclass import MarkovOperator
from diffclass.operators import unnormalized_laplacian
from tests.papers.dense import affinity
from tests.papers.items import deviation, item


@item("3.2", "L = D - W", "diffclass.operators.unnormalized_laplacian")
def test_unnormalized_laplacian():
    W = affinity()
    L = unnormalized_laplacian(MarkovOperator.from_affinity(W))
    return deviation(L @ np.eye(len(W)), np.diag(W.sum(axis=1)) - W)
