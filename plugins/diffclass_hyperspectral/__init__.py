"""Hyperspectral scenes for diffclass: formats, label images, features, whole jobs, map writers.

Names load on first use, so that importing the plugin costs nothing. Its chapters, each of which
imports from those below it::

    commands    options, progress and exit codes; nothing that a script would need
    jobs        whole jobs: scene in, result and report out
    pixels      the points of a job
    features    what a pixel's neighbours are found by
    io          files and pictures: readers, labels, scenes, maps

`diffclass_hyperspectral.io` and `diffclass_hyperspectral.jobs` say what is in theirs.
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
    from diffclass_hyperspectral.jobs.anomalies import known_anomalies, scene_anomalies
    from diffclass_hyperspectral.jobs.classification import (
        ClassificationReport,
        ClassificationRun,
        Cleanup,
        SceneClassification,
        SceneModel,
        classified_dataset,
        classify_scene,
        classify_with_model,
        load_model,
        save_model,
        write_maps,
    )
    from diffclass_hyperspectral.jobs.clustering import (
        ClusterSpectra,
        known_classes,
        mean_spectra,
    )
    from diffclass_hyperspectral.jobs.embedding import write_coordinates
    from diffclass_hyperspectral.jobs.evaluation import (
        MapEvaluation,
        evaluate_map,
    )
    from diffclass_hyperspectral.jobs.point_files import write_points
    from diffclass_hyperspectral.jobs.suggestions import suggest_for_scene
    from diffclass_hyperspectral.jobs.validation_design import (
        ValidationPixel,
        validation_design,
    )
    from diffclass_hyperspectral.pixels import Pixels

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
    "Pixels",
    "Scene",
    "SceneClassification",
    "SceneFeatures",
    "SceneModel",
    "TiledScene",
    "ValidationPixel",
    "classified_dataset",
    "classify_scene",
    "classify_with_model",
    "evaluate_map",
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
    "scene_anomalies",
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
    "jobs.anomalies": "known_anomalies scene_anomalies",
    "jobs.classification": (
        "ClassificationReport ClassificationRun Cleanup SceneClassification SceneModel "
        "classified_dataset classify_scene classify_with_model load_model "
        "save_model write_maps"
    ),
    "jobs.clustering": ("ClusterSpectra known_classes mean_spectra"),
    "jobs.embedding": "write_coordinates",
    "jobs.evaluation": "MapEvaluation evaluate_map",
    "jobs.point_files": "write_points",
    "jobs.suggestions": "suggest_for_scene",
    "jobs.validation_design": "ValidationPixel validation_design",
    "pixels": "Pixels",
}
_HOMES = {name: chapter for chapter, names in _CHAPTERS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
