"""What may be asked of scenes: the options of commands, and of functions in Python."""

from __future__ import annotations

from diffclass.options import (
    COUNT,
    SEED,
    YES_NO,
    Number,
    OneOf,
    Text,
    Texts,
    Whole,
)

METRICS = ("euclidean", "angle", "correlation")  # what the features' distance may measure

OPTIONS = {
    "areas": YES_NO,
    "band_names": Texts(or_none=True),
    "by_class": YES_NO,
    "check_units": YES_NO,
    "classify_all": YES_NO,
    "features": OneOf(("spectral", "spatial")),
    "field_power": Number(0),
    "gap": COUNT,
    "legend": YES_NO,
    "level": Number(0, 1, is_open=True),
    "majority": Whole(1, is_odd=True),
    "map_info": Texts(or_none=True),
    "match": OneOf(("names", "ids", "overlap"), or_none=True),
    "method": OneOf(("diffusion", "rx", "isolation-forest")),
    "metric": OneOf(METRICS),
    "min_area": COUNT,
    "min_distance": Number(0),
    "min_margin": Number(0, 1),
    "n_clusters": COUNT,
    "n_components": Whole(1, or_none=True),
    "n_points": COUNT,
    "overwrite": YES_NO,
    "position_weight": Number(0),
    "random_state": SEED,
    "rule": OneOf("diffclass.acquisition:RULES"),
    "score_accuracy": Number(0, 1, or_none=True),
    "simplify": Number(0),
    "spatial": YES_NO,
    "stability": YES_NO,
    "variable": Text(or_none=True),
}
