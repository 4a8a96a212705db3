"""Free labels, which diffuse away from where they are, and free labels summed over the walk."""

from __future__ import annotations

import numpy as np

from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.stopping_time import sum_end
from diffclass.label_diffusion.walks.free_columns import FreeColumns
from diffclass.label_diffusion.walks.walk import HEIGHT, Walk
from diffclass.operators.markov import MarkovOperator
from diffclass.targets import labels_per_class


class FreeWalk(Walk):
    """The columns A^t chi_i, scaled so that <chi_i, pi> = 1."""

    def __init__(self, operator: MarkovOperator, labels: Labels):
        super().__init__(operator, labels)
        pi = operator.stationary_distribution[labels.points]
        mass = np.bincount(labels.codes, labels.weight * pi, labels.n_classes)
        self.scale = 1 / (HEIGHT * mass)
        self._columns = FreeColumns(
            operator,
            labels.points,
            labels.codes,
            labels.n_classes,
            label_weight=labels.weight,
            summed=self._is_summed,
        )
        self._look()

    _is_summed = False

    def advance(self, time: int) -> None:
        """Walk on to a later time."""
        self._columns.advance(time)
        self._look()

    def _look(self) -> None:
        columns = self._columns
        self.time, self.state, self.limits = columns.time, columns.state, columns.limits


class SummedWalk(FreeWalk):
    """The sum over the walk. The curve is that of A^t chi_i; `restore` then gives the sum."""

    _is_summed = True

    def checkpoint(self, *names: str) -> None:
        """Save the present time under some names, instead of those saved before."""
        self._checkpoints.update(dict.fromkeys(names, self.time))

    def restore(self, name: str) -> int:
        """Walk to the end of a checkpoint's sum and hold the sum from then on; return tau."""
        tau = self._checkpoints[name]
        self.advance_map(tau)
        return tau

    def advance_map(self, tau: int) -> None:
        """Walk to the end of the sum, from the start if it is past, and hold the sum."""
        columns, end = self._columns, sum_end(tau, labels_per_class(self.labels.codes))
        if columns.time > end:
            columns.start()
        columns.advance_along_curve(end)
        self.time, (self.state, self.limits) = end, columns.visited
