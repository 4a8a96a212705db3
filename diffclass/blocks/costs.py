"""What a graph in blocks costs: memory of a task, space on the scratch disk, time.

The figures count the arrays that a stage holds. How large the overlap is is not known before: it
grows with the number of blocks, see `expected_overlap`. Budgets count on the most that are taken.
"""

from __future__ import annotations

from diffclass.costs import Cost, Size
from diffclass.label_diffusion.costs import STEPS
from diffclass.label_diffusion.held_out_labels import FOLDS
from diffclass.neighbors.nn_descent import search_cost

MOST_OVERLAP = 2.0  # per point of a block
PROCESS = 430e6  # bytes of interpreter, libraries, loops and heap: measured, mapped files included
LEADING = 56  # bytes of a point in the process that leads: order, labels and groups
_CHUNKS = 50e6  # differences to cells, a chunk of points at a time
_LARGER = 1.25  # points of the largest block, relative to `block_points`


def expected_overlap(n_points: int, block_points: int) -> float:
    """Return in the overlap of how many blocks a point is, on average.

    Of scenes with 20 features it was 0.5, 1.3 and 1.6 of 6, 21 and 51 blocks.

    Parameters
    ----------
    n_points, block_points : int
    """
    if n_points <= block_points:
        return 0.0
    return min(0.2 * (n_points / block_points) ** 0.55, MOST_OVERLAP)


def task_bytes(block: Size) -> dict[str, float]:
    """Return the peak memory in bytes of a process that runs the tasks of a block, by stage.

    Parameters
    ----------
    block : Size
        Points as in `build_operator`; classes count in "diffusion" alone, where blocks are on disk.
    """
    largest = Size(int(_LARGER * block.points), block.features, block.neighbors, block.classes)
    n, p, k, m = largest.points, largest.features, largest.neighbors, largest.edges
    searched = Size(int((1 + MOST_OVERLAP) * n), p, k)
    searching = 8 * searched.points * p + search_cost(searched).working + 24 * searched.points * k
    building = {
        "cells": 12 * n * p + 60 * n,
        "neighbors": max(searching, 56 * n * k),
        "graph": 80 * n * k,
        "affinities": 60 * m,
    }
    built = {name: PROCESS + _CHUNKS + size for name, size in building.items()}
    return built | {"diffusion": PROCESS + 8 * m + 40 * n * largest.classes}


def held_bytes(size: Size) -> float:
    """Return the memory in bytes that blocks and columns take if all of them stay in memory.

    Columns of the present and the next time, in single precision, and the values that the map is
    read off, in double.
    """
    n = size.points
    return 8 * size.edges + 20 * n + (2 * 4 + 8) * n * size.classes


def scratch_costs(size: Size, block_points: int) -> dict[str, Cost]:
    """Return the bytes on the scratch disk within each stage, and its seconds.

    Parameters
    ----------
    size : Size
    block_points : int
        As in `build_operator`.

    Returns
    -------
    dict of str to Cost
        That of "operator" is what stays, with the order of the points.
    """
    n, p, k, m, c = size.points, size.features, size.neighbors, size.edges, size.classes
    overlap, g = expected_overlap(n, block_points), size.millions
    walked = m * STEPS * g**0.5  # more blocks have more borders
    return {
        "cells": Cost(n * (8 * p + 32 + 16 * overlap), 0, 9.9e-8 * n * p),
        "neighbors": Cost(
            n * (4 * p + 24 + 8 * overlap + 8 * k * (2 + overlap)),
            0,
            9.2e-7 * (1 + overlap) * n * p * g**0.25,
        ),
        "graph": Cost(n * (24 + 20 * k) + 8 * m),
        "affinities": Cost(n * 36 + 20 * m, 0, 4.3e-7 * m * g**0.25),
        "operator": Cost(28 * n + 8 * m, 28 * n + 8 * m),
        "diffusion": Cost(seconds=5.6e-10 * walked * c),
        "maps": Cost(seconds=7.1e-9 * n * c),
        "calibration": Cost(seconds=2.2e-10 * walked * FOLDS * c),
    }
