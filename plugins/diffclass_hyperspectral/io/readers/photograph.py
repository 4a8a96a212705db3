"""JPEG and PNG photographs as scenes of three bands, as viewers show them, by ``pillow``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.optional import require
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.failures import reading

_GREY = ("1", "L", "LA", "I", "I;16", "I;16B", "F")
_ALPHA = ("LA", "PA", "RGBA", "La", "RGBa")


def read(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Read a photograph: red, green and blue, or one grey band; transparent pixels are NaN.

    Raises
    ------
    DataError
        Where the file is damaged, or labels are wanted of a JPEG, which has changed their numbers.
    """
    images = require("PIL.Image")
    with reading(path, "a photograph"), images.open(path) as image:
        if n_axes == 2:
            raise DataError(
                f"{path}: a JPEG blurs numbers of classes where they meet; save the labels as a "
                "PNG, GeoTIFF or .npy"
            )
        kind = "JPEG" if image.format == "JPEG" else "PNG"
        upright = require("PIL.ImageOps").exif_transpose(image)
        is_grey = upright.mode in _GREY
        with_alpha = upright.mode in _ALPHA or "transparency" in upright.info
        if upright.mode in ("I", "I;16", "I;16B", "F"):
            return Contents(np.array(upright)[:, :, None], kind, band_names=("grey",))
        wanted = ("LA" if is_grey else "RGBA") if with_alpha else ("L" if is_grey else "RGB")
        values = np.array(upright.convert(wanted)).reshape(upright.height, upright.width, -1)
        if with_alpha:
            alpha, values = values[..., -1], values[..., :-1].astype(np.float32)
            values[alpha == 0] = np.nan
        names = ("grey",) if is_grey else ("red", "green", "blue")
        return Contents(values, kind, band_names=names)
