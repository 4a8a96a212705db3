"""Scenes and label images that ``rasterio`` reads, in blocks of rows: GeoTIFF above all.

Wavelengths stand in the tags of the bands ("wavelength" with "wavelength_units", or
"CENTRAL_WAVELENGTH_UM" of the IMAGERY domain, which GDAL has since 3.10), in the tags of the file,
or in the names of the bands ("450.3 nm"; in products of Wyvern, whose files are called so, also
"Band_503": opengeos/HyperCoast, wyvern.py). Widths are "fwhm" in the tags of the bands or of the
file, in the unit of the wavelengths, or "FWHM_UM" of that domain, which GDAL rounds to a nanometre.
An alpha band is no measurement but, as a mask is, says which pixels have data. Classes are read by
`raster_classes`.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.libraries import reading
from diffclass_hyperspectral.io.readers.contents import (
    Calibration,
    Contents,
)
from diffclass_hyperspectral.io.readers.raster_classes import classes_of_raster
from diffclass_hyperspectral.io.readers.tiff_blocks import (
    Transparency,
    check_raster,
    map_info,
    opened,
    scaled,
)
from diffclass_hyperspectral.io.readers.tiff_products import image_of, read_product
from diffclass_hyperspectral.io.readers.wavelengths import (
    in_nanometres,
    one_unit,
    unit_in_name,
    widths_in_nanometres,
)

_NAMES = {"GTiff": "GeoTIFF", "HFA": "ERDAS IMAGINE", "JP2OpenJPEG": "JPEG 2000"}


def read(path: Path) -> Contents:
    """Open a raster with what its tags state, or the files of its product beside it."""
    is_tiff = path.suffix.lower() in (".tif", ".tiff")
    with reading(path, "a GeoTIFF" if is_tiff else "a raster"), opened(path) as raster:
        check_raster(path, raster)
        product = read_product(path, raster)
        if product is not None:
            return product
        shown = Transparency.of_raster(raster)
        places = np.array(shown.bands) - 1
        names = _band_names(raster)
        calibration = Calibration(
            np.array(raster.scales)[places],
            np.array(raster.offsets)[places],
            math.nan if shown.masks else raster.nodatavals[places[0]],
        )
        wavelengths, widths = _centres_and_widths(raster, shown.bands)
        class_names, class_colors = classes_of_raster(raster)
        facts = {
            "wavelengths": wavelengths,
            "widths": widths,
            "band_mask": _band_mask(raster, shown.bands),
            "band_names": None if names is None else tuple(names[i] for i in places),
            "map_info": map_info(raster),
            "class_names": class_names,
            "class_colors": class_colors,
        }
        return scaled(
            path,
            raster,
            calibration,
            shown,
            format=_NAMES.get(raster.driver, raster.driver),
            **facts,
        )


def read_by_metadata(path: Path) -> Contents:
    """Open the spectral image that belongs to a METADATA.xml of EnMAP or DESIS."""
    return read(image_of(path))


def _centres_and_widths(
    raster: Any, bands: tuple[int, ...]
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return centres and widths of the bands in nanometres."""
    found = [_wavelength_of_band(raster, band) for band in bands]
    if not any(found) and Path(raster.name).name.lower().startswith("wyvern"):
        found = [_by_wyvern(raster.descriptions[band - 1] or "") for band in bands]
    known = [value for value in found if value is not None]
    tags = _lower(raster.tags(ns="ENVI")) | _lower(raster.tags())
    if len(known) == len(bands):
        stated, centres = np.array([value for value, _ in known]), one_unit(known)
    else:
        listed = _floats(_listed(tags.get("wavelengths", tags.get("wavelength", ""))))
        if listed is None or len(listed) != len(bands):
            return None, None
        unit = tags.get("wavelength_units", tags.get("wavelength units"))
        stated = np.array(listed)
        centres = in_nanometres(stated, unit)
    return centres, _widths(raster, bands, _listed(tags.get("fwhm", "")), stated, centres)


def _widths(
    raster: Any,
    bands: tuple[int, ...],
    listed: list[str],
    stated: np.ndarray,
    centres: np.ndarray | None,
) -> np.ndarray | None:
    """Return widths in nanometres: of the bands' tags, of the file's, or of the IMAGERY domain."""
    tags = [_lower(raster.tags(band)).get("fwhm", "") for band in bands]
    imagery = [_lower(raster.tags(band, ns="IMAGERY")).get("fwhm_um", "") for band in bands]
    for texts, unit in ((tags, None), (listed, None), (imagery, "um")):
        found = widths_in_nanometres(_floats(texts), stated, centres, unit=unit)
        if found is not None:
            return found
    return None


def _wavelength_of_band(raster: Any, band: int) -> tuple[float, str | None] | None:
    """Return a number and its unit."""
    tags = _lower(raster.tags(band))
    central = _lower(raster.tags(band, ns="IMAGERY")).get("central_wavelength_um")
    for text, unit in ((tags.get("wavelength"), tags.get("wavelength_units")), (central, "um")):
        values = _floats([text]) if text else None
        if values:
            return values[0], unit
    return unit_in_name(raster.descriptions[band - 1] or "")


def _by_wyvern(name: str) -> tuple[float, str | None] | None:
    named = re.fullmatch(r"Band_(\d+(?:\.\d+)?)(?:nm)?", name, re.IGNORECASE)
    return (float(named[1]), "nm") if named else None


def _listed(text: str) -> list[str]:
    return re.findall(r"[^\s,;{}]+", text)


def _floats(texts: list[str]) -> list[float] | None:
    try:
        values = [float(text) for text in texts]
    except ValueError:
        return None  # a tag of another meaning
    return values if values and np.isfinite(values).all() and min(values) > 0 else None


def _lower(tags: dict[str, str]) -> dict[str, str]:
    return {name.lower(): text for name, text in tags.items()}


def _band_mask(raster: Any, bands: tuple[int, ...]) -> np.ndarray | None:
    flags = [_lower(raster.tags(band)).get("bbl") for band in bands]
    if not any(flags):
        return None
    return np.array([(flag or "1").strip() not in {"0", "0.0", "false"} for flag in flags])


def _band_names(raster: Any) -> tuple[str, ...] | None:
    if not any(raster.descriptions):
        return None
    return tuple(name or f"band {i + 1}" for i, name in enumerate(raster.descriptions))
