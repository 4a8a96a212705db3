"""Values at new points: one step of the kernel, and Nystrom's formula.

A new point x walks to the fitted points with a(x, y) = k(x, y) q(y)^-alpha, divided by its sum:
q(x)^-alpha cancels. A function f of the fitted points has there the value (A f)(x) after that
*kernel step*. An eigenfunction is extended by *Nystrom's* psi_l(x) = (A psi_l)(x) / lambda_l.

Sources: Coifman et al. 2005, section 2; R. Coifman and S. Lafon, Geometric harmonics, 2006.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.exceptions import DataError, UnreachedWarning
from diffclass.kernels import Kernel
from diffclass.operators.markov import MarkovOperator
from diffclass.spectral.eigenpairs import Eigenpairs


def step_weights(
    operator: MarkovOperator, X_new: Any, *, kernel: Kernel | None = None, search: Any = None
) -> sp.csr_array:
    """Return the weights of the step from new points to the operator's points.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    X_new : ndarray of shape (m, d)
        New points; without a kernel their (m, n) affinities.
    kernel : Kernel, optional
        As fitted when the operator was made.
    search : transformer, optional
        As fitted to ``kernel.search_features`` of the operator's points.

    Returns
    -------
    csr_array of shape (m, n)
        k(x, y) q(y)^-alpha; rows are not divided by their sums, which may be 0.

    Raises
    ------
    DataError
        For affinities of another width, or negative.
    """
    affinity = (
        _checked_affinities(X_new, operator)
        if kernel is None
        else affinities_to(X_new, kernel=kernel, search=search)
    )
    return sp.csr_array(affinity * (operator.density**-operator.alpha)[None, :])


def affinities_to(X_new: np.ndarray, *, kernel: Kernel, search: Any) -> sp.csr_array:
    """Return the affinities between new points and those a kernel and a search were fitted to.

    Parameters
    ----------
    X_new : ndarray of shape (m, d)
        New points.
    kernel : Kernel
        Fitted.
    search : transformer
        Fitted to the kernel's search features.

    Returns
    -------
    csr_array of shape (m, n)
        k(x, y).
    """
    graph = sp.csr_array(search.transform(kernel.new_features(X_new)))
    graph.data = graph.data * graph.data
    return kernel.extend(graph, X_new)


def kernel_step(weights: sp.csr_array, f: np.ndarray) -> np.ndarray:
    """Return the mean of f where the step from each new point leads.

    Parameters
    ----------
    weights : csr_array of shape (m, n)
        Of `step_weights`.
    f : ndarray of shape (n,) or (n, p)
        Functions on the fitted points.

    Returns
    -------
    ndarray of shape (m,) or (m, p)
        Between the least and the largest value of f; 0 where a row of weights is empty.

    Warns
    -----
    UnreachedWarning
        Where rows are empty.
    """
    totals = np.asarray(weights.sum(axis=1), dtype=np.float64)
    unreached = totals <= 0
    if unreached.any():
        warnings.warn(
            f"{np.count_nonzero(unreached)} of {len(totals)} new points have no neighbour with a "
            "positive affinity; their values are 0",
            UnreachedWarning,
            stacklevel=3,
        )
    steps = weights @ f
    totals[unreached] = 1
    return steps / (totals if steps.ndim == 1 else totals[:, None])


def nystrom(weights: sp.csr_array, eigenpairs: Eigenpairs, *, time: float = 0) -> np.ndarray:
    """Extend lambda_l^t psi_l to new points, the trivial l = 0 left out.

    Parameters
    ----------
    weights : csr_array of shape (m, n)
        Of `step_weights`.
    eigenpairs : Eigenpairs
        Of the n fitted points.
    time : float, default=0
        t. The step is divided by lambda_l, so that errors grow by 1 / |lambda_l|^(1 - t) if
        t < 1.

    Returns
    -------
    ndarray of shape (m, n_pairs - 1)
        lambda_l^(t - 1) (A psi_l)(x); 0 where lambda_l is 0 to rounding.

    Warns
    -----
    UnreachedWarning
        As `kernel_step`.
    """
    eigenvalues = eigenpairs.eigenvalues[1:]
    nonzero = np.abs(eigenvalues) > len(eigenpairs.right) * np.finfo(np.float64).eps
    factors = np.zeros_like(eigenvalues)
    factors[nonzero] = eigenpairs.powers(time)[1:][nonzero] / eigenvalues[nonzero]
    return kernel_step(weights, eigenpairs.right[:, 1:]) * factors


def _checked_affinities(X_new: Any, operator: MarkovOperator) -> sp.csr_array:
    affinity = sp.csr_array(X_new, dtype=operator.dtype)
    if affinity.shape[1] != len(operator):
        raise DataError(
            f"X has shape {affinity.shape}; affinities to {len(operator)} fitted points are needed"
        )
    if affinity.nnz and affinity.data.min() < 0:
        raise DataError("X holds negative affinities")
    return affinity
