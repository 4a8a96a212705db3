"""Free labels: they diffuse away from where they are."""

from __future__ import annotations

import numpy as np

from diffclass.label_diffusion.walks.free_columns import FreeColumns
from diffclass.label_diffusion.walks.walk import HEIGHT, Walk
from diffclass.operators.markov import MarkovOperator


class FreeWalk(Walk):
    """The columns A^t chi_i, scaled so that <chi_i, pi> = 1."""

    def __init__(
        self,
        operator: MarkovOperator,
        codes: np.ndarray,
        label_weight: np.ndarray,
        n_classes: int,
    ):
        super().__init__(operator, codes, n_classes)
        weight = label_weight[self.labelled]
        pi = operator.stationary_distribution[self.labelled]
        self.scale = 1 / (HEIGHT * np.bincount(self.codes, weight * pi, n_classes))
        self._columns = FreeColumns(
            operator,
            self.labelled,
            self.codes,
            n_classes,
            label_weight=weight,
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
