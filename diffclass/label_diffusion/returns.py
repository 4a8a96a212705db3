"""Returns: how likely a walk from a label next stops at that label, or at another of its group.

The walk stops at the label l with probability s(l), its weight, and goes on with P = 1 - s; P = 1
at other points. Within t + 1 steps from the label l it next stops at l' with probability

    r(l, l') = s(l') e_l . (A + A P A + ... + A (P A)^t) e_l'.

M = P A is symmetric in the measure d / P, which leaves out labels that always stop the walk. With
v_l = P A e_l and products of columns in that measure,

    r(l, l') = s(l') (A(l, l') + <v_l, (1 + M + ... + M^(t - 1)) v_l'> / d(l)).

The sum is a Chebyshev series of M. Its moments <v_l, T_k(M) v_l'> up to k = 2 j are read off j
steps of the recurrence, since

    2 <T_i(M) v, T_j(M) v'> = <v, T_(i + j)(M) v'> + <v, T_|i - j|(M) v'>.

So the returns of t steps cost sqrt(t log(2 t / tolerance) / 2) products in place of t.

Source: G. Golub and G. Meurant, Matrices, moments and quadrature with applications, 2010, chapters
3 and 5 (bilinear forms by modified moments).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diffclass import _compiled
from diffclass.label_diffusion.diffusion import in_local_order
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.long_walk import is_long
from diffclass.operators.chebyshev import SERIES_TOLERANCE, sum_coefficients
from diffclass.operators.markov import MarkovOperator

_CHUNK = 4096  # points whose products are summed together, whatever the number of threads


def return_probabilities(
    operator: MarkovOperator, labels: Labels, chosen: np.ndarray, time: int
) -> np.ndarray:
    """Return r(l, l') for pairs of labels of one group; (m, m), 0 where their groups differ.

    ``chosen`` (m,) are places in ``labels``; ``time``, t, is at least 1. Costs 4 sqrt(t) products
    of m columns, or t / 2, and three arrays of n x m.
    """
    groups = labels.groups[chosen]
    local, _, places = in_local_order(operator, labels)
    operator = local.unwarped
    operator = operator.in_double_precision() if is_long(time) else operator
    labels = labels if places is None else replace(labels, points=places[labels.points])
    points = labels.points[chosen]
    pairs = np.nonzero(np.triu(groups[:, None] == groups))
    coefficients = sum_coefficients(time - 1, SERIES_TOLERANCE[operator.dtype.char])
    coefficients[0] += 1
    products = np.zeros((len(points), len(points)))
    products[pairs] = products.T[pairs] = coefficients @ _moments(
        operator, labels, points, pairs, len(coefficients)
    )
    at_once = np.where(groups[:, None] == groups, operator.affinity[points][:, points].toarray(), 0)
    return (at_once + products) / operator.degrees[points, None] * labels.weight[chosen]


def _moments(
    operator: MarkovOperator,
    labels: Labels,
    points: np.ndarray,
    pairs: tuple[np.ndarray, ...],
    n_moments: int,
) -> np.ndarray:
    """Return <v_l, T_k(M) v_l'> for k = 0, 1, ..., n_moments - 1; (n_moments, n_pairs)."""
    going_on = 1 - labels.weight
    stops = going_on == 0
    measure = operator.degrees.astype(np.float64)
    measure[labels.points] *= np.where(stops, 0, 1 / np.where(stops, 1, going_on))
    passing = going_on.astype(operator.dtype)[:, None]

    def product(f: np.ndarray, out: np.ndarray) -> None:
        operator.backward(f, out)
        out[labels.points] *= passing

    def inner(f: np.ndarray, g: np.ndarray) -> np.ndarray:
        sums = np.empty((1 + len(f) // _CHUNK, 2, len(pairs[0])))
        _compiled.products.moment_products(measure, f, g, *pairs, sums)
        return sums.sum(axis=0)

    spare = np.zeros((len(operator), len(points)), operator.dtype)
    spare[points, np.arange(len(points))] = 1
    before, now = np.empty_like(spare), np.empty_like(spare)
    product(spare, before)
    product(before, now)
    no_series = np.empty(0, spare.dtype), np.empty((0, *spare.shape), spare.dtype)
    zeroth, (first, _) = inner(before, before)[0], inner(before, now)
    moments = [zeroth]
    while len(moments) < n_moments:
        odd, even = inner(before, now)
        moments += [2 * odd - first, 2 * even - zeroth]
        product(now, spare)
        _compiled.products.chebyshev_step(spare, before, *no_series)
        before, now = now, before
    return np.array(moments[:n_moments])
