"""Sentinel-2 L2A (SAFE): the bands of one resolution as a scene, by ``rasterio``.

A product is named by its folder or ``MTD_MSIL2A.xml``. The bands of ``IMG_DATA/R20m`` are taken, or
those of ``variable="R10m"`` or ``"R60m"``: nothing is resampled. Reflectance = (stored +
BOA_ADD_OFFSET) / BOA_QUANTIFICATION_VALUE, with the offset of each band (none before processing
baseline 04.00), and 0 is no data. Centres are those of ``Spectral_Information``, or those of
Sentinel-2A. Clouds (``SCL``) are not masked; give a mask.

Source: ESA, Sentinel-2 Products Specification Document (S2-PDGS-TAS-DI-PSD), MTD_MSIL2A and
IMG_DATA; the meaning of the offset: Sentinel-2 Processing Baseline 04.00.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from diffclass.exceptions import DataError
from diffclass.system.libraries import reading
from diffclass_hyperspectral.io.readers.band_files import Band, read_bands
from diffclass_hyperspectral.io.readers.contents import BandScales, Contents

METADATA = "MTD_MSIL2A.xml"
_RESOLUTIONS = ("R10m", "R20m", "R60m")
# nm, of Sentinel-2A, in the order of their numbers (band_id) in the metadata
_CENTRES = {"B01": 442.7, "B02": 492.7, "B03": 559.8, "B04": 664.6, "B05": 704.1, "B06": 740.5,
            "B07": 782.8, "B08": 832.8, "B8A": 864.7, "B09": 945.1, "B10": 1373.5, "B11": 1613.7,
            "B12": 2202.4}  # fmt: skip
_BAND_FILE = re.compile(r"_(B\d[\dA])(?:_\d\dm)?\.(?:jp2|tif)\Z", re.I)


def read(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Open the bands of a product by its MTD_MSIL2A.xml; ``variable`` names a resolution."""
    if path.name != METADATA:
        raise DataError(f"{path}: no {METADATA}; only products of level 2A are read")
    resolution = variable or "R20m"
    if resolution not in _RESOLUTIONS:
        raise DataError(f"{path}: no variable {variable!r}; possible: {', '.join(_RESOLUTIONS)}")
    files = _band_files(path, resolution)
    with reading(path, "Sentinel-2 metadata"):
        root = ElementTree.parse(path).getroot()
        quantification = _number(path, _first(root, "BOA_QUANTIFICATION_VALUE"))
        offsets = _offsets(path, root)
        centres = _centres(root)
        nodata = _nodata(root)
    bands = [
        Band(
            name,
            files[name],
            np.array([centres[name]]),
            scales=BandScales(
                np.array([1 / quantification]),
                np.array([offsets.get(name, 0.0) / quantification]),
            ),
            ignored=nodata,
        )
        for name in sorted(files, key=lambda name: centres[name])
    ]
    return read_bands(path, bands, format="Sentinel-2")


def _band_files(path: Path, resolution: str) -> dict[str, Path]:
    folders = sorted(path.parent.glob(f"GRANULE/*/IMG_DATA/{resolution}"))
    if len(folders) != 1:
        raise DataError(
            f"{path}: {len(folders)} folders GRANULE/*/IMG_DATA/{resolution} beside it; a product "
            "has one, keep its folders together"
        )
    found = ((_BAND_FILE.search(file.name), file) for file in sorted(folders[0].iterdir()))
    files = {name[1].upper(): file for name, file in found if name is not None}
    unknown = set(files) - set(_CENTRES)
    if not files or unknown:
        raise DataError(f"{folders[0]}: no images of bands, as ..._B04_20m.jp2; fetch it again")
    return files


def _first(root: Any, tag: str) -> str | None:
    return next((node.text for node in root.iter() if _bare(node) == tag), None)


def _bare(node: Any) -> str:
    return str(node.tag).rpartition("}")[2]


def _number(path: Path, text: str | None) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = float("nan")
    if not np.isfinite(value) or value <= 0:
        raise DataError(f"{path}: BOA_QUANTIFICATION_VALUE is {text!r}; fetch the file again")
    return value


def _offsets(path: Path, root: Any) -> dict[str, float]:
    names, found = list(_CENTRES), {}
    for node in root.iter():
        if _bare(node) == "BOA_ADD_OFFSET":
            number = int(node.get("band_id", "-1"))
            if not 0 <= number < len(names):
                raise DataError(f"{path}: BOA_ADD_OFFSET of an unknown band {number}")
            found[names[number]] = float(node.text or 0)
    return found


def _centres(root: Any) -> dict[str, float]:
    centres = dict(_CENTRES)
    for node in root.iter():
        if _bare(node) == "Spectral_Information":
            text = _first(node, "CENTRAL")
            band = node.get("physicalBand", "").upper().removeprefix("B")
            name = "B8A" if band == "8A" else f"B{band.zfill(2)}"
            if text is not None and name in centres:
                centres[name] = float(text)
    return centres


def _nodata(root: Any) -> float | None:
    for node in root.iter():
        if _bare(node) == "Special_Values" and _first(node, "SPECIAL_VALUE_TEXT") == "NODATA":
            text = _first(node, "SPECIAL_VALUE_INDEX")
            return None if text is None else float(text)
    return 0.0
