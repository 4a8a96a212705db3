"""Points joined with values at them, of a function or a field, in one table of coordinates.

The points are divided by the root of their mean square distance from their mean, the values by
units of their own. At new points the values come from the function itself or, if they were given
as an array, from those of the nearest points, with weights exp(-d^2 / (d_1 d_last)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import check_points
from diffclass.exceptions import DataError
from diffclass.kernels._kernel import Placing
from diffclass.neighbors import NeighborSearch, default_search

# Averages k values at each of m points, (m, k, p), with weights of shape (m, k).
Mean = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Joint:
    """The coordinates ((x - center) / unit, (value - middle) / value_unit), scaled by epsilon.

    Parameters
    ----------
    center : ndarray of shape (d,)
    unit : float
    middle, value_unit : ndarray of shape (p,)
    epsilon : float
        Points are divided by its root, values by itself.
    """

    center: np.ndarray
    unit: float
    middle: np.ndarray
    value_unit: np.ndarray
    epsilon: float

    def __call__(self, X: np.ndarray, values: np.ndarray) -> np.ndarray:
        points = (X - self.center) / self.unit / np.sqrt(self.epsilon)
        values = (values - self.middle) / self.value_unit / self.epsilon
        return np.hstack([points, values]).astype(X.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class JointPlacing:
    """Joint coordinates of new points, from the values there."""

    joint: Joint
    values_at: Placing

    def __call__(self, X_new: np.ndarray) -> np.ndarray:
        if X_new.shape[1] != len(self.joint.center):
            raise DataError(
                f"the new points have {X_new.shape[1]} features; "
                f"the kernel was fitted to {len(self.joint.center)}"
            )
        return self.joint(X_new, self.values_at(X_new))


@dataclass(frozen=True, eq=False)
class Called:
    """Checked values of a function at new points."""

    function: Placing
    n_columns: int
    name: str

    def __call__(self, X_new: np.ndarray) -> np.ndarray:
        values = checked_values(self.function(X_new), X_new, name=self.name)
        if values.shape[1] != self.n_columns:
            raise DataError(
                f"{self.name} gave {values.shape[1]} columns for new points, "
                f"{self.n_columns} for the fitted ones"
            )
        return values


@dataclass(frozen=True, eq=False)
class Continued:
    """Values at new points: means over the nearest fitted points."""

    points: np.ndarray
    values: np.ndarray
    neighbor: int
    mean: Mean

    def __call__(self, X_new: np.ndarray) -> np.ndarray:
        graph = self._index.transform(X_new)
        distances = graph.data.reshape(len(X_new), -1).astype(np.float64)
        order = np.argsort(distances, axis=1, kind="stable")
        found = np.take_along_axis(graph.indices.reshape(distances.shape), order, axis=1)
        weights = _near_weights(np.take_along_axis(distances, order, axis=1))
        return self.mean(weights, self.values[found])

    @cached_property
    def _index(self) -> NeighborSearch:
        """The search, made when first needed."""
        return default_search(self.points, self.neighbor, random_state=0).fit(self.points)


def values_at(
    given: ArrayLike | Placing | None,
    X: np.ndarray,
    values: np.ndarray,
    *,
    neighbor: int,
    mean: Mean,
    name: str,
) -> Placing:
    """Return what gives the values at new points: the function itself, or means of its values."""
    if callable(given):
        return Called(given, values.shape[1], name)
    return Continued(X, values, neighbor, mean)


def checked_values(values: ArrayLike, X: np.ndarray, *, name: str) -> np.ndarray:
    """Return values as a finite table in double precision, with one row per point."""
    values = np.asarray(values)[:, None] if np.ndim(values) == 1 else values
    values = check_points(values, name=name).astype(np.float64, copy=False)
    if len(values) != len(X):
        raise DataError(f"{name} has {len(values)} rows; there are {len(X)} points")
    return values


def length_of(X: np.ndarray) -> float:
    """Root of the mean square distance from the mean; 1 if all points are equal."""
    centered = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    largest = np.abs(centered).max()
    if largest == 0:
        return 1.0
    return float(largest * np.sqrt(np.square(centered / largest).sum(axis=1).mean()))


def _near_weights(distances: np.ndarray) -> np.ndarray:
    """Weights exp(-d^2 / (d_1 d_last)) of sorted distances; a fitted point has all the weight."""
    first, last = distances[:, :1], distances[:, -1:]
    scale = np.sqrt(np.maximum(first * last, np.finfo(np.float64).tiny))
    exponents = np.square(np.minimum(distances / scale, 1e100))
    weights = np.exp(exponents[:, :1] - exponents)
    return weights / weights.sum(axis=1, keepdims=True)
