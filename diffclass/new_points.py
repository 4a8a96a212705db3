"""Prediction at new points: what a fitted classifier keeps for it.

A new point takes one step of the walk to the fitted points and averages their diffused labels. At
the place of a fitted point it has the values of that point. Where no label can be reached, and
beyond the reach of the fitted points (see `diffclass.graph`), the posteriors are uniform but for a
slight preference for the class of the nearest label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffclass.graph import REACH, StepsToPoints
from diffclass.label_diffusion import Calibration, FeatureOpinion, posteriors_of
from diffclass.label_diffusion.maps import with_ties
from diffclass.neighbors.number_range import nearest_of
from diffclass.operators.markov import PlainValues
from diffclass.operators.warped import WarpedValues


@dataclass(frozen=True, eq=False)
class NewPoints:
    """Posteriors and novelty of new points."""

    steps: StepsToPoints
    values: PlainValues | WarpedValues  # diffused labels N_i at the fitted points
    class_weight: np.ndarray  # (n_classes,)
    feature_opinion: FeatureOpinion | None  # if the features are joined
    labelled: np.ndarray | None  # (m, d), the labelled points; None for a precomputed affinity
    labelled_codes: np.ndarray  # (m,), their classes
    dtype: np.dtype  # that of the walk

    def posteriors(
        self, X: np.ndarray, calibration: Calibration | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return posteriors (m, n_classes), calibrated or not, and novelty (m,) of new points.

        X (m, d) are points or, for a precomputed affinity, their (m, n) affinities.
        """
        weights, novelty = self.steps.weights_and_novelty(X, dtype=self.dtype)
        values = self.values.at(weights)
        same, there = self.steps.fitted_places(X)
        values[same] = self.values.rows(there)
        posteriors = posteriors_of(values, self.class_weight)
        walked = posteriors
        if self.feature_opinion is not None:
            posteriors = with_ties(self.feature_opinion.joined(posteriors, X))
        if calibration is not None:
            posteriors = calibration.apply(posteriors)
        unreached = values.sum(axis=1) <= 0
        if unreached.any():
            posteriors[unreached] = self.nearest_rows(X[unreached])
        # far away the class of the walk stays, but nothing is known of how likely it is
        far = (novelty > REACH) & ~unreached
        posteriors[far] = self.hinted(walked[far].argmax(axis=1))
        return posteriors, novelty

    def hinted(self, codes: np.ndarray) -> np.ndarray:
        """Return uniform posteriors with a slight preference that makes their argmax ``codes``."""
        n_classes = len(self.class_weight)
        uniform = np.full((len(codes), n_classes), 1 / n_classes)
        uniform[np.arange(len(codes)), codes] += 4 * np.finfo(self.dtype).eps
        return uniform

    def nearest_rows(self, X: np.ndarray) -> np.ndarray:
        """Return the posteriors of points that no label reaches: a hint at that of the nearest."""
        return self.hinted(self.nearest_codes(X))

    def nearest_codes(self, X: np.ndarray) -> np.ndarray:
        """Return the class of the nearest label, or the class with most labels for an affinity.

        Of labels equally near the least class counts, whatever the order of the points is.
        """
        if self.labelled is None:
            commonest = np.bincount(self.labelled_codes).argmax()
            return np.full(X.shape[0], commonest)
        by_class = np.argsort(self.labelled_codes, kind="stable")
        points, labelled = map(self.steps.features_of, (X, self.labelled[by_class]))
        return self.labelled_codes[by_class[nearest_of(points, labelled)]]
