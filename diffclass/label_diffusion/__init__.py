"""Label diffusion: from labels to posteriors, margins and a map. The one way out.

`labels` checks them once; `diffusion` diffuses them and forms the result; `label_walk` is the
interface of a walk, wherever its columns lie; `walks` holds the ways in which labels count;
`early_stopping` walks until `stopping_time` has chosen the time; `posteriors` turns values into
classes and margins; `reach` says where labels can get to; `map_scores` makes of a map the scores
that shape kernels. `calibration` turns posteriors into probabilities, by labels that
`held_out_labels` holds out, and `prediction_sets` these into sets of classes; `feature_opinion`
joins the graph with what the features say.
"""

from __future__ import annotations

from diffclass.label_diffusion.calibration import Calibration, calibrate
from diffclass.label_diffusion.costs import RESULT_BYTES, diffusion_costs
from diffclass.label_diffusion.diffusion import LabelDiffusion, diffuse_labels
from diffclass.label_diffusion.feature_opinion import FeatureOpinion, join_features
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.map_scores import map_scores
from diffclass.label_diffusion.parameters import DiffusionRules
from diffclass.label_diffusion.posteriors import Decision, decide, posteriors_of
from diffclass.label_diffusion.reach import Reach
from diffclass.label_diffusion.stopping_time import MarginCurve, StoppingRule

__all__ = [
    "RESULT_BYTES",
    "Calibration",
    "Decision",
    "DiffusionRules",
    "FeatureOpinion",
    "LabelDiffusion",
    "Labels",
    "MarginCurve",
    "Reach",
    "StoppingRule",
    "calibrate",
    "decide",
    "diffuse_labels",
    "diffusion_costs",
    "join_features",
    "map_scores",
    "posteriors_of",
]
