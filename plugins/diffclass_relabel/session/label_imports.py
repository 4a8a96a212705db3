"""Labels of a file as one operation of a session: its classes, and a stroke for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diffclass.evaluation import ClassMatch, match_classes
from diffclass.exceptions import ParameterError
from diffclass.relabel import ClassInfo
from diffclass.relabel.edits import free_name
from diffclass.relabel.fields import LARGEST_CLASS_ID
from diffclass_hyperspectral import ClassEntry, LabelImage
from diffclass_relabel.protocol import NewClass
from diffclass_relabel.scene import Workspace, runs_of
from diffclass_relabel.session.operations import Operation
from diffclass_relabel.session.reference import hex_color, names_of

_MOST_SHOWN = 8


@dataclass(frozen=True, eq=False)
class FileClass:
    """A class of a label file, and what becomes of it.

    Attributes
    ----------
    entry : ClassEntry
    pixels : ndarray of int
        Its labelled pixels with data.
    to, proposed : int
        The session's class that it is, and the one that it may be where a user can be asked; 0 for
        none, so that it is new.
    compared, agreed : int
        Pixels of it that have a class in the session, and those whose class is the proposed one.
    new : NewClass or None
        What is added if it is new; None where no id is left.
    """

    entry: ClassEntry
    pixels: np.ndarray
    to: int
    proposed: int
    compared: int
    agreed: int
    new: NewClass | None


@dataclass(frozen=True, eq=False)
class LabelImport:
    """What a label file brings to a session.

    Attributes
    ----------
    title : str
        What the operation is called.
    classes : list of FileClass
    asks : bool
        Whether neither names nor agreeing ids tell which of its classes is which of the session's.
    n_left_out : int
        Labelled pixels without data.
    """

    title: str
    classes: list[FileClass]
    asks: bool
    n_left_out: int

    @property
    def steps(self) -> list[Operation]:
        """The operations, one after the other."""
        added, strokes = [], []
        for one in self.classes:
            new = None if one.to else _checked_new(one)
            if new is not None:
                added.append({"op": "add_class", **new})
            if len(one.pixels):
                class_id = one.to if new is None else new["id"]
                strokes.append({"op": "stroke", "class": class_id, "pixels": runs_of(one.pixels)})
        return added + strokes

    @property
    def operation(self) -> Operation:
        """All of them as one operation."""
        return {"op": "batch", "operations": self.steps, "name": self.title}


def label_import(
    labels: LabelImage,
    workspace: Workspace,
    classes: Iterable[ClassInfo] = (),
    *,
    known: np.ndarray | None = None,
    by: str | None = None,
) -> LabelImport:
    """Return what a label image brings to a session with some classes.

    A class of the file is the session's class of that name. Classes without a name are the
    session's of their ids where most of their pixels have these classes there already. Where
    neither tells, a user should be asked; without one all that no name settles is new: an id alone
    may be an accident.

    Parameters
    ----------
    labels : LabelImage
    workspace : Workspace
    classes : iterable of ClassInfo
        The session's.
    known : ndarray of int of shape (rows, columns), optional
        Classes that the session has its pixels in, 0 = none.
    by : {"names", "ids", "overlap"}, optional
        The rule to match classes by; see `diffclass.evaluation.match_classes`.

    Raises
    ------
    DataError
        Where the image does not lie on the scene, or ``by`` is names and none is in common.
    ParameterError
        Where an id is too large, there are too many classes, or no labelled pixel has data.
    """
    labels = labels.on(workspace.scene)
    infos = list(classes)
    _check_ids(labels)
    has_data = workspace.points >= 0
    given = np.where(has_data, labels.ids.ravel(), 0)
    if not given.any():
        raise ParameterError(f"{labels.path}: no labelled pixel has data; give labels that do")
    match = match_classes(
        given,
        np.zeros_like(given) if known is None else known.ravel(),
        given_names=labels.table.given_names,
        own_names=names_of(infos),
        by=by if infos else None,
        sides=f"{labels.path} and the session",
    )
    pairs, is_settled = _settled(match, by)
    return LabelImport(
        title=free_name(f"labels of {labels.path.name}", ()),
        classes=_file_classes(labels, given, match, pairs, infos),
        asks=bool(infos) and not is_settled,
        n_left_out=int(np.count_nonzero((labels.ids.ravel() > 0) & ~has_data)),
    )


def new_classes_warning(found: LabelImport, path: Path) -> str:
    """Say which classes of a file are new because nothing tells which of the session's they are."""
    new = [one for one in found.classes if not one.to]
    may_be = [f"{one.entry.id} may be {one.proposed}" for one in new if one.proposed]
    hint = f" ({', '.join(may_be[:_MOST_SHOWN])})" if may_be else ""
    return (
        f"{path}: neither names nor numbers tell which of its classes are the session's; "
        f"{len(new)} are new. Undo on the page takes them back; --match overlap joins those that "
        f"overlap most{hint}, --match ids those of one number"
    )


def _settled(match: ClassMatch, by: str | None) -> tuple[Mapping[int, int], bool]:
    """Return the session's class of each of the file's, and whether nobody need be asked."""
    if by is not None:
        return match.assignment, True
    if match.by == "ids" and match.is_borne_out:
        return match.assignment, True
    names = match.rules["names"]
    is_named = all(name for i, name in match.given_names.items() if i not in names)
    return names, is_named and bool(names or not match.rules["overlap"])


def _file_classes(
    labels: LabelImage,
    given: np.ndarray,
    match: ClassMatch,
    pairs: Mapping[int, int],
    classes: list[ClassInfo],
) -> list[FileClass]:
    # those that are new come first: ids and names that a choice may need besides are further ones
    entries = sorted(labels.table, key=lambda entry: entry.id in pairs)
    new = _new_classes(entries, set(labels.table.ids), classes)
    taken = set(pairs.values())
    proposed = {i: j for i, j in match.rules["overlap"].items() if j not in taken} | dict(pairs)
    rows = []
    for entry, counts in zip(labels.table, match.counts, strict=True):
        column = dict(zip(match.own_names, counts.tolist(), strict=True))
        to = proposed.get(entry.id, 0)
        rows.append(
            FileClass(
                entry=entry,
                pixels=np.flatnonzero(given == entry.id),
                to=pairs.get(entry.id, 0),
                proposed=to,
                compared=int(counts.sum()),
                agreed=column.get(to, 0),
                new=new.get(entry.id),
            )
        )
    return rows


def _check_ids(labels: LabelImage) -> None:
    largest = max(labels.table.ids, default=0)
    if largest > LARGEST_CLASS_ID:
        raise ParameterError(
            f"{labels.path}: class id {largest} is too large for relabel "
            f"({LARGEST_CLASS_ID} at most); renumber the classes"
        )


def _new_classes(
    entries: list[ClassEntry], own: set[int], classes: list[ClassInfo]
) -> dict[int, NewClass]:
    """Return what each class of a file is added as if it is new, as long as there are free ids."""
    taken, names = {info.id for info in classes}, {info.name for info in classes}
    new: dict[int, NewClass] = {}
    for entry in entries:
        class_id = _free_id(taken | own) if entry.id in taken else entry.id
        if class_id is not None:
            name = free_name(entry.name, names)
            new[entry.id] = {"id": class_id, "name": name, "color": hex_color(entry.color)}
            names.add(name)
            taken.add(class_id)
    return new


def _checked_new(one: FileClass) -> NewClass:
    if one.new is None:
        raise ParameterError(
            f"class {one.entry.id} of the file finds no free id: there can be {LARGEST_CLASS_ID} "
            "classes; merge some first"
        )
    return one.new


def _free_id(taken: set[int]) -> int | None:
    """Return the id after the highest, or else the lowest free one."""
    after = max(taken, default=0) + 1
    if after <= LARGEST_CLASS_ID:
        return after
    return next((i for i in range(1, LARGEST_CLASS_ID + 1) if i not in taken), None)
