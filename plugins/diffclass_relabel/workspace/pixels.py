"""Pixels and points: sets of pixels as runs, and square blocks of pixels as points.

Pixel (row, column) has the number row * columns + column. Sets of pixels are runs over the raster,
row by row: [start, length, start, length, ...].

Where a scene has more pixels than a session can diffuse, its points are blocks, with the mean
features of their pixels with data. What is painted at a pixel counts for its block.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.system.mapped_files import create_mapped
from diffclass.system.temporary_folders import TemporaryFolder


def runs_of(pixels: np.ndarray) -> list[int]:
    """Return the runs of a set of pixels, sorted and each once.

    >>> runs_of(np.array([3, 4, 5, 9]))
    [3, 3, 9, 1]
    """
    pixels = np.asarray(pixels, dtype=np.int64)
    if not len(pixels):
        return []
    breaks = np.flatnonzero(np.diff(pixels) != 1) + 1
    edges = np.r_[0, breaks, len(pixels)]
    return np.column_stack([pixels[edges[:-1]], np.diff(edges)]).ravel().tolist()


def pixels_of(runs: list[int], n_pixels: int) -> np.ndarray:
    """Return the pixels of runs, sorted and each once; runs may be in any order and overlap.

    - `ParameterError` where ``runs`` is empty, lacks a length, or leaves the image

    >>> pixels_of([9, 1, 3, 2, 4, 2], 10).tolist()
    [3, 4, 5, 9]
    """
    starts, lengths = _checked(runs, n_pixels)
    # +1 where a run begins, -1 after its end: the running sum counts the runs over a pixel. However
    # much runs overlap, no message makes this larger than the raster.
    covers = np.zeros(n_pixels + 1, dtype=np.int64)
    np.add.at(covers, starts, 1)
    np.add.at(covers, starts + lengths, -1)
    return np.flatnonzero(np.cumsum(covers[:-1]) > 0)


def _checked(runs: list[int], n_pixels: int) -> tuple[np.ndarray, np.ndarray]:
    if not runs or len(runs) % 2:
        raise ParameterError(
            "pixels have to be a list of runs, [start, length, start, length, ...], at least one"
        )
    pairs = np.array(runs, dtype=np.int64).reshape(-1, 2)
    starts, lengths = pairs[:, 0], pairs[:, 1]
    bad = np.flatnonzero((starts < 0) | (lengths < 1) | (starts + lengths > n_pixels))
    if len(bad):
        start, length = pairs[bad[0]].tolist()
        raise ParameterError(
            f"a run of {length} pixels from pixel {start} is empty or leaves the image "
            f"(pixels 0 to {n_pixels - 1}); paint inside it"
        )
    return starts, lengths


MOST_POINTS = 2**20
_ROWS = 64  # of blocks, whose pixels are in memory at a time


def block_side(rows: int, columns: int) -> int:
    """Return the side of the smallest blocks of which a scene has at most `MOST_POINTS`.

    >>> block_side(1000, 1000), block_side(3000, 3000)
    (1, 3)
    """
    side = 1
    while -(-rows // side) * -(-columns // side) > MOST_POINTS:
        side += 1
    return side


def blocks_of(valid: np.ndarray, side: int) -> np.ndarray:
    """Return the block of each pixel, int32 (rows * columns,); -1 where ``valid`` says no data.

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
    """Return the mean features (n_blocks, p) of each block of `blocks_of`, in few rows at a time.

    - `features` (n, p): of the pixels with data, in their order
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
    """Return the block means of features that go through a temporary file, and the valid pixels.

    - `fill`: takes what creates an array of a shape; returns that array, filled, and the valid
      pixels
    """
    with TemporaryFolder("diffclass-features") as folder:
        place = folder.path / "features.npy"
        features, valid = fill(lambda shape: create_mapped(place, shape, np.float32))
        return block_means(features, valid, side), valid
