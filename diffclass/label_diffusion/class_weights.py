"""The weights w_i of the classes in p_i = w_i N_i / sum_j w_j N_j.

Labels say where classes are, not how large. Weights can:

*equal* weights take the values as they are: the class that a walk is most likely to meet first.
*balanced* weights w_i = 1 / <N_i, pi> give all classes the same mass (class-mass normalisation,
X. Zhu et al. 2003, section 4). They help where few labels of similar classes have come by
different luck: one label in a dense place draws more walks than another.
*matched* weights make the map's classes as large as given shares say. The mass of a class is of no
use for that: long after the labels have covered the graph it hardly depends on the class's size.

Whether balanced or matched weights are better than equal ones is read off the cut of their maps
(`diffclass.label_diffusion.cut`).
"""

from __future__ import annotations

import numpy as np

_MOST_COUNTED = 50_000  # points on which shares are counted: to 0.2 %
_ROUNDS = 60
_SHRINKING = 0.7  # of the steps, every ten rounds


def equal_weights(n_classes: int) -> np.ndarray:
    """Return weights 1 / n_classes, of shape (n_classes,)."""
    return np.full(n_classes, 1 / n_classes)


def balanced_weights(mass: np.ndarray) -> np.ndarray:
    """Return weights, of sum 1, in inverse proportion to the masses <N_i, pi>."""
    weight = 1 / np.maximum(mass, np.finfo(float).tiny)
    return weight / weight.sum()


def counted_every(n_points: int) -> int:
    """Return the distance of the points on which shares are counted."""
    return 1 + n_points // _MOST_COUNTED


def matched_weights(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the weights at which the classes of the map have given shares of the points.

    The logarithm of each weight goes up or down by that of the ratio of the given and the present
    share, with shrinking steps; the closest shares win.

    Parameters
    ----------
    values : ndarray of float64 of shape (m, n_classes)
        The values N_i of every `counted_every`-th point; rows of zeros are not counted.
    shares : ndarray of shape (n_classes,)
        Above 0, of sum 1.

    Returns
    -------
    ndarray of shape (n_classes,)
        Of sum 1. Points whose values allow no choice, as in a component with labels of one class,
        keep their class, so shares may stay apart from those given.
    """
    shares = np.maximum(shares, np.finfo(float).tiny)
    with np.errstate(divide="ignore"):
        logs = np.log(values[values.any(axis=1)])
    n_classes, step = len(shares), 1.0
    bias, best, least = np.zeros(n_classes), np.zeros(n_classes), np.inf
    for round_number in range(1, _ROUNDS + 1):
        counts = np.bincount((logs + bias).argmax(axis=1), minlength=n_classes)
        distance = np.abs(counts / max(len(logs), 1) - shares).sum()
        if distance < least:
            best, least = bias.copy(), distance
        present = (counts + 0.5) / (len(logs) + 0.5 * n_classes)
        bias += step * np.log(shares / present)
        if round_number % 10 == 0:
            step *= _SHRINKING
    weight = np.exp(best - best.max())
    return weight / weight.sum()
