"""Scenes as inputs of commands: which paths are scenes, and what serves them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from diffclass.command_line import Claim, InputKind, axes_of
from diffclass.system.extensions import READERS, extension_names
from diffclass.system.remote_paths import RemotePath
from diffclass_hyperspectral.io.formats import (
    HINT,
    NUMPY_ENDINGS,
    OWN_ENDINGS,
    SHAPE_ENDINGS,
    format_of,
)

_HERE = "diffclass_hyperspectral.commands"
_VERBS = "anomaly", "classify", "cluster", "embed", "evaluate", "info", "suggest"


class Scenes(InputKind):
    """Cubes of spectra; class maps, which may be polygons, where classes are read."""

    name = "scene"
    formats = HINT
    services: ClassVar = {verb: f"{_HERE}.{verb}:{verb}" for verb in _VERBS}

    def claims(self, path: Path, *, holds_classes: bool = False) -> Claim:
        """Claim what readers know; of NumPy files cubes, and maps where classes are read."""
        suffix = path.suffix.lower()
        if suffix in NUMPY_ENDINGS:
            is_cube = (axes_of(path) or 0) > (1 if holds_classes else 2)
            return Claim.CONTENT if is_cube else Claim.NONE
        if suffix in OWN_ENDINGS or suffix in extension_names(READERS):
            return Claim.OWN_ENDING
        if holds_classes and suffix in SHAPE_ENDINGS:
            return Claim.OWN_ENDING
        return Claim.CONTENT if _is_known_inside(path) else Claim.NONE

    def files_of(self, path: Path) -> list[Path]:
        """Return a file and those read with it, as its header; all of a folder."""
        from diffclass_hyperspectral.io.records import input_files

        return input_files(path)


def _is_known_inside(path: Path) -> bool:
    """Tell whether it is a folder, an address, or a file that a reader knows by its first bytes."""
    if isinstance(path, RemotePath) or path.is_dir():
        return True
    with suppress(OSError):  # opening it says what is wrong
        return format_of(path) is not None
    return False
