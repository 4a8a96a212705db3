"""Prediction sets: for each point the classes that may be its own, at a stated level.

A class is in the set of a point if its probability there is at least a threshold. The threshold is
the k-th smallest probability that m labelled points have in their own class once their labels are
left out, k = floor((1 - level) (m + 1)). If these points and a new one were drawn alike (labels at
random places), the set of the new one holds its class with a probability of at least ``level``,
however wrong the probabilities are. So it is on average over points as they were labelled: with
equal labels per class on average over the classes, not within each class, nor near each border. The
labels' being left out one by one, and not all at once, costs little of it.

With k = 0, fewer labels than 1 / (1 - level) - 1, nothing can be stated: all classes are in all
sets. No set is empty, as the most probable class is always in it.

Source: V. Vovk, A. Gammerman and G. Shafer, Algorithmic learning in a random world, 2005;
M. Sadinle, J. Lei and L. Wasserman, Least ambiguous set-valued classifiers, 2019 (the threshold).
"""

from __future__ import annotations

import numpy as np

from diffclass._validation import check_level


def sets_at(probabilities: np.ndarray, conformity: np.ndarray, *, level: float) -> np.ndarray:
    """Return which classes are in the prediction set of each point.

    Parameters
    ----------
    probabilities : ndarray of shape (..., n_classes)
        NaN where nothing is known: no class is in the set then.
    conformity : ndarray of shape (m,)
        Probability of its own class at each labelled point, with its label held out; ascending.
    level : float
        Between 0 and 1.

    Returns
    -------
    ndarray of bool of the same shape as ``probabilities``

    Raises
    ------
    ParameterError
        For another level.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.label_diffusion.prediction_sets import sets_at
    >>> conformity = np.linspace(0.1, 0.9, 9)
    >>> sets_at(np.array([[0.9, 0.1], [0.6, 0.4]]), conformity, level=0.8)
    array([[ True, False],
           [ True,  True]])
    """
    # the small number: (1 - 0.9) * 10 is less than 1 by rounding
    k = int((1 - check_level(level)) * (len(conformity) + 1) + 1e-9)
    threshold = conformity[k - 1] if k else 0.0
    return probabilities >= np.minimum(threshold, probabilities.max(axis=-1, keepdims=True))
