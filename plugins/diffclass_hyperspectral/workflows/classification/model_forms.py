"""The parts of a scene's model that stand in a file; those of its classifier are the core's."""

from __future__ import annotations

from typing import Any

import numpy as np

from diffclass.model_files.forms import (
    Array,
    Choice,
    Flag,
    Form,
    Listed,
    Maybe,
    Number,
    OneOf,
    Record,
    Text,
    Whole,
)
from diffclass_hyperspectral.features import METRICS
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.features.smoothing import GaussianSmoothing, GridDiffusion
from diffclass_hyperspectral.io.labels import ClassEntry, ClassTable

# Letters of sizes: b bands, u of them in use, k components at s scales.
_SIGMA = Number(0, 10_000)
_SCALE = OneOf({
    "sigma": _SIGMA,
    "Gaussian": Record(GaussianSmoothing, {"sigma": _SIGMA}),
    "diffusion": Record(GridDiffusion, {
        "n_steps": Whole(1, 100_000), "sigma": _SIGMA, "quantile": Number(0, 1),
        "bandwidth": Maybe(Number()),
    }),
})  # fmt: skip

_PARAMETERS: dict[str, Form] = {
    "n_components": Maybe(Whole(1)),
    "metric": Choice({name: name for name in METRICS}),
    "spatial": Flag(),
    "scales": Listed(_SCALE, "s", make=tuple),
    "field_power": Number(0),
    "position_weight": Number(0),
}

_FOUND: dict[str, Form] = {
    "bands_": Array(("b",), "b"),
    "directions_": Array(("u", "k")),
    "n_components_": Whole(1),
    "mean_": Maybe(Array(("u",))),
    "signal_to_noise_": Maybe(Array(("k",))),
    "levels_": Maybe(Array((2, "u"))),
    "weights_": Maybe(Array(("s", "k", "k"))),
    "scales_": Maybe(Array(("s",))),
}


def _features(**values: Any) -> SceneFeatures:
    found = {name: values.pop(name) for name in _FOUND}
    features = SceneFeatures(**values)
    features.check_parameters()
    for name, value in found.items():
        if value is not None:
            setattr(features, name, value)
    is_whole = (
        np.count_nonzero(features.bands_) == len(features.directions_)
        and features.n_components_ == features.directions_.shape[1]
        and (features.metric != "euclidean" or hasattr(features, "mean_"))
        and (
            not features.spatial or (hasattr(features, "scales_") and hasattr(features, "weights_"))
        )
    )
    if not is_whole:
        raise ValueError("the features lack a part")
    return features


FEATURES = Record(SceneFeatures, _PARAMETERS | _FOUND, _features)

_ENTRY = Record(ClassEntry, {
    "id": Whole(), "name": Text(), "color": Listed(Whole(0, 255), 3, make=tuple),
})  # fmt: skip

TABLE = Record(ClassTable, {"entries": Listed(_ENTRY, make=tuple)})
