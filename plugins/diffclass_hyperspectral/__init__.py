"""Hyperspectral scenes for diffclass: formats, label images, features, whole jobs, map writers.

Names load on first use, so that importing the plugin costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffclass_hyperspectral.features.scene_features import SceneFeatures
    from diffclass_hyperspectral.io.class_table import ClassEntry, ClassTable
    from diffclass_hyperspectral.io.label_files import read_labels
    from diffclass_hyperspectral.io.label_images import LabelImage
    from diffclass_hyperspectral.io.lookup_table import LookupTable
    from diffclass_hyperspectral.io.map_files import write_class_map, write_raster
    from diffclass_hyperspectral.io.readers.contents import Contents
    from diffclass_hyperspectral.io.scene_files import open_scene
    from diffclass_hyperspectral.io.scenes import Scene
    from diffclass_hyperspectral.io.tile_labels import read_tile_labels
    from diffclass_hyperspectral.io.tiles import TiledScene, open_tiles
    from diffclass_hyperspectral.workflows.anomaly_detection import (
        SceneAnomalies,
        detection_of,
        find_anomalies,
        known_anomalies,
    )
    from diffclass_hyperspectral.workflows.classification import SceneClassification, classify_scene
    from diffclass_hyperspectral.workflows.classification_report import ClassificationReport
    from diffclass_hyperspectral.workflows.classification_run import (
        ClassificationRun,
        classify_with_holdout,
        classify_with_model,
    )
    from diffclass_hyperspectral.workflows.classified_arrays import classified_dataset
    from diffclass_hyperspectral.workflows.classified_maps import write_maps
    from diffclass_hyperspectral.workflows.cleanup import Cleanup
    from diffclass_hyperspectral.workflows.map_evaluation import MapEvaluation, evaluate_map
    from diffclass_hyperspectral.workflows.scene_clustering import (
        ClusterSpectra,
        SceneClusters,
        agreement,
        cluster_scene,
        known_classes,
        mean_spectra,
    )
    from diffclass_hyperspectral.workflows.scene_embedding import embed_file, write_coordinates
    from diffclass_hyperspectral.workflows.scene_models import SceneModel, load_model, save_model
    from diffclass_hyperspectral.workflows.suggestion_files import write_suggestions
    from diffclass_hyperspectral.workflows.suggestions import (
        SuggestedPixel,
        suggest_first,
        suggest_for_scene,
    )

__all__ = [
    "ClassEntry",
    "ClassTable",
    "ClassificationReport",
    "ClassificationRun",
    "Cleanup",
    "ClusterSpectra",
    "Contents",
    "LabelImage",
    "LookupTable",
    "MapEvaluation",
    "Scene",
    "SceneAnomalies",
    "SceneClassification",
    "SceneClusters",
    "SceneFeatures",
    "SceneModel",
    "SuggestedPixel",
    "TiledScene",
    "agreement",
    "classified_dataset",
    "classify_scene",
    "classify_with_holdout",
    "classify_with_model",
    "cluster_scene",
    "detection_of",
    "embed_file",
    "evaluate_map",
    "find_anomalies",
    "known_anomalies",
    "known_classes",
    "load_model",
    "mean_spectra",
    "open_scene",
    "open_tiles",
    "read_labels",
    "read_tile_labels",
    "save_model",
    "suggest_first",
    "suggest_for_scene",
    "write_class_map",
    "write_coordinates",
    "write_maps",
    "write_raster",
    "write_suggestions",
]

_HOMES = {
    "ClassEntry": "io.class_table",
    "ClassTable": "io.class_table",
    "ClassificationReport": "workflows.classification_report",
    "ClassificationRun": "workflows.classification_run",
    "Cleanup": "workflows.cleanup",
    "ClusterSpectra": "workflows.scene_clustering",
    "Contents": "io.readers.contents",
    "LabelImage": "io.label_images",
    "LookupTable": "io.lookup_table",
    "MapEvaluation": "workflows.map_evaluation",
    "Scene": "io.scenes",
    "SceneAnomalies": "workflows.anomaly_detection",
    "SceneClassification": "workflows.classification",
    "SceneClusters": "workflows.scene_clustering",
    "SceneFeatures": "features.scene_features",
    "SceneModel": "workflows.scene_models",
    "SuggestedPixel": "workflows.suggestions",
    "TiledScene": "io.tiles",
    "agreement": "workflows.scene_clustering",
    "classified_dataset": "workflows.classified_arrays",
    "classify_scene": "workflows.classification",
    "classify_with_holdout": "workflows.classification_run",
    "classify_with_model": "workflows.classification_run",
    "cluster_scene": "workflows.scene_clustering",
    "detection_of": "workflows.anomaly_detection",
    "embed_file": "workflows.scene_embedding",
    "evaluate_map": "workflows.map_evaluation",
    "find_anomalies": "workflows.anomaly_detection",
    "known_anomalies": "workflows.anomaly_detection",
    "known_classes": "workflows.scene_clustering",
    "load_model": "workflows.scene_models",
    "mean_spectra": "workflows.scene_clustering",
    "open_scene": "io.scene_files",
    "open_tiles": "io.tiles",
    "read_labels": "io.label_files",
    "read_tile_labels": "io.tile_labels",
    "save_model": "workflows.scene_models",
    "suggest_first": "workflows.suggestions",
    "suggest_for_scene": "workflows.suggestions",
    "write_class_map": "io.map_files",
    "write_coordinates": "workflows.scene_embedding",
    "write_maps": "workflows.classified_maps",
    "write_raster": "io.map_files",
    "write_suggestions": "workflows.suggestion_files",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
