"""Windows of rows of a picture that is too large for memory, with the rows around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from diffclass.system.mapped_files import release_pages
from diffclass.system.progress import in_parts
from diffclass_hyperspectral.io.rasters import Raster, rows_of_a_block


@dataclass(frozen=True, eq=False)
class Window:
    """Some rows of a picture and the rows around them."""

    rows: slice  # the window's own, of the picture
    inner: slice  # the same rows, of the arrays here
    image: np.ndarray  # float32 (n_rows, columns, k); where there is no data it means nothing
    valid: np.ndarray  # bool (n_rows, columns)


def windows(
    image: Raster,
    valid: np.ndarray,
    *,
    n_rows: int | None = None,
    reach: int,
    shown: str | None = None,
) -> Iterator[Window]:
    """Yield the windows of a picture from the top down; those without data are left out.

    A window has ``n_rows`` rows of its own (a block of the scene by default) and ``reach`` further
    ones above and below. It is overwritten by the next: rows that both share are read once.
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
