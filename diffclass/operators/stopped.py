"""Walks that stop at labels: N <- A N, and then the labels are set again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from diffclass.operators.chebyshev import chebyshev_series
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.processor import Columns
from diffclass.operators.stops import Stops


@dataclass(frozen=True, eq=False)
class StoppedWalk:
    """The steps of a walk that stops at labels, taken where its operator computes.

    Parameters
    ----------
    operator : MarkovOperator
        The walk on n points.
    stops : Stops
        In the dtype of the operator.
    """

    operator: MarkovOperator
    stops: Stops

    def steps(
        self, columns: np.ndarray, spare: np.ndarray, n_steps: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Take some steps.

        Parameters
        ----------
        columns, spare : ndarray of shape (n, n_classes)
            In the operator's dtype, C-ordered. Both are written.
        n_steps : int

        Returns
        -------
        columns, spare : ndarray of shape (n, n_classes)
            The columns after the steps, and the other of the two arrays.
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
        """Return sum_k c_k T_k(B) of columns, B being the walk that ends at the labels.

        Parameters
        ----------
        columns : ndarray of shape (n, n_classes)
        coefficients : ndarray of shape (degree + 1,)
        """
        processor, step = self.operator.processor, self.operator.step
        points, passing, _ = self._placed
        nothing = processor.place(np.zeros_like(self.stops.stopped))

        def ending(f: Columns, out: Columns) -> None:
            step(f, out)
            processor.set_rows(out, points, passing, nothing)

        return chebyshev_series(ending, columns, coefficients[None], processor=processor)[0]

    @cached_property
    def _placed(self) -> tuple[Columns, Columns, Columns]:
        place, stops = self.operator.processor.place, self.stops
        return place(stops.points), place(stops.passing), place(stops.stopped)
