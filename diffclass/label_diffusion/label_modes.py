"""The ways in which labels count: one record each. All that offers or asks for modes goes by it.

A mode that is added to `LABEL_MODES` is known to `diffuse_labels`, to the classifier, to the
commands and, if it says so, to sessions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from diffclass.label_diffusion.free_walk import CountedWalk, FreeWalk, SummedWalk
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.largest_walk import LargestWalk
from diffclass.label_diffusion.walk import AbsorbingWalk, Walk
from diffclass.operators.markov import MarkovOperator


@dataclass(frozen=True, kw_only=True)
class LabelMode:
    """How labels count, and who offers it.

    Examples
    --------
    >>> from diffclass.label_diffusion import LABEL_MODES
    >>> [name for name, mode in LABEL_MODES.items() if mode.in_sessions]
    ['auto', 'absorbing', 'summed', 'free']
    """

    name: str
    walk: Callable[[MarkovOperator, Labels], Walk]  # at time 0, in memory
    # the same with so many classes per point; None where all values are about equal in the end
    largest_walk: Callable[[MarkovOperator, Labels, int], Walk] | None = None
    absorbs: bool = False  # whether the walk stops at labels, with their weights as probabilities
    is_sum: bool = False  # whether all steps of the walk count, and not the last alone
    is_counted: bool = False  # whether each chi_i sums to 1 over the points, and not over pi
    in_sessions: bool = False
    in_blocks: bool = False
    adds_up: bool = False  # whether a map is the sum of its strokes' columns, weighed by pi
    tried: tuple[str, ...] = ()  # the modes of which the map that cuts less is taken

    @property
    def first(self) -> LabelMode:
        """The mode of the first walk."""
        return LABEL_MODES[self.tried[0]] if self.tried else self

    @property
    def first_of_strokes(self) -> LabelMode:
        """The mode of a session's provisional map: where there is a choice, one that adds up."""
        tried = map(LABEL_MODES.__getitem__, self.tried)
        return next((mode for mode in tried if mode.adds_up), self.first)


ABSORBING = LabelMode(
    name="absorbing",
    walk=AbsorbingWalk,
    largest_walk=LargestWalk,
    absorbs=True,
    in_sessions=True,
    in_blocks=True,
)
SUMMED = LabelMode(name="summed", walk=SummedWalk, is_sum=True, in_sessions=True, adds_up=True)
FREE = LabelMode(name="free", walk=FreeWalk, in_sessions=True, adds_up=True)
# Not in sessions: strokes are weighed against one another by their mass pi.
FREE_L1 = LabelMode(name="free-l1", walk=CountedWalk, is_counted=True)
# Absorbing in all that depends on the mode, until a map of summed labels cuts the graph less.
AUTO = replace(ABSORBING, name="auto", tried=("absorbing", "summed"))

LABEL_MODES = {mode.name: mode for mode in (AUTO, ABSORBING, SUMMED, FREE, FREE_L1)}
