"""The eigenpairs that suggestions of a session need, kept from one to the next."""

from __future__ import annotations

import threading

import numpy as np

from diffclass._validation import RandomState
from diffclass.acquisition import RULES, Rule, process_eigenpairs
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import WarpedOperator
from diffclass.spectral.eigenpairs import Eigenpairs


class KeptEigenpairs:
    """Eigenpairs of one walk, computed when a rule first needs them; more as labels use them up.

    Threads may ask at once: the second waits for what the first computes.

    Parameters
    ----------
    random_state : int, RandomState or None
        Seeds the computation.

    Attributes
    ----------
    known : Eigenpairs or None
        Those computed last.
    """

    def __init__(self, random_state: RandomState):
        self.known: Eigenpairs | None = None
        self._random_state = random_state
        self._computing = threading.Lock()

    def needed_by(
        self,
        rule: str | Rule,
        operator: MarkovOperator | WarpedOperator,
        labelled: np.ndarray,
        n_points: int,
    ) -> Eigenpairs | None:
        """Return what a rule needs to choose points, or None: a warped walk has its own pairs."""
        scorer = rule if isinstance(rule, Rule) else RULES.get(rule)
        if scorer is None or not scorer.uses_eigenpairs or isinstance(operator, WarpedOperator):
            return None
        with self._computing:
            self.known = process_eigenpairs(
                operator, labelled, n_points, known=self.known, random_state=self._random_state
            )
            return self.known
