"""Labels of a file as one operation of a session: its classes, and a stroke for each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.relabel import ClassInfo
from diffclass.relabel.edits import free_name
from diffclass.relabel.fields import LARGEST_CLASS_ID
from diffclass_hyperspectral import LabelImage
from diffclass_relabel.operations import Operation
from diffclass_relabel.protocol_answers import ClassPixels, NewClass
from diffclass_relabel.reference import class_of_entry
from diffclass_relabel.runs import runs_of
from diffclass_relabel.workspace import Workspace


@dataclass(frozen=True)
class LabelImport:
    """What a label file brings to a session.

    Attributes
    ----------
    title : str
        What the operation is called.
    classes : list of NewClass
        Those that the session lacks.
    strokes : list of ClassPixels
        The labelled pixels with data, by the session's class ids.
    n_pixels, n_left_out : int
        Labelled pixels with data, and without.
    """

    title: str
    classes: list[NewClass]
    strokes: list[ClassPixels]
    n_pixels: int
    n_left_out: int

    @property
    def steps(self) -> list[Operation]:
        """The operations, one after the other."""
        added: list[dict[str, Any]] = [{"op": "add_class", **new} for new in self.classes]
        return added + [{"op": "stroke", **stroke} for stroke in self.strokes]

    @property
    def operation(self) -> Operation:
        """All of them as one operation."""
        return {"op": "batch", "operations": self.steps, "name": self.title}


def label_import(
    labels: LabelImage, workspace: Workspace, classes: Iterable[ClassInfo] = ()
) -> LabelImport:
    """Return what a label image brings to a session with some classes.

    A class of the file is the session's class of that name. One that the file does not name is the
    session's class of that id. Any other is new, with the file's id if it is free.

    Raises
    ------
    DataError
        Where the image does not lie on the scene.
    ParameterError
        Where an id is too large, there are too many classes, or no labelled pixel has data.
    """
    labels.check_matches(workspace.scene)
    ids, new = _matched(labels, list(classes))
    given, has_data = labels.ids.ravel(), workspace.points >= 0
    strokes: list[ClassPixels] = []
    for entry in labels.table:
        pixels = np.flatnonzero((given == entry.id) & has_data)
        if len(pixels):
            strokes.append({"class": ids[entry.id], "pixels": runs_of(pixels)})
    if not strokes:
        raise ParameterError(f"{labels.path}: no labelled pixel has data; give labels that do")
    n_pixels = int(np.count_nonzero((given > 0) & has_data))
    return LabelImport(
        title=free_name(f"labels of {labels.path.name}", ()),
        classes=new,
        strokes=strokes,
        n_pixels=n_pixels,
        n_left_out=int(np.count_nonzero(given > 0)) - n_pixels,
    )


def _matched(labels: LabelImage, classes: list[ClassInfo]) -> tuple[dict[int, int], list[NewClass]]:
    """Return the session's class id of each of the file's, and the classes to add."""
    taken, names = {info.id for info in classes}, {info.name for info in classes}
    ids: dict[int, int] = {}
    new: list[NewClass] = []
    for entry in labels.table:
        if entry.id > LARGEST_CLASS_ID:
            raise ParameterError(
                f"{labels.path}: class id {entry.id} is too large for relabel "
                f"({LARGEST_CLASS_ID} at most); renumber the classes"
            )
        known = class_of_entry(entry, classes)
        if known is None:
            others = taken | set(labels.table.ids)
            known = _free_id(entry.id, others) if entry.id in taken else entry.id
            name = free_name(entry.name, names)
            new.append({"id": known, "name": name, "color": _hex(entry.color)})
            names.add(name)
        taken.add(known)
        ids[entry.id] = known
    return ids, new


def _free_id(wanted: int, taken: set[int]) -> int:
    """Return the id after the highest, or else the lowest free one."""
    free = [i for i in range(1, LARGEST_CLASS_ID + 1) if i not in taken]
    if not free:
        raise ParameterError(
            f"class {wanted} of the file finds no free id: there can be {LARGEST_CLASS_ID} "
            "classes; merge some first"
        )
    after = max(taken, default=0) + 1
    return after if after <= LARGEST_CLASS_ID else free[0]


def _hex(color: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)
