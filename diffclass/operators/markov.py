"""The Markov operator A = D^-1 K_alpha of a graph.

With the symmetric affinity K, q = K 1, K_alpha = diag(q)^-alpha K diag(q)^-alpha and d = K_alpha 1,

    A f = (K_alpha f) / d        backward: f is a function, A f its mean after one step
    A' m = K_alpha (m / d)       forward: m is a distribution of mass, A' m that after one step

and pi = d / sum(d) is stationary. A is never stored.

Source: Coifman et al. 2005, sections 2.1 and 2.4 (equation 2.13).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator

from diffclass import _compiled
from diffclass._validation import check_affinity, check_points, check_positive
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import Gaussian, Kernel
from diffclass.neighbors import kept_edges, neighbors_graph
from diffclass.operators.chebyshev import TOLERANCE, chebyshev_series, power_coefficients
from diffclass.progress import stage


def markov_operator(
    X: Any,
    *,
    n_neighbors: int = 12,
    kernel: Kernel | None = None,
    alpha: float = 0.0,
    search: Any = None,
    symmetrize: str = "union",
    graph: sp.csr_array | None = None,
    y: Any = None,
    scores: Any = None,
    random_state: Any = None,
) -> MarkovOperator:
    """Build the operator of a set of points: neighbours, then affinities, then A.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points.
    n_neighbors : int, default=12
        Neighbours of a point in the graph.
    kernel : Kernel, optional
        Fitted here by its `affinity`; the self-tuning `Gaussian` by default.
    alpha : float, default=0.0
        Density exponent: 0 the graph Laplacian's, 1/2 Fokker-Planck's, 1 Laplace-Beltrami's walk.
        It acts only with a global bandwidth.
    search : transformer, optional
        Neighbour search, fitted here; see `neighbors_graph`. The kernel's own by default.
    symmetrize : {"union", "mutual"}, default="union"
        See `neighbors_graph`.
    graph : csr_array of shape (n, n), optional
        What `neighbors_graph` found in the kernel's search features: then nothing is searched, and
        ``n_neighbors``, ``search``, ``symmetrize`` and ``random_state`` play no part.
    y, scores : array-like, optional
        Handed to the kernel.
    random_state : int, RandomState or None, default=None
        Seeds the neighbour search.

    Returns
    -------
    MarkovOperator
        Of n points.

    Raises
    ------
    ParameterError, DataError
        As `neighbors_graph` and the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import markov_operator
    >>> angles = np.linspace(0, 2 * np.pi, 50, endpoint=False)
    >>> A = markov_operator(np.column_stack([np.cos(angles), np.sin(angles)]), n_neighbors=4)
    >>> bool(np.allclose(A @ np.ones(50), 1))
    True
    """
    X = check_points(X)
    kernel = Gaussian() if kernel is None else kernel
    features = kernel.search_features(X, y=y, scores=scores)
    features = check_points(features, name="the kernel's search features")
    if graph is None:
        if search is None:
            search = kernel.search(features, n_neighbors, random_state=random_state)
        graph = neighbors_graph(features, search=search, symmetrize=symmetrize)
    elif graph.shape != (len(X), len(X)):
        raise DataError(f"graph has shape {graph.shape}; there are {len(X)} points")
    with stage("affinities"):
        affinity = kernel.affinity(graph, X, y=y, scores=scores)
        return MarkovOperator.from_affinity(affinity, alpha=alpha, check=False)


@dataclass(frozen=True, eq=False)
class MarkovOperator:
    """A = D^-1 K_alpha, frozen. Make one with `markov_operator` or `from_affinity`.

    Parameters
    ----------
    affinity : csr_array of shape (n, n)
        K_alpha: symmetric, non-negative, every row with a positive sum.
    degrees : ndarray of shape (n,)
        d, its row sums.
    density : ndarray of shape (n,)
        q, the row sums of K, which K_alpha was divided by.
    alpha : float
        Density exponent.

    Notes
    -----
    Memory: 8 bytes an edge in single precision, 12 in double, and as much again for each block of
    columns it is applied to. A step costs one multiplication an edge and column.
    """

    affinity: sp.csr_array
    degrees: np.ndarray
    density: np.ndarray
    alpha: float = 0.0

    @classmethod
    def from_affinity(
        cls, affinity: Any, *, alpha: float = 0.0, check: bool = True
    ) -> MarkovOperator:
        """Normalise an affinity.

        Parameters
        ----------
        affinity : sparse or dense matrix of shape (n, n)
            K, symmetric and non-negative; stored zeros are no edges. A point without any affinity
            is given one to itself: the walk stays there.
        alpha : float, default=0.0
            Density exponent, at least 0.
        check : bool, default=True
            Whether symmetry, sign and finiteness are checked.

        Returns
        -------
        MarkovOperator
            Of n points.

        Raises
        ------
        ParameterError
            For a negative alpha.
        DataError
            For an affinity that is not square, symmetric, finite and non-negative.
        """
        check_positive(alpha, "alpha", zero=True)
        K = _without_zeros(check_affinity(affinity) if check else affinity)
        q = _row_sums(K)
        isolated = q < np.finfo(K.dtype).tiny  # 1 / q would overflow
        if isolated.any():
            K = sp.csr_array(K + sp.diags_array(isolated.astype(K.dtype)))
            q[isolated] += 1
        if alpha:
            weights = (q**-alpha).astype(K.dtype)
            data = np.empty_like(K.data)
            _compiled.edges.scaled_by_ends(K.indptr, K.indices, K.data, weights, weights, data)
            K = sp.csr_array((data, K.indices, K.indptr), shape=K.shape)
        return cls(K, _row_sums(K) if alpha else q, q, float(alpha))

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.affinity.shape

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64, that of the affinity."""
        return self.affinity.dtype

    def __len__(self) -> int:
        return self.affinity.shape[0]

    def __matmul__(self, f: Any) -> np.ndarray:
        return self.apply(f)

    def apply(self, f: Any, n_steps: Any = 1, *, tolerance: float | None = None) -> np.ndarray:
        """Diffuse functions backward: A^t f, the mean of f where the walk from x is after t steps.

        Where the Chebyshev series of x^t needs fewer products than the last time has steps (from
        t of about 30 in single, 60 in double precision), it is used; see `chebyshev`.

        Parameters
        ----------
        f : array-like of shape (n,) or (n, m)
            One function a column.
        n_steps : int or sequence of int, default=1
            t, each at least 0. Several times cost what the last of them costs.
        tolerance : float, optional
            Largest error by the series in the norm sum pi f^2, relative to that of f; rounding
            comes on top. By default 1e-6 in single, 1e-12 in double precision; 0 takes plain steps.

        Returns
        -------
        ndarray of the shape of f, or (n_times, ...) for a sequence of times
            In the operator's dtype.

        Raises
        ------
        ParameterError
            For a negative or fractional number of steps or columns of another length.
        """
        times = [
            check_positive(t, "n_steps", integer=True, zero=True)
            for t in ([n_steps] if np.ndim(n_steps) == 0 else n_steps)
        ]
        if tolerance is None:
            tolerance = TOLERANCE[self.dtype.char]
        check_positive(tolerance, "tolerance", zero=True)
        powers = self._powers(self._columns(f), times, tolerance)
        powers = powers.reshape(len(times), *np.shape(f))
        return powers[0] if np.ndim(n_steps) == 0 else powers

    def expected_visits(
        self, f: Any, n_steps: int, *, tolerance: float | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sum what functions are over the steps of the walk: A f + A^2 f + ... + A^t f.

        Of the indicator of a set, the sum at x is the mean number of visits that the walk from x
        pays to it in t steps.

        Parameters
        ----------
        f : array-like of shape (n,) or (n, m)
            One function a column.
        n_steps : int
            t, at least 0.
        tolerance : float, optional
            As in `apply`, of the whole sum.

        Returns
        -------
        total, last : ndarray of the shape of f
            The sum, and A^t f, in the operator's dtype.

        Raises
        ------
        ParameterError
            As `apply`.
        """
        n_steps = check_positive(n_steps, "n_steps", integer=True, zero=True)
        columns = self._columns(f)
        if tolerance is None:
            tolerance = TOLERANCE[self.dtype.char]
        check_positive(tolerance, "tolerance", zero=True)
        total, last = self._summed_powers(columns, n_steps, tolerance)
        return total.reshape(np.shape(f)), last.reshape(np.shape(f))

    def forward(self, mass: Any, n_steps: Any = 1, *, tolerance: float | None = None) -> np.ndarray:
        """Move mass forward: (A')^t m, where mass starting as m is after t steps. Sums are kept.

        Parameters
        ----------
        mass : array-like of shape (n,) or (n, m)
            One distribution a column.
        n_steps : int or sequence of int, default=1
            t, each at least 0.
        tolerance : float, optional
            As in `apply`, for the norm sum m^2 / pi.

        Returns
        -------
        ndarray of the shape of mass, or (n_times, ...) for a sequence of times
            In the operator's dtype.

        Raises
        ------
        ParameterError
            As `apply`.
        """
        # A' = D A D^-1, so that the t steps are those of `apply`
        columns = self._columns(mass)
        moved = self.apply(columns * self._inverse_degrees[:, None], n_steps, tolerance=tolerance)
        moved *= self.degrees.astype(self.dtype)[:, None]
        return moved.reshape(moved.shape[: np.ndim(n_steps)] + np.shape(mass))

    @property
    def stationary_distribution(self) -> np.ndarray:
        """Pi = d / sum(d), of shape (n,), in double precision."""
        return self.degrees / self.degrees.sum()

    @property
    def symmetric_conjugate(self) -> LinearOperator:
        """S = D^-1/2 K_alpha D^-1/2, with the spectrum of A, as a matrix-free LinearOperator.

        In double precision, whatever the operator's: eigensolvers need it.
        """
        root = 1 / np.sqrt(self.degrees)

        def column_product(f: np.ndarray) -> np.ndarray:
            K, out = self.affinity, np.empty(len(self))
            _compiled.products.row_scaled_vector_product(
                K.indptr, K.indices, K.data, root, np.ravel(f) * root, out
            )
            return out

        def product(f: np.ndarray) -> np.ndarray:
            return self._product(np.ascontiguousarray(f * root[:, None]), root)

        return LinearOperator(
            self.shape,
            matvec=column_product,
            rmatvec=column_product,
            matmat=product,
            rmatmat=product,
            dtype=np.float64,
        )

    @cached_property
    def components(self) -> np.ndarray:
        """Number of each point's connected component, of shape (n,), counted from 0."""
        return connected_components(self.affinity, directed=False)[1]

    @property
    def n_connected_components(self) -> int:
        """Number of connected components, the multiplicity of the eigenvalue 1."""
        return int(self.components.max()) + 1

    def hops(self, groups: Any) -> np.ndarray:
        """Count the edges between each point and the nearest point of each group.

        Parameters
        ----------
        groups : array-like of int of shape (n,)
            Number of each point's group from 0, or -1 for no group.

        Returns
        -------
        ndarray of int32 of shape (n, n_groups)
            -1 where no path leads to the group. One breadth-first search a group.
        """
        groups = np.asarray(groups, dtype=np.int64)
        n_groups = int(groups.max(initial=-1)) + 1
        out = np.empty((n_groups, len(self)), dtype=np.int32)
        K = self.affinity
        _compiled.graphs.hops_from_groups(K.indptr, K.indices, groups, n_groups, out)
        return out.T

    @cached_property
    def _inverse_degrees(self) -> np.ndarray:
        return (1 / self.degrees).astype(self.dtype)

    def _columns(self, f: Any) -> np.ndarray:
        columns = np.asarray(f, dtype=self.dtype)
        if columns.ndim not in (1, 2) or len(columns) != len(self):
            raise ParameterError(
                f"the columns have shape {columns.shape}; the operator has {len(self)} points"
            )
        return np.ascontiguousarray(columns.reshape(len(self), -1))

    def _powers(self, columns: np.ndarray, times: list[int], tolerance: float) -> np.ndarray:
        """A^t of the columns for each time, of shape (n_times, n, m)."""
        last = max(times, default=0)
        series = power_coefficients(times, tolerance) if tolerance and times else None
        if series is not None and series.shape[1] - 1 < last:
            return chebyshev_series(self._backward, columns, series)
        powers = np.empty((len(times), *columns.shape), dtype=columns.dtype)
        current, spare = columns.copy(), np.empty_like(columns)
        for t in range(last + 1):
            for i in (i for i, time in enumerate(times) if time == t):
                powers[i] = current
            if t < last:
                self._backward(current, spare)
                current, spare = spare, current
        return powers

    def _summed_powers(
        self, columns: np.ndarray, n_steps: int, tolerance: float
    ) -> tuple[np.ndarray, np.ndarray]:
        if tolerance and n_steps > 1:
            powers = power_coefficients(range(1, n_steps + 1), tolerance / n_steps)
            if powers.shape[1] - 1 < n_steps:
                series = np.stack([powers.sum(axis=0), powers[-1]])
                total, last = chebyshev_series(self._backward, columns, series)
                return total, last
        total, current, spare = np.zeros_like(columns), columns.copy(), np.empty_like(columns)
        K, scale = self.affinity, self._inverse_degrees
        for _ in range(n_steps):
            _compiled.products.row_scaled_product_summed(
                K.indptr, K.indices, K.data, scale, current, spare, total
            )
            current, spare = spare, current
        return total, current

    def _backward(self, columns: np.ndarray, out: np.ndarray) -> None:
        self._product(columns, self._inverse_degrees, out=out)

    def _product(
        self, columns: np.ndarray, row_scale: np.ndarray, *, out: np.ndarray | None = None
    ) -> np.ndarray:
        K = self.affinity
        out = np.empty_like(columns) if out is None else out
        _compiled.products.row_scaled_product(K.indptr, K.indices, K.data, row_scale, columns, out)
        return out


def _without_zeros(K: sp.csr_array) -> sp.csr_array:
    """Drop stored zeros, which components and hops would take for edges."""
    return K if K.data.all() else kept_edges(K, K.data != 0)


def _row_sums(K: sp.csr_array) -> np.ndarray:
    sums = np.empty(K.shape[0])
    _compiled.edges.row_sums(K.indptr, K.data, sums)
    return sums


def operator_bytes(n_edges: float) -> float:
    """Return the size of the affinities of an operator in single precision."""
    return 8 * n_edges
