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

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from diffclass._validation import RandomState
from diffclass.operators.markov import MarkovOperator
from diffclass.spectral.eigenpairs import BYTES_OF_A_PAIR, Eigenpairs, leading_eigenpairs
from diffclass.spectral.eigensolver import row_blocks

N_PAIRS = 50
# Labels have used the eigenpairs up once they determine this share of the weights; where the pairs
# are rough, this is certain from the second share on.
USED_UP, _CERTAINLY_USED_UP = 0.8, 0.9
_LITTLE_LEFT = 0.95  # from which even twice as many are taken to be used up
_MOST_PAIRS, MOST_BYTES = 800, 2e9
# Added to 1 - lambda_l; gamma. Between 0.001 and 0.1, and 0.01 and 1, their values matter little.
OFFSET, NOISE = 0.01, 0.1
# Of the eigenpairs: scores need the first, to find out how many pairs they need takes the second.
TOLERANCE, _ROUGH = 1e-4, 0.1


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
    Cost: as `leading_eigenpairs`, and m^2 multiplications per label for each m. What the labels
    have used up is found out by rough pairs.
    """
    *_, found = growing_eigenpairs(
        operator, labelled, n_points, known=known, random_state=random_state
    )
    return found


def growing_eigenpairs(
    operator: MarkovOperator,
    labelled: ArrayLike = (),
    n_points: int = 1,
    *,
    known: Eigenpairs | None = None,
    random_state: RandomState = 0,
    used_up_as_well: bool = True,
    most_bytes: float = MOST_BYTES,
) -> Iterator[Eigenpairs]:
    """Yield eigenpairs on the way to those of `process_eigenpairs`, which come last.

    A caller that stops early may continue from the pairs yielded last.

    Parameters
    ----------
    operator, labelled, n_points, known, random_state
        See `process_eigenpairs`.
    used_up_as_well : bool, default=True
        Whether the last ones are accurate even if the labels have used them up. Some rules do not
        look at them then (`Rule.leaves_used_up`).
    most_bytes : float, default=2e9
        Memory that the pairs may take in use, though there are always 50.
    """
    labels = np.asarray(labelled, dtype=np.intp)
    most = most_pairs(len(operator), most_bytes)

    def computed(n_pairs: int, tolerance: float) -> Eigenpairs:
        return leading_eigenpairs(
            operator,
            min(n_pairs, most),
            which="algebraic",
            tolerance=tolerance,
            random_state=random_state,
            known=found,
            dtype=np.float32,
        )

    found, refined = known, None
    if found is None:
        found = computed(N_PAIRS, _ROUGH)
    process = observed(found, labels)
    while True:
        yield found
        is_all, share = len(found) == most, process.share_determined
        if share > _CERTAINLY_USED_UP and not is_all:
            n_next = 2 * len(found)
            found = computed(2 * n_next if share > _LITTLE_LEFT else n_next, _ROUGH)
            process = observed(found, labels)
            if n_next < len(found) and process.share_determined <= _CERTAINLY_USED_UP:
                fewer = found.first(n_next)  # enough, perhaps
                by_fewer = observed(fewer, labels)
                if by_fewer.share_determined <= _CERTAINLY_USED_UP:
                    found, process = fewer, by_fewer
            continue
        if share > _CERTAINLY_USED_UP and not used_up_as_well:
            return
        if found is not refined and not found.meet(TOLERANCE):
            found = refined = computed(len(found), TOLERANCE)
        elif is_all or process.n_determined + n_points <= USED_UP * len(found):
            return
        else:
            found = computed(2 * len(found), _ROUGH)
        process = observed(found, labels)


def most_pairs(n_points: int, most_bytes: float = MOST_BYTES) -> int:
    """Return how many eigenpairs of so many points are computed at most."""
    room = int(most_bytes / (BYTES_OF_A_PAIR * n_points))
    return min(n_points, max(N_PAIRS, min(room, _MOST_PAIRS)))


def observed(eigenpairs: Eigenpairs, labels: np.ndarray) -> Process:
    """Return the process after labels at some points."""
    process = Process(eigenpairs)
    with threadpool_limits(1, user_api="blas"):  # several threads mostly wait for each other
        process.observe_all(labels)
    return process


class Process:
    """The Gaussian process f = sum_l w_l psi_l, conditioned on labels.

    Parameters
    ----------
    eigenpairs : Eigenpairs
        m eigenpairs of n points.

    Notes
    -----
    A label costs m^2 multiplications, many at once m^3. Those at every point cost n m^2 when they
    are first asked for, and n m for each label that follows.
    """

    def __init__(self, eigenpairs: Eigenpairs):
        self._psi = eigenpairs.right
        prior = 1 / (np.maximum(1 - eigenpairs.eigenvalues, 0) + OFFSET)
        self._prior = prior / prior.sum()
        self._weights = np.diag(self._prior)  # sum_x pi(x) C(x,x) is the trace
        self._sums: tuple[np.ndarray, np.ndarray] | None = None

    def observe_all(self, points: np.ndarray) -> None:
        """Condition on labels at some points (a point named twice has two)."""
        psi, M = self._psi[points], self._weights
        covariance = np.linalg.solve(np.eye(len(M)) + M @ (psi.T @ psi) / NOISE, M)
        self._weights = (covariance + covariance.T) / 2
        self._sums = None

    def observe(self, point: int) -> None:
        """Condition on a label at one point."""
        psi, M = self._psi[point], self._weights
        gain = M @ psi
        scale = NOISE + psi @ gain
        if self._sums is not None:
            # C(x,z) falls by c(x) c(z) / scale, where c is the column of the point
            column, by_column = self._psi @ gain, self._psi @ (M @ gain)
            variances, squares = self._sums
            variances -= column**2 / scale
            squares += column * (gain @ gain * column / scale - 2 * by_column) / scale
        self._weights = M - np.outer(gain, gain) / scale

    @property
    def mean_variance(self) -> float:
        """sum_x pi(x) C(x,x); 1 before any label."""
        return float(np.trace(self._weights))

    @property
    def n_determined(self) -> float:
        """How many weights the labels determine: the sum of 1 - M_ll / prior_l, 0 to m."""
        return float(np.sum(1 - np.diag(self._weights) / self._prior))

    @property
    def share_determined(self) -> float:
        """How much the labels determine, of the weights or of the variance, whichever is less."""
        return float(min(self.n_determined / len(self._prior), 1 - self.mean_variance))

    @property
    def is_used_up(self) -> bool:
        """Whether the labels determine nearly all weights; variances then rank points no longer."""
        return self.n_determined > USED_UP * len(self._prior)

    def variances(self) -> np.ndarray:
        """Return C(x,x), of shape (n,)."""
        return np.maximum(self._known_sums()[0], 0)

    def with_noise(self) -> np.ndarray:
        """Return gamma + C(x,x), of shape (n,)."""
        return NOISE + self.variances()

    def squares(self) -> np.ndarray:
        """Return sum_z pi(z) C(z,x)^2, of shape (n,): the psi_l are orthonormal in pi."""
        return np.maximum(self._known_sums()[1], 0)

    def _known_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Return C(x,x) and sum_z pi(z) C(z,x)^2 of every point, kept until many labels follow."""
        if self._sums is None:
            variances, squares = np.empty((2, len(self._psi)))
            for rows in row_blocks(self._psi):
                psi, moved = self._psi[rows], self._psi[rows] @ self._weights
                variances[rows] = np.einsum("xl,xl->x", moved, psi)
                squares[rows] = np.einsum("xl,xl->x", moved, moved)
            self._sums = variances, squares
        return self._sums
