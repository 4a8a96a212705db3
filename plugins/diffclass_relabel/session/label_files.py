"""Label files: as a reference that no map is made with, or as labels of a session.

The labels of a file are one operation: its classes, and a stroke for each of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from diffclass.evaluation import ClassMatch, match_classes
from diffclass.exceptions import ParameterError
from diffclass.relabel import LARGEST_CLASS_ID, AddClass, ClassInfo, Operation, free_name
from diffclass_hyperspectral import ClassEntry, ClassTable, LabelImage
from diffclass_hyperspectral.io.labels import given_name
from diffclass_relabel.protocol import NewClass
from diffclass_relabel.session.operations import BatchOverPixels, PaintPixels, PixelEdit
from diffclass_relabel.workspace import Workspace, runs_of

NO_REFERENCE = "there is no reference; start diffclass relabel with --reference FILE"


def names_of(classes: Iterable[ClassInfo]) -> dict[int, str | None]:
    """Return the names of a session's classes by id, None for those without a name."""
    return {info.id: given_name(info.id, info.name) for info in classes}


@dataclass(frozen=True, eq=False)
class Reference:
    """The known classes of a session's points."""

    labels: LabelImage
    ids: np.ndarray  # int32 (n,); the image's id of each point; 0 = not known
    by: str | None = None  # the rule that was asked for to match its classes with the session's
    pairs: Mapping[int, int] | None = None  # its classes and the session's, as a user says

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        workspace: Workspace,
        *,
        variable: str | None = None,
        match: str | None = None,
    ) -> Reference:
        """Read a label image, or shapes, on the pixels of a workspace.

        - `DiffclassError` as `diffclass_hyperspectral.read_tile_labels`, and where no labelled
          pixel has data
        """
        labels = workspace.read_labels(os.fspath(path), variable=variable, spectra=False)
        ids = labels.ids.ravel()[workspace.pixels]
        if not (ids > 0).any():
            raise ParameterError(f"{path}: no labelled pixel has data; give a reference that has")
        return cls(labels, ids, match)

    def matched_as(self, pairs: Mapping[int, int], classes: Iterable[ClassInfo]) -> Reference:
        """Return the reference with its classes matched as a user says."""
        own = {info.id for info in classes}
        for given, class_id in pairs.items():
            if given not in self.labels.table or class_id not in own:
                raise ParameterError(
                    f"class {given} of the reference as class {class_id}: there is no such class; "
                    "look at the list again"
                )
        return replace(self, pairs=dict(pairs))

    def match(self, classes: Iterable[ClassInfo], found: np.ndarray) -> ClassMatch:
        """Match its classes with a session's.

        - `found` int (n,): class of each point in the map; below 0 where it is not to be compared
        """
        own = names_of(classes)
        pairs = self.pairs and {i: j for i, j in self.pairs.items() if j in own}
        return match_classes(
            np.where(found < 0, 0, self.ids),
            found,
            given_names=self.labels.table.given_names,
            own_names=own,
            by=self.by,
            pairs=pairs,
            sides=f"{self.labels.path} and the session",
        )

    def asks(self, match: ClassMatch) -> bool:
        """Return whether a user should say which class is which."""
        is_proposed = match.by == "overlap" and self.by is None
        return self.pairs is None and (is_proposed or match.is_contradicted)

    def truth(self, match: ClassMatch) -> tuple[np.ndarray, dict[int, str]]:
        """Return the reference in the session's ids, int32 (n,), 0 = not known, and more names.

        Classes that the session lacks have minus their id; the names are theirs.
        """
        truth = match.carried(self.ids, {i: -i for i in match.unmatched})
        return truth, {-i: self.labels.table[i].name for i in match.unmatched}


_MOST_SHOWN = 8


@dataclass(frozen=True, eq=False)
class FileClass:
    """A class of a label file, and what becomes of it."""

    entry: ClassEntry
    pixels: np.ndarray  # int; its labelled pixels with data
    to: int  # the session's class that it is; 0 for none, so that it is new
    proposed: int  # the one that it may be, for the user to say; 0 for none
    compared: int  # its pixels that have a class in the session
    agreed: int  # those of them whose class is the proposed one
    new: NewClass | None  # what is added if it is new; None where no id is left


@dataclass(frozen=True, eq=False)
class LabelImport:
    """What a label file brings to a session."""

    title: str  # what the operation is called
    classes: list[FileClass]
    asks: bool  # neither names nor agreeing ids tell which classes are the session's: ask the user
    n_left_out: int  # labelled pixels without data

    @property
    def steps(self) -> list[PixelEdit]:
        """The operations, one after the other."""
        added: list[PixelEdit] = []
        strokes: list[PixelEdit] = []
        for one in self.classes:
            class_id = one.to
            if not class_id:
                if one.new is None:
                    raise ParameterError(
                        f"class {one.entry.id} of the file finds no free id: there can be "
                        f"{LARGEST_CLASS_ID} classes; merge some first"
                    )
                added.append(AddClass(**one.new))
                class_id = one.new["id"]
            if len(one.pixels):
                strokes.append(PaintPixels(class_id, runs_of(one.pixels)))
        return added + strokes

    @property
    def operation(self) -> Operation:
        """All of them as one operation."""
        return BatchOverPixels(self.steps, self.title)


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
    session's of their ids where most of their pixels have these classes there already. What neither
    settles is new, unless a user is asked.

    - `known` int (rows, columns): classes that the session has its pixels in, 0 = none
    - `by`: the rule to match classes by; see `diffclass.evaluation.match_classes`
    - `DataError` where the image does not lie on the scene, or ``by`` is names and none is in
      common
    """
    labels = workspace.placed(labels)
    infos = list(classes)
    largest = max(labels.table.ids, default=0)
    if largest > LARGEST_CLASS_ID:
        raise ParameterError(
            f"{labels.path}: class id {largest} is too large for relabel "
            f"({LARGEST_CLASS_ID} at most); renumber the classes"
        )
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


def class_table(classes: Iterable[ClassInfo]) -> ClassTable:
    """Return names and colours of a session's classes, as they are written to files."""
    entries = []
    for info in classes:
        red, green, blue = bytes.fromhex(info.color[1:])
        entries.append(ClassEntry(info.id, info.name, (red, green, blue)))
    unclassified = ClassTable.from_ids([])[0]
    return ClassTable((unclassified, *sorted(entries, key=lambda entry: entry.id)))


def new_classes_warning(found: LabelImport, path: Path) -> str:
    """Return the warning of classes that are new because neither names nor ids settle them."""
    new = [one for one in found.classes if not one.to]
    may_be = [f"{one.entry.id} may be {one.proposed}" for one in new if one.proposed]
    hint = f" ({', '.join(may_be[:_MOST_SHOWN])})" if may_be else ""
    return (
        f"{path}: neither names nor numbers tell which of its classes are the session's; "
        f"{len(new)} are new. Undo on the page takes them back; --match overlap joins those that "
        f"overlap most{hint}, --match ids those of one number"
    )


def _settled(match: ClassMatch, by: str | None) -> tuple[Mapping[int, int], bool]:
    """Return the session's class of each of the file's, and whether no user has to confirm it."""
    if by is not None:
        return match.assignment, True
    if match.by == "ids" and match.is_confirmed:
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
    # certainly new classes take free ids and names first; the others need theirs only if a user
    # says that they are new too
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


def _new_classes(
    entries: list[ClassEntry], own: set[int], classes: list[ClassInfo]
) -> dict[int, NewClass]:
    """Return id, name and colour of each class of a file if it is new, while ids are left."""
    taken, names = {info.id for info in classes}, {info.name for info in classes}
    new: dict[int, NewClass] = {}
    for entry in entries:
        class_id = _free_id(taken | own) if entry.id in taken else entry.id
        if class_id is not None:
            name = free_name(entry.name, names)
            new[entry.id] = {"id": class_id, "name": name, "color": entry.hex_color}
            names.add(name)
            taken.add(class_id)
    return new


def _free_id(taken: set[int]) -> int | None:
    """Return the id after the highest, or else the lowest free one; None where all are taken."""
    after = max(taken, default=0) + 1
    if after <= LARGEST_CLASS_ID:
        return after
    return next((i for i in range(1, LARGEST_CLASS_ID + 1) if i not in taken), None)
