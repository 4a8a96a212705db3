"""The local discriminant kernel: the walk is fast along class boundaries and slow across them.

Around each of a few anchors a, the classes seen there have local shares pi_i, means m_i, covariance
W within and B between them. With eigenvectors v_r, W^-1 B v_r = l_r v_r and v_r' W v_r = 1, the
squared distance is

    D_a^2(x, z) = c sum_r l_r / (1 + l_r) (v_r . (x - z))^2     Fisher's discriminant
    D_a^2(x, z) = c sum_r l_r (v_r . (x - z))^2                 linear
    D_a^2(x, z) = c sum_i pi_i ((g_i - g) . (x - z))^2          quadratic

The first counts standard deviations within the classes along the directions that tell them apart.
The others are the mean square change of the discriminant functions log pi_i N(x; m_i, W) or
log pi_i N(x; m_i, W_i) about their mean over the classes: the quadratic ones have the gradients
g_i = W_i^-1 (m_i - a) at the anchor, with the mean g; where all W_i are W they are the linear ones.

The kernel is k(x, z) exp(-strength (D_x^2 + D_z^2) / 2), where k is another kernel and D_x blends
the D_a of the anchors nearest to x. The confidence c is w / (w + 1) times a window, where w is the
total weight of the evidence in sight; without evidence it is 0. If only one class is seen, D_a is
0. In both cases the kernel is k.

The classes are known from scores of an earlier map: every point counts for its most probable class,
with their margin as weight. Labels override scores, and are the only evidence without them.

Sources: Coifman et al. 2005, section 3 (a local metric by local linear, quadratic or Fisher
discriminant analysis; no formula); T. Hastie and R. Tibshirani, Discriminant adaptive nearest
neighbor classification, 1996 (Fisher's).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.linalg import cholesky, solve_triangular, svd
from threadpoolctl import threadpool_limits

from diffclass._validation import check_choice, check_positive, check_scores, check_seed
from diffclass.exceptions import DataError
from diffclass.kernels._kernel import POINTS, FittedKernel, Kernel
from diffclass.kernels.over_kernel import FITTED_INNER, INNER, OverKernel
from diffclass.neighbors import ExactSearch
from diffclass.system.forms import Array, Listed, Sparse, Whole
from diffclass.targets import encode_labels

_POINTS_PER_ANCHOR, _MOST_ANCHORS = 16, 1024
_SEED = 0  # of the draw of the anchors
_BLENDED = 4  # anchors per point; the farthest has weight 0, so that blends are continuous
# The farther an anchor lies from the mean of its evidence, the more its analysis is extrapolated.
# From this distance on, in units of the spread of the evidence, it does not count.
_REACH = 3.0
_RIDGE = 1e-6  # of the mean variance, which makes every covariance regular
_LEAST_FACTOR = np.exp(-60.0)  # as in the isotropic kernels: no edge vanishes in single precision


class LocalDiscriminant(OverKernel):
    """The affinities of another kernel, reduced across the local boundaries of the classes.

    Parameters
    ----------
    kernel : Kernel, optional
        The kernel of the affinities k; the self-tuning `Gaussian` by default.
    strength : float, default=0.3
        Weight of the squared distances D^2, at least 0; 0 leaves k as it is.
    neighborhood : int, default=100
        Number of nearest points with evidence that an anchor looks at.
    discriminant : {"fisher", "linear", "quadratic"}, default="fisher"
        Which discriminant analysis gives the metric. The linear and the quadratic one grow with the
        distance between the classes, without a bound, and want a smaller strength.

    See Also
    --------
    Directed : Fast along the level sets of the scores; better with many features.
    SharedNeighbors : Needs no earlier map.

    Notes
    -----
    With few labels and no scores, the nearest labels of an anchor are almost all of them, and the
    metric is nearly global. If only one label of each class is in sight, the spread of these labels
    stands for that within classes. The covariance within classes is shrunk towards a sphere as by
    Ledoit and Wolf.

    There is one anchor per 16 points, at most 1,024, at points drawn at random from a fixed seed.
    Cost: one analysis of d^3 per anchor, and four times d values per edge and class.

    Examples
    --------
    A step across the plane between two classes weighs less than an equally long step along it:

    >>> import numpy as np
    >>> from diffclass import neighbors_graph
    >>> from diffclass.kernels import Gaussian, LocalDiscriminant
    >>> X = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    >>> y = np.where(np.isin(X[:, 0], (1, 4)), X[:, 0] > 2, -1)
    >>> K = LocalDiscriminant(Gaussian(bandwidth=2.0)).affinity(neighbors_graph(X, 4), X, y=y)
    >>> bool(K[14, 15] < 0.8 * K[14, 20])
    True
    """

    kept_fields: ClassVar = {
        "kernel": INNER,
        "neighborhood": Whole(1),
    }

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        strength: float = 0.3,
        neighborhood: int = 100,
        discriminant: str = "fisher",
    ):
        self.kernel = kernel
        self.strength = strength
        self.neighborhood = neighborhood
        self.discriminant = discriminant

    @property
    def uses_scores(self) -> bool:
        """True: scores of an earlier map are part of the evidence."""
        return True

    def fit(
        self,
        graph: sp.csr_array,
        X: np.ndarray,
        *,
        y: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> tuple[sp.csr_array, FittedKernel]:
        """Return k exp(-strength (D_x^2 + D_z^2) / 2); see `Kernel.fit`.

        Raises
        ------
        ParameterError
            If a parameter is out of range, and as the inner kernel.
        DataError
            If labels or scores do not match the points or each other.
        """
        check_positive(self.strength, "strength", zero=True)
        check_positive(self.neighborhood, "neighborhood", integer=True)
        check_choice(self.discriminant, "discriminant", ("fisher", "linear", "quadratic"))
        K, inner = self.inner.fit(graph, X, y=y, scores=scores)
        X = np.asarray(X)
        anchors, directions = self._analyses(X, *_evidence(len(X), y, scores))
        if not self.strength or not any(v.size for v in directions):
            return K, inner
        blend = _blend(anchors, X)
        fitted = FittedLocalDiscriminant(inner, X, anchors, blend, directions, self.strength)
        return fitted.reshaped(K), fitted

    def _analyses(
        self, X: np.ndarray, codes: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Choose the anchors and analyse the evidence around each."""
        known = np.flatnonzero(weights > 0)
        if not len(known) or (codes[known] == codes[known[0]]).all():
            return X[:0], []
        n_anchors = max(1, min(len(X) // _POINTS_PER_ANCHOR, _MOST_ANCHORS))
        order = check_seed(_SEED).permutation(len(X))
        anchors = X[np.sort(order[:n_anchors])]
        nearest = _nearest(X[known], anchors, self.neighborhood)[0]
        with threadpool_limits(1, user_api="blas"):  # matrices too small for threads to pay
            return anchors, [
                _directions(X[near] - anchor, codes[near], weights[near], self.discriminant)
                for anchor, near in zip(anchors, known[nearest], strict=True)
            ]


@dataclass(frozen=True, eq=False)
class FittedLocalDiscriminant(FittedKernel):
    """The local discriminant kernel over a fitted one, with anchors (n_anchors, d).

    blend (n, n_anchors) weighs the anchors at the points (n, d). Each anchor has directions V (d,
    r) with D_a^2(x, z) = |V' (x - z)|^2; r is 0 where nothing was found.
    """

    kernel: FittedKernel
    points: np.ndarray
    anchors: np.ndarray
    blend: sp.csc_array
    directions: list[np.ndarray]
    strength: float

    kept_as = "local discriminant"
    kept_fields: ClassVar = {
        "kernel": FITTED_INNER,
        "points": POINTS,
        "anchors": Array(("a", "d")),
        "blend": Sparse(("n", "a"), sp.csc_array),
        "directions": Listed(Array(("d", None)), "a"),
    }

    def reshaped(self, K: sp.csr_array) -> sp.csr_array:
        """Return the affinities of the fitted points from those of k; shape (n, n)."""
        changes = self._changes(K, self.points, self.points, self.blend)
        return self._slowed(K, changes + _transposed(K, changes))

    def extend(self, graph: sp.csr_array, X_new: np.ndarray) -> sp.csr_array:
        """Return the affinities of new points, by the anchors near them."""
        K, X_new = self.kernel.extend(graph, X_new), np.asarray(X_new)
        changes = self._changes(K, X_new, self.points, _blend(self.anchors, X_new))
        # D_x^2 + D_z^2 is symmetric in both ends: the anchors near z see the edge from there
        T = sp.csr_array(K.T)
        back = self._changes(T, self.points, X_new, self.blend)
        return self._slowed(K, changes + _transposed(T, back))

    def _slowed(self, K: sp.csr_array, changes: np.ndarray) -> sp.csr_array:
        factors = np.exp(-self.strength / 2 * changes)
        data = np.maximum(K.data * factors, np.minimum(K.data, _LEAST_FACTOR))
        return sp.csr_array((data.astype(K.dtype, copy=False), K.indices, K.indptr), shape=K.shape)

    def _changes(
        self, graph: sp.csr_array, X: np.ndarray, Y: np.ndarray, blend: sp.csc_array
    ) -> np.ndarray:
        """D_x^2(x, y) for each edge from x of X to y of Y, by the anchors near x."""
        out = np.zeros(graph.nnz)
        for a, (anchor, V) in enumerate(zip(self.anchors, self.directions, strict=True)):
            entries = slice(blend.indptr[a], blend.indptr[a + 1])
            rows = blend.indices[entries]
            if not V.size or not len(rows):
                continue
            edges, lengths = _edges_of(graph, rows)
            columns, place = np.unique(graph.indices[edges], return_inverse=True)
            here = np.repeat((X[rows] - anchor) @ V, lengths, axis=0)
            difference = here - ((Y[columns] - anchor) @ V)[place]
            squared = np.einsum("ij,ij->i", difference, difference)
            out[edges] += np.repeat(blend.data[entries], lengths) * squared
        return out


def _directions(
    X: np.ndarray, codes: np.ndarray, weights: np.ndarray, discriminant: str
) -> np.ndarray:
    """Return V of D_a^2(x, z) = |V' (x - z)|^2, of shape (d, r), from points about an anchor.

    There is no direction if only one class is seen, if all points coincide, or too far away.
    """
    X = X.astype(np.float64, copy=False)
    nothing = np.empty((X.shape[1], 0))
    seen, place = np.unique(codes, return_inverse=True)
    total = weights.sum()
    spread = np.square(X - np.average(X, axis=0, weights=weights)).sum(axis=1) @ weights / total
    if len(seen) < 2 or not spread > 0:
        return nothing
    shares = np.bincount(place, weights) / total
    groups = [place == i for i in range(len(seen))]
    means = np.array([np.average(X[g], axis=0, weights=weights[g]) for g in groups])
    away = np.linalg.norm(shares @ means) / np.sqrt(spread)
    confidence = (1 - min(away / _REACH, 1) ** 3) ** 3 * total / (total + 1)
    if not confidence:
        return nothing
    # W is the covariance within classes, B that between their means
    roots = np.sqrt(weights)[:, None]
    residuals = [(X[g] - mean) * roots[g] for g, mean in zip(groups, means, strict=True)]
    W = _within(np.concatenate(residuals), total, spread)
    if discriminant == "quadratic":
        gradients = _class_gradients(residuals, total * shares, means, W, spread)
        return np.sqrt(confidence * shares) * (gradients - gradients @ shares[:, None])
    # with W = L L', the left singular vectors u of L^-1 B^1/2 give v = L'^-1 u
    L = cholesky(W, lower=True)
    apart = (means - shares @ means) * np.sqrt(shares)[:, None]
    u, roots, _ = svd(solve_triangular(L, apart.T, lower=True), full_matrices=False)
    vectors = solve_triangular(L, u, lower=True, trans="T")
    bound = 1 + roots**2 if discriminant == "fisher" else 1.0
    return vectors * np.sqrt(confidence * roots**2 / bound)


def _class_gradients(
    residuals: list[np.ndarray],
    totals: np.ndarray,
    means: np.ndarray,
    pooled: np.ndarray,
    spread: float,
) -> np.ndarray:
    """Return g_i = W_i^-1 m_i of the classes, (d, n_classes), from means about the anchor.

    A class of one point has the pooled covariance of all.
    """
    within = [
        _within(rows, total, spread) if len(rows) > 1 else pooled
        for rows, total in zip(residuals, totals, strict=True)
    ]
    return np.stack([np.linalg.solve(W, m) for W, m in zip(within, means, strict=True)], axis=1)


def _within(residuals: np.ndarray, total: float, spread: float) -> np.ndarray:
    """Covariance within classes, shrunk towards a sphere; a sphere if it is unknown."""
    from sklearn.covariance import ledoit_wolf_shrinkage, shrunk_covariance

    n, d = residuals.shape
    covariance = residuals.T @ residuals / total
    variance = np.trace(covariance) / d
    if variance <= _RIDGE * spread / d:
        return spread / d * np.eye(d)
    even = residuals * np.sqrt(n / total)  # as if all rows had the same weight
    shrinkage = float(np.clip(ledoit_wolf_shrinkage(even, assume_centered=True), 0, 1))  # rounding
    return shrunk_covariance(covariance, shrinkage) + _RIDGE * variance * np.eye(d)


def _evidence(
    n: int, y: ArrayLike | None, scores: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray]:
    """Class index and weight, 0 to 1, of each point."""
    codes, weights = np.zeros(n, dtype=np.int64), np.zeros(n)
    if scores is not None:
        scores = check_scores(scores, n).astype(np.float64, copy=False)
        codes = scores.argmax(axis=1)
        ordered = np.sort(scores, axis=1)
        weights = ordered[:, -1] - ordered[:, -2] if scores.shape[1] > 1 else np.ones(n)
    if y is None:
        return codes, weights
    classes, given = encode_labels(y)
    if len(given) != n:
        raise DataError(f"y has {len(given)} entries; X has {n} points")
    if scores is not None and len(classes) not in (0, scores.shape[1]):
        raise DataError(
            f"y holds {len(classes)} classes and scores has {scores.shape[1]} columns; "
            "give one column for each class of y, in sorted order"
        )
    labelled = given >= 0
    codes[labelled], weights[labelled] = given[labelled], 1
    return codes, weights


def _nearest(points: np.ndarray, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return indices of the nearest points and their distances, each (m, k or fewer)."""
    found, distances = ExactSearch(k).fit(points).nearest(queries)
    order = np.argsort(found, axis=1)
    return np.take_along_axis(found, order, 1), np.take_along_axis(distances, order, 1)


def _blend(anchors: np.ndarray, X: np.ndarray) -> sp.csc_array:
    """Weights of the anchors near each point, (n, n_anchors); rows sum to 1.

    A weight is proportional to 1 - d / h, where h is the distance to the farthest anchor used.
    """
    columns, distances = _nearest(anchors, X, _BLENDED)
    farthest = distances.max(axis=1, keepdims=True)
    weights = farthest - distances.astype(np.float64)
    weights += (weights.sum(axis=1, keepdims=True) <= 1e-6 * farthest) | (farthest == 0)
    weights /= weights.sum(axis=1, keepdims=True)
    n, k = columns.shape
    rows = np.repeat(np.arange(n), k)
    kept = weights.ravel() > 0
    entries = weights.ravel()[kept], (rows[kept], columns.ravel()[kept])
    return sp.csc_array(entries, shape=(n, len(anchors)))


def _transposed(graph: sp.csr_array, values: np.ndarray) -> np.ndarray:
    """Values of the edges of a graph, in the order of the transposed graph."""
    return sp.csr_array(sp.csr_array((values, graph.indices, graph.indptr), graph.shape).T).data


def _edges_of(graph: sp.csr_array, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of all edges of some rows, and the number of edges of each row."""
    starts = graph.indptr[rows].astype(np.int64)
    lengths = graph.indptr[rows + 1] - starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum()), lengths
