"""Windows of rows of a picture that is too large for memory, with the rows around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from diffclass.mapped_files import release_pages
from diffclass.progress import in_parts
from diffclass_hyperspectral.io.rasters import Raster, rows_of_a_block


@dataclass(frozen=True, eq=False)
class Window:
    """Some rows of a picture and the rows around them.

    Attributes
    ----------
    rows : slice
        The window's own rows, of the picture.
    inner : slice
        The same rows, of the arrays here.
    image : ndarray of float32 of shape (n_rows, columns, k)
        Its values where there is no data mean nothing.
    valid : ndarray of bool of shape (n_rows, columns)
    """

    rows: slice
    inner: slice
    image: np.ndarray
    valid: np.ndarray


def windows(
    image: Raster,
    valid: np.ndarray,
    *,
    n_rows: int | None = None,
    reach: int,
    shown: str | None = None,
) -> Iterator[Window]:
    """Yield the windows of a picture from the top down; those without data are left out.

    The rows of a window may be overwritten before the next one is asked for: rows that windows
    share are read once.

    Parameters
    ----------
    image : Raster of float32 of shape (rows, columns, k)
    valid : ndarray of bool of shape (rows, columns)
        Where there is data.
    n_rows : int, optional
        Own rows of a window, at least 1; a block of the scene by default.
    reach : int
        Further rows above and below, as far as there are any.
    shown : str, optional
        Name of the work on them, for those who listen to progress.
    """
    if n_rows is None:
        n_rows = rows_of_a_block(image.shape[1] * image.shape[2])
    before, seen = slice(0, 0), np.asarray(image[0:0])
    starts = range(0, len(valid), n_rows)
    for start in starts if shown is None else in_parts(shown, starts):
        rows = slice(start, min(start + n_rows, len(valid)))
        around = slice(max(0, rows.start - reach), min(len(valid), rows.stop + reach))
        onward = image[before.stop : around.stop]
        seen = np.concatenate([seen[around.start - before.start :], onward])
        before = around
        if valid[rows].any():
            inner = slice(rows.start - around.start, rows.stop - around.start)
            yield Window(rows, inner, seen, valid[around])
            release_pages(image)
