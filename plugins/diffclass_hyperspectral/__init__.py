"""Hyperspectral scenes for diffclass: formats, label images, features, whole jobs, map writers.

Names load on first use, so that importing the plugin costs nothing. Its chapters, each of which
imports from those below it:

    commands    options, progress and exit codes; nothing that a script would need
    workflows   whole jobs: scene in, result and report out
    features    what a pixel's neighbours are found by
    io          files and pictures: readers, labels, scenes, maps

`diffclass_hyperspectral.io` and `diffclass_hyperspectral.workflows` say what is in theirs.
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
    from diffclass_hyperspectral.io.tiles import (
        TiledScene,
        open_tiles,
        read_tile_labels,
        read_tile_segments,
    )
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
        embed_scene,
        write_coordinates,
    )
    from diffclass_hyperspectral.workflows.evaluation import (
        MapEvaluation,
        evaluate_map,
    )
    from diffclass_hyperspectral.workflows.point_files import write_points
    from diffclass_hyperspectral.workflows.suggestions import (
        SuggestedPixel,
        suggest_first,
        suggest_for_scene,
    )
    from diffclass_hyperspectral.workflows.validation_design import (
        ValidationPixel,
        validation_design,
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
    "ValidationPixel",
    "agreement",
    "classified_dataset",
    "classify_scene",
    "classify_with_holdout",
    "classify_with_model",
    "cluster_scene",
    "detection_of",
    "embed_scene",
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
    "read_tile_segments",
    "save_model",
    "suggest_first",
    "suggest_for_scene",
    "validation_design",
    "write_class_map",
    "write_coordinates",
    "write_maps",
    "write_points",
    "write_raster",
]

# Where each name is, by chapter.
_CHAPTERS = {
    "features.scene_features": "SceneFeatures",
    "io.georeference": "LookupTable",
    "io.labels": "ClassEntry ClassTable LabelImage read_labels",
    "io.maps": "write_class_map write_raster",
    "io.readers": "Contents",
    "io.scenes": "Scene open_scene",
    "io.tiles": "TiledScene open_tiles read_tile_labels read_tile_segments",
    "workflows.anomalies": "SceneAnomalies detection_of find_anomalies known_anomalies",
    "workflows.classification": (
        "ClassificationReport ClassificationRun Cleanup SceneClassification SceneModel "
        "classified_dataset classify_scene classify_with_holdout classify_with_model load_model "
        "save_model write_maps"
    ),
    "workflows.clustering": (
        "ClusterSpectra SceneClusters agreement cluster_scene known_classes mean_spectra"
    ),
    "workflows.embedding": "embed_scene write_coordinates",
    "workflows.evaluation": "MapEvaluation evaluate_map",
    "workflows.point_files": "write_points",
    "workflows.suggestions": "SuggestedPixel suggest_first suggest_for_scene",
    "workflows.validation_design": "ValidationPixel validation_design",
}
_HOMES = {name: chapter for chapter, names in _CHAPTERS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
