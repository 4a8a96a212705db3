"""What others did since the state that a page shows, so that no operation means another thing now.

A page names classes and strokes by numbers that may be given away again, and "undo" names nothing
at all. Where somebody else has changed what it is about meanwhile, an operation has to be refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from diffclass.exceptions import ParameterError
from diffclass.relabel import ClassInfo

_CLASS_FIELDS = {
    "add_class": (),
    "merge_classes": ("source", "into"),
    "stroke": ("class",),
    "move": ("class",),
}
_OF_THE_LAST = {"undo": -1, "redo": 1}
_OF_A_STROKE = ("move", "remove")

Births = dict[int, int]
"""By class id, how many operations had been done when the class that has it was added."""


class Unseen:
    """The authors of all operations, and the classes after each."""

    def __init__(self) -> None:
        self._authors: list[str | None] = []
        self._births: list[Births] = [{}]  # after so many operations
        self._history: list[Births] = [{}]  # those that undo and redo go through
        self._place = 0

    def note(
        self, operation: Mapping[str, Any], author: str | None, classes: Iterable[ClassInfo]
    ) -> None:
        """Note an operation, its author and the classes after it."""
        self._authors.append(author)
        direction = _OF_THE_LAST.get(operation["op"])
        if direction is None:
            births = self._with_new(classes)
            self._history[self._place + 1 :] = [births]
            direction = 1
        self._place += direction * operation.get("steps", 1)
        self._births.append(self._history[self._place])

    def birth(self, class_id: int) -> int:
        """Return how many operations had been done when the class of an id was added."""
        return self._births[-1].get(class_id, 0)

    def check(self, operation: Mapping[str, Any], author: str | None, seen: int) -> None:
        """Refuse an operation that meant another thing when ``seen`` operations were done.

        Raises
        ------
        ParameterError
            Where somebody else has done something since that changes what it is about.
        """
        name = operation["op"]
        if name in _OF_THE_LAST:
            first = max(seen, len(self._authors) - operation.get("steps", 1))
            self._check_alone(author, first)
        if name in _OF_A_STROKE:
            self._check_alone(author, seen)
        before = self._births[min(seen, len(self._authors))]
        for class_id in _classes_of(operation):
            birth = self.birth(class_id)
            if birth and birth != before.get(class_id) and self._authors[birth - 1] != author:
                raise ParameterError(
                    f"another page has removed that class, and its number {class_id} belongs to "
                    "another one now; choose a class again"
                )

    def _with_new(self, classes: Iterable[ClassInfo]) -> Births:
        """Return the classes' births; the same object where no class was added or removed."""
        before = self._births[-1]
        births = {info.id: before.get(info.id, len(self._authors)) for info in classes}
        return before if births == before else births

    def _check_alone(self, author: str | None, first: int) -> None:
        """Refuse where others did something after so many operations."""
        if any(other != author for other in self._authors[first:]):
            raise ParameterError(
                "another page has changed the session meanwhile; look again before you repeat it"
            )


def _classes_of(operation: Mapping[str, Any]) -> Iterator[int]:
    """Yield the ids of classes that an operation, or a part of it, says to be there."""
    for part in operation.get("operations", [operation]):
        for field in _CLASS_FIELDS.get(part["op"], ("id",)):
            if field in part:
                yield part[field]
