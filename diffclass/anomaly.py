"""Anomalies by diffusion distance: points from which the walk spreads slowly.

The score of a point is the squared diffusion distance from its bump to the stationary
distribution, ::

    D_t^2(x, pi) = sum_z (a_t(x, z) - pi(z))^2 / pi(z),

large where the walk from x stays among few points and few walks arrive. At t = 1 with one bandwidth
for all it is about 1 / pi(x)^2 for a point without near neighbours, and falls with the density; at
later times small groups of points that are alike stand out too, and single points that are mixtures
of common ones no longer do.

From a new point x the walk takes one-way steps to the fitted points, and does not come back, ::

    a(x, x) = 1 / d(x),    a(x, y) = k(x, y) / d(x),    d(x) = 1 + sum_y k(x, y),

and the score is that of this walk, with pi(x) = d(x) / sum(d). A new point that coincides with a
fitted one has its score.

Sources: Coifman et al. 2005, section 2.1, and the encyclopedia's article (uses: anomaly detection).
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from diffclass._validation import RandomState, validate_points
from diffclass.exceptions import ParameterError
from diffclass.graph import PointGraph
from diffclass.kernels import Gaussian
from diffclass.spectral.distances import probes, squared_distances_to_equilibrium

__all__ = ["DiffusionAnomaly"]

# Affinity at a thousandth of the bandwidth; rounding may move equal points that far apart.
_SAME = 1 - 1e-6


class DiffusionAnomaly(OutlierMixin, BaseEstimator):
    """Score points by the diffusion distance of their bump to the stationary distribution.

    Parameters
    ----------
    n_neighbors : int, default=32
        Neighbours of a point in the graph, at most n - 1: more than anomalies that are alike.
    bandwidth : {"global", "graph", "self-tuning"} or float, default="global"
        Of the `Gaussian` kernel. With "self-tuning" little is found, as density no longer counts.
    time : int, default=1
        t, at least 1. Longer times find groups of many anomalies that are alike, and lose single
        ones that are mixtures of common points.
    n_probes : int, default=256
        m of `squared_distances_to_equilibrium`, at times above 1.
    contamination : float, default=0.1
        Share of the fitted points that are anomalies, above 0 and at most 0.5.
    random_state : int, RandomState or None, default=0
        Seeds the neighbour search and the probes.

    Attributes
    ----------
    scores_ : ndarray of shape (n,)
        D_t^2 of the fitted points, at least 0.
    offset_ : float
        Minus the score above which points are anomalies.
    graph_ : PointGraph
        Of the fitted points.

    See Also
    --------
    DiffusionClassifier.novelty : For new points outside the data of a classifier.

    Examples
    --------
    A cloud and two points outside:

    >>> import numpy as np
    >>> from diffclass.anomaly import DiffusionAnomaly
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(300, 2)), [[9.0, 9.0], [-8.0, 7.0]]])
    >>> found = DiffusionAnomaly(contamination=0.005).fit(X)
    >>> np.flatnonzero(found.fit_predict(X) == -1).tolist()
    [300, 301]
    >>> found.predict([[0.0, 0.0], [20.0, 20.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 32,
        bandwidth: str | float = "global",
        time: int = 1,
        n_probes: int = 256,
        contamination: float = 0.1,
        random_state: RandomState = 0,
    ):
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.time = time
        self.n_probes = n_probes
        self.contamination = contamination
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> DiffusionAnomaly:
        """Build the graph of the points and score them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.

        Raises
        ------
        DataError, ParameterError
            As `PointGraph.from_points`, and if a parameter is out of range.
        """
        X = validate_points(self, X, dtype=[np.float64, np.float32])
        good = isinstance(self.contamination, Real) and 0 < self.contamination <= 0.5
        if not good:
            raise ParameterError(
                f"contamination = {self.contamination!r}; it has to be in (0, 0.5]"
            )
        self.graph_ = PointGraph.from_points(
            X,
            n_neighbors=self.n_neighbors,
            kernel=Gaussian(bandwidth=self.bandwidth),
            random_state=self.random_state,
        )
        self._scores = squared_distances_to_equilibrium(
            self.graph_.operator,
            time=self.time,
            n_probes=self.n_probes,
            random_state=self.random_state,
        )
        self.scores_ = self.graph_.operator.at_points(self._scores)
        self.offset_ = float(np.quantile(-self.scores_, self.contamination))
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Return minus the scores of new points, of shape (m,); the lower, the more abnormal."""
        check_is_fitted(self)
        X = validate_points(self, X, reset=False, dtype=[np.float64, np.float32])
        affinities = self.graph_.affinities_to(X).astype(np.float64)
        nearest = affinities.argmax(axis=1)
        is_fitted = affinities.max(axis=1).toarray().ravel() > _SAME
        if self.graph_.operator.mass is not None:
            affinities = sp.csr_array(affinities * self.graph_.operator.mass[None, :])
        degrees = 1 + affinities.sum(axis=1)  # k(x, x) = 1
        steps = sp.csr_array(sp.diags_array(1 / degrees) @ affinities)
        stays = 1 / degrees
        kept = stays**self.time  # the share that never left
        own = kept**2 * self.graph_.operator.degrees.sum() / degrees
        scores = np.maximum(self._spread(steps, stays) + (1 - kept) ** 2 + own - 1, 0)
        return -np.where(is_fitted, self._scores[nearest], scores)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return ``score_samples`` minus ``offset_``, of shape (m,); below 0 for anomalies."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Return -1 for anomalies among new points and 1 for the others, of shape (m,)."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(self, X: Any, y: ArrayLike | None = None) -> np.ndarray:
        """Fit, and return -1 for anomalies among the points and 1 for the others, of shape (n,)."""
        self.fit(X)
        return np.where(-self.scores_ < self.offset_, -1, 1)

    def _spread(self, steps: sp.csr_array, stays: np.ndarray) -> np.ndarray:
        """Return sum_y (a_t(x, y) - (1 - kept(x)) pi(y))^2 / pi(y) over the fitted points."""
        operator = self.graph_.operator
        if self.time == 1:
            squares = steps.power(2) @ (1 / operator.stationary_distribution)
            return squares - (1 - stays) ** 2
        total = np.zeros(len(stays))
        n_used = 0
        for f in probes(operator, self.n_probes, self.random_state):
            reached = np.zeros((len(stays), f.shape[1]))
            for _ in range(self.time):  # u_(s+1)(x) = a(x, x) u_s(x) + sum_y a(x, y) A^s f (y)
                reached = stays[:, None] * reached + steps @ f
                f = operator @ f
            total += np.einsum("ij,ij->i", reached, reached)
            n_used += reached.shape[1]
        return total if n_used == len(operator) <= self.n_probes else total / n_used
