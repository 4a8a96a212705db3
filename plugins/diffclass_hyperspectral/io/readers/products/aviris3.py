"""AVIRIS-3 (and AVIRIS-5, AVIRIS-NG) L2A orthocorrected reflectance (NetCDF4), by ``h5py``.

In the group ``reflectance`` the variable of that name has the axes (bands, northing, easting),
float32, ``_FillValue`` -9999; ``wavelength`` has the band centres in nanometres. The variable that
its ``grid_mapping`` names (``transverse_mercator``), in the group or the file, states the
coordinate system (``crs_wkt`` or ``spatial_ref``) and GDAL's ``GeoTransform``; else ``easting`` and
``northing`` are centres of pixels. The file names no bad bands: those in absorption by water vapour
can be left out with ``bands``. The same flights as ENVI files (``RFL_ORT`` with a ``.hdr``) are
read as ENVI.

Source: AVIRIS-3 Distribution Document (Eastwood et al., JPL) for the products; names and axes of
the NetCDF files as a public reader of the ORNL DAAC's AV3_L2A_RFL has them (opengeos/HyperCoast,
aviris.py), not checked against a user guide.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from diffclass_hyperspectral.io.georeference import MapInfo
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.hdf5_blocks import (
    centres_of,
    cube_of,
    number_of,
    numbers,
    placed,
    placed_by_gdal,
    stored_blocks,
    text_of,
)
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres

_CUBE, _CENTRES = "reflectance/reflectance", "reflectance/wavelength"
_GROUP, _GRIDS = "reflectance", ("transverse_mercator", "spatial_ref", "crs")
_FILL = -9999.0


def is_aviris3(file: Any) -> bool:
    """Tell whether an HDF5 file is laid out as AVIRIS-3's reflectances."""
    return _CUBE in file and _CENTRES in file


def read(path: Path, file: Any) -> Contents:
    """Open the reflectances of an AVIRIS-3 file.

    Raises
    ------
    DataError
        Where a part of the product is missing or has the wrong size.
    """
    stored = cube_of(path, file, _CUBE)
    centres = centres_of(path, file, _CENTRES, length=stored.shape[0])
    return Contents(
        stored_blocks(path, stored, bands_first=True),
        "AVIRIS-3",
        wavelengths=in_nanometres(centres, None),
        ignore_value=number_of(path, stored.attrs, "_FillValue", _FILL),
        map_info=_map_info(path, file, stored),
    )


def _map_info(path: Path, file: Any, stored: Any) -> MapInfo | None:
    shape = stored.shape[1:]
    attributes = _grid_mapping(file, stored)
    system = attributes.get("crs_wkt", attributes.get("spatial_ref"))
    if system is None:
        return None
    if "GeoTransform" in attributes:
        texts = text_of(attributes["GeoTransform"]).split()
        values = np.array(texts, dtype=float)
        return placed_by_gdal(path, values, "GeoTransform", text_of(system))
    if "easting" not in file or "northing" not in file or min(shape) < 2:
        return None
    north = numbers(path, file["northing"][()], "northing", length=shape[0])
    east = numbers(path, file["easting"][()], "easting", length=shape[1])
    down, right = (np.ptp(v) * np.sign(v[-1] - v[0]) / (len(v) - 1) for v in (north, east))
    place = (right, 0.0, east[0] - right / 2, 0.0, down, north[0] - down / 2)
    return placed(path, place, text_of(system))


def _grid_mapping(file: Any, stored: Any) -> Mapping[str, Any]:
    """Return the attributes of the variable that states where the cube lies."""
    stated = text_of(stored.attrs["grid_mapping"]) if "grid_mapping" in stored.attrs else ""
    for name in (stated, *_GRIDS):
        for place in (name, f"{_GROUP}/{name}"):
            if name and place in file and isinstance(file[place], type(stored)):
                return file[place].attrs
    return {}
