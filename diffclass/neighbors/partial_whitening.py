"""Features: coordinates in which points that are close are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from diffclass._validation import RandomState, check_positive, check_seed, validate_points


class PartialWhitening(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal component scores divided by a power of their standard deviation.

    z_j = <x - mean, v_j> / sigma_j^power. A power of 0 is PCA, in which the first components
    dominate all others; 1 is full whitening, in which noise counts as much as signal. One half is a
    good compromise.

    Parameters
    ----------
    n_components : int, default=30
        Number of components; at most min(n, d), without those of zero variance.
    power : float, default=0.5
        Power of the standard deviation, at least 0.
    random_state : int, RandomState or None, default=None
        Seeds scikit-learn's randomised solver, which it uses for large tables.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
    components_ : ndarray of shape (n_components_, d)
        Directions, already divided by sigma_j^power. If all points are equal there is one, with
        scores of 0.
    n_components_ : int

    Raises
    ------
    ParameterError
        If the power is negative or n_components below 1.

    See Also
    --------
    SceneFeatures : For pictures, whose neighbouring pixels tell noise from signal.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.neighbors import PartialWhitening
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) * [16.0, 4.0, 1.0]
    >>> PartialWhitening(n_components=2).fit_transform(X).std(axis=0).round()
    array([4., 2.])
    """

    def __init__(
        self, n_components: int = 30, *, power: float = 0.5, random_state: RandomState = None
    ):
        self.n_components = n_components
        self.power = power
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> PartialWhitening:
        """Find the components of the points ``X`` of shape (n, d)."""
        from sklearn.decomposition import PCA

        check_positive(self.n_components, "n_components", integer=True)
        check_positive(self.power, "power", zero=True)
        check_seed(self.random_state)
        X = validate_points(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        n_components = min(self.n_components, *X.shape)
        with np.errstate(invalid="ignore"):  # for equal points PCA divides 0 by 0
            pca = PCA(n_components, random_state=self.random_state).fit(X)
        sigma = np.sqrt(pca.explained_variance_)
        kept = sigma > np.finfo(X.dtype).eps * max(sigma[0], np.finfo(X.dtype).tiny) * max(X.shape)
        kept[0] = True
        sigma = np.where(sigma > 0, sigma, 1)[kept]
        self.mean_ = pca.mean_
        self.components_ = pca.components_[kept] / (sigma**self.power)[:, None]
        self.n_components_ = self._n_features_out = len(self.components_)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the scores of the points ``X``, of shape (m, n_components_)."""
        check_is_fitted(self)
        X = validate_points(self, X, dtype=[np.float64, np.float32], reset=False)
        return (X - self.mean_) @ self.components_.T
