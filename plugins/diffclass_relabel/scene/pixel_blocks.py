"""Scenes with more pixels than a session can diffuse: its points are square blocks of pixels.

A point has the mean features of the pixels of its block that have data. What is painted at a pixel
counts for its block, and every pixel is shown what its block is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diffclass.mapped_files import create_mapped
from diffclass.temporary_folders import TemporaryFolder

MOST_POINTS = 2**20
_ROWS = 64  # of blocks, whose pixels are in memory at a time


def block_side(rows: int, columns: int) -> int:
    """Return the side of the smallest blocks of which there are not too many, in pixels.

    Examples
    --------
    >>> block_side(1000, 1000), block_side(3000, 3000)
    (1, 3)
    """
    side = 1
    while -(-rows // side) * -(-columns // side) > MOST_POINTS:
        side += 1
    return side


def blocks_of(valid: np.ndarray, side: int) -> np.ndarray:
    """Return the block of each pixel, numbered row by row among those with data.

    Parameters
    ----------
    valid : ndarray of bool of shape (rows, columns)
    side : int

    Returns
    -------
    ndarray of int32 of shape (rows * columns,)
        -1 where there is no data.

    Examples
    --------
    >>> valid = np.array([[True, True, False], [True, False, False], [False, False, True]])
    >>> blocks_of(valid, 2).reshape(3, 3).tolist()
    [[0, 0, -1], [0, -1, -1], [-1, -1, 1]]
    """
    rows, columns = valid.shape
    per_row = -(-columns // side)
    down, right = np.arange(rows) // side, np.arange(columns) // side
    places = (down[:, None] * per_row + right).astype(np.int32)[valid]
    is_there = np.zeros(int(places.max(initial=-1)) + 1, dtype=bool)
    is_there[places] = True
    number = np.cumsum(is_there, dtype=np.int32) - np.int32(1)
    blocks = np.full(valid.shape, -1, dtype=np.int32)
    blocks[valid] = number[places]
    return blocks.ravel()


def block_means(features: np.ndarray, valid: np.ndarray, side: int) -> np.ndarray:
    """Return the mean features of each block of `blocks_of`, in few rows at a time.

    Parameters
    ----------
    features : ndarray of shape (n, p)
        Of the pixels with data, in their order.
    valid : ndarray of bool of shape (rows, columns)
    side : int

    Returns
    -------
    ndarray of shape (n_blocks, p)
        In the dtype of the features.
    """
    blocks = blocks_of(valid, side)[valid.ravel()]
    means = np.empty((int(blocks.max(initial=-1)) + 1, features.shape[1]), dtype=features.dtype)
    starts = np.cumsum([0, *np.count_nonzero(valid, axis=1)])[:: side * _ROWS]
    for start, stop in zip(starts, [*starts[1:], len(blocks)], strict=True):
        if start == stop:
            continue
        some, first = blocks[start:stop], int(blocks[start:stop].min())
        sizes = np.bincount(some - first)
        for mean, feature in zip(means.T, np.asarray(features[start:stop]).T, strict=True):
            mean[first : first + len(sizes)] = np.bincount(some - first, feature) / sizes
    return means


def mean_features(
    fill: Callable[[Callable[[tuple[int, int]], np.ndarray]], tuple[np.ndarray, np.ndarray]],
    side: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of features that go through a file, which is gone afterwards.

    Parameters
    ----------
    fill : callable
        Takes what creates an array of a shape; returns that array, filled, and the valid pixels.
    side : int

    Returns
    -------
    means : ndarray of shape (n_blocks, p)
    valid : ndarray of bool of shape (rows, columns)

    Raises
    ------
    DataError
        Where the folder for temporary files has no room.
    """
    with TemporaryFolder("diffclass-features") as folder:
        place = folder.path / "features.npy"
        features, valid = fill(lambda shape: create_mapped(place, shape, np.float32))
        return block_means(features, valid, side), valid
