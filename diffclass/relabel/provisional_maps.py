"""Provisional maps as they are shown: they keep what is refined where they say nothing new."""

from __future__ import annotations

from dataclasses import replace

from diffclass.relabel.session_maps import ClassMap, Replaced
from diffclass.relabel.state import State


class ProvisionalMaps:
    """Remembers the last refined map, of which the next provisional maps keep what stays."""

    def __init__(self) -> None:
        self._newest: tuple[object, ClassMap] | None = None  # provisional map, and of what
        self._replaced: tuple[object, Replaced] | None = None  # and by which walk

    def shown(self, state: State, found: ClassMap) -> ClassMap:
        """Return a state's map as it is shown: refined ones as they are.

        Parameters
        ----------
        state : State
        found : ClassMap
            Of the state, newer than all before.
        """
        if found.is_refined:
            if self._newest is not None and self._newest[0] == state.map_key:
                self._replaced = state.walk_key, Replaced(self._newest[1], found)
            return found
        self._newest = state.map_key, found
        if self._replaced is None or self._replaced[0] != state.walk_key:
            return found
        return replace(found, kept=self._replaced[1])
