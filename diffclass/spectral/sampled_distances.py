"""Squared distances from a sample of the points to all points: what scales they have."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from diffclass.exceptions import DataError, ParameterError
from diffclass.neighbors import number_range as _number_range

REACH = 3.0  # in units of sqrt(epsilon): a point farther away weighs less than exp(-9)
_NEARLY_ALL = 0.95  # the share of the points for which a reach or a number of neighbours holds
_SAMPLE_SIZES = 128, 512
_SAMPLED_DISTANCES = 2**24


def check_spread(X: np.ndarray) -> None:
    """Raise a `DataError` for points that are all equal."""
    if len(X) > 1 and (X[0] == X).all():
        raise DataError(f"all {len(X)} points are equal: there is no geometry and no scale")


class SampledDistances:
    """Squared distances (n_sampled, n) from 128 to 512 of the points (n, d), sorted, to all points.

    Raises `DataError` where all points are equal, or differ by rounding only.
    """

    def __init__(self, X: np.ndarray, random: np.random.RandomState):
        check_spread(X)
        _number_range.check_spread(X)
        n_sampled = int(np.clip(_SAMPLED_DISTANCES // len(X), *_SAMPLE_SIZES))
        self.points = np.sort(random.permutation(len(X))[:n_sampled])
        centered = (X - X.mean(axis=0)).astype(np.float64)
        squares = np.einsum("ij,ij->i", centered, centered)
        dtype = np.float32 if _number_range.fits(X, np.float32) else np.float64
        self.squared = np.empty((len(self.points), len(X)), dtype=dtype)
        for block in np.array_split(np.arange(len(self.points)), 8):
            rows = self.points[block]
            products = centered[rows] @ centered.T
            self.squared[block] = squares[rows, None] - 2 * products + squares
        # the difference of two nearly equal squares is rounding error
        floor = 1e-12 * squares.max(initial=0)
        self.squared[self.squared < floor] = 0
        if not self.squared.any():
            raise DataError("the points differ by rounding only: there is no scale to choose")

    def default_scales(self, n_scales: int) -> np.ndarray:
        """Return scales from the median distance of nearest neighbours to the largest distance."""
        nearest = np.where(self.squared > 0, self.squared, np.inf).min(axis=1)
        low = np.median(nearest[np.isfinite(nearest)])
        return np.geomspace(low, max(self.squared.max(), 4 * low), n_scales)

    def kernel_sums(self, scales: np.ndarray) -> np.ndarray:
        """Return the kernel sum of the median point at each scale."""
        return np.array([np.median(np.exp(-self.squared / s).sum(axis=1)) for s in scales])

    def slopes(self, scales: np.ndarray) -> np.ndarray:
        """Return d log sum K / d log epsilon = sum K u / sum K, u = |x - y|^2 / epsilon."""
        # pairs of a point and itself would hide the dimension where points have few neighbours
        apart = self.squared[self.squared > 0]
        kind = apart.dtype.type
        slopes = np.empty(len(scales))
        for i, scale in enumerate(scales):
            with np.errstate(over="ignore", divide="ignore"):  # K is 0 there, or 1
                u = np.minimum(apart / kind(scale), np.finfo(kind).max)
            K = np.exp(-u)
            slopes[i] = np.vdot(K, u) / max(K.sum(dtype=np.float64), np.finfo(float).tiny)
        return slopes

    def check_reached(self, epsilon: float, dtype: np.dtype) -> None:
        """Raise `ParameterError` for a scale at which most points have no neighbour."""
        nearest = np.partition(self.squared, 1, axis=1)[:, 1]  # but for the point itself
        # beyond log(1 / tiny) scales exp(-|x - y|^2 / epsilon) is 0 in the type
        alone = float((nearest > -np.log(float(np.finfo(dtype).tiny)) * epsilon).mean())
        if alone > 0.5:
            low, high = float(np.median(nearest)), float(self.squared.max())
            raise ParameterError(
                f"bandwidth = {epsilon:g} reaches no neighbour of {alone:.0%} of the points, of "
                "which the median point has its nearest at a squared distance of "
                f"{low:.2g}: there is nothing to walk along; take {low:.2g} to {high:.2g}, in "
                "squared units of the points, or 'attached'"
            )

    def neighbors_needed(self, epsilon: float) -> int:
        """Count the neighbours within 3 sqrt(epsilon); enough for 95 % of the points."""
        counts = np.count_nonzero(self.squared <= REACH**2 * epsilon, axis=1) - 1
        return max(int(np.quantile(counts, _NEARLY_ALL)), 1)

    def mean_degree(self, squared_radius: float) -> float:
        """Return the mean number of points within a ball."""
        return np.count_nonzero(self.squared <= squared_radius) / len(self.points)

    def reach_of(self, graph: sp.csr_array) -> float:
        """Return the distance within which 95 % of the points have all their neighbours."""
        directed = graph[self.points]
        complete = np.diff(directed.indptr) == graph.shape[1]
        farthest = np.sqrt(directed.max(axis=1).toarray().ravel())
        farthest[complete] = np.inf
        return float(np.quantile(farthest, 1 - _NEARLY_ALL, method="lower"))
