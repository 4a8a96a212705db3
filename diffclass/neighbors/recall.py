"""Recall: the share of the true neighbours that a search finds, measured on samples."""

from __future__ import annotations

import numpy as np

from diffclass._compiled._threads import openmp_for

LEAST_RECALL, AIMED_RECALL = 0.98, 0.985


def true_reach(points: np.ndarray, sample: np.ndarray, k: int) -> np.ndarray:
    """Squared distances from sampled points to their true k-th neighbours, of shape (m, 1)."""
    import faiss

    queries = points[sample]
    with openmp_for(queries.size * len(points)):
        _, true = faiss.knn(queries, points, k + 1)
    return row_distances(queries, points[true]).max(axis=1, keepdims=True)


def row_distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the squared distances from points (m, p) to others (m, k, p), of shape (m, k)."""
    difference = others - points[:, None, :]
    return np.einsum("ijk,ijk->ij", difference, difference)


def share_within(
    points: np.ndarray, sample: np.ndarray, found: np.ndarray, reach: np.ndarray
) -> float:
    """Share of found points (-1: none) that are no farther than the true k-th neighbour."""
    if found.size == 0:
        return 1.0
    near = row_distances(points[sample], points[found]) <= reach * (1 + 1e-5)
    return float(np.count_nonzero(near & (found >= 0)) / found.size)
