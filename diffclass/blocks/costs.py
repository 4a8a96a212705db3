"""What a graph in blocks costs: memory of a task, space on the scratch disk.

The figures count the arrays that a stage holds. How many guests a point has is not known before: it
grows with the number of blocks, see `expected_guests`. Budgets count on the most that are taken.
"""

from __future__ import annotations

import math
from bisect import bisect_right

from diffclass._validation import check_positive
from diffclass.exceptions import ParameterError
from diffclass.neighbors.graph import expected_edges
from diffclass.neighbors.nn_descent import index_bytes, searching_bytes

MOST_GUESTS = 2.0  # per point of a block
LEAST_BLOCK = 10_000  # points; smaller blocks would be little else than borders
_PROCESS = 350e6  # interpreter, libraries, compiled loops: as measured, files mapped included
_CHUNKS = 50e6  # differences to cells, a chunk of points at a time
_LARGER = 1.25  # points of the largest block, relative to `block_points`


def expected_guests(n_points: int, block_points: int) -> float:
    """Return how many blocks a point is a guest of, on average.

    Of scenes with 20 features it was 0.5, 1.3 and 1.6 of 6, 21 and 51 blocks.

    Parameters
    ----------
    n_points, block_points : int
    """
    if n_points <= block_points:
        return 0.0
    return min(0.2 * (n_points / block_points) ** 0.55, MOST_GUESTS)


def task_bytes(block_points: int, n_features: int, n_neighbors: int) -> float:
    """Return the peak memory in bytes of a process that runs the tasks of a block.

    Parameters
    ----------
    block_points : int
        As in `build_operator`.
    n_features, n_neighbors : int
    """
    stages = _stage_bytes(int(_LARGER * block_points), n_features, n_neighbors)
    return _PROCESS + _CHUNKS + max(stages)


def _stage_bytes(n: int, p: int, k: int) -> tuple[float, ...]:
    searched = int((1 + MOST_GUESTS) * n)
    edges = expected_edges(n, k)
    sorting = 12 * n * p + 60 * n
    searching = (
        8 * searched * p
        + index_bytes(searched, p, k)
        + searching_bytes(searched, p, k)
        + 24 * searched * k
    )
    merging = 56 * n * k
    uniting = 80 * n * k
    sharing = 60 * edges
    return sorting, searching, merging, uniting, sharing


def block_points_within(memory: float, n_features: int, n_neighbors: int) -> int:
    """Return the largest ``block_points`` whose tasks fit into a budget.

    Parameters
    ----------
    memory : float
        Of one worker, in bytes.
    n_features, n_neighbors : int

    Raises
    ------
    ParameterError
        If a block of 10,000 points does not fit.

    Examples
    --------
    >>> from diffclass.blocks.costs import block_points_within
    >>> block_points_within(2e9, 20, 12) > 300_000
    True
    """
    check_positive(memory, "memory")
    needed = task_bytes(LEAST_BLOCK, n_features, n_neighbors)
    if memory < needed:
        raise too_little(memory, needed, least_block(n_features, n_neighbors))
    return (
        bisect_right(
            range(2**40), memory, key=lambda points: task_bytes(points, n_features, n_neighbors)
        )
        - 1
    )


def least_block(n_features: int, n_neighbors: int) -> str:
    """Return how an error names the smallest block."""
    return (
        f"a block of {LEAST_BLOCK} points with {n_features} features and {n_neighbors} neighbours"
    )


def too_little(memory: float, needed: float, what: str) -> ParameterError:
    """Return the error of a budget; the figure that it names suffices, and is not the budget's."""
    given, enough = math.floor(memory / 1e6), math.floor(needed / 1e6) + 1
    return ParameterError(
        f"memory = {given / 1e3:.12g} GB is too little for {what}; give each worker at least "
        f"{enough / 1e3:.12g} GB"
    )


def scratch_bytes(n_points: int, n_features: int, n_neighbors: int, *, block_points: int) -> float:
    """Return the peak size in bytes of the scratch folder.

    Parameters
    ----------
    n_points, n_features, n_neighbors, block_points : int
    """
    n, p, k = n_points, n_features, n_neighbors
    edges, guests = expected_edges(n, k), expected_guests(n_points, block_points)
    sorting = n * (8 * p + 32 + 16 * guests)
    searching = n * (4 * p + 24 + 8 * guests + 8 * k * (2 + guests))
    joining = n * (24 + 20 * k) + 8 * edges
    sharing = n * 36 + 20 * edges
    return max(sorting, searching, joining, sharing)


def kept_bytes(n_points: int, n_neighbors: int) -> float:
    """Return the size in bytes of the operator and the order on the scratch disk."""
    return 28 * n_points + 8 * expected_edges(n_points, n_neighbors)


def stepping_bytes(block_points: int, n_neighbors: int, n_classes: int) -> float:
    """Return the memory in bytes of a process while a block takes a step, all else on disk.

    It grows in proportion to the points, beside what every process takes.

    Parameters
    ----------
    block_points, n_neighbors, n_classes : int
    """
    n = int(_LARGER * block_points)
    return _PROCESS + 8 * expected_edges(n, n_neighbors) + 40 * n * n_classes


def driving_bytes(n_points: int) -> float:
    """Return the memory in bytes of the process that leads: order, labels and groups of points."""
    return 56.0 * n_points


def diffusing_bytes(n_points: int, n_neighbors: int, n_classes: int) -> float:
    """Return the memory in bytes that blocks and columns take if all of them stay in memory.

    Columns of the present and the next time, in single precision, and the values that the map is
    read off, in double.

    Parameters
    ----------
    n_points, n_neighbors, n_classes : int
    """
    blocks = 8 * expected_edges(n_points, n_neighbors) + 20 * n_points
    return blocks + (2 * 4 + 8) * n_points * n_classes
