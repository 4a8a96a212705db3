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
    def place(self) -> int:
        """Number of states before this one."""
        return self._place

    def __len__(self) -> int:
        return len(self._states)

    def __getitem__(self, place: int) -> State:
        return self._states[place]

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

    def undo(self, steps: int = 1) -> None:
        """Go back by so many states; a `ParameterError` if there are not as many."""
        _check(steps, self._place, "undo")
        self._place -= steps

    def redo(self, steps: int = 1) -> None:
        """Go forward again; a `ParameterError` if not as many were undone."""
        _check(steps, len(self._states) - 1 - self._place, "redo")
        self._place += steps


def _check(steps: int, there_are: int, name: str) -> None:
    if not there_are:
        raise ParameterError(f"{name}: there is nothing to {name}")
    if steps > there_are:
        raise ParameterError(f"{name}: steps = {steps}; there are {there_are} to {name}")
