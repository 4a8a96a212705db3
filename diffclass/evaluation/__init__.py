"""How good a classification is, and splitters for partly labelled data."""

from __future__ import annotations

from diffclass.evaluation.areas import AreaEstimates, Estimate, stratified_areas
from diffclass.evaluation.class_matching import MATCH_RULES, ClassMatch, match_classes
from diffclass.evaluation.intervals import (
    ClusteredInterval,
    clustered_interval,
    wilson_interval,
)
from diffclass.evaluation.reliability import (
    ReliabilityCurve,
    ThresholdTable,
    default_thresholds,
    reliability_curve,
    threshold_table,
)
from diffclass.evaluation.scores import (
    ClassScore,
    ClusterScores,
    DetectionCurve,
    Scores,
    classification_scores,
    cluster_scores,
    detection_curve,
)
from diffclass.evaluation.splits import PartlyLabelledKFold, draw_per_class

__all__ = [
    "MATCH_RULES",
    "AreaEstimates",
    "ClassMatch",
    "ClassScore",
    "ClusterScores",
    "ClusteredInterval",
    "DetectionCurve",
    "Estimate",
    "PartlyLabelledKFold",
    "ReliabilityCurve",
    "Scores",
    "ThresholdTable",
    "classification_scores",
    "cluster_scores",
    "clustered_interval",
    "default_thresholds",
    "detection_curve",
    "draw_per_class",
    "match_classes",
    "reliability_curve",
    "stratified_areas",
    "threshold_table",
    "wilson_interval",
]
