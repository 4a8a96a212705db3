"""Label diffusion: from labels to posteriors, margins and a map. The one way out.

`labels` and `parameters` check them once; `diffusion` diffuses them and forms the result;
`label_walk` is the interface of a walk, wherever its columns lie; `walk` is what the walks in
arrays have in common, with one file for each way in which labels count; `early_stopping` walks
until the time is chosen; `maps` turns values into classes and margins, and says what the graph
thinks of a map; `reach` says where labels can get to. `calibration` turns posteriors into
probabilities and sets of classes, by labels that `held_out_labels` holds out; `feature_opinion`
joins the graph with what the features say. `written_sizes` reads what users write of the sizes of
classes.
"""

from __future__ import annotations

from diffclass.label_diffusion.calibration import Calibration, calibrate
from diffclass.label_diffusion.class_sizes import prior_of
from diffclass.label_diffusion.costs import RESULT_BYTES, diffusion_costs
from diffclass.label_diffusion.diffusion import LabelDiffusion, diffuse_labels
from diffclass.label_diffusion.early_stopping import MarginCurve
from diffclass.label_diffusion.feature_opinion import FeatureOpinion, join_features
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.maps import Decision, decide, map_scores, posteriors_of
from diffclass.label_diffusion.parameters import DiffusionRules, StoppingRule
from diffclass.label_diffusion.reach import Reach
from diffclass.label_diffusion.score_prior import ScorePrior
from diffclass.label_diffusion.written_sizes import (
    Measures,
    Prior,
    sizes_as_text,
    sizes_in_words,
    sizes_of,
    written_prior,
)

__all__ = [
    "RESULT_BYTES",
    "Calibration",
    "Decision",
    "DiffusionRules",
    "FeatureOpinion",
    "LabelDiffusion",
    "Labels",
    "MarginCurve",
    "Measures",
    "Prior",
    "Reach",
    "ScorePrior",
    "StoppingRule",
    "calibrate",
    "decide",
    "diffuse_labels",
    "diffusion_costs",
    "join_features",
    "map_scores",
    "posteriors_of",
    "prior_of",
    "sizes_as_text",
    "sizes_in_words",
    "sizes_of",
    "written_prior",
]
