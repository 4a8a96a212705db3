"""The parts of a `DiffusionClassifier` that a file holds: those that new points need.

A file keeps the parameters and points of a neighbour search, which indexes them again when it is
read: nobody could check an index that a file claims.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from diffclass.classifier import DiffusionClassifier
from diffclass.graph import StepsToPoints
from diffclass.kernels import FittedKernel, KeptPlacing, Kernel
from diffclass.kernels.named import load_named_kernels
from diffclass.label_diffusion import Calibration, FeatureOpinion, StoppingRule
from diffclass.neighbors import ExactSearch, NNDescentSearch, default_search
from diffclass.neighbors.number_range import NumberRange
from diffclass.neighbors.search import CudaSearch, Search
from diffclass.new_points import NewPoints
from diffclass.operators.markov import PlainValues
from diffclass.operators.warped import Warp, WarpedValues
from diffclass.system.forms import (
    Array,
    Choice,
    Derived,
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

# Letters of sizes: n fitted points with d features, p of them searched; c classes, m labels.
_POINTS, _OF_EACH, _OF_CLASSES = Array(("n", "d")), Array(("n",)), Array(("n", "c"))
_NEIGHBORS = Whole(1, 4096)
_SEED = Maybe(Whole(0, 2**32 - 1))


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

_STEPS = Record(StepsToPoints, {
    "search": _SEARCHES, "scales": Maybe(_OF_EACH), "density": _OF_EACH,
    "placing": Derived(KeptPlacing), "mass": Maybe(_OF_EACH),
    "kernel": Derived(FittedKernel, find_more=load_named_kernels),
    "number_range": Record(NumberRange, {"exponent": Whole(-1100, 1100)}),
})  # fmt: skip

_FEATURE_OPINION = Record(FeatureOpinion, {
    "mean": Array(("d",)), "scale": Array(("d",)), "coefficients": Array(("d", "c")),
    "intercept": Array(("c",)), "centers": Array(("g", "d")), "bumps": Array(("g", "c")),
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
        }),
    }),
    "feature_opinion": Maybe(_FEATURE_OPINION),
    "dtype": Choice({name: np.dtype(name) for name in ("float32", "float64")}),
})  # fmt: skip

_CALIBRATION = Record(Calibration, {
    "log_loss_before": Number(may_be_nan=True), "log_loss_after": Number(may_be_nan=True),
    "conformity": Array((None,)), "crossing": Number(),
})  # fmt: skip

_STOPPING_RULE = Record(StoppingRule, {"max_time": Maybe(Whole(1))})

_WARP = Record(Warp, {"rounds": Whole(1)})


class _Pair(Listed):
    """Two lists."""

    def fits(self, value: Any) -> bool:
        """Return whether it is a pair of lists or tuples."""
        return super().fits(value) and len(value) == 2 and all(map(super().fits, value))


_PARAMETERS: dict[str, Form] = {
    "n_neighbors": _NEIGHBORS,
    "kernel": Maybe(Derived(Kernel, {"name": Text()}, load_named_kernels)),
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
    "join_features": OneOf({"name": Text(), "flag": Flag()}),
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
