"""Checks of arrays, labels and affinities: they return clean arrays or raise a clear error.

Arrays raise `DataError`, whose message names the first bad row, parameters `ParameterError`.
"""

from __future__ import annotations

from numbers import Integral, Real
from types import UnionType
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from diffclass.exceptions import DataError, ParameterError, ScaleWarning, warn_user

FLOATS = (np.float64, np.float32)
# Features count for nothing if together they make up less of the squared distances; half of all do
# where their scales are spread over six powers of ten. The half of a scene's 200 principal
# components that holds noise alone makes up seven times as much or more.
_NOTHING = 3e-6
_LOOKED_AT = 1000  # points
# What scikit-learn's check_random_state takes.
RandomState: TypeAlias = int | np.random.RandomState | None
Graph: TypeAlias = ArrayLike | sp.sparray | sp.spmatrix


def check_points(X: ArrayLike, *, name: str = "X") -> np.ndarray:
    """Return ``X`` as a C-ordered float32 or float64 array of shape (n, d), all finite."""
    check_unmasked(X, name=name)
    points = _as_floats(X, name)
    if points.ndim != 2 or 0 in points.shape:
        raise DataError(f"{name} has shape {points.shape}; points are a table (points, features)")
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        raise DataError(
            f"{name} holds NaN or infinity in {np.count_nonzero(~finite)} of {len(points)} rows "
            f"(first: row {np.argmin(finite)}); leave those points out or fill them in"
        )
    return np.ascontiguousarray(points)


def check_unmasked(values: Any, *, name: str = "X") -> None:
    """Raise `DataError` for masked entries, whose values would be taken for others."""
    if not np.ma.is_masked(values):
        return
    masked = np.array([row.any() for row in np.ma.getmaskarray(values)])
    raise DataError(
        f"{name} is masked in {np.count_nonzero(masked)} of {len(masked)} rows (first: row "
        f"{np.argmax(masked)}); leave those points out or fill them in"
    )


def validate_points(estimator: Any, X: Any, *more: Any, **how: Any) -> Any:
    """Return what scikit-learn's ``validate_data`` makes of points, if none is masked."""
    check_unmasked(X)
    return validate_data(estimator, X, *more, **how)


def _as_floats(X: ArrayLike, name: str) -> np.ndarray:
    if sp.issparse(X):
        raise DataError(f"{name} is sparse; points are a dense table, see its .toarray()")
    try:
        points = np.asarray(X)
        if points.dtype.kind == "c":
            raise TypeError("complex")
        return points if points.dtype in FLOATS else points.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} is not a table of real numbers ({error})") from None


def check_values(y: Any, n_points: int, *, to: Any) -> np.ndarray:
    """Return values of functions at n points, (n,) or (n, m), as float64; NaN where there is none.

    There is none where y is NaN, None, masked or missing in pandas.
    """
    if y is None:
        name = type(to).__name__
        raise DataError(f"{name} requires y to be passed, but the target y is None")
    try:
        if hasattr(y, "isna"):  # of pandas, whose NA is no float
            y = y.to_numpy(dtype=np.float64, na_value=np.nan)
        given = np.ma.asarray(y)
        if given.dtype.kind not in "biufOSU":
            raise TypeError(str(given.dtype))
        values: np.ndarray = np.ma.filled(given.astype(np.float64), np.nan)
    except (TypeError, ValueError) as error:
        raise DataError(f"y does not hold real numbers ({error})") from None
    if values.ndim not in (1, 2) or len(values) != n_points:
        raise DataError(f"y has shape {values.shape}; X has {n_points} points")
    if np.isinf(values).any():
        raise DataError("y holds infinity; leave those points out")
    return values


def check_seed(random_state: RandomState) -> np.random.RandomState:
    """Return what scikit-learn's ``check_random_state`` does, or raise `ParameterError`."""
    try:
        return check_random_state(random_state)
    except (TypeError, ValueError):
        numbers = ", such as rng.integers(2**32) of a Generator rng"
        raise ParameterError(
            f"random_state = {random_state!r}; it has to be a whole number from 0 to 2^32 - 1"
            f"{numbers * isinstance(random_state, np.random.Generator)}, a "
            "numpy.random.RandomState or None"
        ) from None


def warn_of_scales(X: np.ndarray) -> None:
    """Warn where half of the features are too small to count in distances.

    About 1,000 of the points ``X`` (n, d) are looked at. The span of a feature is that without its
    outliers; one that is constant then is not counted.
    """
    looked_at = np.asarray(X[:: -(-len(X) // _LOOKED_AT)], dtype=np.float64)
    if not np.isfinite(looked_at).all():
        return  # it will be refused
    spans = np.subtract(*np.percentile(looked_at, [95, 5], axis=0))
    features = np.argsort(spans, kind="stable")[np.count_nonzero(spans == 0) :]
    if len(features) < 2:
        return
    sums = np.cumsum((spans[features] / spans[features[-1]]) ** 2)
    n_small = int(np.searchsorted(sums, _NOTHING * sums[-1]))
    if n_small >= len(features) // 2:
        small, large = features[n_small - 1], features[-1]
        warn_user(
            f"{n_small} of {X.shape[1]} features count for nothing in distances: nine tenths of "
            f"feature {small} span {spans[small]:.3g}, of feature {large} {spans[large]:.3g}. If "
            "they are to count, bring them to one scale first, as by scikit-learn's "
            "StandardScaler; diffclass.neighbors.PartialWhitening makes few of many",
            ScaleWarning,
        )


def check_graph(graph: Graph, *, name: str) -> sp.csr_array:
    """Return a square sparse matrix of non-negative floats as CSR with sorted indices."""
    if not sp.issparse(graph):
        graph = np.asarray(graph, dtype=np.float64)
        if graph.ndim != 2:
            raise DataError(f"{name} has shape {graph.shape}; a graph is a square matrix")
    matrix = sp.csr_array(graph, copy=True)
    if matrix.dtype not in FLOATS:
        matrix = matrix.astype(np.float64)
    if matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise DataError(f"{name} has shape {matrix.shape}; a graph is a square matrix")
    if not np.isfinite(matrix.data).all():
        raise DataError(f"{name} holds NaN or infinity; replace or remove those edges")
    if matrix.nnz and matrix.data.min() < 0:
        raise DataError(f"{name} holds negative values (least {matrix.data.min():.3g})")
    matrix.sum_duplicates()
    return matrix


def check_affinity(affinity: Graph) -> sp.csr_array:
    """Return a symmetric, non-negative CSR affinity, whose squares its type can hold."""
    matrix = check_graph(affinity, name="affinity")
    difference = abs(matrix - matrix.T)
    largest = matrix.data.max(initial=0)
    tolerance = 64 * np.finfo(matrix.dtype).eps * largest
    if difference.nnz and difference.data.max() > tolerance:
        raise DataError(
            f"affinity is not symmetric (|K - K^T| up to {difference.data.max():.3g}); "
            "use (K + K.T) / 2 or K.maximum(K.T)"
        )
    limits = np.finfo(matrix.dtype)
    if largest and not limits.tiny**0.5 <= largest <= limits.max**0.5:
        raise DataError(
            f"affinity has values up to {largest:.3g}, whose squares {matrix.dtype} cannot hold; "
            "divide it by its largest value: the unit of affinities does not matter"
        )
    return matrix


def check_positive(value: Any, name: str, *, integer: bool = False, zero: bool = False) -> Any:
    """Return ``value`` if it is a positive number (``zero``: or 0; ``integer``: whole)."""
    kind = Integral if integer else Real
    bound = "at least 0" if zero else "above 0"
    good = isinstance(value, kind) and not isinstance(value, bool | np.bool_)
    if not (good and value < np.inf and (value > 0 or (zero and value == 0))):
        what = "a whole number" if integer else "a number"
        raise ParameterError(f"{name} = {value!r}; it has to be {what} {bound}")
    return value


def check_choice(value: Any, name: str, choices: tuple[str, ...], *, other: str = "") -> str:
    """Return ``value`` if it is one of ``choices``; the message lists them, and what else."""
    if not (isinstance(value, str) and value in choices):
        possible = ", ".join([*map(repr, choices), *([other] if other else [])])
        raise ParameterError(f"{name} = {value!r}; possible: {possible}")
    return value


def check_kind(
    value: Any, name: str, kind: type | UnionType | tuple[type, ...], *, example: str
) -> Any:
    """Return ``value`` if it is an object of a class; the message shows an example."""
    if not isinstance(value, kind):
        given = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
        raise ParameterError(f"{name} = {given}; it has to be an object such as {example}")
    return value


def check_share(value: Any, name: str, *, zero: bool = True) -> float:
    """Return ``value`` as a float if it is above 0, or 0 with ``zero``, and at most 1."""
    good = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    if not (good and 0 <= value <= 1 and (zero or value > 0)):
        raise ParameterError(
            f"{name} = {value!r}; it has to be {'from' if zero else 'above'} 0 to 1"
        )
    return float(value)


def check_scores(scores: ArrayLike, n_points: int, *, sum_to_one: bool = True) -> np.ndarray:
    """Return scores of shape (n, n_classes) from 0 to 1, whose rows may have to sum to 1."""
    posteriors = check_points(scores, name="scores")
    if len(posteriors) != n_points:
        raise DataError(f"scores have {len(posteriors)} rows; there are {n_points} points")
    if posteriors.min() < 0:
        raise DataError(f"scores hold negative values (least {posteriors.min():.3g})")
    if not sum_to_one:
        if posteriors.max() > 1 + 1e-3:
            raise DataError(
                f"scores hold values above 1 (most {posteriors.max():.3g}); divide them by it"
            )
        return np.minimum(posteriors, 1)
    totals = posteriors.sum(axis=1, dtype=np.float64)
    off = np.abs(totals - 1) > 1e-3
    if off.any():
        row = int(np.argmax(off))
        raise DataError(
            f"scores do not sum to 1 in {np.count_nonzero(off)} rows (first: row {row}, sum "
            f"{totals[row]:.4g}); divide each row by its sum"
        )
    return posteriors


def check_level(level: float) -> float:
    """Return a level, such as that of a confidence interval, if it lies between 0 and 1."""
    if not (isinstance(level, Real) and 0 < level < 1):
        raise ParameterError(f"level = {level!r}; it is a share between 0 and 1, such as 0.9")
    return float(level)
