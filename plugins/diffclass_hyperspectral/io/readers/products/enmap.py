"""EnMAP L2A: the spectral GeoTIFF with what its METADATA.XML says of the bands.

Source: EnMAP Ground Segment, Product Specification Document (EN-PCV-ICD-2009-2): element
``specific/bandCharacterisation/bandID`` with wavelengthCenterOfBand (nm), GainOfBand and
OffsetOfBand (reflectance = gain * stored + offset), and ``specific/backgroundValue``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.libraries import reading, require_file
from diffclass_hyperspectral.io.readers.contents import Calibration, Contents
from diffclass_hyperspectral.io.readers.tiff_blocks import check_raster, map_info, opened, scaled

_BACKGROUND = -32768.0


def read(path: Path) -> Contents:
    """Open the spectral image that belongs to a METADATA.XML.

    Raises
    ------
    DataError
        Where the file describes no EnMAP product, or the image is not beside it.
    """
    if "METADATA" not in path.name.upper():
        raise DataError(f"{path}: no EnMAP METADATA.XML; name that or the SPECTRAL_IMAGE.TIF")
    image = _beside(path, "METADATA", "SPECTRAL_IMAGE", (".TIF", ".tif", ".TIFF", ".tiff"))
    if image is None:
        raise DataError(f"{path}: no SPECTRAL_IMAGE.TIF beside it; put it in the same folder")
    with reading(image, "an EnMAP image"), opened(image) as raster:
        check_raster(image, raster)
        return described(image, raster, path)


def metadata_beside(image: Path) -> Path | None:
    """Return the METADATA.XML that belongs to a SPECTRAL_IMAGE.TIF, or None."""
    return _beside(image, "SPECTRAL_IMAGE", "METADATA", (".XML", ".xml"))


def _beside(path: Path, old: str, new: str, endings: tuple[str, ...]) -> Path | None:
    place = path.stem.upper().rfind(old)
    if place < 0:
        return None
    # spectral images are also delivered with a suffix of their own, "-SPECTRAL_IMAGE_COG.TIF"
    stems = (path.stem[:place] + new + path.stem[place + len(old) :], path.stem[:place] + new)
    for name in (stem + ending for stem in stems for ending in endings):
        if (path.parent / name).is_file():
            return path.parent / name
    return None


def described(image: Path, raster: Any, metadata: Path) -> Contents:
    """Return the image with the wavelengths, scales and background of its METADATA.XML."""
    require_file(metadata)
    with reading(metadata, "an EnMAP METADATA.XML"):
        root = ElementTree.parse(metadata).getroot()
        bands = root.findall(".//bandCharacterisation/bandID")
        if len(bands) != raster.count:
            raise DataError(
                f"{metadata}: describes {len(bands)} bands, but {image.name} has {raster.count}; "
                "put the files of one product beside each other"
            )
        bands = sorted(bands, key=lambda band: int(band.get("number", "0")))
        background = root.findtext(".//specific/backgroundValue")
        centres = _values(metadata, bands, "wavelengthCenterOfBand")
        gains = _values(metadata, bands, "GainOfBand", default=1e-4)
        offsets = _values(metadata, bands, "OffsetOfBand", default=0.0)
        ignored = raster.nodatavals[0] if background is None else float(background)
    return scaled(
        image,
        raster,
        Calibration(gains, offsets, _BACKGROUND if ignored is None else ignored),
        format="EnMAP",
        wavelengths=centres,
        map_info=map_info(raster),
    )


def _values(
    metadata: Path, bands: list[Any], name: str, default: float | None = None
) -> np.ndarray:
    texts = [band.findtext(name) for band in bands]
    if any(text is None for text in texts) and default is None:
        raise DataError(f"{metadata}: a band lacks {name}; fetch the file again")
    values = np.array([default if not text else float(text) for text in texts], dtype=float)
    if not np.isfinite(values).all():
        raise DataError(f"{metadata}: {name} is not finite in some band; fetch the file again")
    return values
