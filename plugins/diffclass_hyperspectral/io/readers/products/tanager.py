"""Planet Tanager products (HDF-EOS5), by ``h5py``: basic in a swath, ortho on a grid.

``Data Fields/surface_reflectance``, or ``toa_radiance`` of the radiance products, has the axes
(bands, rows, columns), float32; its attributes are ``wavelengths`` (nm), ``good_wavelengths`` (0:
bad) and ``_FillValue`` (-9999). Pixels where ``nodata_pixels`` is not 0 have no data. Below
``HDFEOS/GRIDS/HYP`` the product lies on a UTM grid, whose corners and zone ``HDFEOS
INFORMATION/StructMetadata.0`` states (a zone below 0 lies in the south); its attribute
``epsg_code`` goes before the zone, where it is given. Below ``HDFEOS/SWATHS/HYP`` it is in the
sensor's geometry: pixels have a latitude and longitude each, and the scene has no map coordinates.
Cloud masks are not applied; give a mask.

Source: Planet, Tanager Product Specification (September 2025), as far as public readers of it
(HyTools' Tanager opener; opengeos/HyperCoast, tanager.py) show names, axes and attributes; that the
radiances have the same attributes was not checked on a product. StructMetadata by the HDF-EOS5
library's GCTP projections.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.georeference import MapInfo
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.hdf5_blocks import (
    cube_of,
    good_wavelengths,
    member,
    number_of,
    numbers,
    placed,
    stored_blocks,
    text_of,
    without_fill,
)
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres

_FIELDS = {f"HDFEOS/{kind}/HYP/Data Fields": kind for kind in ("GRIDS", "SWATHS")}
_CUBES, _MISSING = ("surface_reflectance", "toa_radiance"), "nodata_pixels"
_GRID = "HDFEOS/GRIDS/HYP"
_STRUCTURE = "HDFEOS INFORMATION/StructMetadata.0"
_FILL = -9999.0
_WGS84_SPHERE = 12


def is_tanager(file: Any) -> bool:
    """Tell whether an HDF5 file is laid out as Tanager's products."""
    return bool(_cubes_in(file))


def _cubes_in(file: Any) -> list[tuple[str, str]]:
    """Return the group and the name of each cube, reflectances first."""
    return [(group, name) for name in _CUBES for group in _FIELDS if f"{group}/{name}" in file]


def read(path: Path, file: Any) -> Contents:
    """Open the surface reflectances, or else the radiances, of a Tanager file.

    Raises
    ------
    DataError
        Where a part of the product is missing or has the wrong size.
    """
    fields, name = _cubes_in(file)[0]
    stored = cube_of(path, file, f"{fields}/{name}")
    n_bands, *picture = stored.shape
    centres = numbers(path, _attribute(path, stored, "wavelengths"), "wavelengths", length=n_bands)
    missing = f"{fields}/{_MISSING}"
    if missing in file and file[missing].shape != tuple(picture):
        raise DataError(f"{path}: {missing} and {name} differ in size; fetch the file again")
    fill = number_of(path, stored.attrs, "_FillValue", _FILL)
    blocks = stored_blocks(path, stored, bands_first=True)
    return Contents(
        without_fill(path, blocks, fill, missing if missing in file else None),
        "Tanager",
        wavelengths=in_nanometres(centres, "nm"),
        band_mask=good_wavelengths(path, stored.attrs, length=n_bands),
        map_info=_map_info(path, file, tuple(picture)) if _FIELDS[fields] == "GRIDS" else None,
    )


def _attribute(path: Path, stored: Any, name: str) -> Any:
    if name not in stored.attrs:
        raise DataError(f"{path}: {stored.name} lacks the attribute {name}; fetch the file again")
    return stored.attrs[name]


def _map_info(path: Path, file: Any, shape: tuple[int, int]) -> MapInfo:
    text = text_of(member(path, file, _STRUCTURE)[()])
    (left, top), (right, bottom) = (
        _pair(path, text, name) for name in ("UpperLeftPointMtrs", "LowerRightMtrs")
    )
    rows, columns = shape
    place = ((right - left) / columns, 0.0, left, 0.0, (bottom - top) / rows, top)
    code = number_of(path, file[_GRID].attrs, "epsg_code", None) if _GRID in file else None
    if code is not None:
        return placed(path, place, f"EPSG:{code:.0f}")
    zone = re.search(r"\bZoneCode=(-?\d+)", text)
    sphere = re.search(r"\bSphereCode=(\d+)", text)
    is_known = "HE5_GCTP_UTM" in text and sphere is not None and int(sphere[1]) == _WGS84_SPHERE
    if zone is None or not is_known:
        raise DataError(f"{path}: its grid is not UTM on WGS 84, which alone is known of Tanager")
    number = int(zone[1])
    return placed(path, place, f"EPSG:{(32600 if number > 0 else 32700) + abs(number)}")


def _pair(path: Path, text: str, name: str) -> tuple[float, float]:
    found = re.search(rf"\b{name}=\(\s*([-\d.eE+]+)\s*,\s*([-\d.eE+]+)\s*\)", text)
    if found is None:
        raise DataError(f"{path}: StructMetadata.0 lacks {name}; fetch the file again")
    return float(found[1]), float(found[2])
