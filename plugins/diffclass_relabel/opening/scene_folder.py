"""The scenes that can be opened: what lies below a folder and nowhere else.

Tables count as scenes here. Pages name folders and scenes relative to the first folder. Names that
lead out of it, by ``..``, as absolute paths or over links, are refused in the words for names of
nothing, so that no page can find out what else there is.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from diffclass.command_line import is_of_kind
from diffclass.exceptions import DataError, DiffclassError, ParameterError

_MOST = 1000  # entries of one folder that are looked at


@dataclass(frozen=True)
class Listing:
    """What lies in a folder."""

    path: str  # relative to the first folder, with slashes; "" for that folder itself
    folders: list[str]
    scenes: list[Path]
    is_whole: bool  # False where the folder holds more entries than are looked at


def holds_scenes(path: Path) -> bool:
    """Return whether a path is a folder of scenes, and not a scene that is a folder itself."""
    return path.is_dir() and not _scenes_among([path])


class SceneFolder:
    """A folder whose scenes may be chosen."""

    def __init__(self, root: Path):
        self.root = root.resolve()

    def listing(self, path: Any) -> Listing:
        """Return the folders and scenes in a folder, by name; hidden ones are left out."""
        folder = self._inside(path)
        if not os.path.isdir(folder):  # False for names too long, too
            raise self._nothing(path)
        try:
            with os.scandir(folder) as entries:
                names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
        except OSError as error:
            raise DataError(f"{folder}: cannot be read ({error.strerror})") from error
        places = [place for name in names[:_MOST] if self._holds(place := folder / name)]
        scenes = _scenes_among(places)
        relative = folder.relative_to(self.root).as_posix()
        return Listing(
            path="" if relative == "." else relative,
            folders=[place.name for place in places if place.is_dir() and place not in scenes],
            scenes=scenes,
            is_whole=len(names) <= _MOST,
        )

    def scene(self, path: Any) -> Path:
        """Return the place of a scene; `ParameterError` where there is none."""
        place = self._inside(path)
        if place == self.root or not _scenes_among([place]):
            raise self._nothing(path)
        return place

    def file(self, path: Any) -> Path:
        """Return the place of a file of any kind; `ParameterError` where there is none."""
        place = self._inside(path)
        if not os.path.isfile(place):
            raise ParameterError(f"{str(path)[:200]!r}: no file below {self.root}")
        return place

    def _inside(self, path: Any) -> Path:
        """Return the place of a relative path; links on the way may lead to places inside."""
        if not isinstance(path, str) or "\0" in path:
            raise self._nothing(path)
        parts = PurePosixPath(path)
        place = self.root / parts
        if parts.is_absolute() or ".." in parts.parts or not self._holds(place):
            raise self._nothing(path)
        return place

    def _holds(self, place: Path) -> bool:
        try:
            return place.resolve().is_relative_to(self.root)
        except (OSError, RuntimeError):  # links in a circle, names too long
            return False

    def _nothing(self, path: Any) -> ParameterError:
        return ParameterError(f"{str(path)[:200]!r}: no folder or scene below {self.root}")


def _scenes_among(places: list[Path]) -> list[Path]:
    # loads NumPy, without which the page is shown sooner
    from diffclass_hyperspectral.io.readers import images_among

    images = set(images_among(places))
    return [place for place in places if place in images or _is_readable_table(place)]


_LOOKING = 3.0  # seconds for the headers of a folder
_LONGEST = 2**25  # bytes of a file that may have to be read whole for that
_HEADED = {".hdr", ".img", ".dat", ".tif", ".tiff", ".npy", ".nc", ".h5", ".he5", ".zarr"}


def problems_of(scenes: Sequence[Path]) -> dict[str, str]:
    """Return why scenes cannot be opened, by name, as far as a short look tells."""
    from diffclass_hyperspectral import open_scene
    from diffclass_tables import open_table

    found: dict[str, str] = {}
    end = time.monotonic() + _LOOKING
    for scene in scenes:
        if time.monotonic() > end:
            break
        is_short = scene.is_file() and scene.stat().st_size <= _LONGEST
        if not (is_short or scene.suffix.lower() in _HEADED):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                (open_table if is_of_kind("table", scene) else open_scene)(scene)
        except (DiffclassError, OSError) as error:
            found[scene.name] = str(error).removeprefix(f"{scene}: ")
    return found


def _is_readable_table(place: Path) -> bool:
    return os.path.isfile(place) and os.access(place, os.R_OK) and is_of_kind("table", place)
