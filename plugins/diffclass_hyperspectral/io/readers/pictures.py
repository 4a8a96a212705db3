"""Pictures, by ``pillow``: PNG label images, and photographs as scenes of three bands.

Grey values or palette indices of a label image are the class ids. A JPEG or PNG photograph has the
colours that viewers show.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass.system.attributes import Attributes
from diffclass.system.libraries import reading, require
from diffclass_hyperspectral.io.readers.contents import Contents, colors_of, names_of_json

# The text chunk in which `write_class_map` keeps class names, as JSON {id: name}.
NAMES_KEY = "class names of diffclass"
LABELS = Attributes(
    "PNG of labels",
    honoured={"palette": "colours of classes", NAMES_KEY: "names of classes"},
    left_out={"transparency": "missing values"},
)
PHOTOGRAPHS = Attributes(
    "JPEG and PNG photographs",
    honoured={"transparency": "missing values", "orientation": "rows and columns"},
)


def read_labels(path: Path) -> Contents:
    """Read a grey or palette PNG; the colours of a colour picture name no class."""
    images = require("PIL.Image")
    with reading(path, "a PNG image"), images.open(path) as image:
        image.load()
        if image.mode not in {"1", "L", "P", "I", "I;16", "I;16B"}:
            raise DataError(
                f"{path}: a colour picture (mode {image.mode}), whose colours name no classes; "
                "save the labels as a greyscale or palette PNG, ENVI, .mat or .npy, and a map as "
                ".tif, .img or .npy"
            )
        data, names = np.array(image), image.info.get(NAMES_KEY)
        if image.mode == "L":  # pillow stretches grey values of fewer than eight bits to 255
            data = data // (255 // (2 ** _bit_depth(path) - 1))
        return Contents(
            data.astype(np.uint8) if data.dtype == bool else data,
            "PNG",
            class_names=None if names is None else names_of_json(names),
            class_colors=colors_of(image.getpalette("RGB") or []) if image.mode == "P" else None,
            unused=LABELS.unused({**image.info, "transparency": _transparent(image)}),
        )


def _bit_depth(path: Path) -> int:
    """Return the bits of a value in a PNG, 8 in another kind of picture."""
    with path.open("rb") as stream:
        head = stream.read(25)
    return head[24] if head[12:16] == b"IHDR" else 8


def _transparent(image: Any) -> list[int]:
    """Return the values but 0, which is unlabelled anyway, that a picture calls transparent."""
    found = image.info.get("transparency", b"")
    if isinstance(found, bytes):  # the opacity of each
        return [i for i, opacity in enumerate(found) if i and not opacity]
    return [found] if found else []


_GREY = ("1", "L", "LA", "I", "I;16", "I;16B", "F")
_ALPHA = ("LA", "PA", "RGBA", "La", "RGBa")


def read_photograph(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Read a photograph: red, green and blue, or one grey band; transparent pixels are NaN."""
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
        unused = PHOTOGRAPHS.unused(image.info)
        if upright.mode in ("I", "I;16", "I;16B", "F"):
            return Contents(
                np.array(upright)[:, :, None],
                kind,
                ignore_value=upright.info.get("transparency"),
                band_names=("grey",),
                unused=unused,
            )
        wanted = ("LA" if is_grey else "RGBA") if with_alpha else ("L" if is_grey else "RGB")
        values = np.array(upright.convert(wanted)).reshape(upright.height, upright.width, -1)
        if with_alpha:
            alpha, values = values[..., -1], values[..., :-1].astype(np.float32)
            values[alpha == 0] = np.nan
        names = ("grey",) if is_grey else ("red", "green", "blue")
        return Contents(values, kind, band_names=names, unused=unused)
