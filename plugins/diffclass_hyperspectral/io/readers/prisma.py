"""PRISMA L2D reflectance (HDF-EOS5), by ``h5py``.

The cubes of the two detectors have the axes (row, band, column) and hold
reflectance = Min + (Max - Min) * stored / 65535, each with its own range. Bands are returned by
ascending wavelength, VNIR before SWIR, without those that the product lacks (wavelength or flag 0).
Centres and widths, in nanometres, are the attributes ``List_Cw_Vnir``, ``List_Fwhm_Vnir`` and the
same of SWIR. Pixels that are 0 in all bands have no data.

Source: ASI, PRISMA Products Specification Document (2020), L2D; corner coordinates are centres of
pixels, and widths have the order of the centres: Busetto and Ranghetti, ``prismaread`` (2020).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass.system.libraries import require
from diffclass_hyperspectral.io.georeference import Georeference, MapInfo, map_info_of
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.hdf5_blocks import attribute_numbers, cube_of
from diffclass_hyperspectral.io.readers.wavelengths import widths_in_nanometres

_SWATH = "HDFEOS/SWATHS/PRS_L2D_HCO"
_STEPS = 65535.0
_METRES = 30.0


@dataclass(frozen=True)
class _Detector:
    """The bands of one cube that exist, in the order wanted, and what their values mean."""

    cube: str
    bands: np.ndarray
    wavelengths: np.ndarray
    widths: np.ndarray  # NaN where the file states none
    lowest: float
    highest: float


def read_prisma(path: Path, file: Any) -> Contents | None:
    """Open both cubes of a PRISMA file as one scene; return None for another file."""
    if _SWATH not in file:
        return None
    detectors = tuple(_detector(path, file, name) for name in ("Vnir", "Swir"))
    shapes = {file[one.cube].shape[::2] for one in detectors}
    if len(shapes) != 1:
        raise DataError(f"{path}: VNIR and SWIR differ in rows or columns; fetch the file again")
    rows, columns = shapes.pop()
    wavelengths = np.concatenate([one.wavelengths for one in detectors])
    widths = np.concatenate([one.widths for one in detectors])
    chunks = file[detectors[0].cube].chunks
    data = BlockArray(
        (rows, columns, len(wavelengths)),
        np.float32,
        read_rows=_reader(path, detectors),
        path=path,
        step=1 if chunks is None else chunks[0],
    )
    return Contents(
        data,
        "PRISMA",
        wavelengths=wavelengths,
        widths=widths_in_nanometres(widths, wavelengths, wavelengths),
        map_info=_map_info(path, file, (rows, columns)),
    )


def _detector(path: Path, file: Any, name: str) -> _Detector:
    cube = f"{_SWATH}/Data Fields/{name.upper()}_Cube"
    n_bands = cube_of(path, file, cube).shape[1]
    centres = attribute_numbers(path, file.attrs, f"List_Cw_{name}", length=n_bands)
    there = centres > 0
    if f"List_Cw_{name}_Flags" in file.attrs:
        there &= attribute_numbers(path, file.attrs, f"List_Cw_{name}_Flags", length=n_bands) != 0
    bands = np.flatnonzero(there)
    bands = bands[np.argsort(centres[bands], kind="stable")]
    lowest, highest = (_number(path, file, f"L2Scale{name}{end}") for end in ("Min", "Max"))
    if len(bands) == 0 or not highest > lowest:
        raise DataError(f"{path}: no band or no range of values in {name}; fetch the file again")
    stated = np.asarray(file.attrs.get(f"List_Fwhm_{name}"))
    widths = stated if stated.shape == centres.shape else np.full(n_bands, np.nan)
    return _Detector(cube, bands, centres[bands], widths[bands], lowest, highest)


def _number(path: Path, file: Any, name: str) -> float:
    return float(attribute_numbers(path, file.attrs, name, length=1)[0])


def _reader(path: Path, detectors: tuple[_Detector, ...]) -> Callable[[int, int], np.ndarray]:
    def read_rows(start: int, stop: int) -> np.ndarray:
        with require("h5py").File(path, "r") as file:
            stored = [file[one.cube][start:stop].transpose(0, 2, 1) for one in detectors]
        empty = ~np.any([block.any(axis=2) for block in stored], axis=0)
        pairs = zip(detectors, stored, strict=True)
        values = np.concatenate([_reflectance(block, one) for one, block in pairs], axis=2)
        values[empty] = np.nan
        return values

    return read_rows


def _reflectance(stored: np.ndarray, one: _Detector) -> np.ndarray:
    values = stored[..., one.bands].astype(np.float32)
    values *= np.float32((one.highest - one.lowest) / _STEPS)
    values += np.float32(one.lowest)
    return values


def _map_info(path: Path, file: Any, shape: tuple[int, int]) -> MapInfo | None:
    names = [f"Product_{corner}corner_{axis}"
             for corner in ("UL", "LR") for axis in ("easting", "northing")]  # fmt: skip
    if any(name not in file.attrs for name in ("Epsg_Code", *names)):
        return None
    left, top, right, bottom = (_number(path, file, name) for name in names)
    steps = np.array([right - left, top - bottom]) / _METRES
    # Corners are centres of pixels; a file whose corners are a pixel further apart means edges.
    half = 0.0 if np.allclose(steps, shape[::-1], atol=0.25) else _METRES / 2
    if half and not np.allclose(steps + 1, shape[::-1], atol=0.25):
        raise DataError(
            f"{path}: its corners lie {steps[0]:g} x {steps[1]:g} pixels of 30 m apart, but its "
            f"cubes have {shape[1]} columns x {shape[0]} rows; fetch the file again"
        )
    place = (_METRES, 0.0, left - half, 0.0, -_METRES, top + half)
    return map_info_of(Georeference(place, f"EPSG:{int(_number(path, file, 'Epsg_Code'))}"))
