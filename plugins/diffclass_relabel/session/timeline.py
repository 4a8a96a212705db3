"""The operations that can be undone or done again: each in a few words, with its size and time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from diffclass.relabel import RelabelSession
from diffclass_relabel.protocol import HistoryAnswer, HistoryStep

_MOST_STEPS = 500  # that a page is told of
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
_FLAGS = {
    ("hide_class", True): "hidden",
    ("hide_class", False): "shown",
    ("lock_class", True): "locked",
    ("lock_class", False): "unlocked",
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

    def note(
        self, step: HistoryStep, done: Mapping[str, Any], session: RelabelSession, at: float
    ) -> None:
        """Add a step that was done; those that had been undone before it are dropped.

        Parameters
        ----------
        step : HistoryStep
            As `described` before it was done.
        done : mapping
            The operation with the values that the session has chosen.
        session : RelabelSession
            As it stands after the operation.
        at : float
            Seconds since 1970.
        """
        if done["op"] in ("undo", "redo"):
            return
        step |= {"step": session.step, "at": at}
        if done["op"] == "add_class":
            step |= {"class": done["id"], "name": done["name"]}
        del self.steps[session.step - 1 :]
        self.steps.append(step)

    def answer(self, session: RelabelSession) -> HistoryAnswer:
        """Return the newest steps, and enough before the present one to go on stepping back."""
        first = max(min(len(self.steps) - _MOST_STEPS, session.step - _LEAST_BEFORE), 0)
        return {"step": session.step, "n_steps": session.n_steps, "steps": self.steps[first:]}


def described(
    operation: Mapping[str, Any], session: RelabelSession, pixels: np.ndarray
) -> HistoryStep:
    """Return what there is to say about an operation that is about to be done.

    Parameters
    ----------
    operation : mapping
        Over pixels, checked.
    session : RelabelSession
        As it stands before the operation, which may remove what it is about.
    pixels : ndarray of shape (n,)
        Pixel of each point.
    """
    names = {info.id: info.name for info in session.classes}
    class_id = _class_of(operation)
    runs = _runs_of(operation)
    place, count = (runs[0], sum(runs[1::2])) if runs else (None, None)
    if "stroke" in operation:
        found = next((s for s in session.strokes if s.number == operation["stroke"]), None)
        if found is not None:
            place, count = int(pixels[found.points[0]]), len(found)
            class_id = class_id or found.class_id
    return {
        "step": 0,
        "title": _title(operation, names),
        "class": class_id,
        "name": operation["name"] if operation["op"] == "rename_class" else names.get(class_id, ""),
        "count": count,
        "pixel": place,
        "at": 0.0,
    }


def _title(operation: Mapping[str, Any], names: Mapping[int, str]) -> str:
    name = operation["op"]
    if name == "batch":
        return str(operation.get("name") or f"{len(operation['operations'])} operations at once")
    for flag in ("hidden", "locked"):
        if flag in operation:
            return _FLAGS[name, operation[flag]]
    class_name = names.get(operation.get("source", 0), "")
    return _TITLES.get(name, name).format(**operation, class_name=class_name)


def _class_of(operation: Mapping[str, Any]) -> int:
    """Return the class that an operation is about, 0 for none or several."""
    fields = [operation.get("class"), operation.get("into")]
    if operation["op"].endswith("_class"):
        fields.append(operation.get("id"))
    return next((int(value) for value in fields if value is not None), 0)


def _runs_of(operation: Mapping[str, Any]) -> list[int]:
    """Return the runs of pixels of an operation, those of a batch one after the other."""
    parts = operation.get("operations", ())
    return [*operation.get("pixels", ()), *(number for part in parts for number in _runs_of(part))]
