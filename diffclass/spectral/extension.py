"""Eigenfunctions at new points, by Nystrom's formula psi_l(x) = (A psi_l)(x) / lambda_l.

A new point x walks to the fitted points with `PointGraph.step_weights`, divided by their sum;
(A f)(x) is the mean of f where that step leads.

Sources: Coifman et al. 2005, section 2; R. Coifman and S. Lafon, Geometric harmonics, 2006.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from diffclass.exceptions import UnreachedWarning
from diffclass.spectral.eigenpairs import Eigenpairs


def nystrom(weights: sp.csr_array, eigenpairs: Eigenpairs, *, time: float = 0) -> np.ndarray:
    """Extend lambda_l^t psi_l to new points, the trivial l = 0 left out.

    Parameters
    ----------
    weights : csr_array of shape (m, n)
        Of `PointGraph.step_weights`.
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
        Where rows of weights are empty; the values there are 0.
    """
    totals = np.asarray(weights.sum(axis=1), dtype=np.float64)
    unreached = totals <= 0
    if unreached.any():
        warnings.warn(
            f"{np.count_nonzero(unreached)} of {len(totals)} new points have no neighbour with a "
            "positive affinity; their values are 0",
            UnreachedWarning,
            stacklevel=2,
        )
    totals[unreached] = 1
    means = weights @ eigenpairs.right[:, 1:] / totals[:, None]
    eigenvalues = eigenpairs.eigenvalues[1:]
    nonzero = np.abs(eigenvalues) > len(eigenpairs.right) * np.finfo(np.float64).eps
    factors = np.zeros_like(eigenvalues)
    factors[nonzero] = eigenpairs.powers(time)[1:][nonzero] / eigenvalues[nonzero]
    return means * factors
