"""From diffused values to posteriors, classes and margins: p_i = w_i N_i / sum_j w_j N_j.

The margin of a point is p_(1) - p_(2), the difference of its two largest posteriors. Values that
differ only by rounding tie, and the first class wins the tie.

Source: Coifman et al. 2005, section 3 (posteriors and margin).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffclass import _compiled


@dataclass(frozen=True, eq=False)
class Decision:
    """Each point's class and how sure it is.

    Attributes
    ----------
    codes : ndarray of int of shape (n,)
        Index of the class, -1 where nothing has arrived.
    probability : ndarray of shape (n,)
        The largest posterior p_(1), 0 where nothing has arrived.
    margin : ndarray of shape (n,)
        The margin p_(1) - p_(2), 0 to 1; 0 where nothing has arrived.
    """

    codes: np.ndarray
    probability: np.ndarray
    margin: np.ndarray


def decide(
    values: np.ndarray,
    class_weight: np.ndarray,
    *,
    limits: np.ndarray | None = None,
    components: np.ndarray | None = None,
    dtype: type | np.dtype = np.float64,
) -> Decision:
    """Find the class, probability and margin of each point from its values.

    Parameters
    ----------
    values : ndarray of shape (n, n_classes)
        N_i, or N_i minus the limits. Sums below 0 count as 0.
    class_weight : ndarray of shape (n_classes,)
        The weights w_i.
    limits : ndarray of shape (n_components, n_classes), optional
        Limits of each component, added to the values in double precision.
    components : ndarray of int of shape (n,), optional
        Component of each point; needed with ``limits``.
    dtype : dtype, default=float64
        Type of probability and margin.

    Returns
    -------
    Decision
        Of n points.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.label_diffusion.posteriors import decide
    >>> decide(np.array([[3.0, 1.0], [0.0, 0.0]]), np.ones(2))
    Decision(codes=array([ 0, -1]), probability=array([0.75, 0.  ]), margin=array([0.5, 0. ]))
    """
    n, n_classes = values.shape
    if limits is None or components is None:
        limits, components = np.zeros((1, n_classes)), np.zeros(n, dtype=np.int32)
    codes = np.empty(n, dtype=np.intp)
    probability, margin = np.empty(n, dtype=dtype), np.empty(n, dtype=dtype)
    _compiled.decisions.read_off(
        values.T, limits, components, class_weight.astype(np.float64), codes, probability, margin
    )
    return Decision(codes, probability, margin)


def posteriors_of(values: np.ndarray, class_weight: np.ndarray) -> np.ndarray:
    """Return p_i = w_i N_i / sum_j w_j N_j.

    Parameters
    ----------
    values : ndarray of shape (n, n_classes)
        The values N_i, at least 0.
    class_weight : ndarray of shape (n_classes,)
        The weights w_i.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Rows sum to 1; uniform where all values are 0.
    """
    posteriors = values * class_weight
    total = posteriors.sum(axis=1)
    empty = total <= 0
    posteriors[empty] = 1
    total[empty] = posteriors.shape[1]
    posteriors /= total[:, None]
    return posteriors
