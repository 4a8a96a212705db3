"""Free labels: they diffuse away from where they are."""

from __future__ import annotations

import numpy as np

from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.walks.free_columns import FreeColumns
from diffclass.label_diffusion.walks.walk import HEIGHT, Walk
from diffclass.operators.markov import MarkovOperator


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
