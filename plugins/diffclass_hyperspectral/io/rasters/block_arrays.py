"""Cubes that stay in a compressed file and are read a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.libraries import reading

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
        What messages call it.
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
        self._step = max(1, min(step, shape[0]))
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
    def step(self) -> int:
        """Rows that the file stores together."""
        return self._step

    @property
    def kept_bytes(self) -> int:
        """Bytes of the piece that is kept for the next rows, once something has been read."""
        _, columns, bands = self._stored_shape
        piece = self._step * columns * bands * self.dtype.itemsize
        return piece if self._step > 1 and piece <= _KEPT_BYTES else 0

    def release(self) -> None:
        """Let go of the piece that is kept for the next rows."""
        self._kept = None

    def turned(self, turn: tuple[slice, slice]) -> BlockArray:
        """Return the array with its rows or columns reversed; nothing is read.

        Parameters
        ----------
        turn : tuple of two slices
            Of rows and columns; the step -1 reverses them.
        """
        rows, read = self._stored_shape[0], self._read_rows

        def read_rows(start: int, stop: int) -> np.ndarray:
            is_back = turn[0].step == -1
            block = read(rows - stop, rows - start) if is_back else read(start, stop)
            return np.asarray(block)[turn]

        return BlockArray(
            self._stored_shape,
            self.dtype,
            read_rows=read_rows,
            path=self.path,
            step=self._step,
            bands=self._bands,
        )

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
        return BlockArray(
            self._stored_shape,
            self.dtype,
            read_rows=self._read_rows,
            path=self.path,
            step=self._step,
            bands=np.atleast_1d(stored[wanted]),
        )

    def _rows(self, start: int, stop: int) -> np.ndarray:
        if self._step == 1:
            block = self._checked(start, stop)
            return block if self._bands is None else block[..., self._bands]
        out = np.empty((stop - start, *self.shape[1:]), dtype=self.dtype)
        for low in range(start - start % self._step, stop, self._step):
            first, last = max(start, low), min(stop, low + self._step)
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
        high = min(low + self._step, self.shape[0])
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
