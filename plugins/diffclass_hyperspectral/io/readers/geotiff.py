"""Scenes and label images that ``rasterio`` reads, in blocks of rows: GeoTIFF above all.

GDAL's own scale, offset and no-data value go before those among the tags, unless its scale is
ENVI's "data gain values" and there is a factor to reflectances. An alpha band is no measurement; it
says which pixels have data, as a mask does.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.system.libraries import reading
from diffclass_hyperspectral.io.readers import envi
from diffclass_hyperspectral.io.readers.band_tags import ATTRIBUTES, PLACES, BandTags
from diffclass_hyperspectral.io.readers.contents import (
    BandScales,
    Contents,
)
from diffclass_hyperspectral.io.readers.raster_classes import classes_of_raster
from diffclass_hyperspectral.io.readers.tiff_blocks import (
    Transparency,
    check_raster,
    map_info,
    measured_bands,
    opened,
    scaled,
)
from diffclass_hyperspectral.io.readers.tiff_products import image_of, read_product

_NAMES = {"GTiff": "GeoTIFF", "HFA": "ERDAS IMAGINE", "JP2OpenJPEG": "JPEG 2000"}


def read(path: Path, *, ignored: float | np.ndarray | None = None) -> Contents:
    """Open a raster with what its tags state, or the files of its product beside it.

    ``ignored``, of all bands or of each, counts where the file states no no-data value.
    """
    is_tiff = path.suffix.lower() in (".tif", ".tiff")
    with reading(path, "a GeoTIFF" if is_tiff else "a raster"), opened(path) as raster:
        check_raster(path, raster)
        product = read_product(path, raster)
        if product is not None:
            return product
        bands = measured_bands(raster)
        tags = BandTags(raster, bands)
        facts = tags.facts(path)
        del facts["scale_factor"]  # is part of the scales
        stated = facts.pop("ignore_value")
        shown = Transparency.of_raster(raster, bands, ignored if stated is None else stated)
        tags.leave_out("data ignore value", unless=shown.common)
        common = math.nan if shown.masks else shown.common
        scales = _scales(path, raster, tags, bands, common)
        names = _band_names(raster)
        if names is not None:
            facts["band_names"] = tuple(names[i - 1] for i in bands)
        class_names, class_colors = classes_of_raster(raster)
        facts |= {
            "map_info": map_info(raster),
            "class_names": class_names,
            "class_colors": class_colors,
            "unused": (*tags.unused, *ATTRIBUTES.unused(_other_places(raster))),
        }
        return scaled(
            path,
            raster,
            scales,
            shown,
            format=_NAMES.get(raster.driver, raster.driver),
            **facts,
        )


def read_by_metadata(path: Path) -> Contents:
    """Open the spectral image that belongs to a METADATA.xml of EnMAP or DESIS."""
    return read(image_of(path))


def _scales(
    path: Path, raster: Any, tags: BandTags, bands: tuple[int, ...], ignored: float | None
) -> BandScales:
    """Return the raster's own scales and offsets, or those that its tags state as ENVI does."""
    places = np.array(bands) - 1
    own = BandScales(np.array(raster.scales)[places], np.array(raster.offsets)[places], ignored)
    factor = tags.number("reflectance scale factor")
    is_scaled = bool((own.gains != 1).any() or own.offsets.any())
    if is_scaled and not (factor and tags.agree("data gain values", own.gains)):
        tags.leave_out("reflectance scale factor")
        tags.leave_out("data gain values", unless=own.gains)
        return own
    stated = envi.scales_of(path, tags.fields, ignored)
    if stated is None and factor:
        gains = np.full(len(bands), 1 / factor)
        return replace(own, gains=gains, offsets=np.zeros(len(bands)))
    return own if stated is None else stated


def _other_places(raster: Any) -> dict[str, Any]:
    """Return what states places of a raster that has no grid."""
    if map_info(raster) is not None:
        return {}
    stated = (raster.gcps[0], raster.rpcs, raster.tags(ns="GEOLOCATION"))
    return {name: value or None for name, value in zip(PLACES, stated, strict=True)}


def _band_names(raster: Any) -> tuple[str, ...] | None:
    if not any(raster.descriptions):
        return None
    return tuple(name or f"band {i + 1}" for i, name in enumerate(raster.descriptions))
