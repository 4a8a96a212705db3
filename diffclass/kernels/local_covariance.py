"""The local-covariance kernel: each point is a Gaussian, shaped like its neighbourhood.

The Gaussian of x is p_x = N(x, Sigma_x), Sigma_x = U diag(l) U' + s^2 I. Its r directions U are the
local principal components of the point's row of the graph, itself included, about the mean of that
row (about x, the noise of x would look like a direction). s^2 is the mean variance off the
directions, kept above a floor, and l = sample variance - s^2. The kernel is

    a(x, z) = int p_x p_z = N(x - z; 0, Sigma_x + Sigma_z)

and E(x, z) = -log a(x, z) / sqrt(a(x, x) a(z, z)) >= 0 takes the place of a squared distance: it is
0 if both Gaussians agree and does not change when the features are scaled. In more than a few
dimensions exp(-E) is far too sharp; it is therefore given a bandwidth: exp(-E / (h_x h_z)).

a(x, x) = det(4 pi Sigma_x)^-1/2 is larger where the points are dense: without the normalisation the
walk of a prefers them. The distance of the densities is

    (int |p_x - p_z|^2)^1/2 = (a(x, x) + a(z, z) - 2 a(x, z))^1/2.

Source: Coifman et al. 2005, section 3 (the kernel a and the distance); M. Tipping and C. Bishop
1999 (the covariance).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from diffclass import _compiled
from diffclass._validation import check_choice, check_points, check_positive
from diffclass.exceptions import DataError
from diffclass.kernels._kernel import (
    NEIGHBOR,
    OF_EACH_POINT,
    POINTS,
    FittedKernel,
    Kernel,
)
from diffclass.kernels.isotropic import exponentials, neighbor_distances
from diffclass.options import YES_NO
from diffclass.system.costs import Cost, Size
from diffclass.system.forms import Array, Maybe, Record, Whole

_FLOOR = 0.1  # least s^2, as a share of the median of s^2 over the points where it is positive
# Least s^2, as a share of the largest variance: the energies then lose at most six digits.
_LEAST_NOISE = 1e-6


class LocalCovariance(Kernel):
    """exp(-E / (h_x h_z)), where E measures how little the Gaussians of both ends overlap.

    The paper's kernel int p_x p_z is ``LocalCovariance(bandwidth=1, normalized=False)``.

    Parameters
    ----------
    rank : int, default=5
        Directions r of each covariance. At most p - 1 are used: together with s^2 they describe
        any covariance of p features. A neighbourhood of m points has at most m - 1.
    bandwidth : "self-tuning" or float, default="self-tuning"
        A number is h^2 for all edges, without unit. "self-tuning" takes the j-th smallest E of a
        point's edges as its h^2.
    neighbor : int, default=7
        The number j.
    normalized : bool, default=True
        Whether k(x, x) is 1. If not, affinities are multiplied by sqrt(a(x, x) a(z, z)), which
        makes the walk prefer dense places and clusters of small spread, and range over many orders
        of magnitude in more than a few dimensions.

    See Also
    --------
    Gaussian : By distance alone; better with a dozen neighbours.
    tangent_distances : The distance of the densities.

    Notes
    -----
    Cost: for each point, p times the square of the neighbourhood's size (or of p, if smaller); for
    each edge, r^2 p. Memory beyond the result: the `LocalGaussians` and one number per edge.

    If the r-th and the next variance of a neighbourhood are exactly equal, as on a grid, the choice
    between their directions is arbitrary.

    Examples
    --------
    On two crossing lines, points of one line weigh more than points of different lines:

    >>> import numpy as np
    >>> from diffclass import neighbors_graph
    >>> from diffclass.kernels import LocalCovariance
    >>> t = np.linspace(-1, 1, 40)
    >>> noise = np.random.default_rng(0).normal(scale=0.01, size=(80, 2))
    >>> X = np.vstack([np.column_stack([t, 0.5 * t]), np.column_stack([t, -0.5 * t])]) + noise
    >>> graph = neighbors_graph(X, n_neighbors=8)
    >>> K = LocalCovariance().affinity(graph, X)
    >>> bool(K[10, 12] > 10 * K[25, 64])
    True
    """

    kept_fields: ClassVar = {
        "rank": Whole(1),
        "neighbor": NEIGHBOR,
    }

    def __init__(
        self,
        *,
        rank: int = 5,
        bandwidth: str | float = "self-tuning",
        neighbor: int = 7,
        normalized: bool = True,
    ):
        self.rank = rank
        self.bandwidth = bandwidth
        self.neighbor = neighbor
        self.normalized = normalized

    def cost(self, size: Size) -> Cost:
        """Return what fitting costs, with the directions of the Gaussians."""
        directions = 4 * size.points * size.features * self.rank
        return super().cost(size) + Cost(directions)

    def fit(
        self,
        graph: sp.csr_array,
        X: np.ndarray,
        *,
        y: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> tuple[sp.csr_array, FittedLocalCovariance]:
        """Return the affinities on the edges of the graph; see `Kernel.fit`.

        Raises
        ------
        ParameterError
            If a parameter is out of range.
        DataError
            If points are not finite or another number than in the graph, if the graph lacks a
            reverse edge, or if affinities that are not normalised leave the range of its type.
        """
        self._check_parameters()
        gaussians, noise_floor, energies = _gaussians_and_energies(graph, X, self.rank)
        fitted = FittedLocalCovariance(
            gaussians=gaussians,
            noise_floor=noise_floor,
            scales=self._scales(energies),
            neighbor=self.neighbor if self.bandwidth == "self-tuning" else None,
            normalized=bool(self.normalized),
        )
        return fitted.weights(energies, fitted.scales, gaussians), fitted

    def _check_parameters(self) -> None:
        check_positive(self.rank, "rank", integer=True)
        check_positive(self.neighbor, "neighbor", integer=True)
        YES_NO.check(self.normalized, "normalized")
        if isinstance(self.bandwidth, str):
            check_choice(self.bandwidth, "bandwidth", ("self-tuning",), other="a number")
        else:
            check_positive(self.bandwidth, "bandwidth")

    def _scales(self, energies: sp.csr_array) -> np.ndarray:
        if isinstance(self.bandwidth, str):
            return neighbor_distances(energies, self.neighbor, without_diagonal=True)
        h = max(np.sqrt(self.bandwidth), np.sqrt(np.finfo(energies.dtype).tiny))  # 1 / h^2 exists
        return np.full(energies.shape[0], h, dtype=energies.dtype)


@dataclass(frozen=True, eq=False)
class LocalGaussians:
    """The densities p_x = N(x, W'W + s^2 I) of points (n, p), made by `local_gaussians`.

    The factors W (n, r, p) are for each point r orthogonal rows, each sqrt(l) times a direction;
    noise (n,) is s^2 > 0. Memory: r p numbers per point, in the precision of the points.
    """

    points: np.ndarray
    factors: np.ndarray
    noise: np.ndarray

    @cached_property
    def variances(self) -> np.ndarray:
        """The variances l along each direction beyond the noise, of shape (n, r)."""
        return np.einsum("xkj,xkj->xk", self.factors, self.factors, dtype=np.float64)

    @cached_property
    def self_energies(self) -> np.ndarray:
        """-log a(x, x) - (p / 2) log 2 pi = 1/2 log det 2 Sigma_x, of shape (n,)."""
        n_features = self.points.shape[1]
        along = np.log1p(self.variances / self.noise[:, None]).sum(axis=1)
        return (n_features * np.log(2 * self.noise) + along) / 2

    @property
    def log_peaks(self) -> np.ndarray:
        """Logarithms of a(x, x) = int p_x^2, of shape (n,)."""
        return -self.self_energies - self.points.shape[1] * np.log(2 * np.pi) / 2


@dataclass(frozen=True, eq=False)
class FittedLocalCovariance(FittedKernel):
    """The local-covariance kernel with the densities of its points and their bandwidths h (n,).

    noise_floor is the least s^2; ``neighbor`` is None if all points have the same h.
    """

    gaussians: LocalGaussians
    noise_floor: float
    scales: np.ndarray
    neighbor: int | None
    normalized: bool = True

    kept_as = "local covariance"
    kept_fields: ClassVar = {
        "gaussians": Record(
            LocalGaussians,
            {"points": POINTS, "factors": Array(("n", None, "d")), "noise": OF_EACH_POINT},
        ),
        "scales": OF_EACH_POINT,
        "neighbor": Maybe(NEIGHBOR),
    }

    def extend(self, graph: sp.csr_array, X_new: np.ndarray) -> sp.csr_array:
        """Return the affinities of new points, whose neighbourhoods are their rows of the graph."""
        fitted = self.gaussians
        n_features = fitted.points.shape[1]
        X_new = check_points(X_new, name="X_new").astype(fitted.points.dtype, copy=False)
        if X_new.shape[1] != n_features:
            raise DataError(
                f"the new points have {X_new.shape[1]} features; "
                f"the kernel was fitted to {n_features}"
            )
        parts = _principal_parts(graph, fitted.points, fitted.factors.shape[1])
        new = _assembled(X_new, *parts, self.noise_floor)
        energies = overlap_energies(graph, fitted, new)
        return self.weights(energies, self._own_scales(energies), new)

    def weights(
        self, energies: sp.csr_array, row_scales: np.ndarray, rows: LocalGaussians
    ) -> sp.csr_array:
        """Return the affinities of the rows and the fitted points, from their energies."""
        exponents = np.empty_like(energies.data)
        _compiled.graphs.scaled_by_ends(
            energies.indptr, energies.indices, energies.data,
            1 / row_scales, 1 / self.scales, exponents,
        )  # fmt: skip
        weights = _with_data(energies, exponentials(exponents))
        if self.normalized:
            return weights
        ends = rows.log_peaks[_rows_of(energies)] + self.gaussians.log_peaks[energies.indices]
        return _with_data(energies, _in_range(np.log(weights.data) + ends / 2, energies.dtype))

    def _own_scales(self, energies: sp.csr_array) -> np.ndarray:
        if self.neighbor is None:
            return np.full(energies.shape[0], self.scales[0], dtype=energies.dtype)
        return neighbor_distances(energies, self.neighbor, without_diagonal=False)


def local_gaussians(
    graph: sp.csr_array, X: np.ndarray, rank: int = 5
) -> tuple[LocalGaussians, float]:
    """Fit a Gaussian to each point's neighbourhood, its row of the graph; return also least s^2."""
    X = check_points(X)
    if graph.shape != (len(X), len(X)):
        raise DataError(f"the graph has shape {graph.shape}; there are {len(X)} points")
    parts = _principal_parts(graph, X, min(rank, X.shape[1] - 1))
    noise_floor = _noise_floor(*parts[1:])
    return _assembled(X, *parts, noise_floor), noise_floor


def overlap_energies(
    graph: sp.csr_array, fitted: LocalGaussians, new: LocalGaussians | None = None
) -> sp.csr_array:
    """Return E = -log a(x, z) / sqrt(a(x, x) a(z, z)) on the edges of a graph (m, n).

    Columns are the fitted Gaussians, rows the new ones or, by default, the same; the graph then
    needs all reverse edges, or a `DataError` is raised. Energies are the same to the last bit for
    (x, z) and (z, x).
    """
    rows, columns = (
        (g.points, g.factors, g.variances, g.noise, g.self_energies)
        for g in (new or fitted, fitted)
    )
    once = new is None
    energies = np.empty(graph.nnz)
    _compiled.gaussians.overlap_energies(
        graph.indptr, graph.indices, *rows, *columns, once, energies
    )
    if once:
        _compiled.gaussians.mirror(graph.indptr, graph.indices, energies)
        if np.isnan(energies).any():
            raise DataError("the graph has an edge without its reverse edge; see neighbors_graph")
    # between duplicates, rounding leaves small values, which would become their group's scale
    precision = np.result_type(fitted.factors, graph.dtype)
    energies[energies < np.sqrt(np.finfo(precision).eps) / 10] = 0
    return _with_data(graph, energies.astype(graph.dtype, copy=False))


def tangent_distances(graph: sp.csr_array, X: np.ndarray, *, rank: int = 5) -> sp.csr_array:
    """Return (int |p_x - p_z|^2)^1/2 on the edges of a graph: how the densities at its ends differ.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        As `neighbors_graph` gives it. Row x, itself included, is the neighbourhood of x; values are
        not used.
    X : array-like of shape (n, d)
        Points.
    rank : int, default=5
        Directions of each covariance, as in `LocalCovariance`; d - 1 describe any.

    Returns
    -------
    csr_array of shape (n, n)
        Distances in the precision of the graph, 0 on the diagonal. Their unit is that of the points
        to the power -d / 2.

    Raises
    ------
    ParameterError
        If the rank is out of range.
    DataError
        As `LocalCovariance.fit`, and if distances leave the range of the graph's type.

    See Also
    --------
    LocalCovariance : The kernel int p_x p_z that goes with it.

    References
    ----------
    Coifman et al. 2005, section 3.

    Examples
    --------
    Six points of an angle: the densities of neighbours differ most at its corner, the third:

    >>> import numpy as np
    >>> from diffclass import neighbors_graph
    >>> from diffclass.kernels import tangent_distances
    >>> X = np.array([[0, 0], [1, 0], [2, 0], [2, 1], [2, 2], [2, 3.0]])
    >>> D = tangent_distances(neighbors_graph(X, n_neighbors=2), X, rank=1)
    >>> D.toarray()[np.arange(5), np.arange(1, 6)].round(2)
    array([0.52, 0.68, 0.7 , 0.46, 0.52])
    """
    check_positive(rank, "rank", integer=True)
    gaussians, _, energies = _gaussians_and_energies(graph, X, rank)
    peaks = gaussians.log_peaks
    here, there = peaks[_rows_of(energies)], peaks[energies.indices]
    # a + b - 2 c = (sqrt a - sqrt b)^2 + 2 sqrt(a b) (1 - exp -E), over the larger of both peaks
    ratio = np.exp(-np.abs(here - there) / 2)
    squared = (1 - ratio) ** 2 - 2 * ratio * np.expm1(-energies.data.astype(np.float64))
    largest = _in_range(np.maximum(here, there) / 2, energies.dtype)
    return _with_data(energies, (largest * np.sqrt(squared)).astype(energies.dtype))


def _gaussians_and_energies(
    graph: sp.csr_array, X: np.ndarray, rank: int
) -> tuple[LocalGaussians, float, sp.csr_array]:
    """Return the Gaussians of all points, the least s^2, and E on the edges, indices sorted."""
    gaussians, noise_floor = local_gaussians(graph, X, rank)
    if not graph.has_sorted_indices:
        graph = graph.sorted_indices()
    return gaussians, noise_floor, overlap_energies(graph, gaussians)


def _rows_of(graph: sp.csr_array) -> np.ndarray:
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))


def _in_range(logarithms: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return exponentials in a type that holds them, or raise a `DataError`."""
    limits = np.finfo(dtype)
    low, high = logarithms.min(initial=0), logarithms.max(initial=0)
    if not np.log(limits.tiny) <= low <= high <= np.log(limits.max):
        raise DataError(
            f"integrals of the local densities reach from 10^{low / np.log(10):.0f} to "
            f"10^{high / np.log(10):.0f}, beyond {np.dtype(dtype)}; take fewer or rescaled "
            "features, float64 points, or LocalCovariance(normalized=True)"
        )
    return np.exp(logarithms).astype(dtype)


def _principal_parts(
    graph: sp.csr_array, X: np.ndarray, rank: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Directions (m, r, p), sample variances (m, r) and mean other variance (m,) of each row."""
    n, n_features = graph.shape[0], X.shape[1]
    directions = np.empty((n, rank, n_features), dtype=X.dtype)
    variances, residual = np.empty((n, rank)), np.empty(n)
    with threadpool_limits(1, user_api="blas"):  # the rows are shared among threads
        _compiled.gaussians.principal_directions(
            graph.indptr, graph.indices, X, directions, variances, residual
        )
    return directions, variances, residual


def _noise_floor(variances: np.ndarray, residual: np.ndarray) -> float:
    """Return a share of the median residual, over neighbourhoods large enough to have one.

    Medians keep a few outliers from blurring everything.
    """
    largest = variances.max(axis=1, initial=0)
    telling = residual[residual > _LEAST_NOISE * largest]
    spread = largest[largest > 0]
    pooled = _FLOOR * np.median(telling) if len(telling) else 0
    flat = _LEAST_NOISE * np.median(spread) if len(spread) else 0
    return float(max(pooled, flat)) or 1.0


def _assembled(
    X: np.ndarray,
    directions: np.ndarray,
    variances: np.ndarray,
    residual: np.ndarray,
    noise_floor: float,
) -> LocalGaussians:
    """Scale the directions, in place, by the square roots of the variances beyond the noise."""
    own_floor = _LEAST_NOISE * variances.max(axis=1, initial=0)
    noise = np.maximum(np.maximum(residual, own_floor), noise_floor)
    beyond = np.maximum(variances - noise[:, None], 0)
    directions *= np.sqrt(beyond).astype(directions.dtype)[:, :, None]
    return LocalGaussians(X, directions, noise)


def _with_data(graph: sp.csr_array, data: np.ndarray) -> sp.csr_array:
    return sp.csr_array((data, graph.indices, graph.indptr), shape=graph.shape)
