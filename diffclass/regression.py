"""Regression on the leading eigenfunctions of a diffusion.

A function known at some points, f(x_i) = y_i, is fitted by sum_{l<=m} c_l psi_l, with the number m
of least leave-one-out error over the known points; equal points are left out together. New points
get their psi_l by Nystrom's extension.

Source: Coifman et al. 2005, sections 1 and 4 (without the choice of m).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from diffclass._validation import check_positive, check_values, validate_points
from diffclass.embedding import DiffusionMap, check_embedding
from diffclass.exceptions import DataError, warn_user
from diffclass.neighbors import Nodes
from diffclass.spectral.eigenpairs import nystrom

__all__ = ["EigenfunctionRegressor"]


class EigenfunctionRegressor(RegressorMixin, BaseEstimator):
    """Fit a function, known at some points, by the leading eigenfunctions of all points.

    Parameters
    ----------
    embedding : DiffusionMap, optional
        Its components are the eigenfunctions available; its time and kind do not matter. By default
        of 64 components, or one less than points.
    n_components : int, optional
        m, without the constant. By default chosen, from at most half the number of distinct known
        points.

    Attributes
    ----------
    coef_ : ndarray of shape (m + 1,) or (m + 1, n_outputs)
        c_l, that of the constant first.
    n_components_ : int
        m in use.
    leave_one_out_ : ndarray
        Mean squared error of the known points, each left out with those equal to it, with the
        constant and 0, 1, ... eigenfunctions.
    fitted_ : ndarray of shape (n,) or (n, n_outputs)
        The fitted function at all points of `fit`.
    embedding_ : DiffusionMap
        Fitted.

    See Also
    --------
    GeometricHarmonics : Extends a function to points farther away, each harmonic as far as it goes.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.regression import EigenfunctionRegressor
    >>> x = np.linspace(0, 3, 400)
    >>> y = np.where(np.arange(400) % 10 == 0, np.cos(2 * x), np.nan)  # 40 are known
    >>> fitted = EigenfunctionRegressor().fit(x[:, None], y).fitted_
    >>> bool(abs(fitted - np.cos(2 * x)).max() < 0.05)
    True
    """

    def __init__(self, embedding: DiffusionMap | None = None, *, n_components: int | None = None):
        self.embedding = embedding
        self.n_components = n_components

    def fit(self, X: Any, y: Any) -> EigenfunctionRegressor:
        """Compute the points' eigenfunctions and fit the known values.

        Parameters
        ----------
        X : array-like of shape (n, d)
            All points.
        y : array-like of shape (n,) or (n, n_outputs)
            Values; NaN or masked where unknown. A point with NaN in any output counts as unknown.

        Raises
        ------
        DataError
            If y has no known value, another length, or infinite values.
        ParameterError
            As `DiffusionMap`.
        """
        X = validate_points(self, X, dtype=[np.float64, np.float32])
        y = check_values(y, len(X), to=self)
        known = np.logical_not(np.isnan(y.reshape(len(X), -1)).any(axis=1))
        if not known.any():
            raise DataError("y holds no known value; all are NaN")
        nodes = Nodes.of(X)
        self.embedding_ = self._embedding(len(X) if nodes is None else len(nodes)).fit(X)
        functions = self.embedding_.operator_.at_points(self.embedding_.eigenpairs_.right)
        basis = functions[known]
        if self.n_components is not None:
            check_positive(self.n_components, "n_components", integer=True, zero=True)
        known_nodes = None if nodes is None else Nodes.of(X[known])
        self.leave_one_out_ = _leave_one_out_errors(basis, y[known], known_nodes)
        self.n_components_ = self._chosen(len(basis if known_nodes is None else known_nodes))
        kept = self.n_components_ + 1
        self.coef_ = np.linalg.lstsq(basis[:, :kept], y[known], rcond=None)[0]
        self.fitted_ = functions[:, :kept] @ self.coef_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return sum_l c_l psi_l(x), (m,) or (m, n_outputs), at new points (m, d)."""
        check_is_fitted(self)
        X = validate_points(self, X, reset=False, dtype=[np.float64, np.float32])
        weights = self.embedding_.graph_.step_weights(X)
        functions = nystrom(weights, self.embedding_.eigenpairs_)[:, : self.n_components_]
        return self.coef_[0] + functions @ self.coef_[1:]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.regressor_tags.poor_score = True  # for points without structure, such as noise
        return tags

    def _embedding(self, n: int) -> DiffusionMap:
        if self.embedding is not None:
            return clone(check_embedding(self.embedding))
        return DiffusionMap(max(min(64, n - 1), 1))

    def _chosen(self, n_known: int) -> int:
        at_hand = len(self.leave_one_out_) - 1
        if self.n_components is None:
            return int(np.argmin(self.leave_one_out_))
        if self.n_components > at_hand:
            warn_user(
                f"n_components = {self.n_components}; {n_known} distinct points of known value and "
                f"the embedding allow {at_hand}, which are used",
                UserWarning,
            )
        return min(self.n_components, at_hand)


def _leave_one_out_errors(basis: np.ndarray, y: np.ndarray, nodes: Nodes | None) -> np.ndarray:
    """Return mean squared errors of points left out of fits by the first 1, 2, ... columns.

    A point is left out with those equal to it: from these its value could be read.
    """
    y = y.reshape(len(y), -1)
    n_values, apart = y.size, 0.0
    if nodes is not None:  # a node counts as its points do, whose spread no fit explains
        means, root = nodes.means(y), np.sqrt(nodes.mass)[:, None]
        apart = float(((y - means[nodes.of_points]) ** 2).sum())
        basis, y = root * basis[nodes.first], root * means
    n_columns = min(basis.shape[1], max(len(y) // 2, 1))
    # the first m columns of Q span those of the basis, so that one Q serves all fits
    Q = np.linalg.qr(basis[:, :n_columns])[0]
    errors = np.empty(n_columns)
    residual, leverage = y.copy(), np.zeros(len(y))
    for m, q in enumerate(Q.T):
        residual -= np.outer(q, q @ y)
        leverage += q * q
        # without a node its residual is r / (1 - h), where h is its leverage
        left_out = residual / np.maximum(1 - leverage, 1e-12)[:, None]
        errors[m] = (np.sum(left_out**2) + apart) / n_values
    return errors
