"""The eigenpairs that suggestions of a session need, kept from one to the next."""

from __future__ import annotations

import threading

import numpy as np

from diffclass._validation import RandomState
from diffclass.acquisition import RULES, Rule, growing_eigenpairs
from diffclass.operators.warped import Operator
from diffclass.spectral.eigenpairs import Eigenpairs

_MOST_BYTES = 6e8  # next to the maps of a million pixels; of 18,000 points all 800 pairs fit


class KeptEigenpairs:
    """Eigenpairs of one walk, computed when a rule first needs them; more as labels use them up.

    The eigenpairs of a warped walk are those of the mean of its walks. They are kept until it is
    warped again.

    Threads may ask at the same time: the second waits for the first. A cancelled computation keeps
    the eigenpairs that it has found.

    - `random_state`: seeds the computation
    - `known`: those computed last
    """

    def __init__(self, random_state: RandomState):
        self.known: Eigenpairs | None = None
        self._walk: Operator | None = None
        self._random_state = random_state
        self._computing = threading.Lock()

    def needed_by(
        self,
        rule: str | Rule,
        operator: Operator,
        labelled: np.ndarray,
        n_points: int,
    ) -> Eigenpairs | None:
        """Return what a rule needs to choose points; None where that is nothing."""
        scorer = rule if isinstance(rule, Rule) else RULES.get(rule)
        if scorer is None or not scorer.uses_eigenpairs:
            return None
        with self._computing:
            if self._walk is not operator:
                self._walk, self.known = operator, None
            steps = growing_eigenpairs(
                operator.merged(),
                labelled,
                n_points,
                known=self.known,
                random_state=self._random_state,
                used_up_as_well=not scorer.leaves_used_up,
                most_bytes=_MOST_BYTES,
            )
            for found in steps:
                self.known = found
            return self.known
