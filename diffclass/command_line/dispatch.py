"""Commands of one name for scenes and for tables: the first file that is named decides.

A table is a file of rows: ``.csv``, ``.tsv``, ``.parquet``, ``.feather``, ``.h5ad``, ``.txt`` and
``.data`` without a header of ENVI, or a NumPy file whose arrays have at most two axes.
Two-dimensional NumPy files are class maps where maps are asked for: of ``evaluate``, and with
``--for-validation``; those with one axis are classes of rows.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import click

__all__ = ["is_table"]

_ENDINGS = (".csv", ".tsv", ".parquet", ".feather", ".h5ad")
_TEXTS = (".txt", ".data")
_NUMPY = (".npy", ".npz")
_OF_MAPS = ("evaluate",)
_CSV_OF_SCENES = ("embed", "suggest")  # write it of scenes too, so that it tells nothing


def is_table(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file's ending, or a NumPy file's number of axes, makes it a table of rows."""
    place = Path(path)
    return _has_rows(place) or _axes(place) in (1, 2)


def _has_rows(place: Path) -> bool:
    """Tell whether a file's ending makes it a table of rows."""
    suffix = place.suffix.lower()
    if suffix in _TEXTS:
        headers = place.with_suffix(".hdr"), Path(f"{place}.hdr")
        return not any(header.is_file() for header in headers)
    return suffix in _ENDINGS


def _axes(place: Path) -> int | None:
    """Return the most axes of the arrays in a NumPy file; None for others and damaged ones."""
    if place.suffix.lower() not in _NUMPY:
        return None
    try:
        return _most_axes(place) or None
    except Exception:  # opening it says what is wrong
        return None


def _most_axes(place: Path) -> int:
    if place.suffix.lower() == ".npy":
        with place.open("rb") as file:
            return _axes_of(file)
    most = 0
    with zipfile.ZipFile(place) as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                most = max(most, _axes_of(member))
    return most


def _axes_of(file: IO[bytes]) -> int:
    """Return the number of axes that the header of an array states, of objects too."""
    import numpy as np

    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
        version, np.lib.format.read_array_header_2_0
    )
    return len(read(file)[0])


def takes_a_table(command: str, arguments: Sequence[str], known: Sequence[click.Command]) -> bool:
    """Tell whether a command is called on a table, by the arguments that follow its name.

    The options of the ``known`` commands of that name say which words are values.
    """
    first = _first_argument(arguments, known)
    if first is None:
        return False
    place = Path(first)
    if _has_rows(place):
        return True
    axes = _axes(place)
    if axes is None:  # of no NumPy file that can be read, what else is named tells
        others = {Path(word.rpartition("=")[2]).suffix.lower() for word in arguments}
        telling = set(_ENDINGS) - ({".csv"} if command in _CSV_OF_SCENES else set())
        return place.suffix.lower() in _NUMPY and bool(others & telling)
    named = {word.partition("=")[0] for word in arguments}
    of_maps = command in _OF_MAPS or "--for-validation" in named
    return axes == 1 or (axes == 2 and not of_maps)


def _first_argument(arguments: Sequence[str], known: Sequence[click.Command]) -> str | None:
    with_value = {
        name
        for command in known
        for one in command.params
        if isinstance(one, click.Option) and not one.is_flag
        for name in one.opts
    }
    words = iter(arguments)
    for word in words:
        if _takes_the_next(word, with_value):
            next(words, None)
        elif word == "--":
            return next(words, None)
        elif not word.startswith("-") or word == "-":
            return word
    return None


def _takes_the_next(word: str, with_value: set[str]) -> bool:
    """Tell whether the next word is an option's value, as after ``-o`` and ``-qo``."""
    if word.startswith("--") or not word.startswith("-"):
        return word in with_value
    valued = [i for i, letter in enumerate(word) if f"-{letter}" in with_value]
    return valued[:1] == [len(word) - 1]
