"""NEON AOP reflectance (HDF5: DP1.30006, DP3.30006), by ``h5py``.

Below a group that is named after the site, ``Reflectance/Reflectance_Data`` has the axes (rows,
columns, bands); stored values divided by its attribute ``Scale_Factor`` (10,000) are reflectances,
``Data_Ignore_Value`` (-9999) means no data. Band centres in nanometres are
``Metadata/Spectral_Data/Wavelength``. Bands in the windows of water vapour that
``Band_Window_1_Nanometers`` and ``Band_Window_2_Nanometers`` state (1340 to 1445, 1790 to 1955) are
bad. ``Metadata/Coordinate_System`` has ENVI's ``Map_Info`` and the ``EPSG Code``.

Source: NEON Data Skills, "NEON AOP Hyperspectral Data in HDF5 format with Python" (Hass), which
reads these names and attributes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from diffclass_hyperspectral.io.georeference import (
    Georeference,
    MapInfo,
    from_envi,
    map_info_of,
)
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.hdf5_blocks import (
    centres_of,
    cube_of,
    number_of,
    numbers,
    stored_blocks,
    text_of,
)
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres

_CUBE = "Reflectance/Reflectance_Data"
_CENTRES = "Reflectance/Metadata/Spectral_Data/Wavelength"
_PLACE = "Reflectance/Metadata/Coordinate_System"
_WINDOWS = ("Band_Window_1_Nanometers", "Band_Window_2_Nanometers")
_SCALE, _MISSING = 10_000.0, -9999.0


def site_of(file: Any) -> str | None:
    """Return the site that a NEON file is of, or None for another file."""
    sites = [name for name in file if f"{name}/{_CUBE}" in file]
    return sites[0] if len(sites) == 1 else None


def read(path: Path, file: Any) -> Contents:
    """Open the reflectances of a NEON file.

    Raises
    ------
    DataError
        Where a part of the product is missing or has the wrong size.
    """
    site = file[site_of(file)]
    stored = cube_of(path, site, _CUBE)
    centres = in_nanometres(centres_of(path, site, _CENTRES, length=stored.shape[2]), "nm")
    assert centres is not None
    return Contents(
        stored_blocks(path, stored),
        "NEON AOP",
        wavelengths=centres,
        band_mask=_outside_windows(path, site["Reflectance"], centres),
        ignore_value=number_of(path, stored.attrs, "Data_Ignore_Value", _MISSING),
        scale_factor=number_of(path, stored.attrs, "Scale_Factor", _SCALE) or _SCALE,
        map_info=_map_info(site),
    )


def _outside_windows(path: Path, group: Any, centres: np.ndarray) -> np.ndarray:
    good = np.ones(len(centres), dtype=bool)
    for name in _WINDOWS:
        if name in group.attrs:
            low, high = numbers(path, group.attrs[name], name, length=2)
            good &= (centres < low) | (centres > high)
    return good


def _map_info(site: Any) -> MapInfo | None:
    if f"{_PLACE}/Map_Info" not in site:
        return None
    texts = [text.strip() for text in text_of(site[f"{_PLACE}/Map_Info"][()]).split(",")]
    info = from_envi(texts)
    code = text_of(site[f"{_PLACE}/EPSG Code"][()]) if f"{_PLACE}/EPSG Code" in site else ""
    if info.georeference is None or not code.strip().isdecimal():
        return info
    return map_info_of(Georeference(info.georeference.transform, f"EPSG:{int(code)}"))
