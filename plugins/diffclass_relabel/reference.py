"""A reference image: classes that are known and that no map is made with."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.relabel import ClassInfo
from diffclass_hyperspectral import ClassEntry, LabelImage, read_labels
from diffclass_hyperspectral.io.class_table import default_name
from diffclass_relabel.workspace import Workspace


def class_of_entry(entry: ClassEntry, classes: Iterable[ClassInfo]) -> int | None:
    """Return the session's class that a class of a file is: by name, or by id if it has none."""
    infos = list(classes)
    for info in infos:
        if info.name == entry.name:
            return info.id
    is_named = entry.name != default_name(entry.id)
    return entry.id if not is_named and entry.id in {info.id for info in infos} else None


@dataclass(frozen=True, eq=False)
class Reference:
    """The known classes of a scene's points.

    Attributes
    ----------
    labels : LabelImage
    ids : ndarray of int32 of shape (n,)
        The image's id of each point; 0 = not known.
    """

    labels: LabelImage
    ids: np.ndarray

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], workspace: Workspace, *, variable: str | None = None
    ) -> Reference:
        """Read a label image, or shapes, on the pixels of a workspace.

        Raises
        ------
        DataError, ParameterError
            As `diffclass_hyperspectral.read_labels`, and where no labelled pixel has data.
        """
        labels = read_labels(path, variable=variable, grid=workspace.scene)
        labels.check_matches(workspace.scene)
        ids = labels.ids.ravel()[workspace.pixels]
        if not (ids > 0).any():
            raise ParameterError(f"{path}: no labelled pixel has data; give a reference that has")
        return cls(labels, ids)

    def truth(self, classes: Iterable[ClassInfo]) -> tuple[np.ndarray, dict[int, str]]:
        """Return the reference in the ids of a session's classes.

        Returns
        -------
        truth : ndarray of int32 of shape (n,)
            0 = not known. A class that the session lacks has its id with a minus before it.
        names : dict of int to str
            Names of the classes that the session lacks.
        """
        infos = list(classes)
        ids = np.zeros(int(self.ids.max()) + 1, dtype=np.int32)
        names = {}
        for entry in self.labels.table:
            if entry.id >= len(ids):
                continue
            known = class_of_entry(entry, infos)
            ids[entry.id] = -entry.id if known is None else known
            if known is None:
                names[-entry.id] = entry.name
        return ids[self.ids], names
