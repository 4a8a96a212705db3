"""Undo and redo: the states of a session in order, and which one is present."""

from __future__ import annotations

from diffclass.exceptions import ParameterError
from diffclass.relabel.state import State


class History:
    """The states of a session. All are kept: they share what they have in common.

    Parameters
    ----------
    first : State
        The state that the session begins with.
    """

    def __init__(self, first: State):
        self._states = [first]
        self._place = 0

    @property
    def present(self) -> State:
        """The state the session is in."""
        return self._states[self._place]

    @property
    def can_undo(self) -> bool:
        """Whether there is a state before this one."""
        return self._place > 0

    @property
    def can_redo(self) -> bool:
        """Whether something was undone and nothing done since."""
        return self._place < len(self._states) - 1

    def go_on(self, state: State) -> None:
        """Append a state and make it present; states that were undone are dropped."""
        del self._states[self._place + 1 :]
        self._states.append(state)
        self._place += 1

    def undo(self) -> None:
        """Go back to the state before; a `ParameterError` if there is none."""
        if not self.can_undo:
            raise ParameterError("undo: there is nothing to undo")
        self._place -= 1

    def redo(self) -> None:
        """Go forward again; a `ParameterError` if nothing was undone."""
        if not self.can_redo:
            raise ParameterError("redo: there is nothing to redo")
        self._place += 1
