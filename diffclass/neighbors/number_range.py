"""Points in numbers whose squared differences neither vanish nor overflow.

Single precision holds the squares of differences from about 1e-16 to 1e19, double precision those
from 1e-146 to 1e154. Points whose differences may leave that range are taken in double precision
and, where that is not enough, divided by a power of two, which changes no digit.

Products of points, as |x|^2 - 2 <x, y> + |y|^2, lose the digits of differences beside a large
offset: `Centred` points have none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffclass.exceptions import DataError


@dataclass(frozen=True)
class NumberRange:
    """Points X 2^-exponent, in double precision if so marked."""

    exponent: int = 0
    is_double: bool = False

    @classmethod
    def of(cls, X: np.ndarray) -> NumberRange:
        """Return the range for points (n, d), float32 or float64."""
        if fits(X, X.dtype):
            return cls()
        is_single = X.dtype == np.float32  # whose squares double precision holds as they are
        return cls(0 if is_single else int(np.frexp(_spread(X))[1]), is_double=True)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return points (m, d) in this range; those beyond it become the farthest it can hold."""
        if not self.is_double:
            return X
        with np.errstate(over="ignore"):
            scaled = np.ldexp(X.astype(np.float64), -self.exponent)
        largest = np.finfo(np.float64).max
        return np.clip(scaled, -largest, largest)


AS_THEY_ARE = NumberRange()


def fits(X: np.ndarray, dtype: np.dtype | type, *, to_last_digit: bool = True) -> bool:
    """Return whether a type holds the squares of the least and the largest difference of points.

    The least is taken to be the last digit of their spread, or the spread. Equal points fit.
    """
    spread, limits = _spread(X), np.finfo(dtype)
    least = float(np.sqrt(limits.tiny / limits.eps))  # whose square keeps its digits
    least /= float(limits.eps) if to_last_digit else 1.0
    largest = float(np.sqrt(float(limits.max) / X.shape[1])) / 4  # summed over the features
    return spread == 0 or least < spread < largest


def _spread(X: np.ndarray) -> float:
    """Return half of the largest range of a feature; halves, because a range may overflow."""
    return float((X.max(axis=0) / 2 - X.min(axis=0) / 2).max())


def check_spread(X: np.ndarray) -> None:
    """Refuse points whose squared distances would overflow, or would all vanish."""
    if not fits(X, X.dtype, to_last_digit=False):
        raise DataError(
            f"the points spread over {_spread(X):.3g}, and their squared distances do not fit into "
            f"{X.dtype}; rescale the points"
        )


def exact_center(X: np.ndarray) -> np.ndarray:
    """Return the centre of the points' bounding box, rounded so that X minus it is exact."""
    lowest, highest = X.min(axis=0), X.max(axis=0)
    size = highest - lowest
    unit = np.ldexp(np.ones_like(size), np.frexp(size)[1])
    return np.where(size > 0, np.rint((lowest / 2 + highest / 2) / unit) * unit, lowest)


_MOST_OFFSET = 1024.0  # ranges of a feature, beyond which single precision loses ten bits of it


def in_single_precision(X: np.ndarray) -> np.ndarray:
    """Return points (n, d) as float32, whose differences keep their digits.

    Where they would lose them they are first centred, or scaled by a power of two.
    """
    if fits(X, np.float32) and (X.dtype == np.float32 or _are_near(X).all()):
        return X.astype(np.float32, copy=False)
    return Centred(X)(X).astype(np.float32)


def far_centers(box: np.ndarray) -> np.ndarray:
    """Return the centre (d,) of features that are far from 0 beside their range, 0 of others.

    ``box`` (2, d) are the least and the largest values of points. Less their centre, single
    precision holds them.

    Examples
    --------
    Days of one month, as seconds since 1970, and their temperatures:

    >>> import numpy as np
    >>> from diffclass.neighbors import far_centers
    >>> [round(float(one)) for one in far_centers(np.array([[1.7e9, 2.5], [1.7026e9, 21.0]]))]
    [1702887424, 0]
    """
    return np.where(_are_near(box), 0, exact_center(box))


def _are_near(X: np.ndarray) -> np.ndarray:
    """Return which features of points (n, d) single precision holds as they are."""
    size = X.max(axis=0) / 2 - X.min(axis=0) / 2
    far = np.abs(X).max(axis=0)
    return np.where(size > 0, far / _MOST_OFFSET <= size, far <= np.finfo(np.float32).max)


class Centred:
    """Points around the centre of the given ones (n, d), whose products lose no digits.

    They are in double precision, and divided by a power of two, so that their largest range is
    about 1 and their squares fit into any type.
    """

    def __init__(self, X: np.ndarray):
        X = X if X.dtype == np.float32 else X.astype(np.float64)
        self._range = NumberRange.of(X)
        X = self._range(X).astype(np.float64)
        # the centre is rounded so that subtracting it is exact, and so is the power of two
        self._center, self._exponent = exact_center(X), int(np.frexp(_spread(X))[1])

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the points ``X`` of shape (m, d) around the centre."""
        return np.ldexp(self._range(X).astype(np.float64) - self._center, -self._exponent)


_ROWS = 4096  # of points whose distances are computed at once


def nearest_of(X: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return which of some points (n, d) is the nearest to each of X (m, d), the first of equals.

    Whatever their numbers are; by a product with every point, so that they should be few.
    """
    from scipy.cluster.vq import vq

    centred, found = Centred(points), np.empty(len(X), dtype=np.intp)
    points = centred(points)
    for start in range(0, len(X), _ROWS):
        rows = slice(start, start + _ROWS)
        found[rows] = vq(centred(X[rows]), points, check_finite=False)[0]
    return found
