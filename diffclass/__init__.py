"""diffclass: semi-supervised classification on diffusion maps.

Names load on first use, so that ``import diffclass`` costs nothing.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffclass.acquisition import Suggestions, suggest
    from diffclass.anomaly import DiffusionAnomaly
    from diffclass.classifier import DiffusionClassifier
    from diffclass.clustering import DiffusionClustering, DiffusionModes
    from diffclass.embedding import DiffusionMap, GeometricHarmonics
    from diffclass.exceptions import (
        DataError,
        DiffclassError,
        ParameterError,
        ScaleWarning,
        UnreachedWarning,
    )
    from diffclass.graph import PointGraph, markov_operator
    from diffclass.label_diffusion import StoppingRule, diffuse_labels
    from diffclass.multiscale import DiffusionWavelets, diffusion_wavelets
    from diffclass.neighbors import neighbors_graph
    from diffclass.operators.markov import MarkovOperator
    from diffclass.operators.warped import Warp, WarpedOperator, warped_operator
    from diffclass.regression import EigenfunctionRegressor
    from diffclass.relabel import RelabelSession
    from diffclass.spectral.bandwidth import BandwidthCurve, semigroup_bandwidth, slope_bandwidth
    from diffclass.spectral.eigenpairs import Eigenpairs, leading_eigenpairs

__version__ = "0.1.0"

__all__ = [
    "BandwidthCurve",
    "DataError",
    "DiffclassError",
    "DiffusionAnomaly",
    "DiffusionClassifier",
    "DiffusionClustering",
    "DiffusionMap",
    "DiffusionModes",
    "DiffusionWavelets",
    "EigenfunctionRegressor",
    "Eigenpairs",
    "GeometricHarmonics",
    "MarkovOperator",
    "ParameterError",
    "PointGraph",
    "RelabelSession",
    "ScaleWarning",
    "StoppingRule",
    "Suggestions",
    "UnreachedWarning",
    "Warp",
    "WarpedOperator",
    "__version__",
    "diffuse_labels",
    "diffusion_wavelets",
    "leading_eigenpairs",
    "markov_operator",
    "neighbors_graph",
    "semigroup_bandwidth",
    "slope_bandwidth",
    "suggest",
    "warped_operator",
]

if importlib.util.find_spec("msgspec") is None:  # the extra "relabel"
    __all__.remove("RelabelSession")  # which would make ``from diffclass import *`` fail

_HOMES = {
    "BandwidthCurve": "spectral.bandwidth",
    "DataError": "exceptions",
    "DiffclassError": "exceptions",
    "DiffusionAnomaly": "anomaly",
    "DiffusionClassifier": "classifier",
    "DiffusionClustering": "clustering",
    "DiffusionMap": "embedding",
    "DiffusionModes": "clustering",
    "DiffusionWavelets": "multiscale",
    "EigenfunctionRegressor": "regression",
    "GeometricHarmonics": "embedding",
    "MarkovOperator": "operators.markov",
    "ParameterError": "exceptions",
    "PointGraph": "graph",
    "RelabelSession": "relabel",
    "Eigenpairs": "spectral.eigenpairs",
    "StoppingRule": "label_diffusion",
    "Suggestions": "acquisition",
    "ScaleWarning": "exceptions",
    "UnreachedWarning": "exceptions",
    "Warp": "operators.warped",
    "WarpedOperator": "operators.warped",
    "diffuse_labels": "label_diffusion",
    "diffusion_wavelets": "multiscale",
    "leading_eigenpairs": "spectral.eigenpairs",
    "markov_operator": "graph",
    "neighbors_graph": "neighbors",
    "semigroup_bandwidth": "spectral.bandwidth",
    "slope_bandwidth": "spectral.bandwidth",
    "suggest": "acquisition",
    "warped_operator": "operators.warped",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"diffclass.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'diffclass' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
