"""Lists of nearest points as keys: distance, number and whether the entry is new in one integer."""

from __future__ import annotations

import numpy as np

from diffclass import _compiled


def empty_lists(n: int, width: int) -> np.ndarray:
    """Return n lists without entries, as a uint64 array of shape (n, width)."""
    return np.full((n, width), _compiled.neighbor_lists.NONE)


def numbers_of(lists: np.ndarray) -> np.ndarray:
    """Return the numbers of the points in the lists as int32, -1 where there is none."""
    numbers = ((lists >> np.uint64(1)) & np.uint64(2**31 - 1)).astype(np.int32)
    numbers[lists == _compiled.neighbor_lists.NONE] = -1
    return numbers


def distances_of(lists: np.ndarray) -> np.ndarray:
    """Return the squared distances of the points in the lists, infinite where there is none."""
    return (lists >> np.uint64(32)).astype(np.uint32).view(np.float32)


def are_new(lists: np.ndarray) -> np.ndarray:
    """Return which entries came in since they were last looked at."""
    return (lists & np.uint64(1)).astype(bool)
