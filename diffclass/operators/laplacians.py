"""Laplacians and generators, as views of a Markov operator.

    L     = D - K_alpha              unnormalised
    L_rw  = I - A = D^-1 L           random walk
    L_sym = I - S = D^-1/2 L D^-1/2  symmetric

For points of density exp(-U) on a manifold and the kernel exp(-|x - y|^2 / epsilon),

    (I - A) / epsilon -> -(1/4) (Delta f - s grad U . grad f),   s = 2 (1 - alpha)

as epsilon -> 0: alpha = 1 gives the Laplace-Beltrami operator for every density, 1/2 the
Fokker-Planck operator of the potential U, 0 the normalised graph Laplacian with U counted twice.
With alpha = 1, A^(t / epsilon) tends to the heat kernel exp(t Delta / 4).

Sources: Coifman et al. 2005, sections 2.2 to 2.4 (equations 2.6, 2.9 and 2.14);
Socher 2008, sections 1.5.1 (graph Laplacians) and 3.1 (s).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator

from diffclass._validation import check_positive
from diffclass.operators.markov import MarkovOperator


def unnormalized_laplacian(operator: MarkovOperator) -> LinearOperator:
    """Return L = D - K_alpha, symmetric, of shape (n, n); rows sum to 0."""
    root = np.sqrt(operator.degrees)
    return _identity_less_conjugate(operator, root, root)


def random_walk_laplacian(operator: MarkovOperator) -> LinearOperator:
    """Return L_rw = I - A, of shape (n, n); its eigenvalues are 1 - lambda_l, in [0, 2]."""
    root = np.sqrt(operator.degrees)
    return _identity_less_conjugate(operator, 1 / root, root)


def symmetric_laplacian(operator: MarkovOperator) -> LinearOperator:
    """Return L_sym = I - S, symmetric, of shape (n, n), with the eigenvalues of L_rw."""
    ones = np.ones(len(operator))
    return _identity_less_conjugate(operator, ones, ones)


def generator(operator: MarkovOperator, epsilon: float) -> LinearOperator:
    """Return (I - A) / epsilon, which tends to -(1/4)(Delta - 2 (1 - alpha) grad U . grad).

    Parameters
    ----------
    operator : MarkovOperator
        Made with the kernel exp(-|x - y|^2 / epsilon).
    epsilon : float
        In squared units of the points.

    Returns
    -------
    LinearOperator of shape (n, n)
        It works in double precision.
    """
    check_positive(epsilon, "epsilon")
    root = np.sqrt(operator.degrees)
    return _identity_less_conjugate(operator, 1 / (epsilon * root), root)


def schroedinger_operator(operator: MarkovOperator, epsilon: float) -> LinearOperator:
    """Return H = (4 / epsilon) W (I - A) W^-1, W = q^(1 - alpha), which tends to -Delta + V.

    With the density p = exp(-U) and s = 2 (1 - alpha), H is the generator
    -Delta + s grad U . grad seen by the functions p^(s / 2) f, and its potential is

        V = (s^2 / 4) |grad U|^2 - (s / 2) Delta U.

    The spectrum is that of the generator; wells of U are wells of V. q, the row sums of the
    affinity, stand for p.

    Parameters
    ----------
    operator : MarkovOperator
        Made with the kernel exp(-|x - y|^2 / epsilon).
    epsilon : float
        In squared units of the points.

    Returns
    -------
    LinearOperator of shape (n, n)
        It works in double precision.

    References
    ----------
    Coifman et al. 2005, equation 2.5 (alpha = 0, where the term |grad U|^2 - Delta U has to be
    subtracted).
    """
    check_positive(epsilon, "epsilon")
    # (I - A) = D^-1/2 (I - S) D^1/2
    outer = operator.density ** (1 - operator.alpha) / np.sqrt(operator.degrees)
    return _identity_less_conjugate(operator, 4 / epsilon * outer, 1 / outer)


def schroedinger_potential(operator: MarkovOperator, epsilon: float) -> np.ndarray:
    """Return V = H 1, the potential of `schroedinger_operator` at the points.

    Parameters
    ----------
    operator, epsilon
        As in `schroedinger_operator`.

    Returns
    -------
    ndarray of shape (n,)
        In inverse squared units of the points. It depends on the density's second derivatives and
        is reliable only where many points weigh.
    """
    return schroedinger_operator(operator, epsilon) @ np.ones(len(operator))


def generator_eigenvalues(eigenvalues: np.ndarray, epsilon: float) -> np.ndarray:
    """Return 4 (1 - lambda) / epsilon, the eigenvalues of -Delta + 2 (1 - alpha) grad U . grad.

    Parameters
    ----------
    eigenvalues : ndarray
        The eigenvalues lambda_l of A.
    epsilon : float
        In squared units of the points.

    Returns
    -------
    ndarray
        At least 0. The equality holds to first order in epsilon.
    """
    return 4 * (1 - np.asarray(eigenvalues)) / check_positive(epsilon, "epsilon")


def heat_steps(time: float, epsilon: float) -> int:
    """Return 4 time / epsilon, the number of steps n for which A^n is closest to exp(time Delta).

    Parameters
    ----------
    time : float
        In squared units of the points, at least 0.
    epsilon : float
        The bandwidth of the kernel exp(-|x - y|^2 / epsilon).

    Returns
    -------
    int
        Rounded to the nearest step.
    """
    steps = 4 * check_positive(time, "time", zero=True) / check_positive(epsilon, "epsilon")
    return round(steps)


def _identity_less_conjugate(
    operator: MarkovOperator, row_scale: np.ndarray, column_scale: np.ndarray
) -> LinearOperator:
    """Return diag(row_scale) (I - S) diag(column_scale)."""
    S = operator.symmetric_conjugate

    def scaled(outer: np.ndarray, inner: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        def product(f: np.ndarray) -> np.ndarray:
            columns = f.reshape(len(operator), -1) * inner[:, None]
            return ((columns - S @ columns) * outer[:, None]).reshape(f.shape)

        return product

    forward, backward = scaled(row_scale, column_scale), scaled(column_scale, row_scale)
    return LinearOperator(
        operator.shape,
        matvec=forward,
        matmat=forward,
        rmatvec=backward,
        rmatmat=backward,
        dtype=np.float64,
    )
