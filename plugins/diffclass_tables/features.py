"""Features of rows as points that can be compared by distance.

*cosine* brings every row to unit length, *correlation* subtracts its mean before, *euclidean* takes
rows as they are. Squared distances of unit rows are 2 (1 - cosine). Of many columns the leading
principal components are taken, by a randomised subspace iteration that reads the rows in blocks.

Points are in single precision; what is large beside its range, such as a time in seconds, is
counted from its middle first.

Source: N. Halko, P. G. Martinsson, J. A. Tropp, "Finding structure with randomness", SIAM Review
2011, algorithm 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.exceptions import DataError, ParameterError
from diffclass.neighbors import far_centers
from diffclass.system.costs import Cost
from diffclass.system.progress import checkpoint, stage

MOST_FEATURES = 64  # more are reduced to components, if there are many rows
MANY_ROWS = 4096  # up to so many all neighbours are compared, whatever the number of features
_BLOCK = 2**24  # values
_OVERSAMPLED, _ITERATIONS = 10, 3
_UNIT = 5e-3  # from length 1; float16 rounds by 1e-3


@dataclass(frozen=True, eq=False)
class RowPoints:
    """Rows as points, float32 (n_valid, n_features); ``valid``: rows without a missing value."""

    points: np.ndarray
    valid: np.ndarray
    metric: str
    n_components: int | None


def row_points(
    values: Any,
    path: Path,
    *,
    metric: str | None = None,
    n_components: int | None = None,
    random_state: int = 0,
) -> RowPoints:
    """Turn the features of rows (n_rows, n_features), NaN: missing, into points.

    ``metric`` and ``n_components`` are as in `Rows`; ``path`` is what messages call them.
    `DataError`: infinite values, rows of zeros where their direction counts, no complete row, and
    values so small that single precision has none of them.
    """
    metric = metric or usual_metric(values)
    n, d = values.shape
    if n_components is not None and not 1 <= n_components <= min(n, d):
        raise ParameterError(f"n_components = {n_components}; {path} has {n} rows and {d} features")
    k = n_compared(n, d, n_components)
    with stage("features"):
        valid, centers = _checked_rows(values, path, metric)

        def blocks() -> Iterator[np.ndarray]:
            for rows in _slices(values):
                checkpoint()
                yield _compared(_dense(values[rows])[valid[rows]], metric, centers)

        if k == d:
            return RowPoints(np.concatenate(list(blocks())), valid, metric, None)
        mean, directions = _components(blocks, d, k, random_state)
        scores = [(block - mean) @ directions for block in blocks()]
        return RowPoints(np.concatenate(scores), valid, metric, k)


def usual_metric(values: Any) -> str:
    """Return cosine for three columns or more of float16, or of unit length; else euclidean."""
    if values.shape[1] < 3:
        return "euclidean"
    if values.dtype == np.float16:
        return "cosine"
    some = _single(_dense(values[:: max(1, values.shape[0] // 1000)]))
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(some[np.isfinite(some).all(axis=1)], axis=1)
    is_unit = len(lengths) > 0 and np.abs(lengths - 1).max() < _UNIT
    return "cosine" if is_unit else "euclidean"


def n_compared(n: int, d: int, n_components: int | None) -> int:
    """Return by how many numbers each of n rows of d features is compared."""
    return n_components or (MOST_FEATURES if d > MOST_FEATURES and n > MANY_ROWS else d)


def points_cost(n: int, d: int, n_components: int | None) -> Cost:
    """Return what `row_points` costs: a block, and the points, which are kept."""
    k = n_compared(n, d, n_components)
    return Cost(12 * min(n * d, _BLOCK) + 4 * n * k, 4 * n * k)


def _slices(values: Any) -> Iterator[slice]:
    n, d = values.shape
    step = max(1, _BLOCK // (2 * d if _is_wide(values.dtype) else d))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def _is_wide(dtype: np.dtype) -> bool:
    """Tell whether a type has numbers that single precision has not."""
    return not np.can_cast(dtype, np.float32)


def _dense(rows: Any) -> np.ndarray:
    found = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    return found.astype(np.float64 if _is_wide(found.dtype) else np.float32, copy=False)


def _single(rows: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # infinite values are refused
        return rows.astype(np.float32, copy=False)


def _checked_rows(values: Any, path: Path, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows are complete, and what is taken off their features, (d,)."""
    valid = np.ones(values.shape[0], dtype=bool)
    box = np.repeat([[np.inf], [-np.inf]], values.shape[1], axis=1)
    for rows in _slices(values):
        block = _dense(values[rows])
        valid[rows] = ~np.isnan(block).any(axis=1)
        infinite = np.isinf(_single(block)).any(axis=1)
        if infinite.any():
            raise DataError(
                f"{path}: infinite values (or beyond single precision) in row "
                f"{rows.start + int(infinite.argmax())}; mend them, or leave them empty"
            )
        if metric != "euclidean":
            _check_directions(block, valid[rows], path, metric, first=rows.start)
        elif _is_wide(values.dtype):
            complete = block[valid[rows]]
            box[0] = np.minimum(box[0], complete.min(axis=0, initial=np.inf))
            box[1] = np.maximum(box[1], complete.max(axis=0, initial=-np.inf))
    if not valid.any():
        raise DataError(f"{path}: every row has a missing value; fill them in")
    if metric != "euclidean" or not _is_wide(values.dtype):
        return valid, np.zeros(values.shape[1])
    _check_size(box, path)
    return valid, far_centers(box)


def _check_directions(
    block: np.ndarray, valid: np.ndarray, path: Path, metric: str, *, first: int
) -> None:
    """Refuse rows without a direction to compare by."""
    block = _single(block) if metric == "cosine" else block
    least, most = block.min(axis=1), block.max(axis=1)
    empty = valid & (least == most if metric == "correlation" else ~block.any(axis=1))
    if empty.any():
        what = "only zeros" if metric == "cosine" else "equal values only"
        raise DataError(
            f"{path}: {what} in row {first + int(empty.argmax())}, which has no "
            f"direction to compare by {metric}; leave it out, or take --metric euclidean"
        )


def _check_size(box: np.ndarray, path: Path) -> None:
    """Refuse values whose differences single precision does not hold."""
    largest = float((box[1] - box[0]).max())
    limits = np.finfo(np.float32)
    if 0 < largest < limits.tiny / limits.eps:
        raise DataError(
            f"{path}: the values of each column differ by {largest:.3g} at most, too little for "
            "single precision; multiply them by a power of ten"
        )


def _compared(block: np.ndarray, metric: str, centers: np.ndarray) -> np.ndarray:
    """Return rows, float32, whose Euclidean distances are those of a metric."""
    if metric == "euclidean":
        return _single(block - centers if centers.any() else block)
    if metric == "correlation":
        block = block - block.mean(axis=1, keepdims=True, dtype=np.float64)
        block /= np.abs(block).max(axis=1, keepdims=True)
    block = _single(block)
    scaled = block / np.abs(block).max(axis=1, keepdims=True)  # squares could overflow
    return scaled / np.linalg.norm(scaled, axis=1, keepdims=True)


def _components(
    blocks: Callable[[], Iterator[np.ndarray]], d: int, k: int, random_state: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean (d,) and the leading directions (d, k) of rows that come in blocks."""
    total, n = np.zeros(d), 0
    for block in blocks():
        total += block.sum(axis=0, dtype=np.float64)
        n += len(block)
    mean = (total / n).astype(np.float32)
    width = min(k + _OVERSAMPLED, d)
    image = np.random.default_rng(random_state).normal(size=(d, width))
    for _ in range(_ITERATIONS):
        basis = np.linalg.qr(image)[0].astype(np.float32)
        image = np.zeros((d, width))
        for block in blocks():
            centred = block - mean
            image += centred.T @ (centred @ basis)
    spread = basis.T @ image  # of the rows within the basis
    vectors = np.linalg.eigh((spread + spread.T) / 2)[1][:, ::-1][:, :k]
    return mean, (basis @ vectors).astype(np.float32)
