"""Names of several scenes together, of their outputs, and the order of files by name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

NAME = "{}"  # stands for the name of each scene


def is_for_each(output: str | os.PathLike[str]) -> bool:
    """Tell whether an output is one file for each scene."""
    return NAME in os.fspath(output)


def file_of(output: str | os.PathLike[str], scene: Path) -> Path:
    """Return the file of an output that belongs to a scene.

    >>> file_of("maps/{}.tif", Path("scenes/left.img")).as_posix()
    'maps/left.tif'
    """
    return Path(os.fspath(output).replace(NAME, scene.stem))


def joint_name(scenes: Sequence[Path]) -> str:
    """Return what several scenes are called together; one has the name of its file.

    >>> joint_name([Path("left.tif"), Path("right.tif")])
    'left and 1 more'
    """
    first = scenes[0]
    return first.name if len(scenes) == 1 else f"{first.stem} and {len(scenes) - 1} more"


def in_natural_order(files: Iterable[Path]) -> list[Path]:
    """Return files by name as people order them: numbers by value, capitals as small letters.

    >>> [file.name for file in in_natural_order(map(Path, ["b10", "B2", "b1", "a3"]))]
    ['a3', 'b1', 'B2', 'b10']
    """

    def parts(file: Path) -> tuple[list[str | int], str]:
        pieces = re.split(r"(\d+)", file.name.lower())  # text and digits in turn
        return [int(p) if k % 2 else p for k, p in enumerate(pieces)], file.name

    return sorted(files, key=parts)
