"""How many rows a window of a picture has that is smoothed, and what it takes in memory."""

from __future__ import annotations

from diffclass.exceptions import ParameterError
from diffclass_hyperspectral.features.smoothing import GRID_BYTES

_WINDOW_BYTES = 2**28  # at least


def bytes_per_pixel(k: int) -> int:
    """Return what smoothing holds of a pixel of a window: k components, and the walk over it."""
    return 30 * k + GRID_BYTES


def window_rows(
    rows: int, columns: int, k: int, *, reach: int, window_bytes: int | None = None
) -> int:
    """Return how many rows of its own a window has, beside those that smoothing reaches.

    Parameters
    ----------
    rows, columns : int
        Of the picture.
    k : int
        Components.
    reach : int
        Rows above and below that count.
    window_bytes : int, optional
        Working memory; by default as much as is needed, 256 MiB at least.

    Raises
    ------
    ParameterError
        Where it is too little for one row.
    """
    of_a_row, around = columns * bytes_per_pixel(k), 2 * reach
    if window_bytes is None:  # rows around are worked on twice: there should be fewer of them
        window_bytes = max(_WINDOW_BYTES, 3 * around * of_a_row, of_a_row)
    if window_bytes >= rows * of_a_row:
        return rows
    n_rows = window_bytes // of_a_row - around
    if n_rows < 1:
        raise ParameterError(
            f"window_bytes = {window_bytes}: a window of {columns} columns needs at least "
            f"{min(rows, around + 1) * of_a_row} bytes for these features; give more memory, "
            "or take spectral features"
        )
    return n_rows
