"""Labels at which walks stop: they are set again after every step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from diffclass.operators.processor import HOST


@dataclass(frozen=True, eq=False)
class Stops:
    """N <- stopped + passing N at the labelled points.

    Attributes
    ----------
    points : ndarray of int of shape (n_labels,)
    stopped : ndarray of shape (n_labels, n_classes)
        What has stopped at once: the label's weight in its class, times the height of an indicator.
    passing : ndarray of shape (n_labels, 1)
        Share that goes on, 1 minus the weight.
    """

    points: np.ndarray
    stopped: np.ndarray
    passing: np.ndarray

    @classmethod
    def at(
        cls,
        points: np.ndarray,
        codes: np.ndarray,
        label_weight: np.ndarray,
        *,
        n_classes: int,
        dtype: np.dtype,
        heights: ArrayLike = 1,
    ) -> Stops:
        """Return the stops of labels.

        Parameters
        ----------
        points, codes, label_weight : ndarray of shape (n_labels,)
            Where the labels are, their classes, and the probability that a walk stops there.
        n_classes : int
        dtype : dtype
            Of the columns.
        heights : array-like, default=1
            Values of the columns at points of a certain class.
        """
        stops = label_weight.astype(dtype)
        stopped = np.zeros((len(points), n_classes), dtype)
        stopped[np.arange(len(points)), codes] = stops * heights
        return cls(points, stopped, (1 - stops)[:, None])

    def start(self, columns: np.ndarray) -> None:
        """Set the labels at time 0."""
        columns[self.points] = self.stopped

    def set_again(self, columns: np.ndarray) -> None:
        """Set the labels again after a step."""
        HOST.set_rows(columns, self.points, self.passing, self.stopped)

    def end_walks(self, columns: np.ndarray) -> None:
        """Let what arrives at the labels be lost."""
        columns[self.points] *= self.passing

    def first(self, n_points: int) -> Stops:
        """Return the labels among the first points; their numbers have to ascend."""
        k = int(np.searchsorted(self.points, n_points))
        return Stops(self.points[:k], self.stopped[:k], self.passing[:k])
