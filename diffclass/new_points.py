"""What a fitted classifier answers new points with: all it has to keep for them, and no more.

A new point takes one step of the walk to the fitted points, whose values of the diffused labels it
reads. Where no label can be reached, and beyond the reach of the fitted points (see
`diffclass.point_graph`), nothing is known: the posteriors are uniform, but for a hint.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffclass.label_diffusion import Calibration, FeatureOpinion, posteriors_of
from diffclass.operators.markov import PlainValues
from diffclass.operators.warped import WarpedValues
from diffclass.point_graph import REACH, StepsToPoints


@dataclass(frozen=True, eq=False)
class NewPoints:
    """Answers to new points.

    Attributes
    ----------
    steps : StepsToPoints
    values : PlainValues or WarpedValues
        Diffused labels N_i at the fitted points.
    class_weight : ndarray of shape (n_classes,)
    feature_opinion : FeatureOpinion or None
        What the features say, if it counts.
    labelled : ndarray of shape (m, d) or None
        The labelled points; None for a precomputed affinity.
    labelled_codes : ndarray of int of shape (m,)
        Their classes.
    dtype : dtype
        That of the walk.
    """

    steps: StepsToPoints
    values: PlainValues | WarpedValues
    class_weight: np.ndarray
    feature_opinion: FeatureOpinion | None
    labelled: np.ndarray | None
    labelled_codes: np.ndarray
    dtype: np.dtype

    def posteriors(
        self, X: np.ndarray, calibration: Calibration | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the posteriors of new points, calibrated or not, and their novelty.

        Parameters
        ----------
        X : ndarray of shape (m, d)
            Or, for a precomputed affinity, their (m, n) affinities.
        calibration : Calibration, optional

        Returns
        -------
        posteriors : ndarray of shape (m, n_classes)
        novelty : ndarray of shape (m,)
        """
        weights, novelty = self.steps.weights_and_novelty(X, dtype=self.dtype)
        values = self.values.at(weights)
        posteriors = posteriors_of(values, self.class_weight)
        if self.feature_opinion is not None:
            posteriors = self.feature_opinion.joined(posteriors, X)
        if calibration is not None:
            posteriors = calibration.apply(posteriors)
        unreached = values.sum(axis=1) <= 0
        if unreached.any():
            posteriors[unreached] = self.hinted(self.nearest_codes(X[unreached]))
        far = (novelty > REACH) & ~unreached
        posteriors[far] = self.hinted(posteriors[far].argmax(axis=1))
        return posteriors, novelty

    def hinted(self, codes: np.ndarray) -> np.ndarray:
        """Return uniform posteriors with a slight preference that makes their argmax ``codes``."""
        n_classes = len(self.class_weight)
        uniform = np.full((len(codes), n_classes), 1 / n_classes)
        uniform[np.arange(len(codes)), codes] += 4 * np.finfo(self.dtype).eps
        return uniform

    def nearest_codes(self, X: np.ndarray) -> np.ndarray:
        """Class of the nearest label; without coordinates, the class with most labels."""
        if self.labelled is None:
            commonest = np.bincount(self.labelled_codes).argmax()
            return np.full(X.shape[0], commonest)
        from sklearn.metrics import pairwise_distances_argmin

        points, labelled = map(self.steps.features_of, (X, self.labelled))
        return self.labelled_codes[pairwise_distances_argmin(points, labelled)]
