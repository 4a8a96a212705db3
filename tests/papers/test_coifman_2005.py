"""Coifman et al. 2005, item by item."""

from __future__ import annotations

import numpy as np

from diffclass import MarkovOperator
from tests.papers.dense import affinity
from tests.papers.items import deviation, item


@item("2.1", "a(x, y) = k(x, y) / v(x), v(x) = sum_y k(x, y)", "diffclass.MarkovOperator")
def test_markov_kernel():
    K = affinity()
    A = MarkovOperator.from_affinity(K)
    return deviation(A @ np.eye(len(K)), K / K.sum(axis=1, keepdims=True))
