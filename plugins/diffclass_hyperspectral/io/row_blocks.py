"""Blocks of rows of a picture: the part of a scene that is in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator

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
