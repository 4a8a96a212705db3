"""Hyperspectral scenes for diffclass: formats, label images, features, whole jobs, map writers.

Names load on first use, so that importing the plugin costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffclass_hyperspectral.features.scene_features import SceneFeatures
    from diffclass_hyperspectral.io.georeference import LookupTable
    from diffclass_hyperspectral.io.labels import ClassEntry, ClassTable, LabelImage, read_labels
    from diffclass_hyperspectral.io.maps import write_class_map, write_raster
    from diffclass_hyperspectral.io.readers import Contents
    from diffclass_hyperspectral.io.scenes import Scene, open_scene
    from diffclass_hyperspectral.io.tiles import TiledScene, open_tiles, read_tile_labels
    from diffclass_hyperspectral.workflows.anomalies import (
        SceneAnomalies,
        detection_of,
        find_anomalies,
        known_anomalies,
    )
    from diffclass_hyperspectral.workflows.classification import (
        ClassificationReport,
        ClassificationRun,
        Cleanup,
        SceneClassification,
        SceneModel,
        classified_dataset,
        classify_scene,
        classify_with_holdout,
        classify_with_model,
        load_model,
        save_model,
        write_maps,
    )
    from diffclass_hyperspectral.workflows.clustering import (
        ClusterSpectra,
        SceneClusters,
        agreement,
        cluster_scene,
        known_classes,
        mean_spectra,
    )
    from diffclass_hyperspectral.workflows.embedding import (
        embed_file,
        write_coordinates,
    )
    from diffclass_hyperspectral.workflows.evaluation import (
        MapEvaluation,
        evaluate_map,
    )
    from diffclass_hyperspectral.workflows.suggestions import (
        SuggestedPixel,
        suggest_first,
        suggest_for_scene,
        write_suggestions,
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
    "ClassEntry": "io.labels.class_table",
    "ClassTable": "io.labels.class_table",
    "ClassificationReport": "workflows.classification.report",
    "ClassificationRun": "workflows.classification.runs",
    "Cleanup": "workflows.classification.cleanup",
    "ClusterSpectra": "workflows.clustering.clusters",
    "Contents": "io.readers.contents",
    "LabelImage": "io.labels.label_images",
    "LookupTable": "io.georeference.lookup_table",
    "MapEvaluation": "workflows.evaluation.map_evaluation",
    "Scene": "io.scenes.scene",
    "SceneAnomalies": "workflows.anomalies.scores",
    "SceneClassification": "workflows.classification.scene_classification",
    "SceneClusters": "workflows.clustering.clusters",
    "SceneFeatures": "features.scene_features",
    "SceneModel": "workflows.classification.models",
    "SuggestedPixel": "workflows.suggestions.suggested_pixels",
    "TiledScene": "io.tiles.tiled_scenes",
    "agreement": "workflows.clustering.clusters",
    "classified_dataset": "workflows.classification.datasets",
    "classify_scene": "workflows.classification.scene_classification",
    "classify_with_holdout": "workflows.classification.runs",
    "classify_with_model": "workflows.classification.runs",
    "cluster_scene": "workflows.clustering.clusters",
    "detection_of": "workflows.anomalies.scores",
    "embed_file": "workflows.embedding.coordinates",
    "evaluate_map": "workflows.evaluation.map_evaluation",
    "find_anomalies": "workflows.anomalies.scores",
    "known_anomalies": "workflows.anomalies.scores",
    "known_classes": "workflows.clustering.clusters",
    "load_model": "workflows.classification.models",
    "mean_spectra": "workflows.clustering.clusters",
    "open_scene": "io.scenes.opening",
    "open_tiles": "io.tiles.tiled_scenes",
    "read_labels": "io.labels.label_files",
    "read_tile_labels": "io.tiles.tile_labels",
    "save_model": "workflows.classification.models",
    "suggest_first": "workflows.suggestions.suggested_pixels",
    "suggest_for_scene": "workflows.suggestions.suggested_pixels",
    "write_class_map": "io.maps.map_files",
    "write_coordinates": "workflows.embedding.coordinates",
    "write_maps": "workflows.classification.maps",
    "write_raster": "io.maps.map_files",
    "write_suggestions": "workflows.suggestions.files",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
