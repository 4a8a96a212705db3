"""Kinds of inputs, such as scenes and tables: each claims its files, and serves commands on them.

A kind is a class, added by an entry point in the group "diffclass.inputs". Of one path the kind
with the strongest claim is the input's, so that no kind has to know of the others.
"""

from __future__ import annotations

import importlib
import os
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import IntEnum
from pathlib import Path
from typing import IO, Any, ClassVar

import click

from diffclass.exceptions import DataError, ExtensionError, ParameterError, warn_user
from diffclass.system.extensions import INPUTS, extension_names, load_extension, own_points
from diffclass.system.remote_paths import RemotePath, place_of

_NUMPY = (".npy", ".npz")


class Claim(IntEnum):
    """By what a path is taken for an input of a kind; a larger one is a stronger claim."""

    NONE = 0
    COMMON_ENDING = 1  # which files of other kinds have too
    CONTENT = 2  # what it begins with, its number of axes, a header beside it
    OWN_ENDING = 3


class InputKind(ABC):
    """A kind of input, which tells its files from others by a cheap test.

    Attributes
    ----------
    name : str
        As "scene", of which the plural is "scenes".
    formats : str
        In words, for a file that no kind claims.
    services : mapping of str to str
        By the name of a command, "module:name" of the `click.Command` that serves this kind.
    """

    name: ClassVar[str]
    formats: ClassVar[str]
    services: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def claims(self, path: Path, *, holds_classes: bool = False) -> Claim:
        """Return how sure it is that a path, which need not exist, is an input of this kind.

        ``holds_classes``: one that holds the classes of points, such as a map, and no features.
        """

    def files_of(self, path: Path) -> list[Path]:
        """Return the files that are read where a path is named, none of an address."""
        return [path] if not isinstance(path, RemotePath) and path.is_file() else []

    @property
    def plural(self) -> str:
        """The name of several."""
        return f"{self.name}s"


def kinds() -> dict[str, InputKind]:
    """Return the kinds of inputs by name; one that cannot be used is left out, and why is said."""
    own = own_points(INPUTS)
    found = {name: point.load()() for name, point in own.items()}
    for name in extension_names(INPUTS):
        try:
            added = load_extension(INPUTS, name, own=own)
            if added is not None:
                found[name] = _made(name, added)
        except ExtensionError as error:
            warn_user(str(error))
    return found


def _made(name: str, added: Any) -> InputKind:
    if not (isinstance(added, type) and issubclass(added, InputKind)):
        raise ExtensionError(f"{name!r} ({INPUTS}) is no subclass of InputKind")
    return added()


def _strongest(place: Path, *, holds_classes: bool = False) -> InputKind | None:
    """Return the kind whose claim to a path is the strongest; None where no kind claims it."""
    claims = {one: one.claims(place, holds_classes=holds_classes) for one in kinds().values()}
    strongest = max(claims.values(), default=Claim.NONE)
    if strongest is Claim.NONE:
        return None
    first, *others = (one for one, claim in claims.items() if claim is strongest)
    if others:
        named = " and a ".join(one.name for one in (first, *others))
        raise ParameterError(
            f"{place}: may be a {named}; rename it, or uninstall what reads one of them"
        )
    return first


def kind_of(path: str | os.PathLike[str], *, holds_classes: bool = False) -> InputKind:
    """Return the kind of an input.

    Parameters
    ----------
    path : path-like
        A file, a folder or an address.
    holds_classes : bool, default=False
        Whether it holds the classes of points, such as a map, and no features.

    Raises
    ------
    DataError
        Where no kind claims it.
    ParameterError
        Where two kinds do.

    Examples
    --------
    >>> from diffclass.command_line import kind_of
    >>> kind_of("scene.tif").name, kind_of("embeddings.parquet").name
    ('scene', 'table')
    """
    from diffclass.system.libraries import reading, require_file

    place = place_of(path)
    found = _strongest(place, holds_classes=holds_classes)
    if found is None:
        require_file(place)
        if place.suffix.lower() in _NUMPY:
            with reading(place, "a NumPy file"):
                _most_axes(place)
        formats = "; ".join(f"{one.plural}: {one.formats}" for one in kinds().values())
        raise DataError(f"{path}: unknown format; what can be read: {formats}")
    return found


def is_of_kind(name: str, path: str | os.PathLike[str]) -> bool:
    """Tell whether the kind of a name has the strongest claim to a path.

    >>> is_of_kind("table", "embeddings.parquet"), is_of_kind("table", "scene.tif")
    (True, False)
    """
    found = _strongest(place_of(path))
    return found is not None and found.name == name


def service_at(place: str) -> click.Command:
    """Return the command at "module:name"."""
    module, _, name = place.partition(":")
    found: click.Command = getattr(importlib.import_module(module), name)
    return found


def axes_of(path: Path) -> int | None:
    """Return the most axes of the arrays in a NumPy file; None for others and damaged ones.

    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "rows.npy", np.zeros((5, 3)))
    ...     axes_of(Path(folder) / "rows.npy"), axes_of(Path(folder) / "none.npy")
    (2, None)
    """
    if path.suffix.lower() not in _NUMPY:
        return None
    try:
        return _most_axes(path) or None
    except Exception:  # opening it says what is wrong
        return None


def _most_axes(path: Path) -> int:
    if path.suffix.lower() == ".npy":
        with path.open("rb") as file:
            return _stated_axes(file)
    most = 0
    with zipfile.ZipFile(path) as archive:
        for name in (one for one in archive.namelist() if one.endswith(".npy")):
            with archive.open(name) as member:
                most = max(most, _stated_axes(member))
    return most


def _stated_axes(file: IO[bytes]) -> int:
    """Return the number of axes that the header of an array states, of objects too."""
    import numpy as np

    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
        version, np.lib.format.read_array_header_2_0
    )
    return len(read(file)[0])
