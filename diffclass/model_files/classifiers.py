"""The parts of a `DiffusionClassifier` that a file holds: those that new points need.

A file keeps the parameters and points of a neighbour search, and the search indexes them again when
it is read: only its own library could check an index.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.classifier import DiffusionClassifier
from diffclass.graph import StepsToPoints
from diffclass.kernels import (
    DensityWeighted,
    Directed,
    Gaussian,
    LocalCovariance,
    LocalDiscriminant,
    SharedNeighbors,
    isotropic,
    local_covariance,
    local_discriminant,
)
from diffclass.kernels._kernel import _as_they_are
from diffclass.kernels.density_weighted import FittedDensityWeighted
from diffclass.kernels.directed import Continued, Joint, JointPlacing, mean_of_values
from diffclass.kernels.shared_neighbors import FittedSharedNeighbors
from diffclass.label_diffusion import Calibration, FeatureOpinion, StoppingRule
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
    Sparse,
    Text,
    Whole,
)
from diffclass.neighbors import ExactSearch, NNDescentSearch, default_search
from diffclass.neighbors.number_range import NumberRange
from diffclass.neighbors.search import CudaSearch, Search
from diffclass.new_points import NewPoints
from diffclass.operators.markov import PlainValues
from diffclass.operators.warped import Warp, WarpedValues

# Letters of sizes: n fitted points with d features, p of them searched; c classes, m labels.
_POINTS, _OF_EACH, _OF_CLASSES = Array(("n", "d")), Array(("n",)), Array(("n", "c"))
_NEIGHBORS = Whole(1, 4096)
_SEED = Maybe(Whole(0, 2**32 - 1))
_NAME_OR_NUMBER = OneOf({"name": Text(), "number": Number()})


_INDEXED: dict[str, Form] = {"points": Array(("n", "p")), "n_neighbors": _NEIGHBORS}


def _indexed(kind: type[Search], fields: dict[str, Form]) -> Record:
    def make(points: np.ndarray, **parameters: Any) -> Search:
        if "random_state" in parameters and parameters["random_state"] is None:
            parameters["random_state"] = 0  # the same answers whenever the file is read
        return kind(**parameters).fit(points)

    return Record(kind, _INDEXED | fields, make)


def _on_this_machine(points: np.ndarray, n_neighbors: int) -> Search:
    return default_search(points, n_neighbors, random_state=0).fit(points)


_SEARCHES = OneOf({
    "exact": _indexed(ExactSearch, {}),
    "NN-descent": _indexed(NNDescentSearch, {"random_state": _SEED}),
    "device": Record(CudaSearch, _INDEXED, _on_this_machine),
})  # fmt: skip

_PLACINGS = OneOf({
    "as they are": Choice({"as they are": _as_they_are}),
    "directed": Record(JointPlacing, {
        "joint": Record(Joint, {
            "center": Array(("d",)), "unit": Number(), "middle": Array(("f",)),
            "value_unit": Array(("f",), may_be_infinite=True), "epsilon": Number(),
        }),
        "values_at": Record(Continued, {
            "points": _POINTS, "values": Array(("n", "f")), "neighbor": _NEIGHBORS,
            "mean": Choice({"mean": mean_of_values}),
        }),
    }),
})  # fmt: skip

_RULES = OneOf({
    "one": Record(isotropic.OneScale, {"scale": Number()}),
    "own": Record(isotropic.OwnScale, {"neighbor": _NEIGHBORS}),
    "attached": Record(isotropic.AttachedScale, {"scale": Number(), "neighbor": _NEIGHBORS}),
})  # fmt: skip

_FITTED: dict[str, Form] = {}
_FITTED |= {
    "isotropic": Record(isotropic.FittedIsotropic, {
        "profile": Choice({"exponentials": isotropic.exponentials}), "scales": _OF_EACH,
        "rule": _RULES,
    }),
    "shared neighbours": Record(FittedSharedNeighbors, {
        "kernel": OneOf(_FITTED), "bumps": Sparse(("n", "n")), "root_degrees": _OF_EACH,
        "power": Number(),
    }),
    "density-weighted": Record(FittedDensityWeighted, {
        "kernel": OneOf(_FITTED), "ratios": _OF_EACH, "unit": Number(), "power": Number(),
        "neighbor": _NEIGHBORS,
    }),
    "local covariance": Record(local_covariance.FittedLocalCovariance, {
        "gaussians": Record(local_covariance.LocalGaussians, {
            "points": _POINTS, "factors": Array(("n", None, "d")), "noise": _OF_EACH,
        }),
        "noise_floor": Number(), "scales": _OF_EACH, "neighbor": Maybe(_NEIGHBORS),
        "normalized": Flag(),
    }),
    "local discriminant": Record(local_discriminant.FittedLocalDiscriminant, {
        "kernel": OneOf(_FITTED), "points": _POINTS, "anchors": Array(("a", "d")),
        "blend": Sparse(("n", "a"), sp.csc_array),
        "directions": Listed(Array(("d", None)), "a"), "strength": Number(),
    }),
}  # fmt: skip

# What the report says of how it was fitted
_KERNELS: dict[str, Form] = {}
_KERNELS |= {
    "Gaussian": Record(Gaussian, {"bandwidth": _NAME_OR_NUMBER, "neighbor": _NEIGHBORS}),
    "SharedNeighbors": Record(SharedNeighbors, {
        "kernel": Maybe(OneOf(_KERNELS)), "power": Number(),
    }),
    "DensityWeighted": Record(DensityWeighted, {
        "kernel": Maybe(OneOf(_KERNELS)), "power": Number(), "neighbor": _NEIGHBORS,
    }),
    "LocalCovariance": Record(LocalCovariance, {
        "rank": Whole(1), "bandwidth": _NAME_OR_NUMBER, "neighbor": _NEIGHBORS,
        "normalized": Flag(),
    }),
    "Directed": Record(Directed, {
        "epsilon": Number(), "bandwidth": _NAME_OR_NUMBER, "neighbor": _NEIGHBORS,
        "scaled": Flag(),
    }),
    "LocalDiscriminant": Record(LocalDiscriminant, {
        "kernel": Maybe(OneOf(_KERNELS)), "strength": Number(), "neighborhood": Whole(1),
        "discriminant": Text(),
    }),
}  # fmt: skip

_STEPS = Record(StepsToPoints, {
    "search": _SEARCHES, "scales": Maybe(_OF_EACH), "density": _OF_EACH, "alpha": Number(),
    "placing": _PLACINGS, "kernel": OneOf(_FITTED), "mass": Maybe(_OF_EACH),
    "number_range": Record(NumberRange, {
        "exponent": Whole(-1100, 1100), "is_double": Flag(),
    }),
})  # fmt: skip

_FEATURE_OPINION = Record(FeatureOpinion, {
    "labelled": Array(("l", "d")), "coefficients": Array(("l", "c")), "width": Number(),
    "temperature": Number(), "gain": Number(may_be_nan=True), "error": Number(may_be_nan=True),
    "n_held_out": Whole(),
})  # fmt: skip

_NEW_POINTS = Record(NewPoints, {
    "class_weight": Array(("c",)), "labelled": Array(("m", "d")),
    "labelled_codes": Array(("m",), "iu", below="c"), "steps": _STEPS,
    "values": OneOf({
        "plain": Record(PlainValues, {
            "values": OneOf({"all": _OF_CLASSES, "largest": Sparse(("n", "c"))}),
        }),
        "warped": Record(WarpedValues, {
            "scores": _OF_CLASSES, "products": _OF_CLASSES, "values": _OF_CLASSES,
            "forward_exponent": Number(),
        }),
    }),
    "feature_opinion": Maybe(_FEATURE_OPINION),
    "dtype": Choice({name: np.dtype(name) for name in ("float32", "float64")}),
})  # fmt: skip

_CALIBRATION = Record(Calibration, {
    "temperature": Number(), "map_temperature": Number(), "n_held_out": Whole(),
    "log_loss_before": Number(may_be_nan=True), "log_loss_after": Number(may_be_nan=True),
    "conformity": Array((None,)),
})  # fmt: skip

_STOPPING_RULE = Record(StoppingRule, {
    "by": Text(), "max_time": Maybe(Whole(1)), "kept_share": Maybe(Number()),
    "covered": Flag(),
})  # fmt: skip

_WARP = Record(Warp, {"rounds": Whole(1), "floor": Number(), "forward_exponent": Number()})


class _Pair(Listed):
    """Two lists."""

    def fits(self, value: Any) -> bool:
        """Return whether it is a pair of lists or tuples."""
        return super().fits(value) and len(value) == 2 and all(map(super().fits, value))


_PARAMETERS: dict[str, Form] = {
    "n_neighbors": _NEIGHBORS,
    "kernel": Maybe(OneOf({"name": Text()} | _KERNELS)),
    "alpha": Number(),
    "label_mode": Text(),
    "tau": OneOf({"name": Text(), "number": Number(), "rule": _STOPPING_RULE}),
    "class_prior": Maybe(
        OneOf(
            {
                "name": Text(),
                "range": _Pair(Listed(Number()), make=tuple),
                "shares": Listed(Number()),
            }
        )
    ),
    "warp": Maybe(_WARP),
    "join_features": Flag(),
    "kept_classes": Maybe(Whole(2)),
    "random_state": _SEED,
    "device": Text(),
}


def _answering(**found: Any) -> DiffusionClassifier:
    return DiffusionClassifier.answering(
        found.pop("_new_points"),
        found.pop("calibration_"),
        classes=found.pop("classes_"),
        n_features=found.pop("n_features_in_"),
        **found,
    )


_FOUND: dict[str, Form] = {
    "n_features_in_": Whole(1),
    "classes_": Array(("c",), "iuf"),
    "calibration_": _CALIBRATION,
    "_new_points": _NEW_POINTS,
}

CLASSIFIER = Record(DiffusionClassifier, _FOUND | _PARAMETERS, _answering)
