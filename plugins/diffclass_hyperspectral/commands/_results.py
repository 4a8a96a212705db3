"""Files that several commands write, and where their maps lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffclass.command_line import Console, output_option

if TYPE_CHECKING:
    import numpy as np

    from diffclass_hyperspectral.io.labels import ClassTable
    from diffclass_hyperspectral.io.scenes import Scene


def place_maps(console: Console, paths: Sequence[Path], scene: Scene) -> None:
    """Refuse polygons of a scene without coordinates, and say which maps are orthorectified."""
    from diffclass_hyperspectral.io.maps import check_places, orthorectification_line

    check_places(scene, paths)
    line = orthorectification_line(scene, paths)
    if line is not None:
        console.say(line)


def say_lost_names(console: Console, path: Path, table: ClassTable) -> None:
    """Say that a map holds ids alone although its classes have names."""
    if path.suffix.lower() == ".npy" and any(table.given_names.values()):
        console.say(f"{path}: holds ids alone; the report and maps as .tif and .img have the names")


def map_hash(class_map: np.ndarray) -> str:
    """Return a hash of a class map's values, whatever file they are in."""
    from diffclass.system.identity import content_hash

    return content_hash([*class_map.shape], (row.astype("i4") for row in class_map))


def spectra_option(of: str) -> Any:
    """Return the field for ``--spectra``: mean spectra of classes or clusters."""
    return output_option(
        f"Mean spectra of the {of} on the map as a spectral library, .sli or .csv; it can be the "
        "labels of another scene.",
        hidden=True,
    )


def spectra_files(path: Path | None) -> list[Path]:
    """Return the files that ``--spectra`` writes."""
    from diffclass_hyperspectral.io.readers import library_files

    return [] if path is None else list(library_files(path))


def write_spectra(
    path: Path, scene: Scene, class_map: np.ndarray, table: ClassTable, *, overwrite: bool
) -> None:
    """Write the mean spectrum of each class that is on a map, 0 left out."""
    from diffclass_hyperspectral.io.readers import write_library
    from diffclass_hyperspectral.jobs.clustering import library_of

    write_library(path, library_of(scene, class_map, table), overwrite=overwrite)
