"""How far a bump still is from equilibrium: from the stationary distribution, after t steps.

    D_t^2(x, pi) = sum_z (a_t(x, z) - pi(z))^2 / pi(z) = sum_{l>=1} lambda_l^2t psi_l(x)^2

One more than this, inverted, is the share of the equilibrium over which the walk from x has spread.
At t = 1 the sum runs over the edges and is exact. Later bumps would take n^2 numbers; instead they
are projected on random signs g, as E (r . g)^2 = |r|^2 for any vector r:

    D_t^2(x, pi) = E [A^t f (x)]^2,    f = g / pi^(1/2) less its mean,    g(z) = 1 or -1,

m of which give D^2 to a relative standard error of at most (2 / m)^(1/2), and exactly where the
walk never leaves x.

Sources: Coifman et al. 2005, section 2.1, and the encyclopedia's article (the distance); D.
Achlioptas, Database-friendly random projections, 2003 (signs).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.utils import check_random_state

from diffclass._validation import RandomState, check_positive
from diffclass.operators.markov import MarkovOperator

_COLUMNS = 32  # of functions diffused at once


def squared_distances_to_equilibrium(
    operator: MarkovOperator,
    *,
    time: int = 1,
    n_probes: int = 256,
    random_state: RandomState = None,
) -> np.ndarray:
    """Return the squared diffusion distance from every bump to the stationary distribution.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    time : int, default=1
        t, at least 1.
    n_probes : int, default=256
        m, at least 1, for later times than 1. From n on the unit vectors take the place of random
        ones, and the result is exact.
    random_state : int, RandomState or None, default=None
        Seeds the probes.

    Returns
    -------
    ndarray of shape (n,)
        D_t^2(x, pi), from 0 to 1 / pi(x) - 1, in double precision. Costs one pass over the edges
        at time 1, t products with m columns later.

    Raises
    ------
    ParameterError
        If the time or the number of probes is not a whole number above 0.

    Examples
    --------
    >>> from diffclass import MarkovOperator
    >>> from diffclass.spectral.equilibrium import squared_distances_to_equilibrium
    >>> two_states = MarkovOperator.from_affinity([[3.0, 1.0], [1.0, 3.0]])
    >>> squared_distances_to_equilibrium(two_states).round(12)
    array([0.25, 0.25])
    """
    check_positive(time, "time", integer=True)
    if time == 1:
        return _after_one_step(operator)
    total = np.zeros(len(operator))
    n_used = 0
    for f in probes(operator, n_probes, random_state):
        moved = operator.apply(f, time).astype(np.float64, copy=False)
        total += np.einsum("ij,ij->i", moved, moved)
        n_used += f.shape[1]
    return total if n_used == len(operator) <= n_probes else total / n_used


def _after_one_step(operator: MarkovOperator) -> np.ndarray:
    """Return D_1^2(x, pi) of every point, of shape (n,): exact, in one pass over the edges."""
    degrees, K = operator.degrees, operator.affinity
    squares = K.astype(np.float64).power(2) @ (1 / degrees)
    return np.maximum(squares * degrees.sum() / degrees**2 - 1, 0)


def probes(
    operator: MarkovOperator, n_probes: int, random_state: RandomState
) -> Iterator[np.ndarray]:
    """Yield the functions f of the module, some columns at a time.

    From as many probes as points on they come from the n unit vectors instead of signs.
    """
    check_positive(n_probes, "n_probes", integer=True)
    rng = check_random_state(random_state)
    n, root = len(operator), np.sqrt(operator.stationary_distribution)
    is_complete = n_probes >= n
    for start in range(0, min(n, n_probes), _COLUMNS):
        width = min(_COLUMNS, min(n, n_probes) - start)
        if is_complete:
            g = np.zeros((n, width))
            g[start + np.arange(width), np.arange(width)] = 1
        else:
            g = rng.randint(2, size=(n, width)) * 2.0 - 1
        yield (g / root[:, None] - root @ g).astype(operator.dtype)
