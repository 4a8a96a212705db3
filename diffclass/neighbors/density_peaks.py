"""The nearest denser point: of all points that are denser than a point, the one closest to it.

Following it from point to point leads up to a mode, a point that is denser than all around it.

Source: A. Rodriguez and A. Laio, Clustering by fast search and find of density peaks, 2014.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

_NEIGHBORS = (16, 64, 256)  # to look among in turn; then among all denser points
_BLOCK_VALUES = 2**22  # distances held at a time


def nearest_denser(points: np.ndarray, density: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find each point's nearest denser point.

    Parameters
    ----------
    points : ndarray of shape (n, p)
        Coordinates in which distance is measured; n at least 1.
    density : ndarray of shape (n,)
        Of two points of equal density the first counts as denser.

    Returns
    -------
    denser : ndarray of int of shape (n,)
        Number of the nearest denser point; of the densest point its own.
    distance : ndarray of shape (n,)
        To that point; of the densest point to the farthest one.

    Notes
    -----
    Points that have none among their 256 nearest are compared with all denser points, in blocks:
    few in practice. Nothing of size n x n is held.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.neighbors.density_peaks import nearest_denser
    >>> denser, distance = nearest_denser(np.array([[0.0], [1.0], [3.0]]), np.array([1, 5, 2]))
    >>> denser.tolist(), distance.tolist()
    ([1, 1, 1], [1.0, 2.0, 2.0])
    """
    order = np.argsort(-density, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    denser, distance = order[:1].repeat(len(order)), np.full(len(order), np.inf)
    pending = _by_tree(points, rank, denser, distance)
    _among_all(points, order, rank, pending, denser, distance)
    densest = order[0]
    distance[densest] = np.linalg.norm(points - points[densest], axis=1).max()
    return denser, distance


def _by_tree(
    points: np.ndarray, rank: np.ndarray, denser: np.ndarray, distance: np.ndarray
) -> np.ndarray:
    """Look among ever more neighbours; return the points that have no denser one among them."""
    tree, pending = KDTree(points), np.flatnonzero(rank > 0)
    for k in _NEIGHBORS:
        if len(pending) == 0:
            break
        found, numbers = tree.query(points[pending], k=min(k, len(points)))
        is_denser = rank[numbers] < rank[pending, None]
        has_one = is_denser.any(axis=1)
        first = is_denser[has_one].argmax(axis=1)[:, None]
        solved = pending[has_one]
        denser[solved] = np.take_along_axis(numbers[has_one], first, axis=1)[:, 0]
        distance[solved] = np.take_along_axis(found[has_one], first, axis=1)[:, 0]
        pending = pending[~has_one]
    return pending


def _among_all(
    points: np.ndarray,
    order: np.ndarray,
    rank: np.ndarray,
    pending: np.ndarray,
    denser: np.ndarray,
    distance: np.ndarray,
) -> None:
    falling = points[order]
    size = max(_BLOCK_VALUES // len(points), 1)
    pending = pending[np.argsort(rank[pending])]
    for start in range(0, len(pending), size):
        block = pending[start : start + size]
        n_denser = rank[block]
        far = cdist(points[block], falling[: n_denser.max()])
        far[np.arange(far.shape[1]) >= n_denser[:, None]] = np.inf
        nearest = far.argmin(axis=1)
        denser[block] = order[nearest]
        distance[block] = far[np.arange(len(block)), nearest]
