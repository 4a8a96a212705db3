"""The operations that can be undone or done again: each in a few words, with its size and time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec.structs import asdict

from diffclass.relabel import (
    AddClass,
    HideClass,
    LockClass,
    Move,
    Operation,
    Redo,
    RelabelSession,
    Remove,
    RenameClass,
    Undo,
    name_of,
)
from diffclass_relabel.protocol import HistoryAnswer, HistoryStep
from diffclass_relabel.session.operations import BatchOverPixels

_MOST_STEPS = 500  # that a page gets
_LEAST_BEFORE = 100  # of these before the present one, however far back it is

# completed with the operation's own fields; {class_name} is that of the class it takes away
_TITLES = {
    "stroke": "painted",
    "erase": "erased",
    "move": "took over stroke {stroke}",
    "remove": "lost stroke {stroke}",
    "add_class": "new class",
    "rename_class": "new name",
    "recolor_class": "new colour",
    "merge_classes": "took over {class_name}",
    "remove_class": "removed",
    "tau": "time {tau}",
    "label_mode": "labels count: {mode}",
    "warp": "walk warped",
    "unwarp": "walk not warped",
}


class Timeline:
    """What was done, step by step; where in it the session stands, the session knows.

    Attributes
    ----------
    steps : list of HistoryStep
        ``steps[k]`` leads from the state after k operations to the next.
    """

    def __init__(self) -> None:
        self.steps: list[HistoryStep] = []

    def note(self, step: HistoryStep, done: Operation, session: RelabelSession, at: float) -> None:
        """Add a step that was done; those that had been undone before it are dropped.

        Parameters
        ----------
        step : HistoryStep
            As `described` before it was done.
        done : Operation
            With with the values that the session has chosen.
        session : RelabelSession
            As it stands after the operation.
        at : float
            Seconds since 1970.
        """
        if isinstance(done, Undo | Redo):
            return
        step |= {"step": session.step, "at": at}
        if isinstance(done, AddClass):
            step |= {"class": done.id or 0, "name": done.name or ""}
        del self.steps[session.step - 1 :]
        self.steps.append(step)

    def answer(self, session: RelabelSession) -> HistoryAnswer:
        """Return the newest steps, and enough before the present one to go on stepping back."""
        first = max(min(len(self.steps) - _MOST_STEPS, session.step - _LEAST_BEFORE), 0)
        return {"step": session.step, "n_steps": session.n_steps, "steps": self.steps[first:]}


def described(operation: Operation, session: RelabelSession, pixels: np.ndarray) -> HistoryStep:
    """Return what there is to say about an operation that is about to be done.

    Parameters
    ----------
    operation : Operation
        Over pixels.
    session : RelabelSession
        As it stands before the operation, which may remove what it is about.
    pixels : ndarray of shape (n,)
        Pixel of each point.
    """
    names = {info.id: info.name for info in session.classes}
    class_id = _class_of(operation)
    runs = _runs_of(operation)
    place, count = (runs[0], sum(runs[1::2])) if runs else (None, None)
    if isinstance(operation, Move | Remove):
        found = next((s for s in session.strokes if s.number == operation.stroke), None)
        if found is not None:
            place, count = int(pixels[found.points[0]]), len(found)
            class_id = class_id or found.class_id
    return {
        "step": 0,
        "title": _title(operation, names),
        "class": class_id,
        "name": operation.name if isinstance(operation, RenameClass) else names.get(class_id, ""),
        "count": count,
        "pixel": place,
        "at": 0.0,
    }


def _title(operation: Operation, names: Mapping[int, str]) -> str:
    if isinstance(operation, BatchOverPixels):
        return operation.name or f"{len(operation.operations)} operations at once"
    if isinstance(operation, HideClass):
        return "hidden" if operation.hidden else "shown"
    if isinstance(operation, LockClass):
        return "locked" if operation.locked else "unlocked"
    name = name_of(operation)
    class_name = names.get(getattr(operation, "source", 0), "")
    return _TITLES.get(name, name).format(**asdict(operation), class_name=class_name)


def _class_of(operation: Operation) -> int:
    """Return the class that an operation is about, 0 for none or several."""
    fields = (getattr(operation, name, None) for name in ("class_id", "into", "id"))
    return next((value for value in fields if value is not None), 0)


def _runs_of(operation: Operation) -> list[int]:
    """Return the runs of pixels of an operation, those of a batch one after the other."""
    parts = getattr(operation, "operations", ())
    return [*getattr(operation, "pixels", ()), *(run for part in parts for run in _runs_of(part))]
