"""Where labels can get to, and the points whose values have underflowed on the way.

A value that has come a long way may be smaller than any floating-point number. Such a point is
within reach, but its row of values is empty. Here it takes the values of its neighbours, front by
front outward from the points with values: with F the points filled so far, or with values,

    N(x) = sum over y in F of K(x,y) N(y) / sum over y in F of K(x,y),

one step of the walk from x to the neighbours through which labels come. So it has their posteriors,
and the class of the labels that are nearest.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from diffclass import _compiled
from diffclass.exceptions import UnreachedWarning, warn_user
from diffclass.label_diffusion.maps import Decision, decide
from diffclass.operators.markov import MarkovOperator


class Reach:
    """The points that labels can reach.

    Parameters
    ----------
    operator : MarkovOperator
        The walk on n points.
    labelled : ndarray of int
        Numbers of the labelled points.

    Examples
    --------
    A line of five points whose first and last are labelled; the values in the middle were lost:

    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.label_diffusion import Reach
    >>> A = MarkovOperator.from_affinity(np.eye(5) + np.eye(5, k=1) + np.eye(5, k=-1))
    >>> values = np.array([[4.0, 1], [0, 0], [0, 0], [0, 0], [1, 4]])
    >>> Reach(A, np.array([0, 4])).fill(values, ~values.any(axis=1))
    array([False,  True,  True,  True, False])
    >>> values.tolist()
    [[4.0, 1.0], [4.0, 1.0], [2.5, 2.5], [1.0, 4.0], [1.0, 4.0]]
    """

    def __init__(self, operator: MarkovOperator, labelled: np.ndarray):
        self._operator = operator
        self._labelled = labelled

    @cached_property
    def hops(self) -> np.ndarray:
        """Edges between each point and the nearest label, -1 if unreachable; (n,)."""
        groups = np.full(len(self._operator), -1)
        groups[self._labelled] = 0
        return self._operator.hops(groups)[:, 0]

    def lost(self, empty: np.ndarray, *, n_steps: int | None = None) -> np.ndarray:
        """Return which empty rows are within reach, as `fill`."""
        component = self._operator.components
        lost = empty & np.isin(component, component[self._labelled])
        if n_steps is not None and lost.any():
            lost &= self.hops <= n_steps
        return lost

    def fill(
        self, values: np.ndarray, empty: np.ndarray, *, n_steps: int | None = None
    ) -> np.ndarray:
        """Fill empty rows of values (n, n_classes) that are within reach, in place; return which.

        With ``n_steps`` only points within so many edges of a label are filled, else all that share
        a connected component with one.
        """
        lost = self.lost(empty, n_steps=n_steps)
        if lost.any():
            K = self._operator.affinity
            _compiled.graphs.fill_by_fronts(K.indptr, K.indices, K.data, empty, lost, values)
        return lost

    def decide(
        self,
        values: np.ndarray,
        class_weight: np.ndarray,
        *,
        n_steps: int | None = None,
        dtype: type | np.dtype = np.float64,
    ) -> Decision:
        """Find the class of each point as `decide`, after empty rows are filled as by `fill`."""
        decision = decide(values, class_weight, dtype=dtype)
        empty = decision.codes < 0
        empty[empty] = ~values[empty].any(axis=1)  # a prior may also weigh a class with 0
        if empty.any() and self.fill(values, empty, n_steps=n_steps).any():
            return decide(values, class_weight, dtype=dtype)
        return decision


def warn_of_unreached(operator: MarkovOperator, unreached: np.ndarray, *, tau: int) -> None:
    """Warn of points that no label reaches by tau, bool (n_points,), and say why."""
    component = operator.at_points(operator.components)
    too_far = unreached & np.isin(component, component[~unreached])
    apart = unreached & ~too_far
    causes, n_points = [], len(unreached)
    if apart.any():
        n_components = len(np.unique(component[apart]))
        causes.append(
            f"{np.count_nonzero(apart)} of {n_points} points lie in {n_components} connected "
            f"component{'s' * (n_components > 1)} of the graph without a label; label a point "
            "in each, or raise n_neighbors"
        )
    if too_far.any():
        causes.append(
            f"{np.count_nonzero(too_far)} of {n_points} points have a path to a label that is "
            f"longer than the walk by step {tau}; raise n_neighbors or tau"
        )
    warn_user("; ".join(["no label reaches some points", *causes]), UnreachedWarning)
