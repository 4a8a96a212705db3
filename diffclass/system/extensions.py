"""Extensions by other distributions: commands, kinds of inputs, readers, kernels, QGIS algorithms.

A distribution lists them as entry points, in the groups below. An extension is imported when it is
first used. An extension cannot replace a name of diffclass's own, and where two distributions add
the same name neither is used. plugins/README.md shows an example of each group.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.metadata import EntryPoint, distribution, entry_points
from typing import Any

from diffclass.exceptions import ExtensionError, warn_user

__all__ = [
    "COMMANDS",
    "GROUPS",
    "INPUTS",
    "KERNELS",
    "QGIS",
    "READERS",
    "extension_names",
    "load_extension",
    "own_points",
]

COMMANDS = "diffclass.commands"  # click commands
INPUTS = "diffclass.inputs"  # subclasses of diffclass.command_line.InputKind
READERS = "diffclass.readers"  # by suffix: functions from a path to an image
KERNELS = "diffclass.kernels"  # functions without arguments that return a kernel
QGIS = "diffclass.qgis"  # descriptions of algorithms, as plain dictionaries
GROUPS = (COMMANDS, INPUTS, READERS, KERNELS, QGIS)


def extension_names(group: str) -> list[str]:
    """Return the names that other distributions add to a group, sorted.

    Examples
    --------
    Where no other distribution adds a kernel:

    >>> from diffclass.system.extensions import KERNELS, extension_names
    >>> extension_names(KERNELS)
    []
    """
    return sorted(_added(group))


def load_extension(group: str, name: str, *, own: Collection[str] = ()) -> Any:
    """Import what another distribution adds to one of `GROUPS` under a name; None if none does.

    ``own`` are names of diffclass's own, which nobody can replace: a distribution that adds one of
    them is named in a warning.

    Raises
    ------
    ExtensionError
        Where two distributions add the name, or it cannot be imported.

    Examples
    --------
    >>> from diffclass.system.extensions import KERNELS, load_extension
    >>> print(load_extension(KERNELS, "cosine"))
    None
    """
    points = _added(group).get(name, [])
    where = f"{name!r} ({group}) of {' and '.join(map(_distribution, points))}"
    if not points:
        return None
    if name in own:
        warn_user(f"{where} is not used: the name is diffclass's own")
        return None
    if len(points) > 1:
        raise ExtensionError(f"{where} is not used: uninstall all of these but one")
    try:
        return points[0].load()
    except Exception as error:
        raise ExtensionError(
            f"{where} cannot be loaded ({type(error).__name__}: {' '.join(str(error).split())}); "
            "repair or uninstall it"
        ) from error


def own_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of the distribution diffclass by name.

    Examples
    --------
    >>> from diffclass.system.extensions import COMMANDS, own_points
    >>> own_points(COMMANDS)["demo"].value
    'diffclass.command_line.demo:demo'
    """
    return {point.name: point for point in _own() if point.group == group}


def _added(group: str) -> dict[str, list[EntryPoint]]:
    added: dict[str, list[EntryPoint]] = {}
    for point in _points(group):
        if point not in _own():
            added.setdefault(point.name, []).append(point)
    return added


@cache
def _points(group: str) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))  # reads the metadata of every installed distribution


@cache
def _own() -> tuple[EntryPoint, ...]:
    """Return the entry points of the distribution that has this module."""
    return tuple(distribution(__name__.partition(".")[0]).entry_points)


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unnamed distribution"
