"""A reference image: classes that are known and that no map is made with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from diffclass.evaluation import ClassMatch, match_classes
from diffclass.exceptions import ParameterError
from diffclass.relabel import ClassInfo
from diffclass.relabel.fields import is_whole, refusal
from diffclass_hyperspectral import LabelImage, read_labels
from diffclass_hyperspectral.io.labels import given_name
from diffclass_relabel.scene import Workspace

NO_REFERENCE = "there is no reference; start diffclass relabel with --reference FILE"


def names_of(classes: Iterable[ClassInfo]) -> dict[int, str | None]:
    """Return the names of a session's classes by id, None for those that nobody has named."""
    return {info.id: given_name(info.id, info.name) for info in classes}


def hex_color(color: tuple[int, int, int]) -> str:
    """Return a colour as the page writes it."""
    return "#{:02x}{:02x}{:02x}".format(*color)


@dataclass(frozen=True)
class ClassPairs:
    """Which class of a file is which of the session's; of those that are left out none is."""

    says = "a list of pairs of class ids, [of the file, of the session, ...], each of the file once"
    json_type = list[int]

    def checked(self, value: Any, name: str) -> dict[int, int]:
        """Return the session's classes by the file's."""
        if not isinstance(value, list) or len(value) % 2 or not all(map(is_whole, value)):
            raise refusal(self, value, name)
        pairs = dict(zip(value[::2], value[1::2], strict=True))
        if 2 * len(pairs) != len(value):
            raise refusal(self, value, name)
        return pairs


@dataclass(frozen=True, eq=False)
class Reference:
    """The known classes of a scene's points.

    Attributes
    ----------
    labels : LabelImage
    ids : ndarray of int32 of shape (n,)
        The image's id of each point; 0 = not known.
    by : str or None
        The rule by which its classes are matched with the session's, where one was asked for.
    pairs : mapping of int to int or None
        The session's class of each of its classes, once a user has said so.
    """

    labels: LabelImage
    ids: np.ndarray
    by: str | None = None
    pairs: Mapping[int, int] | None = None

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

        Raises
        ------
        DataError, ParameterError
            As `diffclass_hyperspectral.read_labels`, and where no labelled pixel has data.
        """
        labels = read_labels(path, variable=variable, grid=workspace.scene).on(workspace.scene)
        ids = labels.ids.ravel()[workspace.pixels]
        if not (ids > 0).any():
            raise ParameterError(f"{path}: no labelled pixel has data; give a reference that has")
        return cls(labels, ids, match)

    def matched_as(self, pairs: Mapping[int, int], classes: Iterable[ClassInfo]) -> Reference:
        """Return the reference with its classes matched as a user says.

        Raises
        ------
        ParameterError
            For a class that it, or the session, has not.
        """
        own = {info.id for info in classes}
        for given, class_id in pairs.items():
            if given not in self.labels.table or class_id not in own:
                raise ParameterError(
                    f"class {given} of the reference as class {class_id}: there is no such class; "
                    "look at the list again"
                )
        return replace(self, pairs=dict(pairs))

    def match(self, classes: Iterable[ClassInfo], found: np.ndarray) -> ClassMatch:
        """Say which of its classes is which of a session's.

        Parameters
        ----------
        classes : iterable of ClassInfo
        found : ndarray of int of shape (n,)
            Class of each point in the map; below 0 where it is not to be compared.
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
        """Return the reference in the ids of a session's classes.

        Returns
        -------
        truth : ndarray of int32 of shape (n,)
            0 = not known. A class that the session lacks has its id with a minus before it.
        names : dict of int to str
            Names of the classes that the session lacks.
        """
        truth = match.carried(self.ids, {i: -i for i in match.unmatched})
        return truth, {-i: self.labels.table[i].name for i in match.unmatched}
