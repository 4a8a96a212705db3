"""Rasters that are read a block of rows at a time: the part of a picture that is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from diffclass.mapped_files import release_pages

BLOCK_VALUES = 2**20  # at most, except where a single row has more


def rows_of_a_block(values_per_row: int) -> int:
    """Return how many rows make a block, at least one."""
    return max(1, BLOCK_VALUES // values_per_row)


def row_blocks(
    n_rows: int, values_per_row: int, *, most_rows: int | None = None
) -> Iterator[slice]:
    """Yield the blocks of a picture from the top down.

    Parameters
    ----------
    n_rows : int
    values_per_row : int
        Columns times bands.
    most_rows : int, optional
        Of a block, however few values they have.

    Examples
    --------
    >>> [(rows.start, rows.stop) for rows in row_blocks(5, 2**18, most_rows=3)]
    [(0, 3), (3, 5)]
    """
    step = rows_of_a_block(values_per_row)
    step = step if most_rows is None else min(step, most_rows)
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


class Raster(Protocol):
    """What a map can be written from: an array, a memory map, or rows that are computed."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns, and maybe bands."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""

    def __getitem__(self, rows: slice, /) -> np.ndarray:
        """Return some rows."""


class ComputedRaster:
    """A raster whose rows are made when they are asked for.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns, and maybe bands.
    dtype : dtype
        Of what ``read_rows`` returns.
    read_rows : callable
        From a slice of rows to the array (n_rows, columns, ...).

    Examples
    --------
    >>> import numpy as np
    >>> squares = ComputedRaster((3, 1), int, lambda rows: np.arange(3)[rows, None] ** 2)
    >>> squares[1:3].tolist()
    [[1], [4]]
    """

    def __init__(
        self, shape: tuple[int, ...], dtype: DTypeLike, read_rows: Callable[[slice], np.ndarray]
    ):
        self.shape = shape
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._read_rows = read_rows

    def __getitem__(self, rows: slice, /) -> np.ndarray:
        return self._read_rows(rows)


def as_raster(values: Any) -> Raster:
    """Return what can be read by rows as it is, anything else as an array."""
    is_raster = all(hasattr(values, name) for name in ("shape", "dtype", "__getitem__"))
    return values if is_raster else np.asarray(values)


def cast(raster: Raster, dtype: DTypeLike, *, with_bands: bool = False) -> ComputedRaster:
    """Return a raster of another type, block by block; with three axes if asked for."""
    shape = (*raster.shape, 1) if with_bands and len(raster.shape) == 2 else tuple(raster.shape)

    def rows(wanted: slice) -> np.ndarray:
        block = np.asarray(raster[wanted]).astype(dtype, copy=False)
        return block.reshape(len(block), *shape[1:])

    return ComputedRaster(shape, dtype, rows)


def blocks_of(raster: Raster, *, step: int = 1) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield slices of rows and what the raster has there, from the top down.

    Parameters
    ----------
    raster : Raster
    step : int, default=1
        A block has a whole multiple of that many rows, but for the last.
    """
    n_rows, *others = raster.shape
    values = int(np.prod(others, dtype=np.int64))
    for group in row_blocks(-(-n_rows // step), max(values * step, 1)):
        rows = slice(group.start * step, min(group.stop * step, n_rows))
        yield rows, raster[rows]
        release_pages(raster)
