"""Measures of the papers' figures, and their means over draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import spearmanr

from diffclass.label_diffusion import LabelDiffusion


def mean_and_spread(quantity: str, values: Sequence[float]) -> dict[str, float]:
    """Return the mean and the standard deviation of a quantity over its draws."""
    return {
        f"{quantity}, mean of {len(values)} draws": float(np.mean(values)),
        f"{quantity}, standard deviation": float(np.std(values)),
    }


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Return |Spearman's r|; if b has n equally frequent values, at most 1 - 1 / (2 n^2)."""
    return abs(float(spearmanr(a, b)[0]))


def mapped_classes(found: LabelDiffusion) -> np.ndarray:
    """Return the class of each point; 0, which counts as wrong, where no label arrives."""
    return np.where(found.reached, found.classes[found.codes], 0)
