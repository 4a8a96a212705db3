"""From a scene and some labels to a class map with its model, files and report."""

from diffclass_hyperspectral.workflows.classification.block_runs import BlockRun
from diffclass_hyperspectral.workflows.classification.classifying import (
    checked_labels,
    classify_scene,
)
from diffclass_hyperspectral.workflows.classification.cleanup import Cleanup
from diffclass_hyperspectral.workflows.classification.lines import UNSURE, summary_lines
from diffclass_hyperspectral.workflows.classification.models import (
    SceneModel,
    load_model,
    save_model,
)
from diffclass_hyperspectral.workflows.classification.outputs import (
    classified_dataset,
    picture_array,
    write_maps,
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
