"""Sets of pixels as runs: [start, length, start, length, ...] over the raster, row by row.

Pixel (row, column) has the number row * columns + column. A brush stroke of a thousand pixels is a
few dozen runs, in a message as in the log.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from diffclass.exceptions import ParameterError


def runs_of(pixels: np.ndarray) -> list[int]:
    """Return the runs of a set of pixels.

    Parameters
    ----------
    pixels : ndarray of int of shape (m,)
        Sorted, without repetition.

    Returns
    -------
    list of int
        Starts and lengths in turn; runs are as long as they can be.

    Examples
    --------
    >>> runs_of(np.array([3, 4, 5, 9]))
    [3, 3, 9, 1]
    """
    pixels = np.asarray(pixels, dtype=np.int64)
    if not len(pixels):
        return []
    breaks = np.flatnonzero(np.diff(pixels) != 1) + 1
    edges = np.r_[0, breaks, len(pixels)]
    return np.column_stack([pixels[edges[:-1]], np.diff(edges)]).ravel().tolist()


def pixels_of(runs: Any, n_pixels: int) -> np.ndarray:
    """Return the pixels of runs, sorted and each once.

    Parameters
    ----------
    runs : list of int
        Starts and lengths in turn, in any order; runs may overlap.
    n_pixels : int
        Rows times columns.

    Returns
    -------
    ndarray of int64 of shape (m,)

    Raises
    ------
    ParameterError
        Where ``runs`` is not such a list, is empty, or leaves the image.

    Notes
    -----
    Costs one pass over the raster however much the runs overlap, so that no message can ask for
    more memory than the scene itself.

    Examples
    --------
    >>> pixels_of([9, 1, 3, 2, 4, 2], 10).tolist()
    [3, 4, 5, 9]
    """
    starts, lengths = _checked(runs, n_pixels)
    # +1 where a run begins, -1 after its end: the running sum counts the runs over a pixel
    covers = np.zeros(n_pixels + 1, dtype=np.int64)
    np.add.at(covers, starts, 1)
    np.add.at(covers, starts + lengths, -1)
    return np.flatnonzero(np.cumsum(covers[:-1]) > 0)


def _checked(runs: Any, n_pixels: int) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(runs, list) or not runs or len(runs) % 2:
        raise ParameterError(
            "pixels have to be a list of runs, [start, length, start, length, ...], at least one"
        )
    # to Python a bool is an int, but it is not a pixel
    if not all(type(value) is int and -1 < value <= n_pixels for value in runs):
        wrong = next(v for v in runs if not (type(v) is int and -1 < v <= n_pixels))
        raise ParameterError(
            f"pixels hold {str(wrong)[:40]!r}; starts and lengths are whole numbers within the "
            f"image (pixels 0 to {n_pixels - 1})"
        )
    pairs = np.array(runs, dtype=np.int64).reshape(-1, 2)
    starts, lengths = pairs[:, 0], pairs[:, 1]
    bad = np.flatnonzero((lengths < 1) | (starts + lengths > n_pixels))
    if len(bad):
        start, length = pairs[bad[0]].tolist()
        raise ParameterError(
            f"a run of {length} pixels from pixel {start} is empty or leaves the image "
            f"(pixels 0 to {n_pixels - 1}); paint inside it"
        )
    return starts, lengths
