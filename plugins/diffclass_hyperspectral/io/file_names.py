"""Names of several scenes together, and of their outputs: one file for all, or one for each."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
