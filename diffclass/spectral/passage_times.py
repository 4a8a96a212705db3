"""Mean first-passage times of the walk, and the commute time as a distance.

    h(x, y) = 1 + sum_z a(x, z) h(z, y),  h(y, y) = 0     mean steps of the walk from x to y
    C(x, y) = h(x, y) + h(y, x) = sum_{l>=1} (psi_l(x) - psi_l(y))^2 / (1 - lambda_l)

The square root of C is a Euclidean distance: diffusion distances of all times taken together, since
1 / (1 - lambda) = sum_t lambda^t. On a large graph of more than a few dimensions C(x, y) says
little: it nears 1 / pi(x) + 1 / pi(y), whatever lies between (U. von Luxburg, A. Radl and M. Hein,
Hitting and commute times in large random neighborhood graphs, 2014).

Sources: L. Lovasz, Random walks on graphs: a survey, 1993, sections 2 and 3; F. Fouss et al.,
Random-walk computation of similarities between nodes of a graph, 2007.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import cg
from scipy.spatial.distance import cdist

from diffclass._validation import check_positive
from diffclass.exceptions import DiffclassError, ParameterError
from diffclass.operators.markov import MarkovOperator
from diffclass.spectral.distances import point_numbers
from diffclass.spectral.eigenpairs import Eigenpairs

_ROUNDING = 1e-6


def mean_first_passage_times(
    operator: MarkovOperator, targets: ArrayLike, *, tolerance: float = 1e-10
) -> np.ndarray:
    """Return the mean number of steps of the walk from every point to each target.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    targets : array-like of int of shape (m,)
        Numbers of points.
    tolerance : float, default=1e-10
        Of the residual of the linear system of each target, relative to its right-hand side.

    Returns
    -------
    ndarray of float64 of shape (n, m)
        h(x, y) in steps; 0 at the target, infinite from points of other components. Conjugate
        gradients take about as many products as sqrt of the longest time.

    Raises
    ------
    ParameterError
        If a target is no point, or the tolerance not above 0.
    DiffclassError
        If the iteration does not reach the tolerance.

    Examples
    --------
    >>> from diffclass import MarkovOperator
    >>> from diffclass.spectral.passage_times import mean_first_passage_times
    >>> path = MarkovOperator.from_affinity([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> mean_first_passage_times(path, [0])[:, 0].round(8)
    array([0., 3., 4.])
    """
    check_positive(tolerance, "tolerance")
    n = len(operator)
    numbers = point_numbers(targets, n)
    K = operator.affinity.astype(np.float64)
    degrees = np.asarray(K.sum(axis=1)).ravel()
    laplacian = sp.csr_array(sp.diags_array(degrees) - K)
    times = [_times_to(laplacian, degrees, operator.components, y, tolerance) for y in numbers]
    return np.stack(times, axis=1)


def _times_to(
    laplacian: sp.csr_array,
    degrees: np.ndarray,
    components: np.ndarray,
    target: int,
    tolerance: float,
) -> np.ndarray:
    """Solve (D - K) h = d on the target's component without the target, where h is 0."""
    times = np.where(components == components[target], 0.0, np.inf)
    others = np.flatnonzero(np.isfinite(times) & (np.arange(len(times)) != target))
    if len(others):
        L, d = laplacian[others][:, others], degrees[others]
        jacobi = sp.diags_array(1 / L.diagonal())
        most = max(10 * len(others), 1000)
        times[others], failed = cg(L, d, rtol=tolerance, atol=0, maxiter=most, M=jacobi)
        if failed:
            raise DiffclassError(
                f"times to point {target} did not converge in {failed} iterations; loosen tolerance"
            )
    return times


def commute_distances(
    eigenpairs: Eigenpairs, sources: ArrayLike, targets: ArrayLike | None = None
) -> np.ndarray:
    """Return the square roots of commute times, by eigenpairs.

    Parameters
    ----------
    eigenpairs : Eigenpairs
        Of the walk on n points; with all pairs the distances are exact, else too small, since each
        pair adds its part. Take them by ``which="algebraic"``.
    sources : array-like of int of shape (p,)
        Numbers of points.
    targets : array-like of int of shape (q,), optional
        Numbers of points; all by default.

    Returns
    -------
    ndarray of shape (p, q)
        sqrt(C(x, y)); infinite between components.

    Raises
    ------
    ParameterError
        If a point does not exist, or if there are fewer eigenpairs than components.
    """
    n_components = eigenpairs.n_connected_components
    if len(eigenpairs) < n_components:
        raise ParameterError(
            f"there are {len(eigenpairs)} eigenpairs; {n_components} components have as many "
            "of eigenvalue 1: compute more"
        )
    slow = np.sort(np.argsort(-eigenpairs.eigenvalues, kind="stable")[:n_components])
    rest = np.delete(np.arange(len(eigenpairs)), slow)
    right, values = eigenpairs.right, eigenpairs.eigenvalues
    coordinates = right[:, rest] / np.sqrt(1 - values[rest])
    n = len(right)
    x = point_numbers(sources, n)
    y = np.arange(n) if targets is None else point_numbers(targets, n)
    # the eigenfunctions of eigenvalue 1 are constant on components and tell them apart; the sum of
    # their squares is 1 / pi(component), and the others are normalised on all of them together
    constants = right[:, slow]
    masses = 1 / np.sum(constants**2, axis=1)
    distances = np.sqrt(masses[x])[:, None] * cdist(coordinates[x], coordinates[y])
    distances[cdist(constants[x], constants[y]) > _ROUNDING] = np.inf
    return distances
