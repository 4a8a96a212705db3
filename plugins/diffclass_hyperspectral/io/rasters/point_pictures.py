"""Values of the pixels with data, in pixel order, seen as a picture that is read in rows.

Graphs and classifiers know points; scenes and maps are pictures. Where all pixels do not fit into
memory, the points lie in a file and are placed among the pixels without data one block of rows at
a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from diffclass.mapped_files import release_pages
from diffclass.progress import in_parts
from diffclass_hyperspectral.io.rasters.rasters import row_blocks


class PointPicture:
    """A picture of which only the pixels with data are stored, one row of an array for each.

    Indexing by rows, as ``picture[10:20]``, reads those rows.

    Parameters
    ----------
    points : ndarray of shape (n, k) or (n,)
        Values of the valid pixels, row by row; may lie on a memory map.
    valid : ndarray of bool of shape (rows, columns)
        Which pixels these are; n of them.
    fill : float, default=0
        What the other pixels are read as.

    Examples
    --------
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
        """Yield blocks of rows of the picture, and let go of the pages they were read from.

        Parameters
        ----------
        shown : str, optional
            Name of the work on them, for those who listen to progress.
        """
        values = self.size // max(len(self), 1)
        blocks = row_blocks(len(self), max(values, 1))
        for rows in blocks if shown is None else in_parts(shown, blocks):
            yield rows
            release_pages(self.points)


def spread_out(points: np.ndarray, valid: np.ndarray) -> None:
    """Move the leading rows of an array, one per valid pixel, to the pixels' places; others NaN.

    Parameters
    ----------
    points : ndarray of shape (rows * columns, p)
        Its first rows belong to the valid pixels; changed in place.
    valid : ndarray of bool of shape (rows, columns)

    Examples
    --------
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
