"""PNG label images: grey values or palette indices are the class ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.optional import require
from diffclass_hyperspectral.io.readers.contents import Color, Contents
from diffclass_hyperspectral.io.readers.failures import reading

# The text chunk in which `write_class_map` keeps class names, as JSON {id: name}.
NAMES_KEY = "diffclass class names"


def read(path: Path) -> Contents:
    """Read a grey or palette PNG.

    Raises
    ------
    DataError
        Where it is a colour picture, whose colours name no class, or is damaged.
    """
    images = require("PIL.Image")
    with reading(path, "a PNG image"), images.open(path) as image:
        image.load()
        if image.mode not in {"1", "L", "P", "I", "I;16", "I;16B"}:
            raise DataError(
                f"{path}: a colour picture (mode {image.mode}), whose colours name no classes; "
                "save the labels as a greyscale or palette PNG, ENVI, .mat or .npy"
            )
        data = np.array(image)
        return Contents(
            data.astype(np.uint8) if data.dtype == bool else data,
            "PNG",
            class_names=_names(image),
            class_colors=_palette(image) if image.mode == "P" else None,
        )


def _palette(image: Any) -> dict[int, Color]:
    values = image.getpalette("RGB") or []
    return {
        index: (values[3 * index], values[3 * index + 1], values[3 * index + 2])
        for index in range(len(values) // 3)
    }


def _names(image: Any) -> dict[int, str] | None:
    text = image.info.get(NAMES_KEY)
    if text is None:
        return None
    return {int(key): str(name) for key, name in json.loads(text).items()}
