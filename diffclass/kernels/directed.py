"""Directed kernels: the walk runs along the level sets of a function, or along a vector field.

k(x, y) = exp(-D^2) with, for a *function* F, scalar or vector,

    D^2 = |x - y|^2 / epsilon + |F(x) - F(y)|^2 / epsilon^2.

It is the Gaussian of the points Z = (x / sqrt(epsilon), F / epsilon), in which neighbours are also
searched. The smaller epsilon, the faster is diffusion along the level sets of F compared with
diffusion across: the first eigenfunctions become constant on each connected component of a level
set, and functions of F alone if level sets are connected. For a *field* of directions v,

    D^2 = |delta|^2 / epsilon + (|delta|^2 - (u . delta)^2) / epsilon^2,   delta = x - y,

where u is the unit vector along v(x) + v(y). The first eigenfunctions then become constant along
the integral curves of v; see `diffclass.kernels.directed_field`.

Source: Coifman et al. 2005, section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from diffclass._validation import RandomState, check_points, check_positive
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels._kernel import Placing
from diffclass.kernels.directed_field import FieldSearch, aligned_mean
from diffclass.kernels.isotropic import Gaussian
from diffclass.neighbors import NeighborSearch, default_search


class Directed(Gaussian):
    """k(x, y) = exp(-D^2), D^2 = d^2 / epsilon + |F(x) - F(y)|^2 / epsilon^2, or with a field.

    The points are divided by the root of their mean square distance from their mean. Each component
    of F is divided by its standard deviation, and F by the root of the number of components. Points
    and F then have mean square 1, and epsilon has no unit.

    Parameters
    ----------
    F : callable or array-like of shape (n,) or (n, p), optional
        Values at the points, or a function that gives them for points of shape (m, d); not a
        lambda if the estimator is to be pickled. If F is an array, its value at a new point is the
        mean over the ``neighbor`` nearest points, with weights exp(-d^2 / (d_1 d_last)). Constant
        components have no effect. With neither F nor field, F is the earlier scores; all their
        components are divided by the same number. Constant scores have no effect. Make them by
        `diffclass.label_diffusion.map_scores`, as the classifier does: posteriors of absorbing
        labels set the labels apart from their neighbours, and the walk then misses them.
    field : callable or array-like of shape (n, d), optional
        Directions v, given like F and instead of it. A common factor of all v, or its sign, does
        not matter. If v(x) . v(y) < 0, one of the two is reversed. If one of them is 0, u follows
        the other; if both are 0, every direction is slow, as across v.
    epsilon : float, default=0.1
        Above 0. Steps across are about sqrt(epsilon) times as long as steps along.
    bandwidth : {"self-tuning", "global", "graph"} or float, default="self-tuning"
        As for `Gaussian`, in units of D^2; 1 gives the paper's kernel. The names fit the width to
        the graph; epsilon still sets the ratio of along to across.
    neighbor : int, default=7
        As for `Gaussian`.
    candidates : int, default=8
        With a field: Euclidean neighbours found for each one that is kept; those nearest by D are
        kept. In the plane, sqrt(1 + 1 / epsilon) are needed.

    Notes
    -----
    Cost: F adds p columns to the neighbour search; a field multiplies the edges by ``candidates``
    while neighbours are searched. At new points, F or a field given as an array needs one more
    search. The graph passed to `fit` has to be made in the features that `place` returns.

    References
    ----------
    Coifman et al. 2005, section 3 and figure 4.

    Examples
    --------
    The first eigenfunction of a rectangle varies along the longer side; directed, along the other:

    >>> import numpy as np
    >>> from diffclass import DiffusionMap
    >>> from diffclass.kernels import Directed
    >>> X = np.random.default_rng(0).random((500, 2)) * [1.0, 0.9]
    >>> kernel = Directed(X[:, 1], epsilon=0.02, bandwidth="graph")
    >>> psi = DiffusionMap(1, n_neighbors=20, kernel=kernel).fit_transform(X)[:, 0]
    >>> bool(abs(np.corrcoef(psi, X[:, 1])[0, 1]) > 0.95)
    True
    """

    def __init__(
        self,
        F: ArrayLike | Placing | None = None,
        *,
        field: ArrayLike | Placing | None = None,
        epsilon: float = 0.1,
        bandwidth: str | float = "self-tuning",
        neighbor: int = 7,
        candidates: int = 8,
    ):
        self.F = F
        self.field = field
        self.epsilon = epsilon
        self.bandwidth = bandwidth
        self.neighbor = neighbor
        self.candidates = candidates

    @property
    def uses_scores(self) -> bool:
        """Whether F is the earlier scores: neither F nor a field is given."""
        return self.F is None and self.field is None

    def place(
        self, X: np.ndarray, *, y: ArrayLike | None = None, scores: ArrayLike | None = None
    ) -> tuple[np.ndarray, Placing]:
        """Return Z = (x / sqrt(epsilon), F / epsilon), scaled, or (x, v) for a field.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The points.
        y : array-like, optional
            Not used.
        scores : array-like of shape (n, n_classes), optional
            Earlier scores, needed if neither F nor a field is given.

        Returns
        -------
        features : ndarray of shape (n, d + p), or (n, 2 d) for a field
            In the dtype of X, centred.
        placing : callable
            Gives the same for new points, with F or v there as described for the parameters. It
            raises a `DataError` if the points have another number of features, or if a function
            does not give one finite row per point with the same number of columns.

        Raises
        ------
        ParameterError
            If both F and a field are given, or neither of them nor scores, or if epsilon is not
            positive.
        DataError
            If F, field or scores do not fit the points in shape or are not finite, if F is
            constant, or if the field is 0 everywhere.
        """
        check_positive(self.epsilon, "epsilon")
        check_positive(self.neighbor, "neighbor", integer=True)
        if self.F is not None and self.field is not None:
            raise ParameterError("Directed takes F or field, not both; leave one out")
        values = self._checked(self._at_points(X, scores), X)
        joint = self._joint(X, values)
        return joint(X, values), _DirectedPlacing(joint, self._values_at(X, values))

    def search(
        self, features: np.ndarray, n_neighbors: int, *, random_state: RandomState = None
    ) -> NeighborSearch:
        """Return the default search in Z, or a `FieldSearch`."""
        if self.field is None:
            return default_search(features, n_neighbors, random_state=random_state)
        check_positive(self.candidates, "candidates", integer=True)
        return FieldSearch(
            n_neighbors,
            epsilon=self.epsilon,
            candidates=self.candidates,
            random_state=random_state,
        )

    def search_for(
        self,
        features: np.ndarray,
        n_neighbors: int,
        *,
        given: NeighborSearch | None = None,
        random_state: RandomState = None,
    ) -> NeighborSearch:
        """Return an unfitted search; with a field it has to be a `FieldSearch`.

        A `FieldSearch` gets the epsilon of the kernel.
        """
        if self.field is None or given is None:
            return super().search_for(features, n_neighbors, given=given, random_state=random_state)
        if not isinstance(given, FieldSearch):
            raise ParameterError(
                f"search = {given!r} knows no field; leave it out, or pass a FieldSearch"
            )
        return clone(given).set_params(epsilon=self.epsilon)

    @property
    def _given(self) -> Any:
        return self.F if self.field is None else self.field

    @property
    def _name(self) -> str:
        return "scores" if self.uses_scores else "F" if self.field is None else "field"

    def _at_points(self, X: np.ndarray, scores: ArrayLike | None) -> ArrayLike:
        """F, the field or the scores at the fitted points, not yet checked."""
        if not self.uses_scores:
            return self._given(X) if callable(self._given) else self._given
        if scores is None:
            raise ParameterError(
                "Directed has neither F nor field, and it was given no earlier scores; "
                "pass Directed(F) or Directed(field=v), or scores="
            )
        return scores

    def _checked(self, values: ArrayLike, X: np.ndarray) -> np.ndarray:
        if self.field is not None:
            return _checked_field(values, X)
        return _checked_function(values, X, name=self._name)

    def _joint(self, X: np.ndarray, values: np.ndarray) -> _Joint:
        """Return the joint coordinates. With a field, epsilon is left to the search."""
        if self.field is None:
            middle, value_unit = self._function_units(values)
        else:
            middle, value_unit = _field_units(values)
        return _Joint(
            center=X.mean(axis=0),
            unit=_length(X),
            middle=middle,
            value_unit=value_unit,
            epsilon=self.epsilon if self.field is None else 1.0,
        )

    def _values_at(self, X: np.ndarray, values: np.ndarray) -> Placing:
        """Return what gives F or v at new points: the function itself, or means of its values."""
        if not callable(self._given):
            mean = aligned_mean if self.field is not None else _mean
            return _Continued(X, values, self.neighbor, mean)
        check = _checked_field if self.field is not None else _checked_function
        return _Called(self._given, check, values.shape[1], self._name)

    def _function_units(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean of F and the divisors of its components."""
        varies = (values != values[0]).any(axis=0)
        if not varies.any() and not self.uses_scores:
            raise DataError(
                f"F is constant over all {len(values)} points and gives no direction; "
                "take another F, or the Gaussian kernel"
            )
        deviations = np.where(varies, values.std(axis=0), 0)
        whole = np.linalg.norm(deviations) if self.uses_scores else np.sqrt(varies.sum())
        unit = whole if self.uses_scores else whole * deviations
        return values.mean(axis=0), np.where(varies, unit, np.inf)


@dataclass(frozen=True, eq=False)
class _Joint:
    """Scaled points beside scaled values."""

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
class _DirectedPlacing:
    """Joint coordinates of new points, from F or v there."""

    joint: _Joint
    values_at: Placing

    def __call__(self, X_new: np.ndarray) -> np.ndarray:
        if X_new.shape[1] != len(self.joint.center):
            raise DataError(
                f"the new points have {X_new.shape[1]} features; "
                f"the kernel was fitted to {len(self.joint.center)}"
            )
        return self.joint(X_new, self.values_at(X_new))


@dataclass(frozen=True, eq=False)
class _Called:
    """Checked values of a function at new points."""

    function: Placing
    check: Callable[..., np.ndarray]
    n_columns: int
    name: str

    def __call__(self, X_new: np.ndarray) -> np.ndarray:
        values = self.check(self.function(X_new), X_new, name=self.name)
        if values.shape[1] != self.n_columns:
            raise DataError(
                f"{self.name} gave {values.shape[1]} columns for new points, "
                f"{self.n_columns} for the fitted ones"
            )
        return values


@dataclass(frozen=True, eq=False)
class _Continued:
    """Values at new points: means over the nearest fitted points."""

    points: np.ndarray
    values: np.ndarray
    neighbor: int
    mean: Callable[[np.ndarray, np.ndarray], np.ndarray]

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


def _checked_function(values: ArrayLike, X: np.ndarray, *, name: str = "F") -> np.ndarray:
    """Return F as a finite table in double precision, with one row per point."""
    values = np.asarray(values)[:, None] if np.ndim(values) == 1 else values
    values = check_points(values, name=name).astype(np.float64, copy=False)
    if len(values) != len(X):
        raise DataError(f"{name} has {len(values)} rows; there are {len(X)} points")
    return values


def _checked_field(values: ArrayLike, X: np.ndarray, *, name: str = "field") -> np.ndarray:
    """Return the field as a finite table in double precision, in the shape of the points."""
    values = check_points(values, name=name).astype(np.float64, copy=False)
    if len(values) != len(X):
        raise DataError(f"{name} has {len(values)} rows; there are {len(X)} points")
    if values.shape != X.shape:
        raise DataError(f"{name} has shape {values.shape}; that of the points is {X.shape}")
    return values


def _field_units(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return zeros and the largest component; dividing by it keeps squares from vanishing."""
    fastest = np.abs(values).max()
    if fastest == 0:
        raise DataError("the field is 0 at every point and gives no direction")
    return np.zeros(values.shape[1]), np.full(values.shape[1], fastest)


def _mean(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.einsum("mk,mkp->mp", weights, values)


def _length(X: np.ndarray) -> float:
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
