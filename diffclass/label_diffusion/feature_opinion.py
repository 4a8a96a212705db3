"""The opinion of the features: a smooth function of them, joined if held-out labels speak for it.

The walk knows a point by its neighbours. Where classes are mixtures of one another it crosses
their borders, and a smooth function of the features tells them apart better; where a class drifts
through the features it is the other way round. That function is the mean of a Gaussian process,

    v(x) = 1/c + k(x, L) (k(L, L) + s W^-1)^-1 (Y - 1/c),   k(x, y) = exp(-|x - y|^2 / (2 h^2)),

with c classes, L the labelled points, Y their classes as indicators, W their weights, h^2 the mean
squared distance between two of them and s = 0.1. Far from all labels it has no opinion, 1/c. It
joins the posteriors p of the walk, at their calibrated temperature T, as

    q_i = p_i^(1/T) exp(b v_i) / sum_j p_j^(1/T) exp(b v_j),   b = 8.

*The gate.* The graph is preferred, unless held-out labels say otherwise by more than their error:
the features count only if exp(b v) has a lower Brier score at these labels than p^(1/T), by more
than one standard error of the mean of the paired differences. Leaving a label l out is in closed
form: with H = (k(L, L) + s W^-1)^-1 and a = H (Y - 1/c) the features say v(l) = Y_l - a_l / H_ll,
and Y_B - H_BB^-1 a_B for all of its group B. With one label or group per class none is left out,
and the graph decides alone.

h, s, b and the gate were chosen on the choosing half of the problems of experiments/few_labels;
`python -m experiments.few_labels.joined_features` has the figures. On drifting classes the joined
map without the gate loses up to 13 points. A handful of labels can mislead the gate: on two
reported families one draw in ten lost 4 to 5 points with fifteen held-out labels.

Sources: M. Belkin, P. Niyogi and V. Sindhwani, Manifold regularization, 2006 (ambient and intrinsic
kernels); C. Rasmussen and C. Williams, Gaussian processes for machine learning, 2006, section 5.4.2
(leaving one out).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from diffclass.label_diffusion.calibration import Calibration, calibrate_by, sharpened
from diffclass.label_diffusion.class_sizes import SIZED
from diffclass.label_diffusion.diffusion import LabelDiffusion
from diffclass.label_diffusion.held_out_labels import HeldOutLabels, hold_out_labels
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.maps import is_clear_gain
from diffclass.operators.warped import Operator
from diffclass.system.progress import stage

_NOISE = 0.1  # s
_SHARPNESS = 8.0  # b
_MOST_LABELS = 2000  # from which the features are learnt: their matrix is dense
_MOST_VALUES = 2_000_000  # of a block of kernel values


@dataclass(frozen=True, eq=False)
class FeatureOpinion:
    """What the features say, and whether they count.

    Attributes
    ----------
    labelled : ndarray of shape (m, d)
        The labelled points.
    coefficients : ndarray of shape (m, n_classes)
        a, one row for each of them.
    width : float
        h, in the unit of the features.
    temperature : float
        T of the walk's posteriors.
    gain : float
        Brier score of the graph less that of the features, mean over the held-out labels; NaN with
        fewer than two.
    error : float
        Standard error of the gain.
    n_held_out : int
        Number of labels that were held out.
    counts : bool
        Whether the features count: the gain is above its error.
    """

    labelled: np.ndarray
    coefficients: np.ndarray
    width: float
    temperature: float
    gain: float
    error: float
    n_held_out: int
    counts: bool

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return v at points X (n, d): rows of sum 1, with single values below 0 and above 1."""
        m, n_classes = self.coefficients.shape
        values = np.empty((len(X), n_classes))
        n_rows = max(1, _MOST_VALUES // m)
        for start in range(0, len(X), n_rows):
            block = slice(start, start + n_rows)
            values[block] = _kernel(X[block], self.labelled, self.width) @ self.coefficients
        return values + 1 / n_classes

    def joined(self, posteriors: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Return q: posteriors p (n, n_classes) joined with what the features X (n, d) say."""
        return _joined(posteriors, self.values(X), self.temperature)


def join_features(
    operator: Operator,
    X: np.ndarray,
    labels: Labels,
    diffusion: LabelDiffusion,
) -> tuple[FeatureOpinion, LabelDiffusion, Calibration]:
    """Join diffused labels with what the features say, where held-out labels speak for it.

    Parameters
    ----------
    operator : MarkovOperator or WarpedOperator
        The walk on n points. Nothing is left out of a warped one, and the features do not count.
    X : ndarray of shape (n, d)
        The features of the points.
    labels : Labels
        Those of one group are held out together.
    diffusion : LabelDiffusion
        Of these labels.

    Returns
    -------
    opinion : FeatureOpinion
        What the features say, and whether they count.
    diffusion : LabelDiffusion
        The same as before where they do not count; else with the joined posteriors as values.
        Points that no label has reached stay so.
    calibration : Calibration
        Of these posteriors. Costs twice what `calibrate` does where the features count, once
        where not, and the values of the opinion.

    Examples
    --------
    A cube of ten dimensions, which a plane halves; no gap in the points tells the graph where:

    >>> import numpy as np
    >>> from diffclass import diffuse_labels, markov_operator
    >>> from diffclass.label_diffusion import Labels, join_features
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(600, 10))
    >>> truth = (X[:, 0] > 0).astype(int)
    >>> codes = np.where(np.arange(600) < 40, truth, -1)
    >>> operator = markov_operator(X, n_neighbors=12)
    >>> by_graph = diffuse_labels(operator, codes)
    >>> opinion, joined, calibration = join_features(operator, X, Labels.of(codes), by_graph)
    >>> opinion.counts, bool((joined.codes == truth).mean() > (by_graph.codes == truth).mean())
    (True, True)
    """
    with stage("opinion of the features"):
        left = hold_out_labels(operator, labels, diffusion)
        calibration = calibrate_by(operator, diffusion, left)
        is_free = diffusion.weighting not in SIZED  # joined posteriors would have other sizes
        heard = left if is_free else HeldOutLabels.none(labels.n_classes)
        opinion, without = _opinion(X, labels, heard, calibration)
        if not opinion.counts:
            return opinion, diffusion, calibration
        posteriors = _joined(left.posteriors, without, opinion.temperature)
        left = replace(left, posteriors=posteriors)
        diffusion = diffusion.with_posteriors(opinion.joined(diffusion.posteriors, X))
        return opinion, diffusion, calibrate_by(operator, diffusion, left)


def _opinion(
    X: np.ndarray, labels: Labels, left: HeldOutLabels, calibration: Calibration
) -> tuple[FeatureOpinion, np.ndarray]:
    """Return the opinion of the features, and v at the held-out labels."""
    learnt = _learnt_from(labels, left)
    n_classes = left.posteriors.shape[1]
    centred = np.eye(n_classes)[learnt.codes] - 1 / n_classes
    labelled = X[learnt.points].astype(np.float64)
    width = _root_mean_square_distance(labelled)
    noise = np.diag(_NOISE / learnt.weight)
    inverse = np.linalg.inv(_kernel(labelled, labelled, width) + noise)
    coefficients = inverse @ centred
    without = np.empty(left.posteriors.shape)
    for row, label in enumerate(np.searchsorted(learnt.points, left.points)):
        block = np.flatnonzero(learnt.groups == learnt.groups[label])
        residuals = np.linalg.solve(inverse[np.ix_(block, block)], coefficients[block])
        residual = residuals[np.searchsorted(block, label)]
        without[row] = centred[label] - residual + 1 / n_classes
    gains, m = _gains(left, without, calibration.temperature), len(left.points)
    opinion = FeatureOpinion(
        labelled,
        coefficients,
        width,
        calibration.temperature,
        gain=float(gains.mean()) if m > 1 else np.nan,
        error=float(gains.std(ddof=1) / np.sqrt(m)) if m > 1 else np.nan,
        n_held_out=m,
        counts=is_clear_gain(gains),
    )
    return opinion, without


def _learnt_from(labels: Labels, left: HeldOutLabels) -> Labels:
    """Return labels that count, those held out among them."""
    labels = labels.only(labels.counted)
    if len(labels.points) <= _MOST_LABELS:
        return labels
    others = np.setdiff1d(labels.points, left.points)
    n_others = _MOST_LABELS - len(left.points)
    others = np.random.default_rng(0).choice(others, n_others, replace=False)
    return labels.only(np.isin(labels.points, np.concatenate([left.points, others])))


def _root_mean_square_distance(points: np.ndarray) -> float:
    """Return that of two of the points, drawn at random; 1 where all are the same."""
    largest = float(np.abs(points).max()) or 1.0  # its square may overflow
    return largest * float(np.sqrt(2 * (points / largest).var(axis=0).sum())) or 1.0


def _kernel(X: np.ndarray, labelled: np.ndarray, width: float) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return np.exp(-cdist(X / width, labelled / width, "sqeuclidean") / 2)


def _gains(left: HeldOutLabels, without: np.ndarray, temperature: float) -> np.ndarray:
    """Return by how much the features' Brier score is below the graph's at each label; (m,)."""
    truth = np.eye(without.shape[1])[left.codes]
    by_graph = sharpened(left.posteriors, 1 / temperature)
    by_features = _joined(np.ones_like(without), without, 1.0)
    scores = [((q - truth) ** 2).sum(axis=1) for q in (by_graph, by_features)]
    return scores[0] - scores[1]


def _joined(posteriors: np.ndarray, values: np.ndarray, temperature: float) -> np.ndarray:
    """Return q, of the type of the posteriors."""
    odds = np.exp(_SHARPNESS * (values - values.max(axis=1, keepdims=True)))
    q = sharpened(posteriors, 1 / temperature) * odds
    return (q / q.sum(axis=1, keepdims=True)).astype(posteriors.dtype, copy=False)
