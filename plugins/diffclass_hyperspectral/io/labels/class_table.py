"""The classes of a label image or map: number, name and colour of each.

Class ids are those of the file, gaps included; 0 is the unlabelled ("unclassified") rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.plots import default_color as color_at
from diffclass_hyperspectral.io.readers import Color, color_of

LARGEST_BYTE = 255
# By format. ENVI lists a name for every id and the one after the largest has to fit into 16 bits.
_LARGEST_IDS = {"a PNG": LARGEST_BYTE, "an ENVI": 65534, "a GeoTIFF": 65535}


def largest_id(ids: Iterable[int], format: str) -> int:
    """Return the largest of a class map's ids, at least 0, if a format ("a PNG") can hold it."""
    largest, limit = max(ids, default=0), _LARGEST_IDS[format]
    if largest > limit:
        instead = ".img or .npy" if format == "a PNG" else ".npy"
        raise ParameterError(
            f"class id {largest} is too large for {format} class map ({limit}); write {instead}"
        )
    return largest


UNCLASSIFIED = "Unclassified"
# What ENVI lists of others, which have no gaps, call a number that is no class.
UNUSED = "unused"


@dataclass(frozen=True)
class ClassEntry:
    """One class.

    Attributes
    ----------
    id : int
        The value in the file, 0 for unclassified.
    name : str
    color : tuple of int
        Red, green, blue, each 0 to 255.

    Examples
    --------
    >>> from diffclass_hyperspectral import ClassEntry
    >>> corn = ClassEntry(3, "corn", (230, 159, 0))
    >>> corn.hex_color
    '#e69f00'
    """

    id: int
    name: str
    color: Color

    @property
    def hex_color(self) -> str:
        """The colour as text, "#rrggbb"."""
        return "#{:02x}{:02x}{:02x}".format(*self.color)


@dataclass(frozen=True)
class ClassTable:
    """Classes by id; iterating and `len` leave out entry 0.

    Attributes
    ----------
    entries : tuple of ClassEntry
        In the order of their ids; entry 0 always first.

    Examples
    --------
    >>> table = ClassTable.from_ids([1, 10], names={10: "lettuce"})
    >>> [(entry.id, entry.name) for entry in table]
    [(1, 'class 1'), (10, 'lettuce')]
    >>> table[0].name
    'Unclassified'
    """

    entries: tuple[ClassEntry, ...]

    @classmethod
    def from_ids(
        cls,
        ids: Iterable[int],
        *,
        names: Mapping[int, str] | None = None,
        colors: Mapping[int, Color | str] | None = None,
    ) -> ClassTable:
        """Make the table of some classes, with default names and colours where none are given.

        Parameters
        ----------
        ids : iterable of int, each at least 0
        names : mapping of int to str, optional
            A blank one is none.
        colors : mapping of int to (red, green, blue) or str, optional
            0 to 255 each, or as in "#0072b2".

        Raises
        ------
        ParameterError
            Where an id is negative, or a colour is none.
        """
        wanted = sorted({int(i) for i in ids} | {0})
        if wanted[0] < 0:
            raise ParameterError(f"class id {wanted[0]} is negative; ids are 1, 2, ... and 0")
        names, colors = names or {}, colors or {}
        entries = (
            ClassEntry(
                i,
                names[i] if names.get(i, "").strip() else default_name(i),
                default_color(i) if colors.get(i) is None else checked_color(colors[i]),
            )
            for i in wanted
        )
        return cls(tuple(entries))

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the classes, without 0."""
        return tuple(entry.id for entry in self)

    @property
    def given_names(self) -> dict[int, str | None]:
        """Name of each class by id; None where it is the default one, which no file has given."""
        return {entry.id: given_name(entry.id, entry.name) for entry in self}

    @property
    def palette(self) -> np.ndarray:
        """Colours by id, uint8 of shape (largest id + 1, 3); black where there is no class."""
        colors = np.zeros((max(self.ids, default=0) + 1, 3), dtype=np.uint8)
        for entry in self.entries:
            colors[entry.id] = entry.color
        return colors

    def check_names(self) -> None:
        """Raise `ParameterError` for a name that no file can hold."""
        for entry in self.entries:
            try:
                is_text = b"\0" not in entry.name.encode()
            except UnicodeEncodeError:
                is_text = False
            if not is_text:
                raise ParameterError(
                    f"the name {entry.name!r} of class {entry.id} cannot be written as a text; "
                    "give that class another name"
                )

    def including(self, ids: Iterable[int]) -> ClassTable:
        """Return the table with entries for ``ids`` too."""
        more = ClassTable.from_ids(ids).entries
        by_id = {entry.id: entry for entry in (*more, *self.entries)}  # those of the table count
        return ClassTable(tuple(by_id[i] for i in sorted(by_id)))

    def __iter__(self) -> Iterator[ClassEntry]:
        return (entry for entry in self.entries if entry.id != 0)

    def __len__(self) -> int:
        return sum(entry.id != 0 for entry in self.entries)

    def __contains__(self, class_id: object) -> bool:
        return any(entry.id == class_id for entry in self.entries)

    def __getitem__(self, class_id: int) -> ClassEntry:
        for entry in self.entries:
            if entry.id == class_id:
                return entry
        raise KeyError(class_id)


def checked_color(color: Color | str) -> Color:
    """Return a colour as numbers, or raise `ParameterError` for anything else."""
    found = color_of(color) if isinstance(color, str) else color
    try:
        red, green, blue = (int(part) for part in (() if found is None else found))
    except (TypeError, ValueError):
        red = green = blue = -1
    if not all(0 <= part <= 255 for part in (red, green, blue)):
        raise ParameterError(
            f"{color!r} is no colour; give red, green and blue from 0 to 255, or a text such as "
            "'#0072b2'"
        )
    return red, green, blue


def default_name(class_id: int) -> str:
    """Return the name of a class whose file names none."""
    return f"class {class_id}" if class_id else UNCLASSIFIED


def given_name(class_id: int, name: str) -> str | None:
    """Return the name of a class unless it is the default one."""
    return None if name == default_name(class_id) else name


def default_color(class_id: int) -> Color:
    """Return the colour of a class whose file gives none; it depends on the id alone."""
    color = color_of(color_at(class_id - 1) if class_id else "#000000")
    assert color is not None
    return color
