"""Refined maps that are kept: a few whole, more by their classes alone."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from diffclass.relabel.session_maps import ClassMap
from diffclass.relabel.state import State

_T = TypeVar("_T")

# classes of refined maps that are kept, to compare with
_MOST_IDS = 32
_MOST_ID_BYTES = 2**26


class RefinedMaps:
    """The newest refined maps, by the labels, walk and time of their states.

    Parameters
    ----------
    most : int
        Maps to keep whole.

    Notes
    -----
    Several threads may ask while one adds.
    """

    def __init__(self, most: int):
        self._most = most
        self._maps: dict[object, ClassMap] = {}
        self._ids: dict[object, np.ndarray] = {}

    def add(self, state: State, refined: ClassMap) -> None:
        """Keep the map of a state; the oldest goes."""
        key = _labels_walk_and_time(state)
        n_ids = max(min(_MOST_IDS, _MOST_ID_BYTES // state.n_points), 1)
        # replaced as a whole: other threads read them meanwhile
        self._maps = _newest(self._maps, self._most - 1) | {key: refined}
        self._ids = _newest(self._ids, n_ids - 1) | {key: refined.ids}

    def of(self, state: State) -> ClassMap | None:
        """Return the map of a state, if it is kept."""
        return self._maps.get(_labels_walk_and_time(state))

    def ids_of(self, state: State) -> np.ndarray | None:
        """Return the classes of that map, which are kept for longer."""
        return self._ids.get(_labels_walk_and_time(state))


def _newest(kept: dict[object, _T], number: int) -> dict[object, _T]:
    """Return the entries that were added last."""
    return dict(list(kept.items())[max(len(kept) - number, 0) :])


def _labels_walk_and_time(state: State) -> tuple[object, ...]:
    given = state.chosen_for or state.tau
    return *state.labels_and_walk, "auto" if state.rule == "auto" else given
