"""The encyclopedia's article, item by item."""

from __future__ import annotations

from diffclass import MarkovOperator
from tests.papers.dense import affinity
from tests.papers.items import deviation, item


@item(
    "Stationary distribution",
    "pi(y) = d(y) / sum_z d(z)",
    "diffclass.MarkovOperator.stationary_distribution",
)
def test_stationary_distribution():
    K = affinity()
    d = K.sum(axis=1)
    return deviation(MarkovOperator.from_affinity(K).stationary_distribution, d / d.sum())
