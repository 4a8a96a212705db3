"""The energy of functions on a graph, and its least functions in a given space.

    E(f) = <f, (I - A) f>_pi = sum_{x,y} pi(x) a(x, y) (f(x) - f(y))^2 / 2

For points of density p on a manifold, the kernel exp(-|x - y|^2 / epsilon) and s = 2 (1 - alpha),

    (4 / epsilon) E(f)  ->  int |grad f|^2 p^s / int p^s

as epsilon -> 0: s > 0 penalises functions that change where points are dense. By Rayleigh and
Ritz the eigenfunctions of A are the functions of least energy among those orthogonal to all before
them, and 1 - lambda_l are their energies; in a space of trial functions the same rule gives the
best approximations that the space has.

Source: Socher 2008, section 3.3 (equations 20 to 23) and appendix B.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from diffclass._validation import check_points, check_positive
from diffclass.exceptions import DataError
from diffclass.operators.markov import MarkovOperator


def dirichlet_energy(
    operator: MarkovOperator, f: ArrayLike, epsilon: float | None = None
) -> float | np.ndarray:
    """Return the energy <f, (I - A) f>_pi of functions, at least 0; that of a constant is 0.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    f : array-like of shape (n,) or (n, m)
        One function per column.
    epsilon : float, optional
        Bandwidth of the kernel exp(-|x - y|^2 / epsilon), in squared units of the points. If given,
        the energy is multiplied by 4 / epsilon and tends to int |grad f|^2 p^s / int p^s.

    Returns
    -------
    float or ndarray of shape (m,)
        Summed over edges, so that nothing cancels. Costs one multiplication per edge and column.

    Raises
    ------
    ParameterError
        If epsilon is not above 0.
    DataError
        If f is not finite or has another number of rows.

    Examples
    --------
    >>> from diffclass import MarkovOperator
    >>> from diffclass.operators.energy import dirichlet_energy
    >>> two_states = MarkovOperator.from_affinity([[3.0, 1.0], [1.0, 3.0]])
    >>> float(dirichlet_energy(two_states, [1.0, -1.0]))
    0.5
    """
    scale = 1.0 if epsilon is None else 4 / check_positive(epsilon, "epsilon")
    columns = _functions(operator, f)
    K = operator.affinity.tocoo()
    energies = [K.data @ (g[K.row] - g[K.col]) ** 2 for g in columns.T]
    found = scale * np.array(energies, dtype=np.float64) / (2 * operator.degrees.sum())
    return float(found[0]) if np.ndim(f) == 1 else found


def rayleigh_ritz(operator: MarkovOperator, functions: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the functions of least energy in the span of some trial functions.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    functions : array-like of shape (n, m)
        Trial functions; those that depend on the others are left out.

    Returns
    -------
    energies : ndarray of shape (rank,)
        E in increasing order; each is at least the 1 - lambda_l of the same place, and equal where
        the span holds the eigenfunction.
    ritz_functions : ndarray of shape (n, rank)
        Combinations of the trial functions, orthonormal in the weights pi. Costs a product with m
        columns and n m^2.

    Raises
    ------
    DataError
        If a function is not finite, or all are 0.
    """
    columns = _functions(operator, functions)
    pi = operator.stationary_distribution
    U, sizes, _ = np.linalg.svd(np.sqrt(pi)[:, None] * columns, full_matrices=False)
    U = U[:, sizes > max(columns.shape) * np.finfo(np.float64).eps * sizes[0]]
    if not sizes[0]:
        raise DataError("the trial functions are all 0; give at least one other")
    projected = U.T @ (U - operator.symmetric_conjugate @ U)
    energies, mixed = eigh((projected + projected.T) / 2)
    return np.maximum(energies, 0), (U @ mixed) / np.sqrt(pi)[:, None]


def _functions(operator: MarkovOperator, f: ArrayLike) -> np.ndarray:
    columns = check_points(np.reshape(f, (len(np.asarray(f)), -1)), name="f").astype(np.float64)
    if len(columns) != len(operator):
        raise DataError(f"f has {len(columns)} rows; the operator has {len(operator)} points")
    return columns
