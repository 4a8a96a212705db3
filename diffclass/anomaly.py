"""Anomalies by diffusion distance: points from which the walk spreads slowly.

The weighted diffusion distance between the bump a_t(x, .) and the stationary distribution is

    D_t^2(x, pi) = sum_z (a_t(x, z) - pi(z))^2 / pi(z) = sum_{l>=1} lambda_l^2t psi_l(x)^2,

the squared length of x's diffusion coordinates. It is large if the walk from x has not mixed with
the other points after t steps.

Source: the encyclopedia's article on diffusion maps (uses: anomaly detection).
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from diffclass._validation import RandomState
from diffclass.embedding import DiffusionMap
from diffclass.exceptions import ParameterError


class DiffusionAnomaly(OutlierMixin, BaseEstimator):
    """Score points by the diffusion distance of their bump to the stationary distribution.

    Parameters
    ----------
    embedding : DiffusionMap, optional
        By default 32 coordinates, 12 neighbours, the bandwidth that these carry, t = 1, and
        alpha = 0, so that density counts.
    contamination : float, default=0.1
        Share of the fitted points that are anomalies, above 0 and at most 0.5.
    random_state : int, RandomState or None, default=0
        Seeds the embedding if it is not given.

    Attributes
    ----------
    scores_ : ndarray of shape (n,)
        D_t^2 of the fitted points, at least 0.
    offset_ : float
        Minus the score above which points are anomalies.
    embedding_ : DiffusionMap
        Fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.anomaly import DiffusionAnomaly
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(300, 2)), [[9.0, 9.0], [-8.0, 7.0]]])
    >>> bool((DiffusionAnomaly(contamination=0.01).fit_predict(X)[-2:] == -1).all())
    True
    """

    def __init__(
        self,
        embedding: DiffusionMap | None = None,
        *,
        contamination: float = 0.1,
        random_state: RandomState = 0,
    ):
        self.embedding = embedding
        self.contamination = contamination
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> DiffusionAnomaly:
        """Embed the points and score them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        y : None
            Ignored.

        Returns
        -------
        DiffusionAnomaly
            Itself.

        Raises
        ------
        DataError, ParameterError
            As `DiffusionMap`, and if the contamination is out of range.
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        good = isinstance(self.contamination, Real) and 0 < self.contamination <= 0.5
        if not good:
            raise ParameterError(
                f"contamination = {self.contamination!r}; it has to be in (0, 0.5]"
            )
        self.embedding_ = self._embedding(len(X))
        with warnings.catch_warnings():  # an isolated component is an anomaly, not a mistake
            warnings.filterwarnings("ignore", "the graph has .* components", UserWarning)
            self.scores_ = _squared_lengths(self.embedding_.fit_transform(X))
        self.offset_ = float(np.quantile(-self.scores_, self.contamination))
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Return minus the scores of new points, of shape (m,); the lower, the more abnormal."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return -_squared_lengths(self.embedding_.transform(X))

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

    def _embedding(self, n: int) -> DiffusionMap:
        if self.embedding is not None:
            return clone(self.embedding)
        return DiffusionMap(
            max(min(32, n - 1), 1),
            n_neighbors=12,
            bandwidth="graph",  # which leaves outliers alone
            alpha=0.0,
            random_state=self.random_state,
        )


def _squared_lengths(coordinates: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", coordinates, coordinates)
