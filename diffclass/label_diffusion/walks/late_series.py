"""Late steps of absorbing labels: a Chebyshev series in place of many steps.

With r the change of a step and B the walk that ends at the labels,

    N(t + s) = N(t) + r + B r + ... + B^(s - 1) r.

The series blurs small values, so it waits until every walk that can stop has stopped with a
probability that is far above its error. It ends where no probability changes any more.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from diffclass.label_diffusion.walks.long_walk import LONGEST_SERIES
from diffclass.operators.chebyshev import sum_coefficients

_LEAST_SERIES = 32  # steps; fewer are taken one by one
_LATE = 1e-3  # probability
_NO_CHANGE = {"f": 1e-6, "d": 1e-14}  # of a probability, by precision


class SeriesWalk(Protocol):
    """What a walk of absorbing labels has to do for a series, wherever its columns lie."""

    def least_stopped(self) -> float:
        """Return the least probability of having stopped, over the points whose walk can stop."""

    def step_and_change(self) -> float:
        """Take a step, keep its change r, and return the largest change of a probability."""

    def add_series(self, coefficients: np.ndarray) -> None:
        """Add the sum of c_k T_k(B) r to the values; what comes out below 0 is 0."""


def is_late(walk: SeriesWalk, n_steps: int) -> bool:
    """Say whether so many steps are worth a series, and the walk is late enough for one."""
    return n_steps > _LEAST_SERIES and walk.least_stopped() >= _LATE


def walk_by_series(walk: SeriesWalk, n_steps: int, dtype: np.dtype) -> None:
    """Take steps by series, until no probability changes any more.

    Parameters
    ----------
    walk : SeriesWalk
    n_steps : int
    dtype : dtype
        Of the values.
    """
    tolerance = _NO_CHANGE[dtype.char]
    while n_steps:
        largest = walk.step_and_change()
        if n_steps * largest <= tolerance:
            return
        piece = min(n_steps, LONGEST_SERIES)
        walk.add_series(
            sum_coefficients(piece - 1, tolerance / largest) if piece > 1 else np.zeros(1)
        )
        n_steps -= piece
