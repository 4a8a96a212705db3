"""The semigroup error of a kernel, and the rule that chooses a scale by it.

Diffusing for 2t is the same as diffusing for t twice. With S_t the symmetric conjugate of the
alpha-normalised kernel exp(-|x - y|^2 / epsilon),

    SGE(t) = || S_t^2 - S_2t ||_2,

where epsilon = t by the paper's equation 1, and 4t, as in the heat kernel, by its equation 11. The
error is 0 at t = 0 and rises to a maximum where points begin to see each other; the minimum after
it is where the discrete walk is most like a diffusion. The rule takes the first such minimum among
the scales that the graph carries, at which the median point has at least ten neighbours that count,
below the limit of `diffclass.spectral.bandwidth`.

Source: Shan and Daubechies 2022, section 3.2.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh
from threadpoolctl import threadpool_limits

from diffclass._validation import RandomState, check_seed
from diffclass.kernels import Gaussian
from diffclass.neighbors import kept_edges
from diffclass.operators.markov import MarkovOperator
from diffclass.spectral.sampled_distances import REACH

LEAST_USEFUL = 10  # neighbours that count, for a scale to be admissible
_LEAST_RISE = 1.25  # by which a minimum differs from a ripple
_DENSE_POINTS = 32  # below which the norm is computed densely
_NORM_TOLERANCE = 1e-4


def semigroup_error(
    graph: sp.csr_array, epsilon: float, *, alpha: float = 1.0, random_state: RandomState = 0
) -> float:
    """Return || S_t^2 - S_2t ||_2, of the kernel at epsilon and at twice it, by Lanczos.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Squared distances as returned by `neighbors_graph`, wide enough for the scale.
    epsilon : float
        Of the kernel exp(-|x - y|^2 / epsilon), in squared units of the points: t of equation 1 of
        the paper, 4t of its equation 11.
    alpha : float, default=1.0
        Density exponent.
    random_state : int, RandomState or None, default=0
        Draws the start of the iteration.

    Returns
    -------
    float
        0 to 2, to about three digits.

    Examples
    --------
    A circle of 200 points, which are 0.03 apart:

    >>> import numpy as np
    >>> from diffclass import neighbors_graph
    >>> from diffclass.spectral import semigroup_error
    >>> angles = 2 * np.pi * np.arange(200) / 200
    >>> X = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> graph = neighbors_graph(X, n_neighbors=199)
    >>> [round(semigroup_error(graph, epsilon), 3) for epsilon in (0.001, 0.01, 0.1, 1)]
    [0.013, 0.001, 0.006, 0.04]
    """
    # edges beyond this weigh less than exp(-18) at 2t
    graph = kept_edges(graph, graph.data <= (2 * REACH) ** 2 * epsilon)
    S_t, S_2t = (_conjugate(graph, factor * epsilon, alpha) for factor in (1, 2))

    def product(f: np.ndarray) -> np.ndarray:
        f = f.ravel()
        return S_t.matvec(S_t.matvec(f)) - S_2t.matvec(f)

    n = graph.shape[0]
    if n < _DENSE_POINTS:
        dense = np.column_stack([product(column) for column in np.eye(n)])
        return float(np.linalg.norm(dense, 2))
    start = check_seed(random_state).normal(size=n)
    if not product(start).any():  # at a scale so small that both are the identity
        return 0.0
    difference = LinearOperator(graph.shape, matvec=product, dtype=np.float64)
    with threadpool_limits(1, user_api="blas"):
        values = eigsh(difference, k=1, v0=start, tol=_NORM_TOLERANCE, return_eigenvectors=False)
    return float(abs(values[0]))


def first_minimum_after_maximum(
    values: np.ndarray, n_useful: np.ndarray, in_reach: np.ndarray, is_local: np.ndarray
) -> tuple[int, bool]:
    """Return the index of the scale that the rule chooses or is nearest to, and whether it did.

    Arrays are (m,), at increasing scales: semigroup errors, neighbours that count for the median
    point, whether the graph carries the scale (true for at least one), whether it is below the
    limit.
    """
    last = np.flatnonzero(in_reach)[-1]
    v, enough = values[: last + 1], n_useful[: last + 1] >= LEAST_USEFUL
    rises = np.diff(v) > 0
    top = int(np.argmin(rises)) if not rises.all() else last
    minima = [i for i in range(top + 1, last) if v[i] < v[top:i].min() and _rises_after(v[i:])]
    admissible = [i for i in minima if enough[i] and is_local[i]]
    if admissible:
        return admissible[0], True
    # too few neighbours count at the minimum: the least scale at which enough do
    if any(is_local[i] for i in minima) and enough.any():
        return int(np.argmax(enough)), False
    # no minimum: the least error after the maximum, among the local scales
    local = [i for i in range(last + 1) if is_local[i]] or [0]
    after = [i for i in local if i >= top and enough[i]] or local[-1:]
    return min(after, key=lambda i: v[i]), False


def _rises_after(v: np.ndarray) -> bool:
    """Return whether a curve rises by a quarter of its first value before it falls below that."""
    below = np.flatnonzero(v < v[0])
    until = v[: below[0]] if len(below) else v
    return bool(until.max() >= _LEAST_RISE * v[0])


def _conjugate(graph: sp.csr_array, epsilon: float, alpha: float) -> LinearOperator:
    affinity = Gaussian(bandwidth=float(epsilon)).affinity(graph, np.empty(0))
    return MarkovOperator.from_affinity(affinity, alpha=alpha, check=False).symmetric_conjugate
