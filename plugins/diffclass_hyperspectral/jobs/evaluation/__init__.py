"""Held-out labels, and class maps against the truth."""

from diffclass_hyperspectral.jobs.evaluation.holdout import (
    Split,
    full_gap,
    hold_out,
)
from diffclass_hyperspectral.jobs.evaluation.map_evaluation import (
    MapEvaluation,
    draw_evaluation,
    evaluate_map,
)
from diffclass_hyperspectral.jobs.evaluation.maps_on_disk import (
    forecast_of_maps,
    opened_maps,
    probability_of_class,
)
from diffclass_hyperspectral.jobs.evaluation.squares import (
    accuracy_lines,
    describe_blocks,
    groups_in_squares,
)
