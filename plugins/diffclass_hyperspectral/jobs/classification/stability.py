"""Whether the map depends on the seed: the scene is classified once more with another one.

The neighbour search misses a few neighbours, and the seed decides which. Features, labels and their
split stay the same; graph, diffusion and the choice of its time are repeated. The share of the
pixels with data in which the two maps differ, before cleaning, is known as churn.

Source: Milani Fard, Cormier, Canini and Gupta 2016, Launch and iterate: reducing prediction churn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from diffclass.blocks import BlockClassifier
from diffclass.classifier import DiffusionClassifier
from diffclass.jobs import Classifier, Facts
from diffclass_hyperspectral.jobs.classification.scene_classification import (
    SceneClassification,
)


@dataclass(frozen=True)
class Stability(Facts):
    """How much of a map a second seed of the neighbour search changes."""

    seed: int  # the second one
    changed: float  # share of the pixels with data
    changed_pixels: int
    exact_neighbors: bool  # no seed takes part


@dataclass(frozen=True, eq=False)
class SecondMap:
    """A map by a second seed, not cleaned: class ids of shape (rows, columns)."""

    class_map: np.ndarray
    random_state: int

    def compared_with(self, result: SceneClassification) -> tuple[SceneClassification, Stability]:
        """Return a classification, not cleaned, with its stability, and how much of it differs."""
        has_data = np.isfinite(result.margin)
        same = (result.class_map == self.class_map).astype(np.float32)
        same[~has_data] = np.nan
        changed = int(np.count_nonzero(same == 0))
        found = Stability(
            seed=self.random_state,
            changed=changed / np.count_nonzero(has_data),
            changed_pixels=changed,
            exact_neighbors=_is_exact(result.model.classifier),
        )
        return replace(result, stability=same), found


def reseeded(classifier: DiffusionClassifier) -> DiffusionClassifier:
    """Return an unfitted copy with another seed, also of a search that was given."""
    again = clone(classifier)
    return again.set_params(
        **{
            name: _another(value)
            for name, value in again.get_params().items()
            if _is_seed(name) and (name == "random_state" or value is not None)
        }
    )


def _is_exact(classifier: Classifier) -> bool:
    """Whether the search for neighbours has no seed; blocks are cut by one."""
    if isinstance(classifier, BlockClassifier):
        return False
    search = classifier.graph_.search
    return search is None or not any(map(_is_seed, search.get_params()))


def _is_seed(name: str) -> bool:
    return name.rpartition("__")[2] == "random_state"


def _another(random_state: Any) -> int:
    if isinstance(random_state, Integral):
        return (int(random_state) + 1) % 2**32
    return int(check_random_state(random_state).randint(2**31 - 1))
