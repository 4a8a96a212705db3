"""A scene whose bands lie in files of their own: in a folder, a list, or a product."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, option_name
from diffclass.system.libraries import reading, require_file
from diffclass.system.remote_paths import place_of
from diffclass_hyperspectral.io.file_names import in_natural_order, joint_name
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers import geotiff
from diffclass_hyperspectral.io.readers.contents import BandScales, Contents
from diffclass_hyperspectral.io.readers.tiff_blocks import opened
from diffclass_hyperspectral.io.readers.wavelengths import widths_in_nanometres

ENDINGS = {".tif", ".tiff", ".jp2", ".vrt"}
_FEW = 3  # grids that a message lists


@dataclass(frozen=True)
class Band:
    """A file of one band or several, and what is known of them besides what the file states.

    ``wavelengths`` and ``widths`` (n,), in nanometres, go before the file's; ``scales`` and
    ``ignored`` (NaN for none) count where it states none. ``unused`` is what nothing uses.
    """

    name: str
    place: Path
    wavelengths: np.ndarray | None = None
    widths: np.ndarray | None = None
    scales: BandScales | None = None
    ignored: float | np.ndarray | None = None
    names: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def of(self, n_bands: int) -> Band:
        """Return it without what is known of another number of bands."""
        known = [self.wavelengths, self.widths, self.names or None]
        if self.scales is not None and len(self.scales.gains) > 1:
            known.append(self.scales.gains)
        lengths = {len(one) for one in known if one is not None}
        if lengths <= {n_bands}:
            return self
        stated = f"{lengths.pop()} bands of {self.place.name}, which has {n_bands}"
        return Band(self.name, self.place, unused=(*self.unused, stated))


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
    """Open files of the same pixels as one scene, called ``path`` in messages.

    `DataError`: a file cannot be read, they lie on several grids, or one has several bands where
    ``only_one`` is allowed.
    """
    for band in bands:
        require_file(band.place)
    found = [geotiff.read(band.place, ignored=band.ignored) for band in bands]
    _check_grids(path, bands, found)
    counts = [one.data.shape[2] for one in found]
    if only_one and max(counts) > 1:
        several = bands[int(np.argmax(counts))].place
        raise DataError(
            f"{path}: {several.name} has {max(counts)} bands; a folder is a scene whose files have "
            f"one band each; name scenes as {path}/*{several.suffix}"
        )
    bands = [band.of(n) for band, n in zip(bands, counts, strict=True)]
    pairs = list(zip(bands, found, strict=True))
    wavelengths = _joined(
        [one.wavelengths if band.wavelengths is None else band.wavelengths for band, one in pairs]
    )
    widths = _joined([one.widths if band.widths is None else band.widths for band, one in pairs])
    good = [
        np.ones(n, bool) if one.band_mask is None else one.band_mask
        for one, n in zip(found, counts, strict=True)
    ]
    scales_of_all = [_scales_beside(band, one) for band, one in pairs]
    facts: dict[str, Any] = {
        "format": format,
        "wavelengths": wavelengths,
        "widths": widths_in_nanometres(widths, wavelengths, wavelengths),
        "band_mask": np.concatenate(good),
        "band_names": tuple(name for band, one in pairs for name in _names(band, one)),
        "map_info": found[0].map_info,
        "unused": tuple(
            dict.fromkeys(text for band, one in pairs for text in (*band.unused, *one.unused))
        ),
    }
    as_stored = {(repr(one.ignore_value), one.scale_factor, _precision(one)) for one in found}
    if not any(scales_of_all) and len(as_stored) == 1:
        first = found[0]
        data = _side_by_side(path, [one.data for one in found])
        return Contents(
            data, ignore_value=first.ignore_value, scale_factor=first.scale_factor, **facts
        )
    made = [
        BandScales(np.full(n, 1 / one.scale_factor), np.zeros(n), one.ignore_value)
        if scales is None
        else scales
        for one, scales, n in zip(found, scales_of_all, counts, strict=True)
    ]
    for band, scales in zip(bands, made, strict=True):
        scales.check(band.place)
    return Contents(_side_by_side(path, [one.data for one in found], made), **facts)


def _precision(found: Contents) -> np.dtype[Any] | None:
    """Return the type that the value for no data is rounded to, if it is."""
    dtype: np.dtype[Any] = found.data.dtype
    return None if found.ignore_value is None or dtype.kind != "f" else dtype


def _scales_beside(band: Band, found: Contents) -> BandScales | None:
    """Return the scales that are known of a band besides its file, which states none itself."""
    given = band.scales
    if given is None or not _is_unscaled(band, found):
        return None
    return replace(given, ignored=found.ignore_value)


def _is_unscaled(band: Band, found: Contents) -> bool:
    """Tell whether the file of a band that is calibrated from elsewhere states no scale itself."""
    if found.scale_factor != 1:
        return False
    with reading(band.place, "an image of a band"), opened(band.place) as raster:
        return set(raster.scales) == {1.0} and set(raster.offsets) == {0.0}


def _side_by_side(
    path: Path, parts: Sequence[BlockArray], scales_of_all: Sequence[BandScales] | None = None
) -> BlockArray:
    rows, columns, _ = parts[0].shape
    kinds = [part.dtype for part in parts] if scales_of_all is None else [np.dtype(np.float32)]

    def read_rows(start: int, stop: int) -> np.ndarray:
        blocks = [part[start:stop] for part in parts]
        if scales_of_all is not None:
            blocks = [one.apply(b) for one, b in zip(scales_of_all, blocks, strict=True)]
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
            f"{option_name('variable', first)} of a STAC item, or a list of files. Tiles are named "
            f"one by one, as {path}/*.tif; a folder of their labels goes with the tiles, or with a "
            "map of each"
        )


def _joined(found: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Return what is known of all bands, None unless all have it."""
    known = [values for values in found if values is not None]
    return np.concatenate(known) if len(known) == len(found) else None


def _names(band: Band, found: Contents) -> tuple[str, ...]:
    n = found.data.shape[2]
    own = band.names or (found.band_names if n > 1 else None)
    return own or ((band.name,) if n == 1 else tuple(f"{band.name} {k + 1}" for k in range(n)))


def _named(files: Sequence[Path]) -> list[Band]:
    """Return bands with the words of the files' names that tell them apart."""
    words = [re.split(r"[^A-Za-z0-9]+", file.stem) for file in files]
    same = {word for word in words[0] if all(word in others for others in words)}
    names = ["_".join(word for word in each if word not in same) for each in words]
    pairs = zip(names, files, strict=True)
    return [Band(name or file.stem, file) for name, file in pairs]
