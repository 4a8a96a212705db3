"""Rules of which points to label next, compared by `experiments.few_labels.acquisition`.

Each takes a run and how many points to ask about, and returns at most so many numbers of points,
the most wanted first.

    coverage      `diffclass.suggest`, by the features (diffusion coordinates where there are none)
    margin        `diffclass.suggest(rule="margin")`, after as many random labels as classes: the
                  uncertainty sampling of GraphLearning, modAL and others
    k-means       the points nearest to the centres of as many clusters as are asked for
    TypiClust     G. Hacohen et al. 2022: in as many clusters as there will be labels, the most
                  typical point of the largest without a label; by the features
    ProbCover     O. Yehuda et al. 2022: the point with the most others around it that are not yet
                  covered; around is the largest distance at which 95 % of all points have only
                  others of their own cluster, of as many as classes (section 4.2); by the features
    VOpt          M. Ji and J. Han 2012, as GraphLearning has it: what lowers the mean variance of
                  a Gaussian process on 50 eigenpairs most
    random        points of known class at random
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.neighbors import NearestNeighbors, radius_neighbors_graph

from diffclass import MarkovOperator, leading_eigenpairs, suggest

if TYPE_CHECKING:
    from experiments.few_labels.acquisition import Run

COVERAGE, RANDOM = "coverage", "random"
_FEW_POINTS = 3_000  # that k-means sees whole
_N_TYPICAL = 20  # neighbours that say how typical a point is
_PURE, _MOST_COVERED = 0.95, 5_000  # of ProbCover; points that it sees
_N_PAIRS, _OFFSET, _NOISE = 50, 0.01, 0.1  # of VOpt's process


def _coverage(run: Run, n: int) -> np.ndarray:
    return suggest(
        run.operator, run.diffusion, run.seen, n, features=run.problem.points,
        candidates=run.free, random_state=run.seed,
    ).points  # fmt: skip


def _margin(run: Run, n: int) -> np.ndarray:
    if run.diffusion is None:
        return _random(run, n)
    return suggest(
        run.operator, run.diffusion, run.seen, n, rule="margin", candidates=run.free
    ).points


def _random(run: Run, n: int) -> np.ndarray:
    return run.random.permutation(np.flatnonzero(run.free))[:n]


def _clusters(run: Run, k: int) -> tuple[np.ndarray, np.ndarray]:
    points = run.problem.points
    if len(points) < _FEW_POINTS:
        model = KMeans(k, n_init=1, random_state=run.seed)
    else:
        model = MiniBatchKMeans(k, n_init=3, batch_size=4096, random_state=run.seed)
    return model.fit_predict(points), model.cluster_centers_


def _centres(run: Run, n: int) -> np.ndarray:
    """Nearest to new centres for all labels so far and to come, but for those labelled already."""
    centres = _clusters(run, len(run.seen) + n)[1]
    allowed = np.flatnonzero(run.free | np.isin(np.arange(len(run.free)), run.seen))
    near = allowed[pairwise_distances_argmin(centres, run.problem.points[allowed])]
    fresh = np.setdiff1d(near, run.seen)
    return run.random.permutation(fresh if len(fresh) else _random(run, n))


def _typical(run: Run, n: int) -> np.ndarray:
    cluster = _clusters(run, len(run.seen) + n)[0]
    sizes = np.bincount(cluster).astype(float)
    sizes[np.unique(cluster[run.seen])] = 0
    points, chosen = run.problem.points, []
    for number in np.argsort(-sizes)[:n]:
        own = np.flatnonzero(cluster == number)
        asked = run.free[own]
        if sizes[number] and asked.any():
            n_near = min(_N_TYPICAL, len(own) - 1)
            far = np.zeros(len(own))
            if n_near > 0:
                found = NearestNeighbors(n_neighbors=n_near).fit(points[own]).kneighbors()
                far = found[0].mean(axis=1)
            chosen.append(own[np.where(asked, far, np.inf).argmin()])
    return np.array(chosen if chosen else _random(run, n))


def _probcover(run: Run, n: int) -> np.ndarray:
    sample, radius, near = _balls(run)
    points, free = run.problem.points, run.free[sample]
    covered = np.zeros(len(sample), dtype=bool)
    if len(run.seen):
        found = NearestNeighbors(n_neighbors=1).fit(points[run.seen]).kneighbors(points[sample])
        covered = found[0][:, 0] <= radius
    chosen: list[int] = []
    for _ in range(min(n, int(free.sum()))):
        gains = near @ ~covered + run.random.random(len(sample))  # ties are broken at random
        best = int(np.where(free, gains, -1.0).argmax())
        chosen.append(best)
        free[best] = False
        covered |= near[[best]].toarray()[0] > 0
    return sample[chosen] if chosen else _random(run, n)


def _balls(run: Run) -> tuple[np.ndarray, float, sp.csr_matrix]:
    """Return the points that are seen, the radius, and which of them lie within it."""
    truth = run.problem.truth
    draw = np.random.default_rng(run.seed).permutation(len(truth))
    sample = np.sort(draw[:_MOST_COVERED])
    points = run.problem.points[sample]
    k = len(np.unique(truth[truth > 0]))
    cluster = KMeans(k, n_init=1, random_state=run.seed).fit_predict(points)
    other = np.empty(len(points))  # distance of the nearest point of another cluster
    for number in range(k):
        own = cluster == number
        rest = NearestNeighbors(n_neighbors=1).fit(points[~own])
        other[own] = rest.kneighbors(points[own])[0][:, 0]
    radius = float(np.quantile(other, 1 - _PURE))
    near = radius_neighbors_graph(points, radius, include_self=True)
    return sample, radius, near


def _vopt(run: Run, n: int) -> np.ndarray:
    psi, values = _pairs(run.operator)
    prior = 1 / (1 - values + _OFFSET)
    M = np.diag(prior / prior.sum())
    chosen: list[int] = []
    for point in [*run.seen.tolist(), *[-1] * n]:
        if point < 0:
            moved = psi @ M
            variance = np.einsum("xl,xl->x", moved, psi)
            score = np.where(run.free, (moved**2).sum(axis=1) / (_NOISE + variance), -1)
            score[chosen] = -1
            point = int(score.argmax())
            chosen.append(point)
        gain = M @ psi[point]
        M = M - np.outer(gain, gain) / (_NOISE + psi[point] @ gain)
    return np.array(chosen)


_PAIRS: dict[int, tuple[np.ndarray, np.ndarray]] = {}


def _pairs(operator: MarkovOperator) -> tuple[np.ndarray, np.ndarray]:
    if id(operator) not in _PAIRS:
        _PAIRS.clear()
        found = leading_eigenpairs(
            operator, _N_PAIRS, which="algebraic", tolerance=1e-4, random_state=0, dtype=np.float32
        )
        _PAIRS[id(operator)] = found.right, np.minimum(found.eigenvalues, 1)
    return _PAIRS[id(operator)]


RULES: dict[str, Callable[[Run, int], np.ndarray]] = {
    COVERAGE: _coverage,
    "margin": _margin,
    "k-means": _centres,
    "TypiClust": _typical,
    "ProbCover": _probcover,
    "VOpt": _vopt,
    RANDOM: _random,
}
OF_FEATURES = ("k-means", "TypiClust", "ProbCover")
