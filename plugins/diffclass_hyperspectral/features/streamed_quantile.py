"""An exact quantile of more numbers than memory holds.

Numbers of at least 0 in single precision are ordered as their bits are, read as whole numbers. A
first pass counts them by the leading sixteen bits, a second one those of the bin that holds the
quantile by the other sixteen. Where they are few they are kept, and there is no second pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

_KEPT = 2**22  # numbers: 16 MiB
_HALF = 16


def streamed_quantile(chunks: Callable[[], Iterable[np.ndarray]], quantile: float) -> float:
    """Return the number with a share of all numbers below it.

    Parameters
    ----------
    chunks : callable
        Called once or twice; gives all numbers, in arrays of float32 of at least 0.
    quantile : float
        0 to 1; of n sorted numbers the one at place int(quantile * n) is returned.

    Returns
    -------
    float
        0 without any number.

    Examples
    --------
    >>> import numpy as np
    >>> streamed_quantile(lambda: iter([np.float32([3, 1]), np.float32([2, 5])]), 0.5)
    3.0
    """
    kept: list[np.ndarray] | None = []
    counts, n_numbers = np.zeros(2**_HALF, dtype=np.int64), 0
    for chunk in chunks():
        numbers = np.ascontiguousarray(chunk, dtype=np.float32).ravel()
        counts += np.bincount(_bits(numbers) >> _HALF, minlength=len(counts))
        n_numbers += len(numbers)
        if kept is not None:
            kept.append(numbers)
            kept = kept if n_numbers <= _KEPT else None
    if not n_numbers:
        return 0.0
    place = min(int(quantile * n_numbers), n_numbers - 1)
    if kept is not None:
        return float(np.partition(np.concatenate(kept), place)[place])
    leading, place = _bin_of(counts, place)
    counts[:] = 0
    for chunk in chunks():
        bits = _bits(np.ascontiguousarray(chunk, dtype=np.float32).ravel())
        inside = bits[bits >> _HALF == leading] & (2**_HALF - 1)
        counts += np.bincount(inside, minlength=len(counts))
    return float(np.uint32((leading << _HALF) + _bin_of(counts, place)[0]).view(np.float32))


def quantile_bytes(n_numbers: int) -> int:
    """Return what `streamed_quantile` holds: numbers that are kept and a copy, and counts."""
    return 8 * min(n_numbers, _KEPT) + 24 * 2**_HALF


def _bits(numbers: np.ndarray) -> np.ndarray:
    return (numbers + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0


def _bin_of(counts: np.ndarray, place: int) -> tuple[int, int]:
    """Return the bin of the number at a place, and its place among those of the bin."""
    ends = np.cumsum(counts)
    found = int(np.searchsorted(ends, place, side="right"))
    return found, place - int(ends[found] - counts[found])
