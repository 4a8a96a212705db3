"""The Markov operator A = D^-1 K_alpha of a graph.

With the symmetric affinity K, q = K 1, K_alpha = diag(q)^-alpha K diag(q)^-alpha and d = K_alpha 1,

    A f = (K_alpha f) / d        backward: f is a function, A f its mean after one step
    A' m = K_alpha (m / d)       forward: m is a distribution of mass, A' m where it is after a step

and pi = d / sum(d) is stationary. A is never stored.

*Equal points* are one node of mass m, their number. The walk goes to the node z in proportion to
K(x, z) m(z), as it would among all points with all edges between equal ones: q = K m,
K_alpha = diag(m q^-alpha) K diag(m q^-alpha). The functions and distributions above are then those
of the nodes; `MarkovOperator.apply` and `forward` also take those of all points. (What is constant
on equal points stays so, and after a step everything is.)

Source: Coifman et al. 2005, sections 2.1 and 2.4 (equation 2.13).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from diffclass import _compiled
from diffclass._validation import Graph, check_affinity, check_positive, check_unmasked
from diffclass.exceptions import ParameterError
from diffclass.neighbors import Nodes, kept_edges
from diffclass.operators.chebyshev import (
    SERIES_TOLERANCE,
    chebyshev_series,
    power_coefficients,
    sum_coefficients,
)
from diffclass.operators.local_order import local_order, renumbered
from diffclass.operators.processor import (
    HOST,
    Columns,
    CompiledProduct,
    Processor,
    ScaledProduct,
)
from diffclass.system.progress import checkpoint

_MOST_STEPS = 10**12  # of which the series has ten million products


@dataclass(frozen=True, eq=False)
class PlainValues:
    """Values N_i (n, n_classes) at the points of a walk, for a step from new points."""

    values: np.ndarray | sp.csr_array

    def at(self, weights: sp.csr_array) -> np.ndarray:
        """Return N_i at new points: one step of the walk; see `WarpedValues.at`."""
        found = weights @ self.values
        return found.toarray() if isinstance(found, sp.csr_array) else found

    def rows(self, points: np.ndarray) -> np.ndarray:
        """Return N_i (m, n_classes) at some of the fitted points."""
        found = self.values[points]
        return found.toarray() if isinstance(found, sp.csr_array) else found


@dataclass(frozen=True, eq=False)
class MarkovOperator:
    """The operator A = D^-1 K_alpha, frozen; made by `markov_operator` or `from_affinity`.

    Parameters
    ----------
    affinity : csr_array of shape (n, n)
        K_alpha: symmetric, non-negative, every row with a positive sum.
    degrees : ndarray of shape (n,)
        The row sums d of K_alpha.
    density : ndarray of shape (n,)
        The row sums q of K, by whose powers K_alpha was divided.
    alpha : float
        Density exponent.
    processor : Processor
        What computes the steps; see `on`.
    nodes : Nodes, optional
        Which points are equal: n is then the number of nodes. None: each point is a node.
    order : ndarray of int of shape (n,), optional
        An order of the points in which neighbours lie together, where one is known.

    See Also
    --------
    markov_operator : Makes the affinity too, from points.
    leading_eigenpairs : For many functions and times, by few eigenpairs.
    diffusion_wavelets : For many functions and times on curves and surfaces.

    Notes
    -----
    Memory: 8 bytes per edge in single precision, 12 in double, and two blocks of columns while it
    is applied. A step costs one multiplication per edge and column.

    Examples
    --------
    Three points on a line. The middle one goes to all three; its stationary mass is largest:

    >>> from diffclass import MarkovOperator
    >>> A = MarkovOperator.from_affinity([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])
    >>> (A @ [6.0, 0, 0]).round(3)
    array([3., 2., 0.])
    >>> A.forward([6.0, 0, 0]).round(3)
    array([3., 3., 0.])
    >>> A.stationary_distribution.round(3)
    array([0.286, 0.429, 0.286])
    """

    affinity: sp.csr_array
    degrees: np.ndarray
    density: np.ndarray
    alpha: float = 0.0
    processor: Processor = HOST
    nodes: Nodes | None = None
    order: np.ndarray | None = None

    knows_labels: ClassVar[bool] = False  # as a walk that labels have warped does

    @classmethod
    def from_affinity(
        cls,
        affinity: Graph,
        *,
        alpha: float = 0.0,
        check: bool = True,
        nodes: Nodes | None = None,
        order: np.ndarray | None = None,
    ) -> MarkovOperator:
        """Normalise an affinity.

        Parameters
        ----------
        affinity : sparse or dense matrix of shape (n, n)
            K, symmetric and non-negative. Stored zeros do not count as edges. An isolated point,
            without any affinity, gets one to itself: the walk stays there.
        alpha : float, default=0.0
            Density exponent, at least 0.
        check : bool, default=True
            Whether symmetry, sign and finiteness are checked.
        nodes : Nodes, optional
            Whose affinity it is, between any point of one and of the other.
        order : ndarray of int of shape (n,), optional
            An order of the points in which neighbours lie together.

        Raises
        ------
        ParameterError
            If alpha is negative.
        DataError
            If the affinity is not square, symmetric, finite and non-negative.
        """
        check_positive(alpha, "alpha", zero=True)
        K = check_affinity(affinity) if check else affinity
        # with masses m: q = K m, K_alpha = diag(m q^-alpha) K diag(m q^-alpha)
        if nodes is not None:
            K = scaled_at_ends(K, nodes.mass)
        K, degrees = with_row_sums(K)
        q = degrees if nodes is None else degrees / nodes.mass
        if alpha:
            K = divided_by_density(K, q, alpha)
            degrees = row_sums(K)
        return cls(K, degrees, q, float(alpha), nodes=nodes, order=order)

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

    @property
    def n_points(self) -> int:
        """Number of points: n, or more where some are equal."""
        return len(self) if self.nodes is None else self.nodes.n_points

    @property
    def mass(self) -> np.ndarray | None:
        """Number of points at each node, of shape (n,); None where all are 1."""
        return None if self.nodes is None else self.nodes.mass

    def __repr__(self) -> str:
        n, edges = len(self), self.affinity.nnz
        of = "points" if self.nodes is None else f"nodes of {self.n_points:,} points"
        return f"<{type(self).__name__} of {n:,} {of}, {edges / n:.0f} edges each, {self.dtype}>"

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __matmul__(self, f: ArrayLike) -> np.ndarray:
        return self.apply(f)

    def apply(
        self,
        f: ArrayLike,
        n_steps: int | Sequence[int] | np.ndarray = 1,
        *,
        tolerance: float | None = None,
    ) -> np.ndarray:
        """Diffuse functions backward: A^t f(x) is the mean of f where the walk from x is at time t.

        It uses the Chebyshev series of x^t (see `diffclass.operators.chebyshev`) where that needs
        fewer products: from a t of about 30 in single and 60 in double precision.

        Parameters
        ----------
        f : array-like of shape (n,) or (n, m)
            One function per column. Where points are equal it may also have a row for each point.
        n_steps : int or sequence of int, default=1
            The times t, at least 0. Several times cost as much as the last of them.
        tolerance : float, optional
            Largest error of the series in the norm sum pi f^2, relative to that of f; rounding
            comes on top. 1e-6 in single and 1e-12 in double precision by default; 0 takes plain
            steps.

        Returns
        -------
        ndarray of the shape of f, or (n_times, ...) for a sequence of times
            In the operator's dtype.

        Raises
        ------
        ParameterError
            If a number of steps is negative, fractional or above 10^12, or f has other rows.
        DataError
            If f has masked entries.
        """
        given = cast("Sequence[int]", [n_steps] if np.ndim(n_steps) == 0 else n_steps)
        times = [_checked_steps(t) for t in given]
        if self._is_of_points(f):
            return self._apply_to_points(np.asarray(f), n_steps, tolerance)
        powers = self._powers(self._columns(f), times, self._checked_tolerance(tolerance))
        powers = powers.reshape(len(times), *np.shape(f))
        return powers[0] if np.ndim(n_steps) == 0 else powers

    def expected_visits(
        self, f: ArrayLike, n_steps: int, *, tolerance: float | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sum diffused functions over the steps of the walk: A f + A^2 f + ... + A^t f.

        If f is the indicator of a set, the sum at x is the expected number of visits of the walk
        from x to that set in t steps.

        Parameters
        ----------
        f : array-like of shape (n,) or (n, m)
            One function per column.
        n_steps : int
            Number of steps t, at least 0.
        tolerance : float, optional
            As in `apply`, for the whole sum.

        Returns
        -------
        visits : ndarray of float64 of the shape of f
            The sum.
        last : ndarray of the shape of f
            A^t f, in the operator's dtype.

        """
        n_steps = _checked_steps(n_steps)
        if self.nodes is not None and self._is_of_points(f):
            found = self.expected_visits(
                self.nodes.means(np.asarray(f)), n_steps, tolerance=tolerance
            )
            visits, last = (values[self.nodes.of_points] for values in found)
            return visits, last if n_steps else np.array(f, dtype=self.dtype)
        columns = self._columns(f)
        visits = np.zeros(columns.shape)
        last = self.add_visits(visits, columns, n_steps, tolerance=tolerance)
        return visits.reshape(np.shape(f)), last.reshape(np.shape(f))

    def add_visits(
        self,
        visits: np.ndarray,
        columns: np.ndarray,
        n_steps: int,
        *,
        tolerance: float | None = None,
    ) -> np.ndarray:
        """Add `expected_visits` to float64 ``visits`` in place, and return A^t f; all (n, m).

        The columns f are in the operator's dtype.
        """
        tolerance = self._checked_tolerance(tolerance)
        if tolerance and n_steps > 1:
            # one recurrence gives both x + x^2 + ... + x^t and x^t
            sums = sum_coefficients(n_steps, tolerance)
            if len(sums) - 1 < n_steps:
                series = np.zeros((2, len(sums)))
                last_power = power_coefficients([n_steps], tolerance)[0][: len(sums)]
                series[0], series[1, : len(last_power)] = sums, last_power
                total, last = self._series(columns, series)
                visits += total
                return last
        processor, copied = self.processor, columns.copy()
        current, spare = processor.place(copied), processor.blank(np.empty_like(columns))
        placed_visits = processor.place(visits)
        for i in range(n_steps):
            # every second step adds two terms; if their number is odd, the first step adds one
            n_terms = 1 if i == 0 and n_steps % 2 else 2 * ((n_steps - i) % 2)
            self.step(current, spare, visits=placed_visits, n_terms=n_terms)
            current, spare = spare, current
        processor.fetch(placed_visits, visits)
        return processor.fetch(current, copied)

    def forward(
        self,
        mass: ArrayLike,
        n_steps: int | Sequence[int] | np.ndarray = 1,
        *,
        tolerance: float | None = None,
    ) -> np.ndarray:
        """Move mass forward: (A')^t m is where mass m is after t steps. Its sum is kept.

        Parameters
        ----------
        mass : array-like of shape (n,) or (n, m)
            One distribution per column.
        n_steps : int or sequence of int, default=1
            The times t, at least 0.
        tolerance : float, optional
            As in `apply`, for the norm sum m^2 / pi.

        Returns
        -------
        ndarray of the shape of mass, or (n_times, ...) for a sequence of times
            In the operator's dtype.
        """
        # A' = D A D^-1, so `apply` can take the t steps
        if self.nodes is not None and self._is_of_points(mass):
            nodes = self.nodes
            of_point = (self.degrees / nodes.mass)[nodes.of_points]
            of_point = of_point.reshape(-1, *[1] * (np.ndim(mass) - 1))
            moved = self.apply(np.asarray(mass) / of_point, n_steps, tolerance=tolerance)
            return (moved * of_point).astype(self.dtype)
        columns = self._columns(mass)
        moved = self.apply(columns * self.inverse_degrees[:, None], n_steps, tolerance=tolerance)
        moved *= self.degrees.astype(self.dtype)[:, None]
        return moved.reshape(moved.shape[: np.ndim(n_steps)] + np.shape(mass))

    def _is_of_points(self, f: ArrayLike) -> bool:
        check_unmasked(f, name="f")
        return self.nodes is not None and np.shape(f)[:1] == (self.n_points,)

    def _apply_to_points(
        self, f: np.ndarray, n_steps: int | Sequence[int] | np.ndarray, tolerance: float | None
    ) -> np.ndarray:
        """Diffuse functions of all points; after a step they are alike at equal ones."""
        nodes = cast(Nodes, self.nodes)
        times = np.atleast_1d(np.asarray(n_steps))
        powers = self.apply(nodes.means(f), times, tolerance=tolerance)[:, nodes.of_points]
        powers[times == 0] = f
        return powers[0] if np.ndim(n_steps) == 0 else powers

    def at_nodes(self, values: np.ndarray) -> np.ndarray:
        """Return values (n, ...) of the nodes, given them or those (n_points, ...) of points."""
        return (
            values[self.nodes.first]
            if self.nodes is not None and self._is_of_points(values)
            else values
        )

    def at_points(self, values: np.ndarray) -> np.ndarray:
        """Return values (n_points, ...) of all points, given those (n, ...) of the nodes."""
        return values if self.nodes is None else values[self.nodes.of_points]

    @property
    def unwarped(self) -> MarkovOperator:
        """Itself, which `diffclass.operators.WarpedOperator` is made of."""
        return self

    def merged(self) -> MarkovOperator:
        """Return the one walk of all classes: itself."""
        return self

    def for_new_points(self, values: np.ndarray | sp.csr_array) -> PlainValues:
        """Return what new points need of diffused columns."""
        return PlainValues(values)

    def in_double_precision(self) -> MarkovOperator:
        """Return the same walk in double precision; the operator itself if it is so already."""
        if self.dtype == np.float64:
            return self
        return replace(self, affinity=self.affinity.astype(np.float64))

    def on(self, processor: Processor) -> MarkovOperator:
        """Return the same walk, whose steps another processor takes, such as `Cuda`.

        Eigenpairs and all else are computed as before. Results differ by rounding.
        """
        return self if processor == self.processor else replace(self, processor=processor)

    @cached_property
    def in_local_order(self) -> tuple[np.ndarray, MarkovOperator]:
        """An order of the points, (n,), and the walk on the points in this order.

        Its steps are faster on large graphs; see `diffclass.operators.local_order`.
        """
        order = local_order(self.affinity) if self.order is None else self.order
        K = renumbered(self.affinity, order)
        degrees, density = self.degrees[order], self.density[order]
        nodes = None if self.nodes is None else self.nodes.renumbered(order)
        return order, replace(
            self, affinity=K, degrees=degrees, density=density, nodes=nodes, order=None
        )

    @property
    def stationary_distribution(self) -> np.ndarray:
        """The distribution pi = d / sum(d), of shape (n,), in double precision."""
        return self.degrees / self.degrees.sum()

    @property
    def symmetric_conjugate(self) -> LinearOperator:
        """S = D^-1/2 K_alpha D^-1/2, with the spectrum of A, as a matrix-free LinearOperator.

        It always works in double precision, which eigensolvers need.
        """
        root, K = 1 / np.sqrt(self.degrees), self.affinity
        scaled = CompiledProduct(K.indptr, K.indices, K.data, root)

        def column_product(f: np.ndarray) -> np.ndarray:
            return product(np.reshape(f, (-1, 1))).ravel()

        def product(f: np.ndarray) -> np.ndarray:
            columns = np.ascontiguousarray(f * root[:, None])
            checkpoint()
            scaled(columns, out := np.empty_like(columns))
            return out

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
        """Connected component of each point, numbered from 0; int of shape (n,)."""
        out, queue = np.empty((2, len(self)), dtype=np.int32)
        _compiled.graphs.number_components(self.affinity.indptr, self.affinity.indices, queue, out)
        return out

    @property
    def n_connected_components(self) -> int:
        """Number of connected components, the multiplicity of the eigenvalue 1."""
        return int(self.components.max()) + 1

    def hops(self, groups: ArrayLike) -> np.ndarray:
        """Count the edges between each point and the nearest point of each group.

        Groups (n,) are numbered from 0, -1 for none. The result is int32 (n, n_groups), -1 where no
        path leads to the group. Costs one breadth-first search per group.
        """
        groups = np.asarray(groups, dtype=np.int64)
        n_groups = int(groups.max(initial=-1)) + 1
        out = np.empty((n_groups, len(self)), dtype=np.int32)
        K = self.affinity
        _compiled.graphs.hops_from_groups(K.indptr, K.indices, groups, n_groups, out)
        return out.T

    @cached_property
    def inverse_degrees(self) -> np.ndarray:
        """1 / d, in the operator's dtype; (n,)."""
        return (1 / self.degrees).astype(self.dtype)

    def _columns(self, f: ArrayLike) -> np.ndarray:
        check_unmasked(f, name="f")
        columns = np.asarray(f, dtype=self.dtype)
        if columns.ndim not in (1, 2) or len(columns) != len(self):
            raise ParameterError(
                f"the columns have shape {columns.shape}; the operator has {len(self)} points"
            )
        return np.ascontiguousarray(columns.reshape(len(self), -1))

    def _powers(self, columns: np.ndarray, times: list[int], tolerance: float) -> np.ndarray:
        """A^t of the columns for each time, of shape (n_times, n, m)."""
        last = max(times, default=0)
        # the series of x^t has about sqrt(t) terms: worth it where that is fewer than t steps
        series = power_coefficients(times, tolerance) if tolerance and times else None
        if series is not None and series.shape[1] - 1 < last:
            return self._series(columns, series)
        processor, powers = self.processor, np.empty((len(times), *columns.shape), columns.dtype)
        current, spare = processor.place(columns.copy()), processor.blank(np.empty_like(columns))
        for t in range(last + 1):
            for i in (i for i, time in enumerate(times) if time == t):
                powers[i] = processor.fetch(current, powers[i])
            if t < last:
                self.step(current, spare)
                current, spare = spare, current
        return powers

    def _series(self, columns: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        return chebyshev_series(self.step, columns, coefficients, processor=self.processor)

    def _checked_tolerance(self, tolerance: float | None) -> float:
        if tolerance is None:
            return SERIES_TOLERANCE[self.dtype.char]
        return check_positive(tolerance, "tolerance", zero=True)

    def backward(self, columns: np.ndarray, out: np.ndarray) -> None:
        """Write A f of columns (n, m), C-ordered in the operator's dtype, to an array."""
        processor = self.processor
        placed = processor.blank(out)
        self.step(processor.place(columns), placed)
        processor.fetch(placed, out)

    def step(
        self, columns: Columns, out: Columns, *, visits: Columns | None = None, n_terms: int = 0
    ) -> None:
        """Write A f to an array, both where the processor has them; see `CompiledProduct`."""
        checkpoint()
        self._product(columns, out, visits=visits, n_terms=n_terms)

    @cached_property
    def _product(self) -> ScaledProduct:
        return self.processor.scaled_product(self.affinity, self.inverse_degrees)


def _checked_steps(n_steps: Any) -> int:
    check_positive(n_steps, "n_steps", integer=True, zero=True)
    if n_steps > _MOST_STEPS:
        raise ParameterError(
            f"n_steps = {n_steps}; a walk of more than 10^12 steps takes too long: where it leads "
            "tell the eigenpairs of eigenvalue 1"
        )
    return int(n_steps)


def with_row_sums(K: sp.csr_array) -> tuple[sp.csr_array, np.ndarray]:
    """Return an affinity without stored zeros, isolated points linked to themselves; row sums."""
    if not K.data.all():  # connected components and hops would count zeros as edges
        K = kept_edges(K, K.data != 0)
    q = row_sums(K)
    isolated = q < np.finfo(K.dtype).tiny  # 1 / q would overflow
    if isolated.any():
        K = sp.csr_array(K + sp.diags_array(isolated.astype(K.dtype)))
        q[isolated] += 1
    return K, q


def divided_by_density(K: sp.csr_array, density: np.ndarray, alpha: float) -> sp.csr_array:
    """Return k(x, y) q(x)^-alpha q(y)^-alpha for a square affinity and the densities q."""
    return scaled_at_ends(K, density**-alpha)


def scaled_at_ends(K: sp.csr_array, weights: np.ndarray) -> sp.csr_array:
    """Return w(x) k(x, y) w(y) for a square affinity."""
    weights = weights.astype(K.dtype)
    data = np.empty_like(K.data)
    _compiled.graphs.scaled_by_ends(K.indptr, K.indices, K.data, weights, weights, data)
    return sp.csr_array((data, K.indices, K.indptr), shape=K.shape)


def row_sums(K: sp.csr_array) -> np.ndarray:
    """Return the row sums, added in double precision."""
    sums = np.empty(K.shape[0])
    _compiled.graphs.row_sums(K.indptr, K.data, sums)
    return sums
