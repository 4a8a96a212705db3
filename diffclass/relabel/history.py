"""Undo and redo: a line of states, and which of them is the present one."""

from __future__ import annotations

from diffclass.exceptions import ParameterError
from diffclass.relabel.state import State


class History:
    """The states of a session. States share what they have in common, so that all are kept.

    Parameters
    ----------
    first : State
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
        """Whether something was undone that nothing has been done after."""
        return self._place < len(self._states) - 1

    def go_on(self, state: State) -> None:
        """Do something; what was undone before is forgotten."""
        self._states = [*self._states[: self._place + 1], state]
        self._place += 1

    def undo(self) -> None:
        """Go back to the state before, or say that there is none."""
        if not self.can_undo:
            raise ParameterError("undo: there is nothing to undo")
        self._place -= 1

    def redo(self) -> None:
        """Go forward again, or say that nothing was undone."""
        if not self.can_redo:
            raise ParameterError("redo: there is nothing to redo")
        self._place += 1
