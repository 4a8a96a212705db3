"""Points that stand for many others: labels where much lies near that is in doubt.

With labels at the points L, what is left to learn is

    cost(L) = sum_z w(z) min_{l in L} d(z, l),

where d is the distance of features, at most its 90th percentile, so that points far from all others
come late, and w(z) the doubt: 1 - margin, or 1 where there is no map. Next to L, the medoids that
lower the cost most are to be labelled: chosen one by one, the largest gain first, which is within
1 - 1/e of the best; then each moves to the medoid of what lies nearest to it, as long as that
helps.

A medoid may lie in a gap of a cluster, or between two classes. So of all points that stand for the
same others at a cost at most a tenth higher the most typical one is taken, that with the least mean
distance to its 20 nearest.

Sources: G. Cornuejols, M. Fisher and G. Nemhauser, Location of bank accounts to optimize float,
1977, theorem 4 (one by one); H.-S. Park and C.-H. Jun, A simple and fast algorithm for K-medoids
clustering, 2009, section 2 (moves); O. Sener and S. Savarese, Active learning for convolutional
neural networks: a core-set approach, 2018, section 4 (cover); G. Hacohen, A. Dekel and D.
Weinshall, Active learning on a budget: opposite strategies suit high and low budgets, 2022,
section 3 (typical points).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from diffclass import _compiled
from diffclass._validation import RandomState, check_seed
from diffclass.neighbors.number_range import Centred
from diffclass.system.progress import checkpoint

# Where there are more points, so many are drawn by their doubt to sum the cost over, and so many to
# find medoids among: time does not grow with the number of points.
N_SUMMED, N_CANDIDATES = 6_000, 2_000
# of the distances, in double precision at first
MEDOID_BYTES = 12 * N_SUMMED * N_CANDIDATES
_MOST_LABELS = 20_000  # that distances are taken to
_FAR, _MOST_RANKED = 0.9, 1_000_000
_MOST_MOVES = 10
_ALLOWED, _N_NEAREST = 1.1, 20  # cost of a typical point in that of the medoid; its neighbours
_LEAST_GAIN = 1e-6  # of a move, as a share of the cost nearby


def medoids(
    features: np.ndarray,
    n_points: int,
    *,
    doubt: np.ndarray | None = None,
    labelled: ArrayLike = (),
    free: np.ndarray | None = None,
    typical: bool = True,
    random_state: RandomState = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Choose points to label next, so that all that is in doubt is near a label.

    Parameters
    ----------
    features : ndarray of shape (n, p)
        In which near points are alike. Memory: 150 MB, whatever n is.
    n_points : int
        How many to choose, at most 2,000.
    doubt : ndarray of shape (n,), optional
        w, at least 0; 1 by default, and if it is 0 everywhere.
    labelled : array-like of int, optional
        Numbers of labelled points.
    free : ndarray of bool of shape (n,), optional
        Which points may be chosen; all by default.
    typical : bool, default=True
        Whether a typical point is taken instead of each medoid; not for diffusion coordinates, in
        which leaves of one hub are near each other and typical of nothing.
    random_state : int, RandomState or None, default=0
        Draws points where there are too many.

    Returns
    -------
    points : ndarray of int of shape (at most n_points,)
        Those with the largest gain first.
    gains : ndarray of shape (at most n_points,)
        By what share each lowers the cost, after those before it.

    See Also
    --------
    acquisition.suggest : Finds doubt and features from a graph, and keeps points apart.

    Examples
    --------
    A middle of each group, the largest first; next, without a group that has a label:

    >>> import numpy as np
    >>> from diffclass.acquisition import medoids
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [10.0], [11.0], [12.0]])
    >>> points, gains = medoids(X, 2)
    >>> points.tolist(), gains.round(2)
    ([2, 6], array([0.59, 0.31]))
    >>> medoids(X, 1, labelled=[2])[0].tolist()
    [6]
    """
    from sklearn.metrics import pairwise_distances, pairwise_distances_argmin_min

    random = check_seed(random_state)
    doubt = np.ones(len(features)) if doubt is None or not doubt.any() else doubt
    summed, weight = _drawn(doubt, N_SUMMED, random)
    candidates = _drawn(doubt if free is None else doubt * free, N_CANDIDATES, random)[0]
    if free is not None and len(candidates) < min(n_points, free.sum()):  # the rest is certain
        candidates = _drawn(free.astype(float), N_CANDIDATES, random)[0]
    if not len(candidates):
        return candidates, np.zeros(0)
    centred = Centred(features[summed])
    X, Z = centred(features[candidates]), centred(features[summed])
    distances = pairwise_distances(X, Z).astype(np.float32)
    labels = np.asarray(labelled, dtype=np.intp)
    if len(labels) > _MOST_LABELS:
        labels = random.choice(labels, _MOST_LABELS, replace=False)
    if len(labels):
        nearest = pairwise_distances_argmin_min(Z, centred(features[labels]))[1]
    else:
        nearest = np.full(len(summed), distances.max(initial=0))
    nearest = nearest.astype(np.float32)
    cap = _cap(distances)
    np.minimum(distances, cap, out=distances)
    np.minimum(nearest, cap, out=nearest)
    chosen, _ = one_by_one(distances, weight, nearest, n_points)
    covered = _Covered(X, distances, weight, nearest)
    chosen = _moved(covered, chosen)
    if typical:
        chosen = _typical(covered, chosen)
    order, gains = one_by_one(distances[chosen], weight, nearest, len(chosen))
    cost = float(weight @ nearest)
    return candidates[chosen[order]], gains / cost if cost > 0 else gains


def _cap(distances: np.ndarray) -> np.float32:
    """Return the distance beyond which points count as equally far."""
    some = distances.ravel()[:: 1 + distances.size // _MOST_RANKED]
    return np.float32(np.quantile(some, _FAR))


def _drawn(
    doubt: np.ndarray, most: int, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of points and their weights: all in doubt, or many drawn in proportion."""
    doubtful = np.flatnonzero(doubt)
    if len(doubtful) <= most:
        return doubtful, doubt[doubtful].astype(np.float64)
    share = np.cumsum(doubt[doubtful], dtype=np.float64)
    drawn = np.searchsorted(share, random.random_sample(most) * share[-1], side="right")
    places, counts = np.unique(np.minimum(drawn, len(doubtful) - 1), return_counts=True)
    return doubtful[places], counts.astype(np.float64)


def one_by_one(
    distances: np.ndarray, weight: np.ndarray, nearest: np.ndarray, n_points: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return candidates, each with the largest gain after those before it, and the gains.

    distances float32 (n_candidates, m) are those of m points from the candidates, weight and
    nearest (m,) of each point, the latter its distance from the nearest label.
    """
    nearest, gains = nearest.copy(), np.empty(len(distances))
    n_points = min(n_points, len(distances))
    chosen, gained = np.empty(n_points, dtype=np.intp), np.empty(n_points)
    for k in range(n_points):
        checkpoint()
        # gain of c: sum_z w(z) max(nearest(z) - d(c, z), 0)
        _compiled.choices.gains(distances, weight, nearest, gains)
        gains[chosen[:k]] = -1
        chosen[k] = gains.argmax()
        gained[k] = gains[chosen[k]]
        np.minimum(nearest, distances[chosen[k]], out=nearest)
    return chosen, gained


@dataclass(frozen=True)
class _Covered:
    """Candidates, the points they are to cover, and the distances from the nearest labels."""

    features: np.ndarray
    distances: np.ndarray
    weight: np.ndarray
    nearest: np.ndarray

    def around(self, chosen: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the candidates around each chosen one, and each's cost of standing in for it."""
        from sklearn.metrics import pairwise_distances_argmin

        own = pairwise_distances_argmin(self.features, self.features[chosen])
        own[chosen] = np.arange(len(chosen))  # not another's, if two are duplicates
        stands = self.distances[chosen].argmin(axis=0)
        stands[self.distances[chosen].min(axis=0) >= self.nearest] = -1  # a label is nearer
        for k in range(len(chosen)):
            points, around = np.flatnonzero(stands == k), np.flatnonzero(own == k)
            yield around, self.distances[np.ix_(around, points)] @ self.weight[points]


def _moved(covered: _Covered, chosen: np.ndarray) -> np.ndarray:
    """Move each medoid to the candidate around it that is nearest to what it stands for."""
    for _ in range(_MOST_MOVES):
        checkpoint()
        moved = chosen.copy()
        for k, (around, costs) in enumerate(covered.around(chosen)):
            if costs.min() < costs[around == chosen[k]][0] * (1 - _LEAST_GAIN):
                moved[k] = around[costs.argmin()]
        if (chosen == moved).all():
            break
        chosen = moved
    return chosen


def _typical(covered: _Covered, chosen: np.ndarray) -> np.ndarray:
    """Replace each medoid by the most typical of the candidates that cost hardly more."""
    n_nearest = min(_N_NEAREST, covered.distances.shape[1] - 1)
    typical = chosen.copy()
    for k, (around, costs) in enumerate(covered.around(chosen)):
        around = around[costs <= costs.min() * _ALLOWED]
        near = np.partition(covered.distances[around], n_nearest, axis=1)
        typical[k] = around[near[:, : n_nearest + 1].mean(axis=1).argmin()]
    return typical
