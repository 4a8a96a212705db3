"""Pictures that are read a block of rows at a time: computed, compressed in files, or of points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from diffclass.exceptions import DataError
from diffclass.system.libraries import reading
from diffclass.system.mapped_files import release_pages
from diffclass.system.progress import in_parts

BLOCK_VALUES = 2**20  # at most, except where a single row has more


def rows_of_a_block(values_per_row: int) -> int:
    """Return how many rows make a block, at least one."""
    return max(1, BLOCK_VALUES // values_per_row)


def row_blocks(
    n_rows: int, values_per_row: int, *, most_rows: int | None = None
) -> Iterator[slice]:
    """Yield the blocks of a picture, of at most ``most_rows`` rows, from the top down.

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


def unmasked(values: Any) -> np.ndarray:
    """Return an array, NaN where a masked one is masked: what lies there is no measurement.

    >>> unmasked(np.ma.masked_equal(np.array([3, 9], dtype=np.int16), 9)).tolist()
    [3.0, nan]
    """
    if not np.ma.is_masked(values):
        return np.asarray(values)
    kind = np.result_type(values.dtype, np.float32)  # a float that holds every value
    return np.asarray(values.astype(kind).filled(np.nan))


def as_raster(values: Any) -> Raster:
    """Return what can be read by rows as it is, anything else as an array."""
    is_raster = all(hasattr(values, name) for name in ("shape", "dtype", "__getitem__"))
    return values if is_raster and not np.ma.isMaskedArray(values) else unmasked(values)


def cast(raster: Raster, dtype: DTypeLike, *, with_bands: bool = False) -> ComputedRaster:
    """Return a raster of another type, block by block; with three axes if asked for."""
    shape = (*raster.shape, 1) if with_bands and len(raster.shape) == 2 else tuple(raster.shape)

    def rows(wanted: slice) -> np.ndarray:
        block = np.asarray(raster[wanted]).astype(dtype, copy=False)
        return block.reshape(len(block), *shape[1:])

    return ComputedRaster(shape, dtype, rows)


def blocks_of(raster: Raster, *, step: int = 1) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield slices of rows, whole multiples of ``step`` but for the last, and what is there."""
    n_rows, *others = raster.shape
    values = int(np.prod(others, dtype=np.int64))
    for group in row_blocks(-(-n_rows // step), max(values * step, 1)):
        rows = slice(group.start * step, min(group.stop * step, n_rows))
        yield rows, raster[rows]
        release_pages(raster)


# A piece that had to be decompressed is kept for the next rows, if it is no larger.
_KEPT_BYTES = 2**29


class BlockArray:
    """An array of shape (rows, columns, bands) that reads what it is asked for.

    Indexing by rows reads those rows; ``array[..., bands]`` reads nothing and returns the array of
    fewer bands. ``np.asarray`` reads everything.

    Parameters
    ----------
    shape : tuple of three int
    dtype : dtype
    read_rows : callable
        (start, stop) to the ndarray (stop - start, columns, bands).
    path : Path
    step : int, default=1
        Rows that the file stores together: whole steps are read and the last one is kept.
    bands : ndarray of int, optional
        Bands of the file, in the order wanted.
    """

    ndim = 3

    def __init__(
        self,
        shape: tuple[int, int, int],
        dtype: DTypeLike,
        *,
        read_rows: Callable[[int, int], np.ndarray],
        path: Path,
        step: int = 1,
        bands: np.ndarray | None = None,
    ):
        self._stored_shape = shape
        self._read_rows = read_rows
        self.path = path
        self.step = max(1, min(step, shape[0]))
        self._bands = bands
        self._kept: tuple[int, int, np.ndarray] | None = None
        self.dtype = np.dtype(dtype)
        self.shape = (shape[0], shape[1], shape[2] if bands is None else len(bands))

    @property
    def size(self) -> int:
        """Number of values."""
        rows, columns, bands = self.shape
        return rows * columns * bands

    @property
    def kept_bytes(self) -> int:
        """Bytes of the piece that is kept for the next rows, once something has been read."""
        _, columns, bands = self._stored_shape
        piece = self.step * columns * bands * self.dtype.itemsize
        return piece if self.step > 1 and piece <= _KEPT_BYTES else 0

    def release(self) -> None:
        """Let go of the piece that is kept for the next rows."""
        self._kept = None

    def turned(self, turn: tuple[slice, slice]) -> BlockArray:
        """Return the array with rows or columns, whose step is -1, reversed; nothing is read."""
        rows, read = self._stored_shape[0], self._read_rows

        def read_rows(start: int, stop: int) -> np.ndarray:
            is_back = turn[0].step == -1
            block = read(rows - stop, rows - start) if is_back else read(start, stop)
            return np.asarray(block)[turn]

        return self._read_by(read_rows, self._bands)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        whole = self._rows(0, self.shape[0])
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and len(key) == 2 and key[0] is Ellipsis:
            return self._of_bands(key[1])
        rows, *others = key if isinstance(key, tuple) else (key,)
        if isinstance(rows, slice):
            start, stop, step = rows.indices(self.shape[0])
            if step == 1:
                block = self._rows(start, max(start, stop))
                return block[(slice(None), *others)] if others else block
        return np.asarray(self)[key]

    def _of_bands(self, wanted: Any) -> BlockArray:
        stored = np.arange(self._stored_shape[2]) if self._bands is None else self._bands
        return self._read_by(self._read_rows, np.atleast_1d(stored[wanted]))

    def _read_by(
        self, read_rows: Callable[[int, int], np.ndarray], bands: np.ndarray | None
    ) -> BlockArray:
        shape, dtype, path, step = self._stored_shape, self.dtype, self.path, self.step
        return BlockArray(shape, dtype, read_rows=read_rows, path=path, step=step, bands=bands)

    def _rows(self, start: int, stop: int) -> np.ndarray:
        if self.step == 1:
            block = self._checked(start, stop)
            return block if self._bands is None else block[..., self._bands]
        out = np.empty((stop - start, *self.shape[1:]), dtype=self.dtype)
        for low in range(start - start % self.step, stop, self.step):
            first, last = max(start, low), min(stop, low + self.step)
            piece, offset = self._piece(low, first, last)
            chosen = piece[first - offset : last - offset]
            out[first - start : last - start] = (
                chosen if self._bands is None else chosen[..., self._bands]
            )
        return out

    def _piece(self, low: int, first: int, last: int) -> tuple[np.ndarray, int]:
        """Return rows that hold first to last, and the number of the first of them."""
        if self._kept is not None and self._kept[0] <= first and last <= self._kept[1]:
            return self._kept[2], self._kept[0]
        high = min(low + self.step, self.shape[0])
        if not self.kept_bytes:
            return self._checked(first, last), first
        self._kept = None  # never two at once
        piece = self._checked(low, high)
        self._kept = (low, high, piece)
        return piece, low

    def _checked(self, start: int, stop: int) -> np.ndarray:
        with reading(self.path, "an image"):
            block = np.asarray(self._read_rows(start, stop))
        if block.shape != (stop - start, *self._stored_shape[1:]):
            raise DataError(
                f"{self.path}: rows {start} to {stop} have the shape {block.shape}; "
                "the file is damaged, fetch it again"
            )
        return block


class PointPicture:
    """A picture of which only the pixels with data are stored, one row of an array for each.

    ``points`` (n, k) or (n,) has the valid pixels row by row; others are read as ``fill``.

    >>> import numpy as np
    >>> valid = np.array([[True, False], [True, True]])
    >>> picture = PointPicture(np.array([5, 6, 7]), valid)
    >>> picture[0:2].tolist()
    [[5, 0], [6, 7]]
    """

    def __init__(self, points: np.ndarray, valid: np.ndarray, *, fill: float = 0):
        self.points = points
        self.valid = valid
        self.fill = fill
        self.shape = (*valid.shape, *points.shape[1:])
        self.dtype = points.dtype
        self.ndim = len(self.shape)
        self._starts = np.concatenate([[0], np.cumsum(np.count_nonzero(valid, axis=1))])

    @property
    def size(self) -> int:
        """Number of values."""
        return int(np.prod(self.shape, dtype=np.int64))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        found, valid = self.points[self.numbers(rows)], self.valid[rows]
        if valid.all():
            return np.array(found).reshape(*valid.shape, *found.shape[1:])
        out = np.full((*valid.shape, *found.shape[1:]), self.fill, dtype=self.dtype)
        out[valid] = found
        return out

    def numbers(self, rows: slice) -> slice:
        """Return which points lie in some rows of the picture, a slice without a step."""
        start, stop, _ = rows.indices(len(self))
        return slice(int(self._starts[start]), int(self._starts[max(start, stop)]))

    def leading(self, k: int) -> PointPicture:
        """Return the picture of the first k columns of the points."""
        return PointPicture(self.points[:, :k], self.valid, fill=self.fill)

    def row_blocks(self, *, shown: str | None = None) -> Iterator[slice]:
        """Yield blocks of rows of the picture, and let go of the pages they were read from."""
        values = self.size // max(len(self), 1)
        blocks = row_blocks(len(self), max(values, 1))
        for rows in blocks if shown is None else in_parts(shown, blocks):
            yield rows
            release_pages(self.points)


def spread_out(points: np.ndarray, valid: np.ndarray) -> None:
    """Move the leading rows of an array, one per valid pixel, to the pixels' places; others NaN.

    >>> import numpy as np
    >>> points = np.array([[1.0], [2.0], [0.0]])
    >>> spread_out(points, np.array([[True, False, True]]))
    >>> points.ravel().tolist()
    [1.0, nan, 2.0]
    """
    if valid.all():
        return
    n_columns = valid.shape[1]
    packed = PointPicture(points[: np.count_nonzero(valid)], valid, fill=np.nan)
    # from the end: no pixel lies before its point
    for rows in reversed(list(packed.row_blocks())):
        image = packed[rows]
        points[rows.start * n_columns : rows.stop * n_columns] = image.reshape(-1, points.shape[1])
