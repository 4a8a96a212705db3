"""The walks that a state's posteriors warp, for the classes of later states too."""

from __future__ import annotations

import numpy as np

from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import WARP_FLOOR, WarpedOperator, warped_operator
from diffclass.relabel.state import State


class WarpedWalks:
    """Scores that warp the walk, by class id. Classes added later have the lowest score.

    Parameters
    ----------
    operator : MarkovOperator
        The walk on n points.
    scores : ndarray of shape (n, n_classes)
        Posteriors of the state's classes.
    source : State
        The state whose labels they are the posteriors of.
    """

    def __init__(self, operator: MarkovOperator, scores: np.ndarray, source: State):
        self._class_ids = source.mapped_classes
        self._warped = warped_operator(operator, scores, y=source.targets)

    def for_classes(self, class_ids: tuple[int, ...]) -> WarpedOperator:
        """Return the walks of some classes, one column each."""
        warped = self._warped
        if class_ids == self._class_ids:
            return warped
        shape = len(warped), len(class_ids)
        scores = np.full(shape, WARP_FLOOR, dtype=warped.scores.dtype)
        smoothed_scores = np.empty_like(scores)
        smoothed_scores[:] = (WARP_FLOOR * warped.operator.degrees)[:, None]
        for column, class_id in enumerate(class_ids):
            if class_id in self._class_ids:
                known = self._class_ids.index(class_id)
                scores[:, column] = warped.scores[:, known]
                smoothed_scores[:, column] = warped.smoothed_scores[:, known]
        return WarpedOperator(warped.operator, scores, smoothed_scores, warped.forward_exponent)
