"""Label diffusion: from labels to posteriors, margins and a map. The one way out.

`labels` checks them once; `diffusion` diffuses them and forms the result; `stopping` says when:
the rules that choose the time, and the walk until it is known; `walk` is the interface of a walk,
wherever its columns lie, with the absorbing labels of the default; `label_modes` lists the ways in
which labels count. `maps` turns values into classes and margins, and says what the graph
thinks of a map; `reach` says where labels can get to. `calibration` turns posteriors into
probabilities and sets of classes, by labels that `held_out_labels` holds out; `feature_opinion`
joins the graph with what the features say.
"""

from __future__ import annotations

from diffclass.label_diffusion.calibration import (
    RESULT_BYTES,
    Calibration,
    calibrate,
    diffusion_costs,
)
from diffclass.label_diffusion.class_sizes import prior_of
from diffclass.label_diffusion.diffusion import LabelDiffusion, diffuse_labels
from diffclass.label_diffusion.feature_opinion import (
    FeatureOpinion,
    JoinedMap,
    diffuse_joined,
)
from diffclass.label_diffusion.label_modes import LABEL_MODES, LabelMode
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.maps import Decision, decide, map_scores, posteriors_of
from diffclass.label_diffusion.reach import Reach
from diffclass.label_diffusion.score_prior import ScorePrior
from diffclass.label_diffusion.stopping import DiffusionRules, MarginCurve, StoppingRule

__all__ = [
    "LABEL_MODES",
    "RESULT_BYTES",
    "Calibration",
    "Decision",
    "DiffusionRules",
    "FeatureOpinion",
    "JoinedMap",
    "LabelDiffusion",
    "LabelMode",
    "Labels",
    "MarginCurve",
    "Reach",
    "ScorePrior",
    "StoppingRule",
    "calibrate",
    "decide",
    "diffuse_joined",
    "diffuse_labels",
    "diffusion_costs",
    "map_scores",
    "posteriors_of",
    "prior_of",
]
