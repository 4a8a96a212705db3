"""Hyperspectral scenes for diffclass: formats, label images, features and map writers.

Names load on first use, so that importing the plugin costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "ClassEntry": "class_table",
    "ClassTable": "class_table",
    "LabelImage": "labels",
    "Scene": "scenes",
    "SceneFeatures": "features",
    "open_scene": "scenes",
    "read_labels": "labels",
    "write_class_map": "maps",
    "write_raster": "maps",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
