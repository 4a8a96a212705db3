"""The operations so far: what can be undone or done again, and what others did meanwhile.

A page names classes and strokes by numbers that may be given away again, and "undo" names nothing
at all. An operation is refused where somebody else has changed what it is about since the state
that the page shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from msgspec.structs import asdict

from diffclass.exceptions import ParameterError
from diffclass.relabel import (
    AddClass,
    ClassInfo,
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
    shortened,
)
from diffclass_relabel.protocol import HistoryAnswer, HistoryStep
from diffclass_relabel.session.operations import BatchOverPixels, SetSizesByText

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
    """What was done, step by step."""

    def __init__(self) -> None:
        self.steps: list[HistoryStep] = []  # steps[k] leads from state k to k + 1

    def note(self, step: HistoryStep, done: Operation, session: RelabelSession, at: float) -> None:
        """Add a step, `described` before it was done, with the session as it stands after it."""
        if isinstance(done, Undo | Redo):
            return
        is_joined = step["step"] == session.step  # with that of adding its class
        step |= {"step": session.step, "at": at}
        if isinstance(done, AddClass):
            step |= {"class": done.id or 0, "name": done.name or ""}
        if is_joined:
            begun = self.steps[-1]["title"]
            is_named = isinstance(done, RenameClass)
            step["title"] = begun if is_named else f"{begun}, {step['title']}"
        del self.steps[session.step - 1 :]  # undone before: they cannot be done again now
        self.steps.append(step)

    def answer(self, session: RelabelSession) -> HistoryAnswer:
        """Return the newest steps, and some before the present one."""
        first = max(min(len(self.steps) - _MOST_STEPS, session.step - _LEAST_BEFORE), 0)
        return {"step": session.step, "n_steps": session.n_steps, "steps": self.steps[first:]}


def described(operation: Operation, session: RelabelSession, pixels: np.ndarray) -> HistoryStep:
    """Describe an operation before it is done, as it may remove what it is about.

    - `pixels` (n,): pixel of each point
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
        "step": session.step,
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
    if isinstance(operation, SetSizesByText):
        return f"sizes of classes {shortened(operation.sizes)}" if operation.sizes else "no sizes"
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


_CLASS_FIELDS = {
    "add_class": (),
    "merge_classes": ("source", "into"),
    "stroke": ("class_id",),
    "move": ("class_id",),
}
_OF_THE_LAST = ("undo", "redo")
_OF_A_STROKE = ("move", "remove")

Births = dict[int, int]  # by class id: how many operations came before the class was added


class Unseen:
    """The authors of all operations, and the classes after each."""

    def __init__(self) -> None:
        self._authors: list[str | None] = []
        self._births: list[Births] = [{}]  # after so many operations
        self._history: list[Births] = [{}]  # those that undo and redo go through

    def note(self, operation: Operation, author: str | None, session: RelabelSession) -> None:
        """Note an operation and its author, with the session as it stands after it."""
        self._authors.append(author)
        if name_of(operation) not in _OF_THE_LAST:
            self._history[session.step :] = [self._with_new(session.classes)]
        self._births.append(self._history[session.step])

    def birth(self, class_id: int) -> int:
        """Return how many operations came before the class of an id was added."""
        return self._births[-1].get(class_id, 0)

    def check(self, operation: Operation, author: str | None, seen: int) -> None:
        """Refuse an operation that meant another thing when ``seen`` operations were done."""
        name = name_of(operation)
        if name in _OF_THE_LAST:
            first = max(seen, len(self._authors) - getattr(operation, "steps", 1))
            self._check_alone(author, first)
        if name in _OF_A_STROKE:
            self._check_alone(author, seen)
        before = self._births[min(seen, len(self._authors))]
        for class_id in _classes_of(operation):
            birth, meant = self.birth(class_id), before.get(class_id)
            if birth in (0, meant):  # there is no such class, or it is the one that was seen
                continue
            if meant is not None or self._authors[birth - 1] != author:  # nor just added
                raise ParameterError(
                    f"that class was removed meanwhile, and its number {class_id} belongs to "
                    "another one now; choose a class again"
                )

    def _with_new(self, classes: Iterable[ClassInfo]) -> Births:
        """Return the classes' births, as one shared object while no class comes or goes."""
        before = self._births[-1]
        births = {info.id: before.get(info.id, len(self._authors)) for info in classes}
        return before if births == before else births

    def _check_alone(self, author: str | None, first: int) -> None:
        """Refuse where others did something after so many operations."""
        if any(other != author for other in self._authors[first:]):
            raise ParameterError(
                "another page has changed the session meanwhile; look again before you repeat it"
            )


def _classes_of(operation: Operation) -> Iterator[int]:
    """Yield the ids of classes that an operation, or a part of it, says to be there."""
    for part in getattr(operation, "operations", [operation]):
        for field in _CLASS_FIELDS.get(name_of(part), ("id",)):
            if hasattr(part, field):
                yield getattr(part, field)
