"""From a scene and some labels to a class map with its model, files and report."""

from diffclass_hyperspectral.jobs.classification.block_runs import BlockRun
from diffclass_hyperspectral.jobs.classification.classifying import (
    checked_labels,
)
from diffclass_hyperspectral.jobs.classification.cleanup import Cleanup
from diffclass_hyperspectral.jobs.classification.lines import area_texts
from diffclass_hyperspectral.jobs.classification.models import (
    SceneModel,
    load_model,
    save_model,
)
from diffclass_hyperspectral.jobs.classification.outputs import (
    classified_dataset,
    picture_array,
    write_maps,
)
from diffclass_hyperspectral.jobs.classification.report import (
    ClassificationReport,
    measure_ambiguity,
)
from diffclass_hyperspectral.jobs.classification.runs import (
    ClassificationRun,
    classify_scene,
    classify_with_model,
)
from diffclass_hyperspectral.jobs.classification.scene_classification import (
    SceneClassification,
)
