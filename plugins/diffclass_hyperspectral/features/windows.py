"""Windows of rows of a picture that is too large for memory, with the rows around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from diffclass_hyperspectral.io.mapped_pages import release_pages
from diffclass_hyperspectral.io.point_pictures import PointPicture


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
        0 where there is no data.
    valid : ndarray of bool of shape (n_rows, columns)
    """

    rows: slice
    inner: slice
    image: np.ndarray
    valid: np.ndarray


def windows(picture: PointPicture, columns: slice, *, n_rows: int, reach: int) -> Iterator[Window]:
    """Yield the windows of a picture from the top down; those without data are left out.

    The rows of a window may be overwritten before the next one is asked for: rows that windows
    share are read once.

    Parameters
    ----------
    picture : PointPicture
    columns : slice
        Of its points.
    n_rows : int
        Own rows of a window, at least 1.
    reach : int
        Further rows above and below, as far as there are any.
    """
    before, image = slice(0, 0), picture.image(slice(0, 0), columns)
    for start in range(0, len(picture), n_rows):
        rows = slice(start, min(start + n_rows, len(picture)))
        around = slice(max(0, rows.start - reach), min(len(picture), rows.stop + reach))
        onward = picture.image(slice(before.stop, around.stop), columns)
        image = np.concatenate([image[around.start - before.start :], onward])
        before = around
        if picture.valid[rows].any():
            inner = slice(rows.start - around.start, rows.stop - around.start)
            yield Window(rows, inner, image, picture.valid[around])
            release_pages(picture.points)
