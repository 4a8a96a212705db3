"""Parameters refused before points are read: a mistyped option should not cost minutes."""

from __future__ import annotations

from numbers import Real
from typing import Any

from diffclass.blocks import BlockClassifier
from diffclass.classifier import DiffusionClassifier
from diffclass.embedding import DiffusionMap
from diffclass.exceptions import DataError, ParameterError, warn_user
from diffclass.options import COUNT

_MOST_ALPHA = 4
_LEAST_FLOAT, _INFINITY = 5e-324, float("inf")


def check_classifier(classifier: DiffusionClassifier | BlockClassifier, n_points: int) -> None:
    """Raise `ParameterError` for what a classifier would refuse when fitted to that many points."""
    check_model_neighbors(classifier, n_points)
    classifier.check_parameters()


def check_company(n_points: int) -> None:
    """Raise `DataError` where no point has another to be compared to."""
    if n_points < 2:
        raise DataError("fewer than two points have data; there is nothing to compare")


def check_neighbors(n_neighbors: Any, n_points: int, *, usual: int) -> None:
    """Raise `ParameterError` where more neighbours were asked for than there are other points.

    Nobody has asked for the ``usual`` number.
    """
    COUNT.check(n_neighbors, "n_neighbors")
    check_company(n_points)
    if n_neighbors >= n_points and n_neighbors != usual:
        raise ParameterError(
            f"a graph of {n_neighbors} neighbors needs more points than the {n_points} that have "
            f"data; take at most {n_points - 1} neighbors (--neighbors)"
        )


def taken_neighbors(n_neighbors: Any, n_points: int, *, usual: int) -> int:
    """Return how many neighbours points have: all others, where fewer than usual are there.

    That is said with a warning; otherwise errors are those of `check_neighbors`.
    """
    check_neighbors(n_neighbors, n_points, usual=usual)
    if n_neighbors < n_points:
        return int(n_neighbors)
    warn_user(
        f"{n_points} points have data: each has the other {n_points - 1} as neighbors, "
        f"not {n_neighbors} as usual"
    )
    return n_points - 1


def check_model_neighbors(model: Any, n_points: int) -> None:
    """Raise `ParameterError` where a model was asked for more neighbours than points can have."""
    check_neighbors(model.n_neighbors, n_points, usual=_usual(model))


def take_neighbors(model: Any, n_points: int) -> None:
    """Set the number of a model's neighbours to that which so many points have."""
    n_neighbors = taken_neighbors(model.n_neighbors, n_points, usual=_usual(model))
    model.set_params(n_neighbors=n_neighbors)


def _usual(model: Any) -> int:
    """Return how many neighbours a model of that kind takes where nobody asks for a number."""
    return int(type(model)().n_neighbors)


def check_map(model: DiffusionMap, n_points: int) -> None:
    """Raise `ParameterError` for what an embedding would refuse when fitted to that many points."""
    check_company(n_points)
    if not isinstance(model.n_components, str):
        COUNT.check(model.n_components, "n_components")
        if model.n_components >= n_points:
            raise ParameterError(
                f"n_components = {model.n_components}; {n_points} points have at most "
                f"{n_points - 1} coordinates (--components)"
            )
    COUNT.check(model.n_neighbors, "n_neighbors")
    for name in ("alpha", "time", "bandwidth"):
        value = getattr(model, name)
        if isinstance(value, str) and name != "alpha":
            continue
        least = _LEAST_FLOAT if name == "bandwidth" else 0
        if not (isinstance(value, Real) and least <= float(value) < _INFINITY):
            bound = "above 0" if name == "bandwidth" else "at least 0"
            raise ParameterError(f"{name} = {value!r}; it has to be a number {bound}")
    if not isinstance(model.alpha, str) and model.alpha > _MOST_ALPHA:
        raise ParameterError(
            f"alpha = {model.alpha!r}; affinities are divided by densities to this power, which "
            f"beyond {_MOST_ALPHA} leaves only the emptiest points: take 0 to 1"
        )
