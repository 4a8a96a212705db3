"""DESIS and EnMAP: spectral GeoTIFFs with what the files beside them say of the bands.

``X-SPECTRAL_IMAGE.tif`` lies beside ``X-METADATA.xml``; either names the product.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from diffclass.exceptions import DataError
from diffclass.system.libraries import reading, require_file
from diffclass_hyperspectral.io.formats import header_beside
from diffclass_hyperspectral.io.readers.contents import BandScales, Contents
from diffclass_hyperspectral.io.readers.envi import (
    values_of_bands,
    widths_of_bands,
)
from diffclass_hyperspectral.io.readers.tiff_blocks import map_info, scaled
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres, widths_in_nanometres

_GAIN, _BACKGROUND = 1e-4, -32768.0  # where a product states none


def image_of(metadata: Path) -> Path:
    """Return the spectral image that belongs to a METADATA.xml, or raise `DataError`."""
    if "METADATA" not in metadata.name.upper():
        raise DataError(
            f"{metadata}: no METADATA.XML of EnMAP or DESIS; name the SPECTRAL_IMAGE.TIF"
        )
    image = _beside(metadata, "METADATA", "SPECTRAL_IMAGE", (".TIF", ".tif", ".TIFF", ".tiff"))
    if image is None:
        raise DataError(f"{metadata}: no SPECTRAL_IMAGE.TIF beside it; put it in the same folder")
    return image


def read_product(image: Path, raster: Any) -> Contents | None:
    """Open a spectral image of DESIS or EnMAP; return None for any other GeoTIFF."""
    name = image.name.upper()
    if name.startswith("DESIS-HSI-L2A") and "SPECTRAL_IMAGE" in name:
        return _desis(image, raster)
    metadata = _beside(image, "SPECTRAL_IMAGE", "METADATA", (".XML", ".xml"))
    return None if metadata is None else _enmap(image, raster, metadata)


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


def _desis(image: Path, raster: Any) -> Contents:
    """Open a DESIS L2A image with what its ENVI header says of the bands.

    Its ``wavelength`` and ``fwhm`` (nm), ``data gain values`` and ``data offset values``:
    reflectance = gain * stored + offset. Source: DESIS product import of EnMAP-Box (HU Geomatics);
    METADATA.xml is not read.
    """
    header = header_beside(image)
    if header is None:
        raise DataError(f"{image}: lacks its header {image.stem}.hdr, which has the wavelengths")
    fields = ("wavelength", "data gain values", "data offset values")
    centres, gains, offsets = values_of_bands(header, fields, n_bands=raster.count)
    if gains is None:
        gains = np.full(raster.count, _GAIN)
    if offsets is None:
        offsets = np.zeros(raster.count)
    wavelengths = None if centres is None else in_nanometres(centres, "nm")
    widths = widths_of_bands(header, n_bands=raster.count)
    return _scaled(
        image,
        raster,
        BandScales(gains, offsets, raster.nodatavals[0]),
        format="DESIS",
        wavelengths=wavelengths,
        widths=widths_in_nanometres(widths, wavelengths, wavelengths),
    )


def _enmap(image: Path, raster: Any, metadata: Path) -> Contents:
    """Open an EnMAP L2A image with the centres, widths, scales and background of its METADATA.XML.

    Source: EnMAP Ground Segment, Product Specification Document (EN-PCV-ICD-2009-2):
    ``specific/bandCharacterisation/bandID`` has wavelengthCenterOfBand and FWHMOfBand (nm),
    reflectance = GainOfBand * stored + OffsetOfBand.
    """
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
        gains = _values(metadata, bands, "GainOfBand", default=_GAIN)
        offsets = _values(metadata, bands, "OffsetOfBand", default=0.0)
        ignored = raster.nodatavals[0] if background is None else float(background)
    return _scaled(
        image,
        raster,
        BandScales(gains, offsets, ignored),
        format="EnMAP",
        wavelengths=centres,
        widths=widths_in_nanometres(_widths(bands), centres, centres),
    )


def _widths(bands: list[Any]) -> list[float] | None:
    try:
        return [float(band.findtext("FWHMOfBand", "")) for band in bands]
    except ValueError:
        return None


def _scaled(image: Path, raster: Any, scales: BandScales, **facts: Any) -> Contents:
    if scales.ignored is None:
        scales = replace(scales, ignored=_BACKGROUND)
    return scaled(image, raster, scales, map_info=map_info(raster), **facts)


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
