"""Laplace learning (harmonic functions) on a given operator: what differences are paired with.

X. Zhu, Z. Ghahramani and J. Lafferty 2003: (D - K)_uu f_u = K_ul Y_l, by conjugate gradients.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import cg

from diffclass import MarkovOperator


def laplace_learning(operator: MarkovOperator, y: np.ndarray) -> np.ndarray:
    """Return the class of each point; the commonest class where no label is in the component."""
    K = sp.csr_array(operator.affinity.astype(np.float64))
    classes, codes = np.unique(y[y >= 0], return_inverse=True)
    labelled = np.flatnonzero(y >= 0)
    reached = np.isin(operator.components, operator.components[labelled])
    free = np.flatnonzero((y < 0) & reached)
    one_hot = np.eye(len(classes))[codes]
    degrees = operator.degrees[free]
    matrix = sp.csr_array(sp.diags_array(degrees) - K[free][:, free])
    right = K[free][:, labelled] @ one_hot
    preconditioner = sp.diags_array(1 / degrees)
    values = [
        cg(matrix, column, rtol=1e-6, maxiter=5000, M=preconditioner)[0] for column in right.T
    ]
    found = np.full(len(y), classes[np.bincount(codes).argmax()])
    found[labelled] = y[labelled]
    found[free] = classes[np.argmax(values, axis=0)]
    return found
