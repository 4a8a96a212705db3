"""Eigenpairs of a Markov operator.

A = D^-1 K_alpha has the eigenvalues of its symmetric conjugate S = D^-1/2 K_alpha D^-1/2, all in
[-1, 1]. With S phi_l = lambda_l phi_l and |phi_l| = 1,

    psi_l = phi_l / sqrt(pi)     right eigenvectors, A psi_l = lambda_l psi_l, sum_x pi psi_l^2 = 1
    pi psi_l = phi_l sqrt(pi)    left eigenvectors; those of l = 0 are 1 and pi

and a_t(x, y) = sum_l lambda_l^t psi_l(x) psi_l(y) pi(y). The eigenvalue 1 has one vector per
component of the graph: the constant, then contrasts between components.

At a new point, by Nystrom's formula, psi_l(x) = (A psi_l)(x) / lambda_l, where (A f)(x) is the mean
of f over the fitted neighbours, by `PointGraph.step_weights`.

Sources: Coifman et al. 2005, section 2.1 (equations 2.3 and 2.4); the encyclopedia's article on
diffusion maps (biorthogonal eigenvectors); R. Coifman and S. Lafon, Geometric harmonics, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from diffclass import _compiled
from diffclass._validation import RandomState, check_choice, check_kind, check_positive, check_seed
from diffclass.exceptions import ParameterError, UnreachedWarning, warn_user
from diffclass.neighbors import Nodes
from diffclass.operators.markov import MarkovOperator
from diffclass.spectral.eigensolver import (
    MAX_ROUNDS,
    SINGLE,
    TOLERANCE,
    Pairs,
    block_size,
    leading_order,
    leading_pairs,
)
from diffclass.system.costs import Cost, Size
from diffclass.system.progress import stage

# Bytes of a point and pair, with what is made of pairs: vectors, coordinates, copies.
BYTES_OF_A_PAIR = 40


def leading_eigenpairs(
    operator: MarkovOperator,
    n_pairs: int | None = None,
    *,
    which: str = "magnitude",
    tolerance: float = TOLERANCE,
    max_rounds: int = MAX_ROUNDS,
    random_state: RandomState = 0,
    known: Eigenpairs | None = None,
    dtype: DTypeLike = np.float64,
) -> Eigenpairs:
    """Compute the leading eigenpairs of a Markov operator, component by component.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    n_pairs : int, optional
        Number of pairs, the trivial one included; at most n, which is the default. Memory: about
        5 n_pairs vectors.
    which : {"magnitude", "algebraic"}, default="magnitude"
        Largest modulus first, which matters for A^t; or largest value, the least of I - A.
    tolerance : float, default=1e-6
        Largest residual of an eigenpair, relative to its eigenvalue. 1e-10 takes twice the time.
    max_rounds : int, default=50
        Rounds of the iteration, of at most 100 products each.
    random_state : int, RandomState or None, default=0
        Draws the starts of the iteration.
    known : Eigenpairs, optional
        Pairs of the same operator and order, at most ``n_pairs``, which need not be found again.
    dtype : {"float64", "float32"}, default="float64"
        Precision of the work. Single precision takes about half the time for hundreds of pairs, and
        reaches residuals of 1e-5.

    Returns
    -------
    Eigenpairs
        In double precision; the trivial pair first, each eigenvector's largest entry positive.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or ``known`` is of other points or has more pairs.

    Warns
    -----
    ConvergenceWarning
        If the tolerance is not reached; the pairs are returned nevertheless.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator, leading_eigenpairs
    >>> two_states = MarkovOperator.from_affinity([[3.0, 1.0], [1.0, 3.0]])
    >>> leading_eigenpairs(two_states).eigenvalues.round(12)
    array([1. , 0.5])
    """
    check_kind(operator, "operator", MarkovOperator, example="markov_operator(X)")
    n = len(operator)
    n_pairs = n if n_pairs is None else check_positive(n_pairs, "n_pairs", integer=True)
    if n_pairs > n:
        raise ParameterError(f"n_pairs = {n_pairs}; {n} points have {n} eigenpairs")
    if known is not None and (len(known) > n_pairs or len(known.right) != n):
        raise ParameterError(
            f"known has {len(known)} eigenpairs of {len(known.right)} points; at most {n_pairs} of "
            f"{n} points can be taken over"
        )
    check_choice(which, "which", ("magnitude", "algebraic"))
    check_positive(tolerance, "tolerance")
    check_positive(max_rounds, "max_rounds", integer=True)
    in_single = np.dtype(dtype) == np.float32
    if not in_single and np.dtype(dtype) != np.float64:
        raise ParameterError(f"dtype = {dtype!r}; it is 'float64' or 'float32'")
    if in_single and tolerance < SINGLE:
        raise ParameterError(f"tolerance = {tolerance:g}; single precision reaches {SINGLE:g}")
    options = {
        "which": which,
        "tolerance": float(tolerance),
        "max_rounds": max_rounds,
        "random_state": check_seed(random_state),
        "dtype": np.float32 if in_single else np.float64,
    }
    with stage("eigenpairs"):
        values, symmetric, residuals = _pairs_of_components(operator, n_pairs, known, options)
        pi = operator.stationary_distribution
        symmetric /= np.sqrt(pi)[:, None]
        right = _with_signs(symmetric).astype(np.float64, copy=False)
    n_parts = operator.n_connected_components
    return Eigenpairs(values, right, pi, residuals, n_parts, operator.nodes)


@dataclass(frozen=True, eq=False)
class Eigenpairs:
    """Leading eigenpairs of a Markov operator. Make one with `leading_eigenpairs`.

    Parameters
    ----------
    eigenvalues : ndarray of shape (n_pairs,)
        lambda_l, the trivial 1 first, then in the order asked for.
    right : ndarray of shape (n, n_pairs)
        psi_l, orthonormal in the weights pi; psi_0 = 1.
    stationary_distribution : ndarray of shape (n,)
        pi.
    residuals : ndarray of shape (n_pairs,)
        |A psi_l - lambda_l psi_l| in the weights pi; 0 for the eigenvalue 1, whose vectors are
        known.
    n_connected_components : int
        Multiplicity of the eigenvalue 1.
    nodes : Nodes, optional
        Which points are equal: the n rows are then nodes of several points each.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator, leading_eigenpairs
    >>> A = MarkovOperator.from_affinity([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])
    >>> pairs = leading_eigenpairs(A)
    >>> pairs.eigenvalues.round(3), pairs.n_connected_components
    (array([ 1.   ,  0.5  , -0.167]), 1)
    >>> (pairs.left.T @ pairs.right).round(6) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    >>> np.allclose(pairs.right * pairs.powers(9) @ pairs.left.T, A.apply(np.eye(3), 9))
    True
    """

    eigenvalues: np.ndarray
    right: np.ndarray
    stationary_distribution: np.ndarray
    residuals: np.ndarray
    n_connected_components: int = 1
    nodes: Nodes | None = None

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def first(self, n_pairs: int) -> Eigenpairs:
        """Return the first ``n_pairs`` pairs."""
        return replace(
            self,
            eigenvalues=self.eigenvalues[:n_pairs],
            right=np.ascontiguousarray(self.right[:, :n_pairs]),
            residuals=self.residuals[:n_pairs],
        )

    def meet(self, tolerance: float) -> bool:
        """Return whether all residuals are below a tolerance, relative to the eigenvalues."""
        return bool((self.residuals <= tolerance * np.abs(self.eigenvalues)).all())

    @property
    def left(self) -> np.ndarray:
        """Pi psi_l, of shape (n, n_pairs): biorthogonal to the right eigenvectors."""
        return self.right * self.stationary_distribution[:, None]

    @property
    def symmetric(self) -> np.ndarray:
        """phi_l = sqrt(pi) psi_l, of shape (n, n_pairs): orthonormal."""
        return self.right * np.sqrt(self.stationary_distribution)[:, None]

    @property
    def is_complete(self) -> bool:
        """Whether these are all n eigenpairs."""
        return len(self) == len(self.right)

    def powers(self, time: float) -> np.ndarray:
        """Return lambda_l^t, of shape (n_pairs,); |lambda_l|^t if t is fractional."""
        check_positive(time, "time", zero=True)
        # a fractional power of a negative number is complex; distances need lambda^2t only
        powers = np.abs(self.eigenvalues) ** time
        return np.where((self.eigenvalues < 0) & (time % 2 == 1), -powers, powers)


def _pairs_of_components(
    operator: MarkovOperator, n_pairs: int, known: Eigenpairs | None, options: dict[str, Any]
) -> Pairs:
    """Return eigenvalues of S, orthonormal eigenvectors and residuals, component by component."""
    values, vectors = _unit_pairs(operator, n_pairs)
    n_wanted = n_pairs - len(values)
    if n_wanted == 0:
        return values, vectors, np.zeros(n_pairs)
    starts = None if known is None else _without_units(known)
    found = []
    for members, part in _parts(operator):
        if len(members) > 1:
            start = None if starts is None else _within(starts, members)
            n_pairs_here = min(n_wanted, len(members) - 1)
            pairs = _nontrivial_pairs(part, n_pairs_here, start=start, **options)
            found.append((members, *pairs))
    all_values = np.concatenate([part[1] for part in found])
    leading = leading_order(all_values, options["which"])[:n_wanted]
    home = np.repeat(np.arange(len(found)), [len(part[1]) for part in found])[leading]
    column = np.concatenate([np.arange(len(part[1])) for part in found])[leading]
    all_vectors = np.zeros((len(operator), n_pairs), dtype=options["dtype"])
    all_vectors[:, : len(values)] = vectors
    for i, (members, _, vectors_here, _) in enumerate(found):
        here = np.flatnonzero(home == i)
        all_vectors[np.ix_(members, len(values) + here)] = vectors_here[:, column[here]]
    residuals = np.concatenate([part[3] for part in found])[leading]
    return (
        np.concatenate([values, all_values[leading]]),
        all_vectors,
        np.concatenate([np.zeros(len(values)), residuals]),
    )


def _without_units(known: Eigenpairs) -> Pairs:
    """Return known pairs except those of eigenvalue 1."""
    n_unit = min(known.n_connected_components, len(known))
    symmetric = known.symmetric[:, n_unit:]
    return known.eigenvalues[n_unit:], symmetric, known.residuals[n_unit:]


def _within(pairs: Pairs, members: np.ndarray) -> Pairs:
    """Return the pairs whose vectors live on one component, on its members."""
    values, vectors, residuals = pairs
    vectors = vectors[members]
    here = vectors.any(axis=0)
    return values[here], vectors[:, here], residuals[here]


def _unit_pairs(operator: MarkovOperator, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of eigenvalue 1: the constant, then contrasts between components."""
    # contrast j sets component j, of mass m, against the heavier ones before it, of mass M
    # together; the two values make its mean 0 and its norm 1 in the weights pi
    pi, component = operator.stationary_distribution, operator.components
    mass = np.bincount(component, pi)
    order = np.argsort(-mass, kind="stable")
    place = np.argsort(order)[component]
    n_unit = min(n_pairs, len(mass))
    psi = np.ones((len(pi), n_unit))
    before = np.cumsum(mass[order])
    for j in range(1, n_unit):
        M, m = before[j - 1], mass[order[j]]
        psi[:, j] = np.where(place < j, np.sqrt(m / (M * (M + m))), 0)
        psi[place == j, j] = -np.sqrt(M / (m * (M + m)))
    return np.ones(n_unit), psi * np.sqrt(pi)[:, None]


def _parts(operator: MarkovOperator) -> list[tuple[np.ndarray, MarkovOperator]]:
    """Return the members and the operator of each component."""
    if operator.n_connected_components == 1:
        return [(np.arange(len(operator)), operator)]
    order = np.argsort(operator.components, kind="stable")
    stops = np.cumsum(np.bincount(operator.components))
    sorted_affinity = sp.csr_array(operator.affinity[order][:, order])
    parts = []
    for start, stop in zip(np.concatenate([[0], stops[:-1]]), stops, strict=True):
        members = order[start:stop]
        block = sp.csr_array(sorted_affinity[start:stop, start:stop])
        degrees, density = operator.degrees[members], operator.density[members]
        parts.append((members, MarkovOperator(block, degrees, density, operator.alpha)))
    return parts


def _nontrivial_pairs(
    part: MarkovOperator, n_pairs: int, *, start: Pairs | None, **options: Any
) -> Pairs:
    """Return the leading pairs of one component, except (1, sqrt(pi))."""
    trivial = np.sqrt(part.stationary_distribution)[:, None]
    return leading_pairs(_symmetric_matrix(part), n_pairs, known=trivial, start=start, **options)


def _symmetric_matrix(operator: MarkovOperator) -> sp.csr_array:
    """Return S in double precision, on the edges of K_alpha."""
    K, root = operator.affinity, 1 / np.sqrt(operator.degrees)
    data = np.empty(K.nnz)
    _compiled.graphs.scaled_by_ends(K.indptr, K.indices, K.data, root, root, data)
    return sp.csr_array((data, K.indices, K.indptr), shape=K.shape)


def _with_signs(vectors: np.ndarray) -> np.ndarray:
    """Make the largest entry of each column positive, the first of those equal up to rounding."""
    large = (1 - 1e-6) * np.maximum(vectors.max(axis=0), -vectors.min(axis=0))
    first = ((vectors >= large) | (vectors <= -large)).argmax(axis=0)
    vectors *= np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1, 1)
    return vectors


def eigenpairs_cost(size: Size, n_pairs: int) -> Cost:
    """Return the memory that eigenpairs take: blocks of the solver, S, and the pairs, which stay.

    Examples
    --------
    >>> from diffclass.system.costs import Size
    >>> from diffclass.spectral import eigenpairs_cost
    >>> cost = eigenpairs_cost(Size(points=1_000_000, neighbors=12), 20)
    >>> f"{cost.working / 1e9:.1f} GB, {cost.kept / 1e9:.1f} GB of them kept"
    '1.8 GB, 0.8 GB of them kept'
    """
    blocks = 3 * 8 * size.points * block_size(size.points, n_pairs)
    pairs = BYTES_OF_A_PAIR * size.points * n_pairs
    return Cost(blocks + 12 * size.edges + pairs, pairs)


def nystrom(weights: sp.csr_array, eigenpairs: Eigenpairs, *, time: float = 0) -> np.ndarray:
    """Extend lambda_l^t psi_l to new points, the trivial l = 0 left out.

    Parameters
    ----------
    weights : csr_array of shape (m, n)
        Of `PointGraph.step_weights`.
    eigenpairs : Eigenpairs
        Of the n fitted points.
    time : float, default=0
        t. If t < 1 errors grow by 1 / |lambda_l|^(1 - t).

    Returns
    -------
    ndarray of shape (m, n_pairs - 1)
        lambda_l^(t - 1) (A psi_l)(x); 0 where lambda_l is 0 to rounding.

    Warns
    -----
    UnreachedWarning
        For points without a neighbour, whose values are 0.

    Examples
    --------
    Halfway between two points an eigenfunction is about halfway:

    >>> import numpy as np
    >>> from diffclass import PointGraph, leading_eigenpairs
    >>> from diffclass.spectral import nystrom
    >>> graph = PointGraph.from_points(np.arange(50.0)[:, None], n_neighbors=4)
    >>> pairs = leading_eigenpairs(graph.operator, 2)
    >>> nystrom(graph.step_weights([[20.5]]), pairs).round(3), pairs.right[20:22, 1].round(3)
    (array([[0.342]]), array([0.383, 0.3  ]))
    """
    totals = np.asarray(weights.sum(axis=1), dtype=np.float64)
    unreached = totals <= 0
    if unreached.any():
        warn_user(
            f"{np.count_nonzero(unreached)} of {len(totals)} new points have no neighbour with a "
            "positive affinity; their values are 0",
            UnreachedWarning,
        )
    totals[unreached] = 1  # their means are 0
    means = weights @ eigenpairs.right[:, 1:] / totals[:, None]
    eigenvalues = eigenpairs.eigenvalues[1:]
    nonzero = np.abs(eigenvalues) > len(eigenpairs.right) * np.finfo(np.float64).eps
    factors = np.zeros_like(eigenvalues)
    factors[nonzero] = eigenpairs.powers(time)[1:][nonzero] / eigenvalues[nonzero]
    return means * factors
