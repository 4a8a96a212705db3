"""Held-out labels, and class maps against the truth."""

from diffclass_hyperspectral.jobs.evaluation.certainty import (
    Certainty,
    accuracy_lines,
    certainty_lines,
    describe_blocks,
    measure_certainty,
    probability_of_class,
    with_span,
)
from diffclass_hyperspectral.jobs.evaluation.holdout import (
    Split,
    full_gap,
    groups_in_squares,
    hold_out,
)
from diffclass_hyperspectral.jobs.evaluation.map_evaluation import (
    MapEvaluation,
    draw_evaluation,
    evaluate_map,
)
from diffclass_hyperspectral.jobs.evaluation.maps_on_disk import forecast_of_maps, opened_maps
