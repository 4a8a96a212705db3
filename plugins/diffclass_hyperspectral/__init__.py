"""Hyperspectral scenes for diffclass: formats, label images, features and map writers.

Names load on first use, so that importing the plugin costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "ClassEntry": "io.class_table",
    "ClassTable": "io.class_table",
    "LabelImage": "io.label_images",
    "Scene": "io.scenes",
    "SceneFeatures": "features.scene_features",
    "open_scene": "io.scenes",
    "read_labels": "io.label_files",
    "write_class_map": "io.map_files",
    "write_raster": "io.map_files",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
