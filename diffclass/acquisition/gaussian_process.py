"""A Gaussian process on the graph, and the part of its covariance that labels leave.

The process is f = sum_l w_l psi_l over the leading right eigenvectors of A, orthonormal in the
weights pi, with independent weights w_l of variance proportional to 1 / (1 - lambda_l + offset),
scaled so that the mean prior variance is 1. A label at x observes f(x) plus noise of variance
gamma. Of the covariance M of the weights it leaves

    M - M psi(x) psi(x)' M / (gamma + psi(x)' M psi(x)),

an m x m matrix (Sherman and Morrison). The covariance of the process is C = Psi M Psi'.

Sources: Y. Ma, R. Garnett and J. Schneider, Sigma-optimality for active learning on Gaussian random
fields, 2013; K. Miller and A. Bertozzi, Model-change active learning in graph-based semi-supervised
learning, 2021 (eigenpairs). They use phi_l, and sums without pi.
"""

from __future__ import annotations

import numpy as np

from diffclass._validation import RandomState, check_positive
from diffclass.operators.markov import MarkovOperator
from diffclass.spectral.eigenpairs import Eigenpairs, leading_eigenpairs

N_PAIRS = 50
# Between 0.001 and 0.1, and between 0.01 and 1, their values matter little.
OFFSET, NOISE = 0.01, 0.1
_TOLERANCE = 1e-4  # of the eigenpairs: scores need no more


def process_eigenpairs(operator: MarkovOperator, *, random_state: RandomState = 0) -> Eigenpairs:
    """Compute the 50 eigenpairs of largest eigenvalue, as accurate as scores need them.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    random_state : int, RandomState or None, default=0
        Draws the starts of the iterations.

    Returns
    -------
    Eigenpairs
        Of all n pairs where there are fewer than 50 points.
    """
    return leading_eigenpairs(
        operator,
        min(N_PAIRS, len(operator)),
        which="algebraic",
        tolerance=_TOLERANCE,
        random_state=random_state,
    )


class Process:
    """The Gaussian process f = sum_l w_l psi_l, conditioned on labels.

    Parameters
    ----------
    eigenpairs : Eigenpairs
        m eigenpairs of n points.
    offset : float, default=0.01
        Added to 1 - lambda_l; above 0.
    noise : float, default=0.1
        gamma, the variance of a label about f, relative to the mean prior variance; above 0.

    Raises
    ------
    ParameterError
        If ``offset`` or ``noise`` is not above 0.

    Notes
    -----
    One label costs n m multiplications, many at once n m^2. Memory: two arrays of n x m.
    """

    def __init__(self, eigenpairs: Eigenpairs, *, offset: float = OFFSET, noise: float = NOISE):
        check_positive(offset, "offset")
        self._noise = check_positive(noise, "noise")
        self._psi = eigenpairs.right
        prior = 1 / (np.maximum(1 - eigenpairs.eigenvalues, 0) + offset)
        self._set(np.diag(prior / prior.sum()))  # sum_x pi(x) C(x,x) is the trace

    def _set(self, covariance: np.ndarray) -> None:
        self._weights = covariance
        self._moved = self._psi @ covariance

    def observe_all(self, points: np.ndarray) -> None:
        """Condition on labels at some points (a point named twice has two)."""
        psi = self._psi[points]
        precision = np.linalg.inv(self._weights) + psi.T @ psi / self._noise
        covariance = np.linalg.inv(precision)
        self._set((covariance + covariance.T) / 2)

    def observe(self, point: int) -> None:
        """Condition on a label at one point."""
        gain = self._moved[point].copy()
        column = self._moved @ self._psi[point]
        scale = self._noise + self._psi[point] @ gain
        self._weights = self._weights - np.outer(gain, gain) / scale
        self._moved -= np.outer(column, gain / scale)

    @property
    def mean_variance(self) -> float:
        """sum_x pi(x) C(x,x); 1 before any label."""
        return float(np.trace(self._weights))

    def variances(self) -> np.ndarray:
        """Return C(x,x), of shape (n,)."""
        return np.maximum(np.einsum("xl,xl->x", self._moved, self._psi), 0)

    def with_noise(self) -> np.ndarray:
        """Return gamma + C(x,x), of shape (n,)."""
        return self._noise + self.variances()

    def squares(self) -> np.ndarray:
        """Return sum_z pi(z) C(z,x)^2, of shape (n,): the psi_l are orthonormal in pi."""
        return np.einsum("xl,xl->x", self._moved, self._moved)

    def means(self) -> np.ndarray:
        """Return sum_z pi(z) C(z,x), of shape (n,): psi_0 = 1 is orthogonal to the other psi_l."""
        return self._moved[:, 0]
