"""ENVI pairs, both or none: data in blocks of rows, the header by ``spectral``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import warn_user
from diffclass.system.libraries import require
from diffclass.system.output import replacing_pair
from diffclass_hyperspectral.io.formats import ENVI_ENDINGS
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    coordinate_system_string,
    from_envi,
    georeference_of,
)
from diffclass_hyperspectral.io.labels import LARGEST_BYTE, ClassTable, largest_id
from diffclass_hyperspectral.io.rasters import Raster, blocks_of, cast
from diffclass_hyperspectral.io.readers import (
    fields_of_names,
    from_ascii,
    to_ascii,
)

ENDINGS = (".hdr", *ENVI_ENDINGS)


def pair(path: Path) -> tuple[Path, Path]:
    """Return the data file and the header that belong to the name a user gave."""
    if path.suffix.lower() == ".hdr":
        return path.with_suffix(".img"), path
    return path, path.with_suffix(".hdr")


def write_classification(
    path: Path,
    ids: Raster,
    table: ClassTable,
    *,
    overwrite: bool,
    map_info: Sequence[str] | None,
) -> None:
    """Write class ids as an ENVI classification; names that its list cannot hold twice."""
    n_classes = largest_id(table.ids, "an ENVI") + 1
    # spectral adds 1 to the greatest value in the map's own type, so 255 needs 16 bits.
    dtype = np.uint8 if n_classes <= LARGEST_BYTE else np.uint16
    fields = _georeference(map_info) | {
        "file type": "ENVI Classification",
        "classes": str(n_classes),
        "data ignore value": "0",  # no class
        "class lookup": table.palette.ravel().tolist(),
        **_names(table, n_classes),
    }
    _write(path, cast(ids, dtype, with_bands=True), fields, overwrite=overwrite)


def write_standard(
    path: Path,
    raster: Raster,
    *,
    band_names: Sequence[str],
    wavelengths: Sequence[float] | None,
    overwrite: bool,
    map_info: Sequence[str] | None,
) -> None:
    """Write a float32 raster (rows, columns, bands); NaN is declared as "no data"."""
    fields = _georeference(map_info) | fields_of_names("band names", band_names)
    if wavelengths is not None:
        fields |= {"wavelength": wavelengths, "wavelength units": "Nanometers"}
    _write(path, raster, fields, overwrite=overwrite)


def _write(path: Path, raster: Raster, fields: dict[str, Any], *, overwrite: bool) -> None:
    envi = require("spectral.io.envi")
    rows, columns, bands = raster.shape
    ending = pair(path)[0].suffix.lower().removeprefix(".")
    interleave = ending if ending in {"bil", "bip"} else "bsq"
    layout = {
        "lines": rows,
        "samples": columns,
        "bands": bands,
        "header offset": 0,
        "file type": "ENVI Standard",
        "data type": envi.dtype_to_envi[raster.dtype.char],
        "interleave": interleave,
        "byte order": int(sys.byteorder == "big"),
    }
    with replacing_pair(*pair(path), overwrite=overwrite) as (data, header):
        lacks_values = _write_data(data, raster, interleave)
        missing = {"data ignore value": "nan"} if lacks_values else {}
        envi.write_envi_header(os.fspath(header), layout | fields | missing)
        header.write_text(from_ascii(header.read_text("ascii")), encoding="utf-8")


def _write_data(path: Path, raster: Raster, interleave: str) -> bool:
    """Write a raster, a block of rows at a time, and return whether it holds NaN."""
    rows, columns, bands = raster.shape
    plane, lacks_values = rows * columns * raster.dtype.itemsize, False
    with path.open("wb") as stream:
        for part, block in blocks_of(raster):
            lacks_values |= block.dtype.kind == "f" and bool(np.isnan(block).any())
            if interleave == "bsq":
                for band in range(bands):
                    stream.seek(band * plane + part.start * plane // rows)
                    stream.write(np.ascontiguousarray(block[..., band]).data)
            else:
                ordered = block.transpose(0, 2, 1) if interleave == "bil" else block
                stream.write(np.ascontiguousarray(ordered).data)
    return lacks_values


def _names(table: ClassTable, n_classes: int) -> dict[str, Any]:
    names = {entry.id: entry.name for entry in table.entries}
    return fields_of_names("class names", [names.get(i, "") for i in range(n_classes)])


def _georeference(map_info: Sequence[str] | None) -> dict[str, Any]:
    if not map_info:
        return {}
    place = georeference_of(map_info)
    if place is not None and not _holds(map_info, place):
        warn_user(
            "ENVI headers cannot hold a sheared grid; the coordinates are left out: write .tif "
            "to keep them",
            UserWarning,
        )
        return {}
    fields: dict[str, Any] = {"map info": [to_ascii(text) for text in map_info]}
    system = coordinate_system_string(None if place is None else place.crs)
    return fields if system is None else fields | {"coordinate system string": f"{{{system}}}"}


def _holds(map_info: Sequence[str], place: Georeference) -> bool:
    """Tell whether the strings alone lead to the same transform."""
    again = from_envi(tuple(map_info)).georeference
    size = max(abs(value) for value in place.transform[:2] + place.transform[3:5])
    return again is not None and np.allclose(
        again.transform, place.transform, rtol=1e-9, atol=1e-6 * size
    )
