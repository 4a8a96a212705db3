"""Orthonormal columns of tall matrices, by matrix products in place.

With the Cholesky factor L of X' X the columns of X L'^-1 are orthonormal, up to rounding times the
square of the condition of X: a second pass corrects that.

Source: Y. Yamamoto, Y. Nakatsukasa, Y. Yanagisawa and T. Fukaya, Roundoff error analysis of the
CholeskyQR2 algorithm, 2015.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

# Distance from the span of others, of columns of length 1, above which one pass is enough.
_INDEPENDENT = 0.03
_ROWS = 4096  # that are handled at once, to save memory


def make_orthonormal(columns: np.ndarray, *known: np.ndarray) -> None:
    """Make the columns orthonormal, and orthogonal to what is known.

    By Cholesky's factor of all inner products, twice against rounding where columns are close to
    the span of what is known or of each other; by Householder's reflections where they are in it.
    """
    try:
        for _ in range(2):
            left = min((project_out(columns, vectors) for vectors in known), default=1.0)
            norms = _norms(columns)
            columns /= np.where(norms > 0, norms, 1)
            inverse = np.linalg.inv(np.linalg.cholesky(_products(columns)))
            multiply_by(columns, inverse.T)
            # (X' X)^-1 has one over the squared distances from the others' span on its diagonal
            closest = 1 / np.sqrt(np.square(inverse).sum(axis=0).max())
            if min(closest, left) > _INDEPENDENT:
                break
    except np.linalg.LinAlgError:
        n_known = sum(vectors.shape[1] for vectors in known)
        columns[:] = np.linalg.qr(np.hstack([*known, columns]))[0][:, n_known:]


def project_out(columns: np.ndarray, known: np.ndarray) -> float:
    """Take known orthonormal vectors out of the columns, and return the least share that is left.

    The smaller the share, the more of them rounding has left in the columns.
    """
    before = _norms(columns)
    overlap = known.T @ columns
    for rows in row_blocks(columns):
        columns[rows] -= known[rows] @ overlap
    return float(np.min(_norms(columns) / np.where(before > 0, before, 1)))


def _norms(columns: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("xc,xc->c", columns, columns))


def _products(columns: np.ndarray) -> np.ndarray:
    """Return X' X in double precision: single precision does not distinguish close columns."""
    if columns.dtype == np.float64:
        return columns.T @ columns
    total = np.zeros((columns.shape[1],) * 2)
    for rows in row_blocks(columns):
        block = columns[rows].astype(np.float64)
        total += block.T @ block
    return total


def multiply_by(columns: np.ndarray, factor: np.ndarray) -> None:
    """Take columns <- columns factor, in the precision of the columns."""
    factor = factor.astype(columns.dtype, copy=False)
    for rows in row_blocks(columns):
        columns[rows] = columns[rows] @ factor


def row_blocks(columns: np.ndarray) -> Iterator[slice]:
    """Yield slices of few rows that make up the columns, so that copies stay small."""
    for start in range(0, len(columns), _ROWS):
        yield slice(start, start + _ROWS)
