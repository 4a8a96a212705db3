"""A scene whose bands lie in files of their own: in a folder, a list, or a product."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass.libraries import reading, require_file
from diffclass.remote_paths import place_of
from diffclass_hyperspectral.io.file_names import in_natural_order, joint_name
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers import geotiff
from diffclass_hyperspectral.io.readers.contents import Calibration, Contents
from diffclass_hyperspectral.io.readers.tiff_blocks import opened
from diffclass_hyperspectral.io.readers.wavelengths import widths_in_nanometres

ENDINGS = {".tif", ".tiff", ".jp2", ".vrt"}
_FEW = 3  # grids that a message lists


@dataclass(frozen=True)
class Band:
    """A file of one band, and what is known of it besides what the file states.

    Attributes
    ----------
    name : str
    place : Path
    wavelength, width : float, in nanometres, or None
    calibration : Calibration or None
        Of one band; it counts where the file itself states no scale and offset.
    """

    name: str
    place: Path
    wavelength: float | None = None
    width: float | None = None
    calibration: Calibration | None = None


def files_in(folder: Path) -> list[Path]:
    """Return the rasters in a folder, "B2" before "B10"."""
    found = [file for file in folder.iterdir() if file.suffix.lower() in ENDINGS]
    return in_natural_order(file for file in found if file.name[0] != ".")


def read_folder(folder: Path) -> Contents:
    """Open the files of a folder, each with one band, as a scene."""
    files = files_in(folder)
    return read_bands(folder, _named(files), only_one=True)


def read_list(paths: Sequence[str | os.PathLike[str]]) -> Contents:
    """Open files of the same pixels as a scene, their bands in this order."""
    files = [place_of(path) for path in paths]
    if not files:
        raise DataError("the list of band files is empty; name one or more")
    return read_bands(Path(joint_name(files)), _named(files))


def read_bands(
    path: Path, bands: Sequence[Band], *, format: str = "band files", only_one: bool = False
) -> Contents:
    """Open files of the same pixels as one scene.

    Parameters
    ----------
    path : Path
        What messages call the scene.
    bands : sequence of Band
    format : str
    only_one : bool, default=False
        Whether a file with several bands is refused.

    Raises
    ------
    DataError
        Where a file cannot be read, or they lie on several grids.
    """
    for band in bands:
        require_file(band.place)
    found = [geotiff.read(band.place) for band in bands]
    _check_grids(path, bands, found)
    counts = [one.data.shape[2] for one in found]
    if only_one and max(counts) > 1:
        several = bands[int(np.argmax(counts))].place
        raise DataError(
            f"{path}: {several.name} has {max(counts)} bands; a folder is a scene whose files have "
            f"one band each; name scenes as {path}/*{several.suffix}"
        )
    wavelengths = _joined([band.wavelength for band in bands], [one.wavelengths for one in found])
    widths = _joined([band.width for band in bands], [one.widths for one in found])
    facts: dict[str, Any] = {
        "format": format,
        "wavelengths": wavelengths,
        "widths": widths_in_nanometres(widths, wavelengths, wavelengths),
        "band_names": _names(bands, found),
        "map_info": found[0].map_info,
    }
    own = [one.calibration if _is_unscaled(one) else None for one in bands]
    if not any(own) and len({(repr(one.ignore_value), one.scale_factor) for one in found}) == 1:
        first = found[0]
        data = _side_by_side(path, [one.data for one in found])
        return Contents(
            data, ignore_value=first.ignore_value, scale_factor=first.scale_factor, **facts
        )
    calibrations = [
        Calibration(np.full(n, 1 / one.scale_factor), np.zeros(n), one.ignore_value)
        if given is None
        else given
        for one, given, n in zip(found, own, counts, strict=True)
    ]
    for band, calibration in zip(bands, calibrations, strict=True):
        calibration.check(band.place)
    return Contents(_side_by_side(path, [one.data for one in found], calibrations), **facts)


def _is_unscaled(band: Band) -> bool:
    """Tell whether the file of a band that is calibrated from elsewhere states no scale itself."""
    if band.calibration is None:
        return True
    with reading(band.place, "an image of a band"), opened(band.place) as raster:
        return set(raster.scales) == {1.0} and set(raster.offsets) == {0.0}


def _side_by_side(
    path: Path, parts: Sequence[BlockArray], calibrations: Sequence[Calibration] | None = None
) -> BlockArray:
    rows, columns, _ = parts[0].shape
    kinds = [part.dtype for part in parts] if calibrations is None else [np.dtype(np.float32)]

    def read_rows(start: int, stop: int) -> np.ndarray:
        blocks = [part[start:stop] for part in parts]
        if calibrations is not None:
            blocks = [one.apply(b) for one, b in zip(calibrations, blocks, strict=True)]
        return np.concatenate(blocks, axis=2)

    shape = (rows, columns, sum(part.shape[2] for part in parts))
    step = max(part.step for part in parts)
    return BlockArray(shape, np.result_type(*kinds), read_rows=read_rows, path=path, step=step)


def _check_grids(path: Path, bands: Sequence[Band], found: Sequence[Contents]) -> None:
    grids: dict[tuple[tuple[int, int], Any], list[str]] = {}
    for band, one in zip(bands, found, strict=True):
        grids.setdefault((one.data.shape[:2], one.map_info), []).append(band.name)
    if len(grids) > 1:
        listed = "; ".join(
            f"{rows} rows x {columns} columns: {', '.join(names)}"
            for ((rows, columns), _), names in islice(grids.items(), _FEW)
        )
        more = "; ..." if len(grids) > _FEW else ""
        first = ",".join(next(iter(grids.values())))
        raise DataError(
            f"{path}: its bands lie on {len(grids)} grids ({listed}{more}); take those of one, as "
            f"variable={first!r} of a STAC item, or a list of files. Tiles are named one by "
            f"one, as {path}/*.tif; a folder of their labels goes with the tiles, or with a map of "
            "each"
        )


def _joined(given: Sequence[float | None], found: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Return what is given of the bands, or else found in their files; None unless all have it."""
    values = [
        own if one is None else np.array([one]) for one, own in zip(given, found, strict=True)
    ]
    known = [value for value in values if value is not None]
    return np.concatenate(known) if len(known) == len(values) else None


def _names(bands: Sequence[Band], found: Sequence[Contents]) -> tuple[str, ...]:
    names: list[str] = []
    for band, one in zip(bands, found, strict=True):
        n = one.data.shape[2]
        names += [band.name] if n == 1 else [f"{band.name} {k + 1}" for k in range(n)]
    return tuple(names)


def _named(files: Sequence[Path]) -> list[Band]:
    """Return bands with the words of the files' names that tell them apart."""
    words = [re.split(r"[^A-Za-z0-9]+", file.stem) for file in files]
    same = {word for word in words[0] if all(word in others for others in words)}
    names = ["_".join(word for word in each if word not in same) for each in words]
    pairs = zip(names, files, strict=True)
    return [Band(name or file.stem, file) for name, file in pairs]
