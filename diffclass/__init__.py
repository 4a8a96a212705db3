"""diffclass: semi-supervised classification on diffusion maps.

Names load on first use, so that ``import diffclass`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffclass.classifier import DiffusionClassifier
    from diffclass.exceptions import DataError, DiffclassError, ParameterError, UnreachedWarning
    from diffclass.label_diffusion import diffuse_labels
    from diffclass.markov import MarkovOperator, markov_operator
    from diffclass.neighbors import neighbors_graph

__version__ = "0.1.0"

__all__ = [
    "DataError",
    "DiffclassError",
    "DiffusionClassifier",
    "MarkovOperator",
    "ParameterError",
    "UnreachedWarning",
    "__version__",
    "diffuse_labels",
    "markov_operator",
    "neighbors_graph",
]

_HOMES = {
    "DataError": "exceptions",
    "DiffclassError": "exceptions",
    "DiffusionClassifier": "classifier",
    "MarkovOperator": "markov",
    "ParameterError": "exceptions",
    "UnreachedWarning": "exceptions",
    "diffuse_labels": "label_diffusion",
    "markov_operator": "markov",
    "neighbors_graph": "neighbors",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"diffclass.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'diffclass' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
