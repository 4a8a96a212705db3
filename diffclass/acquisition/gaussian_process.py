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
from numpy.typing import ArrayLike

from diffclass._validation import RandomState, check_positive
from diffclass.operators.markov import MarkovOperator
from diffclass.spectral.eigenpairs import Eigenpairs, leading_eigenpairs, pairs_bytes

N_PAIRS = 50
# Labels have used the eigenpairs up once they determine this share of the weights.
USED_UP = 0.8
_MOST_PAIRS, _MOST_BYTES = 800, 2e9
# Between 0.001 and 0.1, and between 0.01 and 1, their values matter little.
OFFSET, NOISE = 0.01, 0.1
_TOLERANCE = 1e-4  # of the eigenpairs: scores need no more


def process_eigenpairs(
    operator: MarkovOperator,
    labelled: ArrayLike = (),
    n_points: int = 1,
    *,
    known: Eigenpairs | None = None,
    random_state: RandomState = 0,
) -> Eigenpairs:
    """Compute as many eigenpairs of largest eigenvalue as there is something to learn about.

    A process of m eigenpairs sees nothing of clusters beyond the m slowest. So there are 50, and
    twice as many again and again until the labels and as many as are to follow determine at most
    0.8 m weights. Labels in one place, such as the pixels of a stroke, determine few.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    labelled : array-like of int, optional
        Numbers of the labelled points.
    n_points : int, default=1
        How many labels are to follow.
    known : Eigenpairs, optional
        Pairs of the same operator, returned if they are enough, else the first of those returned.
    random_state : int, RandomState or None, default=0
        Draws the starts of the iterations.

    Returns
    -------
    Eigenpairs
        As accurate as scores need them. At most n, 800, or as many as 2 GB hold in use, though at
        least 50.

    Notes
    -----
    Cost: as `leading_eigenpairs`, and m^2 multiplications per label for each m.
    """
    labels = np.asarray(labelled, dtype=np.intp)
    most = most_pairs(len(operator))
    found = known
    while found is None or len(found) < most:
        if found is not None and _are_enough(found, labels, n_points):
            break
        found = leading_eigenpairs(
            operator,
            min(N_PAIRS if found is None else 2 * len(found), most),
            which="algebraic",
            tolerance=_TOLERANCE,
            random_state=random_state,
            known=found,
        )
    return found


def most_pairs(n_points: int) -> int:
    """Return how many eigenpairs of so many points are computed at most."""
    room = int(_MOST_BYTES / pairs_bytes(n_points, 1))
    return min(n_points, max(N_PAIRS, min(room, _MOST_PAIRS)))


def _are_enough(eigenpairs: Eigenpairs, labels: np.ndarray, n_points: int) -> bool:
    process = Process(eigenpairs)
    process.observe_all(labels)
    return process.n_determined + n_points <= USED_UP * len(eigenpairs)


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
        self._prior = prior / prior.sum()
        self._set(np.diag(self._prior))  # sum_x pi(x) C(x,x) is the trace

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

    @property
    def n_determined(self) -> float:
        """How many weights the labels determine: the sum of 1 - M_ll / prior_l, 0 to m."""
        return float(np.sum(1 - np.diag(self._weights) / self._prior))

    @property
    def is_used_up(self) -> bool:
        """Whether the labels determine nearly all weights, so that variances tell no more."""
        return self.n_determined > USED_UP * len(self._prior)

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
