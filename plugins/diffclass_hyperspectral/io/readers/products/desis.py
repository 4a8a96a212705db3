"""DESIS L2A reflectance: the spectral GeoTIFF with what the header beside it says of the bands.

Beside ``DESIS-HSI-L2A-...-SPECTRAL_IMAGE.tif`` lie ``-METADATA.xml`` and an ENVI header
``-SPECTRAL_IMAGE.hdr``, which has ``wavelength`` (nm), ``data gain values`` and
``data offset values`` of each band: reflectance = gain * stored + offset (gain 0.0001). The
no-data value is that of the GeoTIFF; where it states none, -32768 is assumed.

Source: DESIS product import of EnMAP-Box (HU Geomatics), which names the files and takes these
fields of the header. The structure of METADATA.xml was not checked and is not read.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.libraries import reading
from diffclass_hyperspectral.io.readers.contents import Calibration, Contents
from diffclass_hyperspectral.io.readers.envi import header_beside, values_of_bands
from diffclass_hyperspectral.io.readers.tiff_blocks import check_raster, map_info, opened, scaled
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres

_FIELDS = ("wavelength", "data gain values", "data offset values")
_GAIN, _BACKGROUND = 1e-4, -32768.0


def read(path: Path) -> Contents:
    """Open the spectral image of a DESIS product, named itself or by its METADATA.xml.

    Raises
    ------
    DataError
        Where image or header are missing or contradict each other.
    """
    image = path
    if path.suffix.lower() == ".xml":
        stem = str(path)[: -len("METADATA.xml")]
        names = [f"{stem}SPECTRAL_IMAGE{ending}" for ending in (".tif", ".TIF", ".tiff")]
        found = [Path(name) for name in names if Path(name).is_file()]
        if not found:
            raise DataError(f"{path}: no SPECTRAL_IMAGE.tif beside it; put it in the same folder")
        image = found[0]
    header = header_beside(image)
    if header is None:
        raise DataError(f"{image}: lacks its header {image.stem}.hdr, which has the wavelengths")
    with reading(image, "a DESIS image"), opened(image) as raster:
        check_raster(image, raster)
        centres, gains, offsets = values_of_bands(header, _FIELDS, n_bands=raster.count)
        ignored = raster.nodatavals[0]
        return scaled(
            image,
            raster,
            Calibration(
                np.full(raster.count, _GAIN) if gains is None else gains,
                np.zeros(raster.count) if offsets is None else offsets,
                _BACKGROUND if ignored is None else ignored,
            ),
            format="DESIS",
            wavelengths=None if centres is None else in_nanometres(centres, "nm"),
            map_info=map_info(raster),
        )


def is_desis(path: Path) -> bool:
    """Tell whether a GeoTIFF or an XML file is called as DESIS's are."""
    name = path.name.upper()
    return name.startswith("DESIS-HSI-L2A") and ("SPECTRAL_IMAGE" in name or "METADATA" in name)
