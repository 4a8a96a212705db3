"""The directed kernel: the walk runs along the level sets of a function F, scalar or vector.

k(x, y) = exp(-D^2),   D^2 = |x - y|^2 / epsilon + |F(x) - F(y)|^2 / epsilon^2.

It is the Gaussian of the points Z = (x / sqrt(epsilon), F / epsilon), in which neighbours are also
searched. The smaller epsilon, the faster is diffusion along the level sets of F: the first
eigenfunctions become constant on each connected component of a level set.

At new points the values of F, or of a field, come from the function itself or, if they were given
as an array, from those of the nearest points, with weights exp(-d^2 / (d_1 d_last)).

Source: Coifman et al. 2005, section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import check_points, check_positive
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels._kernel import NEIGHBOR, POINTS, KeptPlacing, Placing
from diffclass.kernels.isotropic import Gaussian
from diffclass.neighbors import Search, default_search
from diffclass.options import YES_NO
from diffclass.system.forms import Array, Choice, Maybe, OneOf, Record

# Averages k values at each of m points, (m, k, p), with weights of shape (m, k).
Mean = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Directed(Gaussian):
    """k(x, y) = exp(-D^2), D^2 = d^2 / epsilon + |F(x) - F(y)|^2 / epsilon^2.

    By default points and components of F are divided so that points and F have mean square 1, and
    epsilon has no unit. The paper's kernel,
    in the units that points and F have, is ``Directed(F, epsilon=..., bandwidth=1, scaled=False)``.

    Parameters
    ----------
    F : callable or array-like of shape (n,) or (n, p), optional
        Values at the points, or a function that gives them for points of shape (m, d); not a
        lambda if the estimator is to be pickled. If F is an array, its value at a new point is the
        mean over the ``neighbor`` nearest points. Constant components have no effect. By default F
        is the earlier scores, all divided by the same number. Make them by
        `diffclass.label_diffusion.map_scores`, as the classifier does: posteriors of absorbing
        labels set the labels apart from their neighbours, and the walk then misses them.
    epsilon : float, default=0.1
        Above 0. Steps across are about sqrt(epsilon) times as long as steps along.
    bandwidth : {"self-tuning", "global", "graph"} or float, default="self-tuning"
        As for `Gaussian`, in units of D^2; 1 gives exp(-D^2) itself. The names fit the width to the
        graph; epsilon still sets the ratio of along to across.
    neighbor : int, default=7
        As for `Gaussian`.
    scaled : bool, default=True
        Whether points and F are divided first. If not, epsilon is in squared units of the points
        and in units of F at once: these have to be chosen so that it is small in both.

    See Also
    --------
    AlongField : Along the curves of a vector field.
    LocalDiscriminant : Slow across the boundaries of classes, at no other places.

    Notes
    -----
    Cost: F adds p columns to the neighbour search. The graph passed to `fit` has to be made in the
    features that `place` returns.

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

    # new points go by the placing alone; F is what the parameters say
    kept_fields: ClassVar = {
        "neighbor": NEIGHBOR,
        "F": Maybe(
            OneOf({"values": Array((None,), "biuf"), "vectors": Array((None, None), "biuf")})
        ),
    }

    def __init__(
        self,
        F: ArrayLike | Placing | None = None,
        *,
        epsilon: float = 0.1,
        bandwidth: str | float = "self-tuning",
        neighbor: int = 7,
        scaled: bool = True,
    ):
        self.F = F
        self.epsilon = epsilon
        self.bandwidth = bandwidth
        self.neighbor = neighbor
        self.scaled = scaled

    @property
    def uses_scores(self) -> bool:
        """Whether F is the earlier scores."""
        return self.F is None

    @property
    def has_unit(self) -> bool:
        """Whether epsilon is in the unit of the points, or the bandwidth is a number."""
        return not self._is_scaled or super().has_unit

    @property
    def _is_scaled(self) -> bool:
        YES_NO.check(self.scaled, "scaled")
        return bool(self.scaled)

    def place(
        self, X: np.ndarray, *, y: ArrayLike | None = None, scores: ArrayLike | None = None
    ) -> tuple[np.ndarray, Placing]:
        """Return Z = (x / sqrt(epsilon), F / epsilon), of shape (n, d + p).

        It is centred and in the dtype of X; see `Kernel.place`. The earlier scores (n, n_classes)
        are needed if F is not given.

        Raises
        ------
        ParameterError
            If neither F nor scores are given, or if epsilon is not positive.
        DataError
            If F or scores do not fit the points in shape or are not finite, or if F is constant.
        """
        check_positive(self.epsilon, "epsilon")
        check_positive(self.neighbor, "neighbor", integer=True)
        name = "scores" if self.uses_scores else "F"
        # Z = (x / sqrt(epsilon), F / epsilon), both first divided by their spread
        F = checked_values(self._at_points(X, scores), X, name=name)
        length = length_of(X) if self._is_scaled else 1.0
        joint = Joint(X.mean(axis=0), length, F.mean(axis=0), self._units(F), self.epsilon)
        at = values_at(self.F, X, F, neighbor=self.neighbor, mean=mean_of_values, name=name)
        return joint(X, F), JointPlacing(joint, at)

    def _at_points(self, X: np.ndarray, scores: ArrayLike | None) -> ArrayLike:
        """F or the scores at the fitted points, not yet checked."""
        if self.F is not None:
            return self.F(X) if callable(self.F) else self.F
        if scores is None:
            raise ParameterError(
                "Directed has no F, and it was given no earlier scores; "
                "pass Directed(F), or scores="
            )
        return scores

    def _units(self, F: np.ndarray) -> np.ndarray:
        """Return the divisors of the components of F; constant ones are divided by infinity."""
        varies = (F[0] != F).any(axis=0)
        if not varies.any() and not self.uses_scores:
            raise DataError(
                f"F is constant over all {len(F)} points and gives no direction; "
                "take another F, or the Gaussian kernel"
            )
        if not self._is_scaled:
            return np.where(varies, 1.0, np.inf)
        deviations = np.where(varies, F.std(axis=0), 0)
        whole = np.linalg.norm(deviations) if self.uses_scores else np.sqrt(varies.sum())
        return np.where(varies, whole if self.uses_scores else whole * deviations, np.inf)


def mean_of_values(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return weighted means, of shape (m, p), of values of shape (m, k, p)."""
    return np.einsum("mk,mkp->mp", weights, values)


@dataclass(frozen=True, eq=False)
class Joint:
    """The coordinates ((x - center) / unit, (value - middle) / value_unit), scaled by epsilon.

    Points (n, d) are divided by its root, values (n, p) by itself.
    """

    center: np.ndarray
    unit: float
    middle: np.ndarray
    value_unit: np.ndarray
    epsilon: float

    def __call__(self, X: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the scaled coordinates, in the dtype of X."""
        points = (X - self.center) / self.unit / np.sqrt(self.epsilon)
        values = (values - self.middle) / self.value_unit / self.epsilon
        return np.hstack([points, values]).astype(X.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class Called:
    """Checked values of a function at new points."""

    function: Placing
    n_columns: int
    name: str

    def __call__(self, X_new: np.ndarray) -> np.ndarray:
        """Return the values at new points."""
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
        """Return the values at new points."""
        found, distances = self._index.nearest(X_new)
        weights, near = _near_weights(distances.astype(np.float64)), self.values[found]
        values, first = self.mean(weights, near), near[:, 0]
        counts = (weights > 0) & (near != first[:, None]).any(axis=2)
        alike = ~counts.any(axis=1)  # as at the place of a fitted point: no rounding
        values[alike] = first[alike]
        return values

    @cached_property
    def _index(self) -> Search:
        """The search, made when first needed."""
        return default_search(self.points, self.neighbor, random_state=0).fit(self.points)


@dataclass(frozen=True, eq=False)
class JointPlacing(KeptPlacing):
    """Joint coordinates of new points, from the values there."""

    joint: Joint
    values_at: Placing

    kept_as = "directed"
    kept_fields: ClassVar = {
        "joint": Record(
            Joint,
            {
                "center": Array(("d",)),
                "middle": Array(("f",)),
                "value_unit": Array(("f",), may_be_infinite=True),
            },
        ),
        "values_at": Record(
            Continued,
            {
                "points": POINTS,
                "values": Array(("n", "f")),
                "neighbor": NEIGHBOR,
                "mean": Choice({"mean": mean_of_values}),
            },
        ),
    }

    def __call__(self, X_new: np.ndarray) -> np.ndarray:
        """Return the joint coordinates of new points."""
        if X_new.shape[1] != len(self.joint.center):
            raise DataError(
                f"the new points have {X_new.shape[1]} features; "
                f"the kernel was fitted to {len(self.joint.center)}"
            )
        return self.joint(X_new, self.values_at(X_new))


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
