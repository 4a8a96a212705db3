"""Commands of one name for scenes and for tables: the first file that is named decides.

A table is a file of rows: ``.csv``, ``.tsv``, ``.parquet``, ``.feather``, ``.h5ad``, or a NumPy
file whose arrays have at most two axes. Two-dimensional NumPy files are class maps where maps are
asked for: of ``evaluate``, and with ``--for-validation``.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import click

__all__ = ["is_table"]

_ENDINGS = (".csv", ".tsv", ".parquet", ".feather", ".h5ad")
_OF_MAPS = ("evaluate",)


def is_table(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file's ending, or a NumPy file's number of axes, makes it a table of rows."""
    place = Path(path)
    if place.suffix.lower() in _ENDINGS:
        return True
    if place.suffix.lower() not in (".npy", ".npz"):
        return False
    try:
        return _most_axes(place) in (1, 2)
    except Exception:  # opening it as a scene says what is wrong
        return False


def _most_axes(place: Path) -> int:
    import numpy as np

    if place.suffix.lower() == ".npy":
        return np.load(place, mmap_mode="r", allow_pickle=False).ndim
    most = 0
    with zipfile.ZipFile(place) as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                version = np.lib.format.read_magic(member)
                read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
                    version, np.lib.format.read_array_header_2_0
                )
                most = max(most, len(read(member)[0]))
    return most


def takes_a_table(command: str, arguments: Sequence[str], known: Sequence[click.Command]) -> bool:
    """Tell whether a command is called on a table.

    Parameters
    ----------
    command : str
    arguments : sequence of str
        That follow its name.
    known : sequence of click.Command
        Of that name: their options say which words are values of options.
    """
    first = _first_argument(arguments, known)
    if first is None or not is_table(first):
        return False
    of_maps = command in _OF_MAPS or "--for-validation" in arguments
    return not (of_maps and Path(first).suffix.lower() in (".npy", ".npz"))


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
        if word in with_value:
            next(words, None)
        elif word == "--":
            return next(words, None)
        elif not word.startswith("-") or word == "-":
            return word
    return None
