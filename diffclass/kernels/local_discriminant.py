"""The local discriminant kernel: the walk is fast along class boundaries and slow across them.

Around each of a few anchors a, the classes seen there are described by their log-odds. With local
shares pi_i, means m_i, covariance W within the classes, and class functions f_i,

    linear     f_i(x) = (W^-1 m_i) . x
    quadratic  f_i(x) = log N(x; m_i, W_i)
    D_a^2(x, z) = c sum_i pi_i (g_i - sum_j pi_j g_j)^2,   g_i = f_i(x) - f_i(z)

is the mean squared change of the log-odds between x and z. The linear one is the quadratic form
W^-1 B W^-1 of Hastie and Tibshirani, where B is the covariance between the classes. With
eigenvectors v_r, W^-1 B v_r = l_r v_r and v_r' W v_r = 1,

    linear     D_a^2(x, z) = c sum_r l_r (v_r . (x - z))^2
    fisher     D_a^2(x, z) = c sum_r l_r / (1 + l_r) (v_r . (x - z))^2

so that Fisher's form counts standard deviations within the classes, along the directions that tell
them apart. The kernel is k(x, z) exp(-strength (D_x^2 + D_z^2) / 2), where k is another kernel and
D_x blends the D_a of the anchors nearest to x. The confidence c is w / (w + 1) times a window,
where w is the total weight of the evidence in sight; without evidence it is 0. If only one class is
seen, D_a is 0. In both cases the kernel is k.

Sources: Coifman et al. 2005, section 3 (a local metric by local discriminant analysis); T. Hastie
and R. Tibshirani, Discriminant adaptive nearest neighbor classification, 1996; J. Friedman,
Regularized discriminant analysis, 1989 (class covariances shrunk towards the pooled one).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.linalg import cholesky, solve, solve_triangular, svd
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from diffclass._validation import RandomState, check_choice, check_positive, check_share
from diffclass.exceptions import DataError
from diffclass.kernels._kernel import FittedKernel, Kernel
from diffclass.kernels._over_kernel import OverKernel
from diffclass.neighbors import ExactSearch
from diffclass.targets import encode_labels

_POINTS_PER_ANCHOR, _MOST_ANCHORS = 16, 1024
_BLENDED = 4  # anchors per point; the farthest has weight 0, so that blends are continuous
# The farther an anchor lies from the mean of its evidence, the more its log-odds are extrapolated.
# From this distance on, in units of the spread of the evidence, they do not count.
_REACH = 3.0
_RIDGE = 1e-6  # of the mean variance, which makes every covariance regular
_LEAST_FACTOR = np.exp(-60.0)  # as in the isotropic kernels: no edge vanishes in single precision


class LocalDiscriminant(OverKernel):
    """The affinities of another kernel, reduced where the local log-odds of the classes change.

    Parameters
    ----------
    kernel : Kernel, optional
        The kernel of the affinities k; the self-tuning `Gaussian` by default.
    method : {"linear", "quadratic", "fisher"}, default="fisher"
        The kind of local discriminant analysis.
    evidence : {"scores", "labels"}, default="scores"
        What the classes are known from. With "scores", every point counts for its most probable
        class by earlier scores (`diffclass.label_diffusion.map_scores`), with their margin as
        weight; labels override this. With "labels", or without scores, only labelled points count.
    strength : float, default=0.3
        Weight of the squared change of log-odds, at least 0; 0 leaves k as it is.
    neighborhood : int, default=100
        Number of nearest points with evidence that an anchor looks at.
    shrinkage : "auto" or float, default="auto"
        Shrinkage of the covariance within classes towards a sphere, 0 to 1; "auto" is that of
        Ledoit and Wolf.
    n_anchors : int, optional
        Number of local analyses, at points drawn at random; by default one per 16 points, at most
        1,024.
    random_state : int, RandomState or None, default=0
        Seeds the draw of the anchors.

    Notes
    -----
    With few labels and no scores, the nearest labels of an anchor are almost all of them, and
    the metric is nearly global. On digits with five labels per class this loses accuracy, while the
    scores of a first map gain a little. If only one label of each class is in sight, the
    spread within classes is unknown, and the spread of these labels replaces it. A class covariance
    is shrunk towards the pooled one as by d + 1 points of weight 1.

    Cost: one analysis of d^3 per anchor, and four times d values per edge and class. Memory: a few
    numbers per edge.

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

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        method: str = "fisher",
        evidence: str = "scores",
        strength: float = 0.3,
        neighborhood: int = 100,
        shrinkage: str | float = "auto",
        n_anchors: int | None = None,
        random_state: RandomState = 0,
    ):
        self.kernel = kernel
        self.method = method
        self.evidence = evidence
        self.strength = strength
        self.neighborhood = neighborhood
        self.shrinkage = shrinkage
        self.n_anchors = n_anchors
        self.random_state = random_state

    @property
    def uses_scores(self) -> bool:
        """Whether scores are the evidence, or the inner kernel uses them."""
        scored = isinstance(self.evidence, str) and self.evidence == "scores"
        return scored or super().uses_scores

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
        self._check()
        K, inner = self._inner.fit(graph, X, y=y, scores=scores)
        X = np.asarray(X)
        codes, weights = _evidence(len(X), y, scores if self.evidence == "scores" else None)
        anchors, discriminants = self._analyses(X, codes, weights)
        if not self.strength or all(d is None for d in discriminants):
            return K, inner
        fitted = FittedLocalDiscriminant(
            kernel=inner,
            points=X,
            anchors=anchors,
            blend=_blend(anchors, X),
            discriminants=discriminants,
            strength=self.strength,
        )
        return fitted.reshaped(K), fitted

    def _check(self) -> None:
        check_choice(self.method, "method", tuple(_ANALYSES))
        check_choice(self.evidence, "evidence", ("scores", "labels"))
        check_positive(self.strength, "strength", zero=True)
        check_positive(self.neighborhood, "neighborhood", integer=True)
        if self.n_anchors is not None:
            check_positive(self.n_anchors, "n_anchors", integer=True)
        if isinstance(self.shrinkage, str):
            check_choice(self.shrinkage, "shrinkage", ("auto",))
        else:
            check_share(self.shrinkage, "shrinkage")

    def _analyses(
        self, X: np.ndarray, codes: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, list[Linear | Quadratic | None]]:
        """Choose the anchors and analyse the evidence around each."""
        known = np.flatnonzero(weights > 0)
        if not len(known) or (codes[known] == codes[known[0]]).all():
            return X[:0], []
        n_anchors = self.n_anchors or max(1, min(len(X) // _POINTS_PER_ANCHOR, _MOST_ANCHORS))
        order = check_random_state(self.random_state).permutation(len(X))
        anchors = X[np.sort(order[:n_anchors])]
        nearest = _nearest(X[known], anchors, self.neighborhood)[0]
        with threadpool_limits(1, user_api="blas"):  # matrices too small for threads to pay
            return anchors, [
                self._analysed(anchor, X[near], codes[near], weights[near])
                for anchor, near in zip(anchors, known[nearest], strict=True)
            ]

    def _analysed(
        self, anchor: np.ndarray, X: np.ndarray, codes: np.ndarray, weights: np.ndarray
    ) -> Linear | Quadratic | None:
        local = _moments(X - anchor, codes, weights, self.shrinkage)
        if local is None or not local.confidence:
            return None
        return _ANALYSES[self.method](local, anchor)


@dataclass(frozen=True, eq=False)
class FittedLocalDiscriminant(FittedKernel):
    """The local discriminant kernel with its anchors, at least one of them with a discriminant.

    Parameters
    ----------
    kernel : FittedKernel
        The fitted kernel of k.
    points : ndarray of shape (n, d)
        The fitted points.
    anchors : ndarray of shape (n_anchors, d)
        Places of the local analyses.
    blend : csc_array of shape (n, n_anchors)
        Weights of the anchors at the fitted points.
    discriminants : list of Linear, Quadratic or None
        The discriminant of each anchor; None if it found none.
    strength : float
        Weight of the squared change of log-odds.
    """

    kernel: FittedKernel
    points: np.ndarray
    anchors: np.ndarray
    blend: sp.csc_array
    discriminants: list[Linear | Quadratic | None]
    strength: float

    def reshaped(self, K: sp.csr_array) -> sp.csr_array:
        """Return the affinities of the fitted points from those of k; shape (n, n)."""
        changes = self._changes(K, self.points, self.points, self.blend)
        return self._slowed(K, changes + _transposed(K, changes))

    def extend(self, graph: sp.csr_array, X_new: np.ndarray) -> sp.csr_array:
        """Return the affinities of new points, by the anchors near them."""
        K, X_new = self.kernel.extend(graph, X_new), np.asarray(X_new)
        changes = self._changes(K, X_new, self.points, _blend(self.anchors, X_new))
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
        for a, discriminant in enumerate(self.discriminants):
            entries = slice(blend.indptr[a], blend.indptr[a + 1])
            rows = blend.indices[entries]
            if discriminant is None or not len(rows):
                continue
            edges, lengths = _edges_of(graph, rows)
            columns, place = np.unique(graph.indices[edges], return_inverse=True)
            here = np.repeat(discriminant.values(X[rows]), lengths, axis=0)
            difference = here - discriminant.values(Y[columns])[place]
            squared = np.einsum("ij,ij->i", difference, difference)
            out[edges] += np.repeat(blend.data[entries], lengths) * squared
        return out


@dataclass(frozen=True)
class Linear:
    """Functions x -> (x - center) . directions, of shape (d, r)."""

    center: np.ndarray
    directions: np.ndarray

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return the functions at points of shape (m, d), of shape (m, r)."""
        return (X - self.center) @ self.directions


@dataclass(frozen=True)
class Quadratic:
    """Functions x -> root_i (f_i - sum_j pi_j f_j), f_i = -|R_i (x - center - m_i)|^2 / 2."""

    center: np.ndarray
    means: np.ndarray
    whiteners: list[np.ndarray]
    shares: np.ndarray
    roots: np.ndarray

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return the functions at points of shape (m, d), of shape (m, n_classes)."""
        logs = np.empty((len(X), len(self.means)))
        for i, (mean, R) in enumerate(zip(self.means, self.whiteners, strict=True)):
            logs[:, i] = -0.5 * np.square((X - self.center - mean) @ R.T).sum(axis=1)
        return (logs - (logs @ self.shares)[:, None]) * self.roots


@dataclass(frozen=True)
class Moments:
    """Moments of the classes seen around an anchor, which is the origin.

    Attributes
    ----------
    shares : ndarray of shape (c,)
        Shares pi_i of the c classes seen.
    masses : ndarray of shape (c,)
        Weights of the classes.
    means : ndarray of shape (c, d)
        Means m_i.
    within : ndarray of shape (d, d)
        Covariance W, shrunk.
    residuals : list of ndarray of shape (n_i, d)
        (x - m_i) sqrt(w(x)) for the points x of each class.
    confidence : float
        Confidence c, 0 to 1.
    """

    shares: np.ndarray
    masses: np.ndarray
    means: np.ndarray
    within: np.ndarray
    residuals: list[np.ndarray]
    confidence: float


def _moments(
    X: np.ndarray, codes: np.ndarray, weights: np.ndarray, shrinkage: str | float
) -> Moments | None:
    """Moments of the classes; None if only one class is seen or all points coincide."""
    X = X.astype(np.float64, copy=False)
    seen, place = np.unique(codes, return_inverse=True)
    total = weights.sum()
    spread = np.square(X - np.average(X, axis=0, weights=weights)).sum(axis=1) @ weights / total
    if len(seen) < 2 or not spread > 0:
        return None
    groups = [place == i for i in range(len(seen))]
    masses = np.bincount(place, weights)
    means = np.array([np.average(X[g], axis=0, weights=weights[g]) for g in groups])
    roots = np.sqrt(weights)[:, None]
    residuals = [(X[g] - mean) * roots[g] for g, mean in zip(groups, means, strict=True)]
    within = _within(np.concatenate(residuals), total, spread, shrinkage)
    shares = masses / total
    away = np.linalg.norm(shares @ means) / np.sqrt(spread)
    window = (1 - min(away / _REACH, 1) ** 3) ** 3
    return Moments(
        shares=shares,
        masses=masses,
        means=means,
        within=within,
        residuals=residuals,
        confidence=window * total / (total + 1),
    )


def _within(
    residuals: np.ndarray, total: float, spread: float, shrinkage: str | float
) -> np.ndarray:
    """Covariance within classes, shrunk towards a sphere; a sphere if it is unknown."""
    from sklearn.covariance import ledoit_wolf_shrinkage, shrunk_covariance

    n, d = residuals.shape
    covariance = residuals.T @ residuals / total
    variance = np.trace(covariance) / d
    if variance <= _RIDGE * spread / d:
        return spread / d * np.eye(d)
    if shrinkage == "auto":
        even = residuals * np.sqrt(n / total)
        shrinkage = float(ledoit_wolf_shrinkage(even, assume_centered=True))
    return shrunk_covariance(covariance, shrinkage) + _RIDGE * variance * np.eye(d)


def _linear(local: Moments, anchor: np.ndarray) -> Linear:
    apart = local.means - local.shares @ local.means
    roots = np.sqrt(local.confidence * local.shares)
    return Linear(anchor, solve(local.within, apart.T, assume_a="pos") * roots)


def _fisher(local: Moments, anchor: np.ndarray) -> Linear:
    # with W = L L', the left singular vectors u of L^-1 B^1/2 give v = L'^-1 u
    apart = (local.means - local.shares @ local.means) * np.sqrt(local.shares)[:, None]
    L = cholesky(local.within, lower=True)
    u, roots, _ = svd(solve_triangular(L, apart.T, lower=True), full_matrices=False)
    vectors = solve_triangular(L, u, lower=True, trans="T")
    return Linear(anchor, vectors * np.sqrt(local.confidence * roots**2 / (1 + roots**2)))


def _quadratic(local: Moments, anchor: np.ndarray) -> Quadratic:
    d = len(local.within)
    whiteners = []
    for mass, residuals in zip(local.masses, local.residuals, strict=True):
        own = (residuals.T @ residuals + (d + 1) * local.within) / (mass + d + 1)
        whiteners.append(solve_triangular(cholesky(own, lower=True), np.eye(d), lower=True))
    roots = np.sqrt(local.confidence * local.shares)
    return Quadratic(
        center=anchor,
        means=local.means,
        whiteners=whiteners,
        shares=local.shares,
        roots=roots,
    )


_ANALYSES: dict[str, Callable[[Moments, np.ndarray], Linear | Quadratic]] = {
    "linear": _linear,
    "quadratic": _quadratic,
    "fisher": _fisher,
}


def _evidence(
    n: int, y: ArrayLike | None, scores: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray]:
    """Class index and weight, 0 to 1, of each point."""
    codes, weights = np.zeros(n, dtype=np.int64), np.zeros(n)
    if scores is not None:
        scores = _checked_scores(scores, n)
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


def _checked_scores(scores: ArrayLike, n: int) -> np.ndarray:
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or len(scores) != n or not scores.shape[1]:
        raise DataError(f"scores has shape {scores.shape}; give (n_points, n_classes) = ({n}, ...)")
    if not (np.isfinite(scores) & (scores >= 0)).all():
        raise DataError(
            "scores holds values that are negative or not finite; give probabilities, as map_scores"
        )
    sums = scores.sum(axis=1)
    worst = int(np.abs(sums - 1).argmax()) if n else 0
    if n and abs(sums[worst] - 1) > 1e-3:
        raise DataError(
            f"row {worst} of scores sums to {sums[worst]:.4g}; divide each row by its sum"
        )
    return scores


def _nearest(points: np.ndarray, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return indices of the nearest points and their distances, each (m, k or fewer)."""
    found = ExactSearch(k).fit(points).transform(queries)
    shape = len(queries), -1
    return found.indices.reshape(shape), found.data.reshape(shape)


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
