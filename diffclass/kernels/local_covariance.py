"""The local-covariance kernel: each point is a Gaussian, shaped like its neighbourhood.

The Gaussian of x is p_x = N(x, Sigma_x), Sigma_x = U diag(l) U' + s^2 I. Its r directions U are the
local principal components of the point's row of the graph, itself included, about the mean of that
row. (About x, the noise that moves x off its sheet would be part of every difference and look like
a direction of the sheet.) s^2 is the mean variance off the directions, kept above a floor, and
l = sample variance - s^2. The kernel is

    a(x, z) = int p_x p_z = N(x - z; 0, Sigma_x + Sigma_z)

and E(x, z) = -log a(x, z) / sqrt(a(x, x) a(z, z)) >= 0 takes the place of a squared distance: it is
0 if both Gaussians agree and does not change when the features are scaled. In more than a few
dimensions exp(-E) is far too sharp; it is therefore given a bandwidth: exp(-E / (h_x h_z)).

With W the 2 r rows sqrt(l) u' of both ends, s = s_x^2 + s_z^2 and M = 1 + W W' / s, an edge costs
the r^2 products in M, its Cholesky factor, log det (Sigma_x + Sigma_z) = p log s + log det M and

    d' (Sigma_x + Sigma_z)^-1 d = min_w |d - W' w|^2 / s + |w|^2

at w = M^-1 W d / s, which is exact up to rounding however small s is compared with l.

Source: Coifman et al. 2005, section 3 (the kernel a and the distance of the statistical tangent
space); M. Tipping and C. Bishop 1999 (the covariance).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from diffclass import _compiled
from diffclass._validation import check_choice, check_points, check_positive
from diffclass.exceptions import DataError
from diffclass.kernels._kernel import FittedKernel, Kernel
from diffclass.kernels.isotropic import exponentials, neighbor_distances

# Least s^2, as a share of the largest variance: log det M then loses at most its last six digits.
_LEAST_NOISE = 1e-6


@dataclass(frozen=True, eq=False)
class LocalGaussians:
    """The densities p_x = N(x, W'W + s^2 I), made by `local_gaussians`.

    Parameters
    ----------
    points : ndarray of shape (n, p)
        The means x.
    factors : ndarray of shape (n, r, p)
        W: for each point, r orthogonal rows, each sqrt(l) times a direction.
    noise : ndarray of shape (n,)
        s^2 > 0, in squared units of the points.

    Notes
    -----
    Memory: the factors hold r p numbers per point, in the precision of the points: 67 MB in single
    precision for 111,104 points, 30 features and rank 5.
    """

    points: np.ndarray
    factors: np.ndarray
    noise: np.ndarray

    def __len__(self) -> int:
        return len(self.points)

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

    def covariance(self, x: int) -> np.ndarray:
        """Return Sigma_x of one point as a dense (p, p) matrix."""
        W = self.factors[x].astype(np.float64)
        return W.T @ W + self.noise[x] * np.eye(W.shape[1])

    def log_overlaps(self, graph: sp.csr_array) -> sp.csr_array:
        """Return log a(x, z) = log int p_x p_z on the edges of a graph.

        Parameters
        ----------
        graph : csr_array of shape (n, n)
            Its stored entries are the edges. With every edge it needs the reverse edge.

        Returns
        -------
        csr_array of shape (n, n)
            Symmetric, in double precision. Values of either sign; zeros are stored too.

        Raises
        ------
        DataError
            If the graph has another size or lacks a reverse edge.
        """
        graph = _sorted_graph(graph, self)
        energies = overlap_energies(graph, self)
        own = self.self_energies + self.points.shape[1] / 2 * np.log(2 * np.pi)
        rows = np.repeat(own, np.diff(graph.indptr))
        return _with_data(graph, -energies - (rows + own[graph.indices]) / 2)

    def tangent_distances(self, graph: sp.csr_array) -> sp.csr_array:
        """Return (int |p_x - p_z|^2)^(1/2), the distance of the statistical tangent space.

        Parameters
        ----------
        graph : csr_array of shape (n, n)
            As in `log_overlaps`.

        Returns
        -------
        csr_array of shape (n, n)
            Symmetric, in double precision, at most sqrt(2). The unit is exp(`log_unit` / 2), the
            largest norm of any p_x, since in many dimensions the values themselves overflow.

        Raises
        ------
        DataError
            As `log_overlaps`.
        """
        graph = _sorted_graph(graph, self)
        energies = overlap_energies(graph, self)
        norms = np.exp((self.self_energies.min() - self.self_energies) / 2)
        x = norms[np.repeat(np.arange(len(self)), np.diff(graph.indptr))]
        z = norms[graph.indices]
        # |p_x|^2 + |p_z|^2 - 2 a(x, z) without its cancellation
        squared = (x - z) ** 2 - 2 * x * z * np.expm1(-np.maximum(energies, 0))
        return _with_data(graph, np.sqrt(squared))

    @property
    def log_unit(self) -> float:
        """Log of the largest a(x, x)."""
        n_features = self.points.shape[1]
        return float(-self.self_energies.min() - n_features / 2 * np.log(2 * np.pi))


class LocalCovariance(Kernel):
    """exp(-E / (h_x h_z)), where E measures how little the Gaussians of both ends overlap.

    Parameters
    ----------
    rank : int, default=5
        Directions r of each covariance. At most p - 1 are used: together with s^2 they describe
        any covariance of p features. A neighbourhood of m points has at most m - 1.
    form : {"overlap", "mahalanobis"}, default="overlap"
        "overlap" takes E = -log a(x, z) / sqrt(a(x, x) a(z, z)); "mahalanobis" takes
        E = d' (Sigma_x^-1 + Sigma_z^-1) d / 2, d = x - z.
    bandwidth : "self-tuning" or float, default="self-tuning"
        A number is h^2 for all edges, without unit; 1 gives the paper's kernel. "self-tuning" takes
        the j-th smallest E of a point's edges as its h^2.
    neighbor : int, default=7
        The number j.
    floor : float, default=0.1
        Least s^2, as a share of the median of s^2 over the points where it is positive. s^2 is also
        at least a millionth of the largest variance, of the point itself and in the median.

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

    def __init__(
        self,
        *,
        rank: int = 5,
        form: str = "overlap",
        bandwidth: str | float = "self-tuning",
        neighbor: int = 7,
        floor: float = 0.1,
    ):
        self.rank = rank
        self.form = form
        self.bandwidth = bandwidth
        self.neighbor = neighbor
        self.floor = floor

    def fit(
        self,
        graph: sp.csr_array,
        X: np.ndarray,
        *,
        y: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> tuple[sp.csr_array, FittedLocalCovariance]:
        """Return exp(-E / (h_x h_z)) on the edges of the graph; see `Kernel.fit`.

        Raises
        ------
        ParameterError
            If a parameter is out of range.
        DataError
            If points are not finite or another number than in the graph, or if the graph lacks a
            reverse edge.
        """
        self._check_parameters()
        gaussians, noise_floor = local_gaussians(graph, X, rank=self.rank, floor=self.floor)
        graph = _sorted_graph(graph, gaussians)
        energies = _with_data(graph, _energies(self.form, graph, gaussians))
        fitted = FittedLocalCovariance(
            gaussians=gaussians,
            noise_floor=noise_floor,
            scales=self._scales(energies),
            form=self.form,
            neighbor=self.neighbor if self.bandwidth == "self-tuning" else None,
        )
        return fitted.weights(energies, fitted.scales), fitted

    def _check_parameters(self) -> None:
        check_choice(self.form, "form", tuple(_ENERGIES))
        check_positive(self.neighbor, "neighbor", integer=True)
        if isinstance(self.bandwidth, str):
            check_choice(self.bandwidth, "bandwidth", ("self-tuning",))
        else:
            check_positive(self.bandwidth, "bandwidth")

    def _scales(self, energies: sp.csr_array) -> np.ndarray:
        if isinstance(self.bandwidth, str):
            return neighbor_distances(energies, self.neighbor, without_diagonal=True)
        h = max(np.sqrt(self.bandwidth), np.sqrt(np.finfo(energies.dtype).tiny))  # 1 / h^2 exists
        return np.full(energies.shape[0], h, dtype=energies.dtype)


@dataclass(frozen=True, eq=False)
class FittedLocalCovariance(FittedKernel):
    """The local-covariance kernel with the densities and scales of its points.

    Parameters
    ----------
    gaussians : LocalGaussians
        The densities p_x of the n fitted points.
    noise_floor : float
        Least s^2, in squared units of the points.
    scales : ndarray of shape (n,)
        The bandwidths h.
    form : {"overlap", "mahalanobis"}
        The form of E.
    neighbor : int or None
        A new point's h^2 is the E of this rank; None if all points have the same h.
    """

    gaussians: LocalGaussians
    noise_floor: float
    scales: np.ndarray
    form: str
    neighbor: int | None

    def extend(self, graph: sp.csr_array, X_new: np.ndarray) -> sp.csr_array:
        """Return the affinities of new points, shaped by their neighbours.

        The neighbourhood of a new point is its row of the graph, without itself, so that a fitted
        point that is given again counts once.

        Raises
        ------
        DataError
            If new points are not finite or have another number of features.
        """
        fitted = self.gaussians
        X_new = check_points(X_new, name="X_new").astype(fitted.points.dtype, copy=False)
        parts = _principal_parts(graph, fitted.points, fitted.factors.shape[1])
        new = _assembled(X_new, *parts, self.noise_floor)
        energies = _with_data(graph, _energies(self.form, graph, fitted, new))
        return self.weights(energies, self._own_scales(energies))

    def weights(self, energies: sp.csr_array, row_scales: np.ndarray) -> sp.csr_array:
        """Return exp(-E / (h_x h_z)) with the scales of the rows and of the fitted points."""
        exponents = np.empty_like(energies.data)
        _compiled.edges.scaled_by_ends(
            energies.indptr, energies.indices, energies.data,
            1 / row_scales, 1 / self.scales, exponents,
        )  # fmt: skip
        return _with_data(energies, exponentials(exponents))

    def _own_scales(self, energies: sp.csr_array) -> np.ndarray:
        if self.neighbor is None:
            return np.full(energies.shape[0], self.scales[0], dtype=energies.dtype)
        return neighbor_distances(energies, self.neighbor, without_diagonal=False)


def local_gaussians(
    graph: sp.csr_array, X: np.ndarray, *, rank: int = 5, floor: float = 0.1
) -> tuple[LocalGaussians, float]:
    """Fit a Gaussian to each point's neighbourhood, its row of a graph.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        The columns of row x are the neighbourhood of x; values are not used.
    X : array-like of shape (n, p)
        Points; float32 and float64 are kept.
    rank : int, default=5
        Directions of each covariance; at most p - 1 are used.
    floor : float, default=0.1
        At least 0; see `LocalCovariance`.

    Returns
    -------
    gaussians : LocalGaussians
        Densities of n points, the same for any number of threads.
    noise_floor : float
        The least s^2; 1 if all points are equal.

    Raises
    ------
    ParameterError
        If the rank is below 1 or the floor negative.
    DataError
        If points are not finite or another number than in the graph.
    """
    check_positive(rank, "rank", integer=True)
    check_positive(floor, "floor", zero=True)
    X = check_points(X)
    if graph.shape != (len(X), len(X)):
        raise DataError(f"the graph has shape {graph.shape}; there are {len(X)} points")
    parts = _principal_parts(graph, X, min(rank, X.shape[1] - 1))
    noise_floor = _noise_floor(*parts[1:], floor)
    return _assembled(X, *parts, noise_floor), noise_floor


def overlap_energies(
    graph: sp.csr_array, fitted: LocalGaussians, new: LocalGaussians | None = None
) -> np.ndarray:
    """Return E = -log a(x, z) / sqrt(a(x, x) a(z, z)) on the edges of a graph.

    Parameters
    ----------
    graph : csr_array of shape (m, n)
        Its entries are the edges; rows sorted by column.
    fitted : LocalGaussians
        Gaussians of the n columns.
    new : LocalGaussians, optional
        Gaussians of the m rows; the same by default. The graph then needs all reverse edges.

    Returns
    -------
    ndarray of shape (n_edges,)
        In double precision, the same to the last bit for (x, z) and (z, x).

    Raises
    ------
    DataError
        If a reverse edge is missing, or new points have another number of features.
    """
    columns = *_arrays(fitted), fitted.self_energies
    rows = columns if new is None else (*_arrays(new), new.self_energies)
    diagonal = np.zeros(len(fitted)) if new is None else None
    return _filled(_compiled.gaussians.overlap_energies, graph, rows, columns, diagonal)


def mahalanobis_energies(
    graph: sp.csr_array, fitted: LocalGaussians, new: LocalGaussians | None = None
) -> np.ndarray:
    """Return d' (Sigma_x^-1 + Sigma_z^-1) d / 2 on edges; otherwise as `overlap_energies`."""
    rows = _arrays(fitted if new is None else new)
    diagonal = np.zeros(len(fitted)) if new is None else None
    loop = _compiled.gaussians.mahalanobis_energies
    return _filled(loop, graph, rows, _arrays(fitted), diagonal)


_ENERGIES: dict[str, Callable[..., np.ndarray]] = {
    "overlap": overlap_energies,
    "mahalanobis": mahalanobis_energies,
}


def _energies(
    form: str, graph: sp.csr_array, fitted: LocalGaussians, new: LocalGaussians | None = None
) -> np.ndarray:
    """E in the precision of the graph, 0 where it is only rounding."""
    energies = _ENERGIES[form](graph, fitted, new)
    # between duplicates, rounding leaves small values, which would become their group's scale
    precision = np.result_type(fitted.factors, graph.dtype)
    energies[energies < np.sqrt(np.finfo(precision).eps) / 10] = 0
    return energies.astype(graph.dtype, copy=False)


def _filled(
    loop: Callable[..., None],
    graph: sp.csr_array,
    rows: tuple,
    columns: tuple,
    diagonal: np.ndarray | None,
) -> np.ndarray:
    """Run a loop over the edges; with a diagonal, over each pair once, and mirror the result."""
    if rows[0].shape[1] != columns[0].shape[1]:
        raise DataError(
            f"the new points have {rows[0].shape[1]} features; "
            f"the kernel was fitted to {columns[0].shape[1]}"
        )
    once = diagonal is not None
    out = np.empty(graph.nnz)
    loop(graph.indptr, graph.indices, *rows, *columns, once, out)
    if once:
        _compiled.gaussians.mirror(graph.indptr, graph.indices, diagonal, out)
        if np.isnan(out).any():
            raise DataError("the graph has an edge without its reverse edge; see neighbors_graph")
    return out


def _arrays(gaussians: LocalGaussians) -> tuple[np.ndarray, ...]:
    return gaussians.points, gaussians.factors, gaussians.variances, gaussians.noise


def _principal_parts(
    graph: sp.csr_array, X: np.ndarray, rank: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Directions (m, r, p), sample variances (m, r) and mean other variance (m,) of each row."""
    n, n_features = graph.shape[0], X.shape[1]
    directions = np.empty((n, rank, n_features), dtype=X.dtype)
    variances, residual = np.empty((n, rank)), np.empty(n)
    with threadpool_limits(1, user_api="blas"):  # rows already run in parallel
        _compiled.gaussians.principal_directions(
            graph.indptr, graph.indices, X, directions, variances, residual
        )
    return directions, variances, residual


def _noise_floor(variances: np.ndarray, residual: np.ndarray, share: float) -> float:
    """Return a share of the median residual, over neighbourhoods large enough to have one.

    Medians keep a few outliers from blurring everything.
    """
    largest = variances.max(axis=1, initial=0)
    telling = residual[residual > _LEAST_NOISE * largest]
    spread = largest[largest > 0]
    pooled = share * np.median(telling) if len(telling) else 0
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


def _sorted_graph(graph: sp.csr_array, gaussians: LocalGaussians) -> sp.csr_array:
    if graph.shape != (len(gaussians), len(gaussians)):
        raise DataError(f"the graph has shape {graph.shape}; there are {len(gaussians)} points")
    return graph if graph.has_sorted_indices else graph.sorted_indices()


def _with_data(graph: sp.csr_array, data: np.ndarray) -> sp.csr_array:
    return sp.csr_array((data, graph.indices, graph.indptr), shape=graph.shape)
