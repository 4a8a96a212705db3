"""Absorbing labels: the walk stops at them, N <- A N, and then the labels are set again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from diffclass.operators.chebyshev import chebyshev_series
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.processor import HOST, Columns


@dataclass(frozen=True, eq=False)
class AbsorbingLabels:
    """N <- stopped + passing N at the labelled points.

    stopped (n_labels, n_classes) is each label's weight in its class, times the height of an
    indicator; passing (n_labels, 1) is 1 minus the weight.
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
    ) -> AbsorbingLabels:
        """Return some labels; points, codes and label_weight are (n_labels,).

        The weight is the probability that a walk stops there; those of a point sum to 1 at most.
        Heights are the values of the columns at points of a certain class.
        """
        stops = label_weight.astype(dtype)
        places, which = np.unique(points, return_inverse=True)
        stopped = np.zeros((len(places), n_classes), dtype)
        np.add.at(stopped, (which, codes), stops * heights)
        passing = 1 - np.bincount(which, stops)
        if len(places) < len(points):
            passing[passing < np.finfo(np.float32).eps] = 0  # by rounding of the sums
        return cls(places, stopped, passing.astype(dtype)[:, None])

    def start(self, columns: np.ndarray) -> None:
        """Set the labels at time 0."""
        columns[self.points] = self.stopped

    def set_again(self, columns: np.ndarray) -> None:
        """Set the labels again after a step."""
        HOST.set_rows(columns, self.points, self.passing, self.stopped)

    def end_walks(self, columns: np.ndarray) -> None:
        """Let what arrives at the labels be lost."""
        columns[self.points] *= self.passing

    def first(self, n_points: int) -> AbsorbingLabels:
        """Return the labels among the first points; their numbers have to ascend."""
        k = int(np.searchsorted(self.points, n_points))
        return AbsorbingLabels(self.points[:k], self.stopped[:k], self.passing[:k])


@dataclass(frozen=True, eq=False)
class AbsorbingSteps:
    """The steps of a walk that stops at labels, taken by its operator's processor."""

    operator: MarkovOperator
    labels: AbsorbingLabels

    def steps(
        self, columns: np.ndarray, spare: np.ndarray, n_steps: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Take some steps; return the columns (n, n_classes) after them, and the other array.

        Both arrays are C-ordered, in the operator's dtype, and written.
        """
        processor, step = self.operator.processor, self.operator.step
        current, following = processor.place(columns), processor.blank(spare)
        for _ in range(n_steps):
            step(current, following)
            processor.set_rows(following, *self._placed)
            current, following = following, current
        found = processor.fetch(current, columns)
        return (found, spare) if found is columns else (found, columns)

    def series(self, columns: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return sum_k c_k T_k(B) of columns, B being the walk that ends at the labels."""
        processor, step = self.operator.processor, self.operator.step
        points, passing, _ = self._placed
        nothing = processor.place(np.zeros_like(self.labels.stopped))

        def ending(f: Columns, out: Columns) -> None:
            step(f, out)
            processor.set_rows(out, points, passing, nothing)

        return chebyshev_series(ending, columns, coefficients[None], processor=processor)[0]

    @cached_property
    def _placed(self) -> tuple[Columns, Columns, Columns]:
        place, labels = self.operator.processor.place, self.labels
        return place(labels.points), place(labels.passing), place(labels.stopped)
