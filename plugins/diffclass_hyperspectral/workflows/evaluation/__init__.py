"""Held-out labels, and class maps against the truth."""

from diffclass_hyperspectral.workflows.evaluation.certainty import (
    Certainty,
    describe_blocks,
    measure_certainty,
    probability_of_class,
)
from diffclass_hyperspectral.workflows.evaluation.holdout import (
    LEAST_GAP,
    Holdout,
    full_gap,
    halved_classes,
    hold_out,
)
from diffclass_hyperspectral.workflows.evaluation.map_evaluation import (
    MapEvaluation,
    draw_evaluation,
    evaluate_map,
    forecast_of_maps,
    opened_maps,
)

__all__ = [
    "LEAST_GAP",
    "Certainty",
    "Holdout",
    "MapEvaluation",
    "describe_blocks",
    "draw_evaluation",
    "evaluate_map",
    "forecast_of_maps",
    "full_gap",
    "halved_classes",
    "hold_out",
    "measure_certainty",
    "opened_maps",
    "probability_of_class",
]
