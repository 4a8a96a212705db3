"""From a scene and some labels to a class map with its model, files and report."""

from diffclass_hyperspectral.workflows.classification.block_runs import BlockRun
from diffclass_hyperspectral.workflows.classification.classifying import (
    LabelledPoints,
    apply_model,
    checked_labels,
    classify_scene,
)
from diffclass_hyperspectral.workflows.classification.cleanup import (
    Cleanup,
    CleanupReport,
    majority_filter,
    merge_small_segments,
    segments_of,
)
from diffclass_hyperspectral.workflows.classification.datasets import classified_dataset
from diffclass_hyperspectral.workflows.classification.maps import write_maps
from diffclass_hyperspectral.workflows.classification.models import (
    SceneModel,
    load_model,
    save_model,
)
from diffclass_hyperspectral.workflows.classification.report import (
    ClassificationReport,
    measure_ambiguity,
)
from diffclass_hyperspectral.workflows.classification.runs import (
    ClassificationRun,
    classify_with_holdout,
    classify_with_model,
)
from diffclass_hyperspectral.workflows.classification.scene_classification import (
    SceneClassification,
)
from diffclass_hyperspectral.workflows.classification.summary import (
    MOST_LINES,
    UNSURE,
    area_texts,
    summary_lines,
)

__all__ = [
    "MOST_LINES",
    "UNSURE",
    "BlockRun",
    "ClassificationReport",
    "ClassificationRun",
    "Cleanup",
    "CleanupReport",
    "LabelledPoints",
    "SceneClassification",
    "SceneModel",
    "apply_model",
    "area_texts",
    "checked_labels",
    "classified_dataset",
    "classify_scene",
    "classify_with_holdout",
    "classify_with_model",
    "load_model",
    "majority_filter",
    "measure_ambiguity",
    "merge_small_segments",
    "save_model",
    "segments_of",
    "summary_lines",
    "write_maps",
]
