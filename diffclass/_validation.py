"""Checks of arrays, labels and affinities: they return clean arrays or say what is wrong."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.exceptions import DataError, ParameterError

FLOATS = (np.float64, np.float32)


def check_points(X: Any, *, name: str = "X") -> np.ndarray:
    """Return ``X`` as a C-ordered float32 or float64 array of shape (n, d), all finite.

    Raises
    ------
    DataError
        Where it is no table of numbers, is empty, or holds NaN or infinity; the message names
        the first such row.
    """
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


def _as_floats(X: Any, name: str) -> np.ndarray:
    if sp.issparse(X):
        raise DataError(f"{name} is sparse; points are a dense table, see its .toarray()")
    try:
        points = np.asarray(X)
        if points.dtype.kind == "c":
            raise TypeError("complex")
        return points if points.dtype in FLOATS else points.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} is not a table of real numbers ({error})") from None


def check_graph(graph: Any, *, name: str) -> sp.csr_array:
    """Return a square sparse matrix of non-negative floats as CSR with sorted indices.

    Raises
    ------
    DataError
        Where it is not square, or holds negative, NaN or infinite values.
    """
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
        raise DataError(f"{name} holds NaN or infinity; replace or leave out those edges")
    if matrix.nnz and matrix.data.min() < 0:
        raise DataError(f"{name} holds negative values (least {matrix.data.min():.3g})")
    matrix.sum_duplicates()
    return matrix


def check_affinity(affinity: Any) -> sp.csr_array:
    """Return a symmetric, non-negative CSR affinity.

    Raises
    ------
    DataError
        As `check_graph`, or where it is not symmetric to rounding.
    """
    matrix = check_graph(affinity, name="affinity")
    difference = abs(matrix - matrix.T)
    largest = matrix.data.max(initial=0)
    tolerance = 64 * np.finfo(matrix.dtype).eps * largest
    if difference.nnz and difference.data.max() > tolerance:
        raise DataError(
            f"affinity is not symmetric (|K - K^T| up to {difference.data.max():.3g}); "
            "use (K + K.T) / 2 or the larger of both"
        )
    return matrix


def check_positive(value: Any, name: str, *, integer: bool = False, zero: bool = False) -> Any:
    """Return a number that is positive (or, if asked, zero); whole where ``integer``.

    Raises
    ------
    ParameterError
        Where it is not.
    """
    kind = Integral if integer else Real
    bound = "at least 0" if zero else "above 0"
    good = isinstance(value, kind) and not isinstance(value, bool | np.bool_)
    if not (good and np.isfinite(value) and (value > 0 or (zero and value == 0))):
        what = "a whole number" if integer else "a number"
        raise ParameterError(f"{name} = {value!r}; it has to be {what} {bound}")
    return value


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of ``choices``.

    Raises
    ------
    ParameterError
        Where it is not; the message lists what is possible.
    """
    if not (isinstance(value, str) and value in choices):
        possible = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(f"{name} = {value!r}; possible: {possible}")
    return value
