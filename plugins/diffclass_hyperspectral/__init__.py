"""Hyperspectral scenes for diffclass: formats, label images, features, whole jobs, map writers.

Names load on first use, so that importing the plugin costs nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "ClassEntry": "io.class_table",
    "ClassTable": "io.class_table",
    "ClassificationReport": "workflows.classification_report",
    "ClassificationRun": "workflows.classification_run",
    "Cleanup": "workflows.cleanup",
    "LabelImage": "io.label_images",
    "LookupTable": "io.lookup_table",
    "MapEvaluation": "workflows.map_evaluation",
    "Scene": "io.scenes",
    "SceneClassification": "workflows.classification",
    "SceneFeatures": "features.scene_features",
    "SceneModel": "workflows.scene_models",
    "SuggestedPixel": "workflows.suggestions",
    "classify_scene": "workflows.classification",
    "classify_with_holdout": "workflows.classification_run",
    "classify_with_model": "workflows.classification_run",
    "embed_file": "workflows.scene_embedding",
    "evaluate_map": "workflows.map_evaluation",
    "load_model": "workflows.scene_models",
    "open_scene": "io.scenes",
    "read_labels": "io.label_files",
    "save_model": "workflows.scene_models",
    "suggest_for_scene": "workflows.suggestions",
    "write_class_map": "io.map_files",
    "write_coordinates": "workflows.scene_embedding",
    "write_maps": "workflows.classified_maps",
    "write_raster": "io.map_files",
    "write_suggestions": "workflows.suggestion_files",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
