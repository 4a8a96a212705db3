"""What a graph in blocks costs (memory of a task, space on disk, time), and how a budget is spent.

The figures count the arrays that a stage holds. How large the overlap is is not known before: it
grows with the number of blocks, see `expected_overlap`. Budgets count on the most that are taken.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, replace

from diffclass._validation import check_positive
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.calibration import STEPS
from diffclass.label_diffusion.feature_opinion import opinion_cost
from diffclass.label_diffusion.held_out_labels import FOLDS
from diffclass.neighbors.nn_descent import search_cost
from diffclass.system.costs import Cost, Size

MOST_OVERLAP = 2.0  # per point of a block
PROCESS = 430e6  # bytes of interpreter, libraries, loops and heap: measured, mapped files included
LEADING = 56  # bytes of a point in the process that leads: order, labels and groups
_CHUNKS = 50e6  # differences to cells, a chunk of points at a time
_LARGER = 1.25  # points of the largest block, relative to `block_points`
LEAST_BLOCK = 10_000  # points; smaller blocks would be little else than borders
_MOST_POINTS = 200_000  # per block: neighbours among more points take longer for each of them
_ADJACENT = 30  # blocks that a block sends to: all, among 31 (experiments.scaling.workers)
_TASK_SECONDS = 2e-3  # of the scheduler, which starts one after the other
_BLOCKS_PER_WORKER = 2  # at least, so that workers have something to do while others end


def expected_overlap(n_points: int, block_points: int) -> float:
    """Return in the overlap of how many blocks a point is, on average."""
    if n_points <= block_points:
        return 0.0
    return min(0.2 * (n_points / block_points) ** 0.55, MOST_OVERLAP)


def task_bytes(block: Size) -> dict[str, float]:
    """Return the peak memory in bytes of a process that runs the tasks of a block, by stage.

    Classes count in "diffusion" alone, where blocks are on disk.
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
    """Return the memory in bytes that blocks and columns take if all of them stay in memory."""
    n = size.points
    # columns of the present and the next time in single precision, values of the map in double
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

    See Also
    --------
    BlockClassifier.plan : Chooses the points of a block for a budget of memory.

    Examples
    --------
    Gigabytes on the disk for 10 million points of 30 features, by stage:

    >>> from diffclass.blocks import scratch_costs
    >>> from diffclass.system.costs import Size
    >>> costs = scratch_costs(Size(10_000_000, 30, 12, 9), block_points=200_000)
    >>> {name: round(cost.working / 1e9, 1) for name, cost in costs.items() if cost.working}
    {'cells': 3.0, 'neighbors': 5.1, 'graph': 4.3, 'affinities': 4.4, 'operator': 1.9, 'maps': 2.9}
    """
    n, p, k, m, c = size.points, size.features, size.neighbors, size.edges, size.classes
    overlap, g = expected_overlap(n, block_points), size.millions
    walked = m * STEPS * g**0.5  # more blocks have more borders
    return {
        "cells": Cost(n * (8 * p + 32 + 16 * overlap), 0, 5.7e-7 * n * p),
        "neighbors": Cost(
            n * (4 * p + 24 + 8 * overlap + 8 * k * (2 + overlap)),
            0,
            2.5e-6 * (1 + overlap) * n * p * g**0.25,
        ),
        "graph": Cost(n * (24 + 20 * k) + 8 * m),
        "affinities": Cost(n * 36 + 20 * m, 0, 9e-7 * m * g**0.25),
        "operator": Cost(28 * n + 8 * m, 28 * n + 8 * m),
        "diffusion": Cost(seconds=1.2e-9 * walked * c),
        # that of the walk, and joined with the features
        "maps": Cost(28 * n + 8 * m + 2 * n * (16 + 4 * c), seconds=1.8e-8 * n * c),
        "calibration": Cost(seconds=3.9e-10 * walked * FOLDS * c),
    }


@dataclass(frozen=True)
class BlockPlan:
    """How points are cut into blocks, and what that will take.

    Attributes
    ----------
    block_points : int
        About so many points per block.
    held_bytes : float
        For blocks and columns that stay in memory during the diffusion.
    peak_bytes : float
        Memory of this process and its builders, or of each worker.
    scratch_bytes : float
        Space on the scratch disk.
    builder_bytes : float
        For each process that builds the graph.
    is_joined : bool
        Whether labels diffuse in one block per worker, or in this process: its memory suffices.
    n_tasks : int
        That a scheduler starts for a step; 0 without one.
    """

    block_points: int
    held_bytes: float
    peak_bytes: float
    scratch_bytes: float
    builder_bytes: float
    is_joined: bool
    n_tasks: int

    @property
    def scheduler_seconds(self) -> dict[str, float]:
        """Seconds in which a scheduler starts the tasks of walks, by stage."""
        walk = STEPS * self.n_tasks * _TASK_SECONDS
        return {"diffusion": walk, "calibration": FOLDS * walk}

    @classmethod
    def within(
        cls, memory: float, size: Size, *, n_workers: int = 1, n_builders: int | None = None
    ) -> BlockPlan:
        """Plan the blocks for a budget.

        Parameters
        ----------
        memory : float
            Bytes of this process and its builders, or of each worker.
        size : Size
        n_workers : int, default=1
            Workers of a cluster, which share all of the work.
        n_builders : int, optional
            Processes that build the graph beside this one, and end before the labels diffuse.

        Raises
        ------
        ParameterError
            If the memory is too little for a block of 10,000 points, or for what is held of all.
        """
        check_positive(memory, "memory")
        leading = float(LEADING * size.points) if n_workers == 1 else 0.0
        opining = opinion_cost(size).working if n_workers == 1 else 0.0
        beside, n_shares = (0.0, 1) if n_builders is None else (PROCESS + leading, n_builders)

        def building_with(block_points: int) -> float:
            block = replace(size, points=block_points)
            return beside + n_shares * building_bytes(block)

        def stepping_with(block_points: int) -> float:
            block = replace(size, points=min(block_points, size.points))
            return task_bytes(block)["diffusion"] + leading + opining

        least = stepping_with(LEAST_BLOCK)
        needed = max(least, building_with(LEAST_BLOCK))
        if memory < needed:
            what = f"{size.points} points of {size.classes} classes"
            raise _too_little(memory, needed, what if needed == least else _least_block(size))
        builder = (memory - beside) / n_shares
        # 1. the largest block that a builder can hold; 2. enough blocks for all workers; 3. smaller
        # ones where many classes make the columns of a block too large
        most = block_points_within(builder, size.features, size.neighbors)
        if (n_sharing := max(n_workers, n_shares)) > 1:
            most = min(most, -(-size.points // (_BLOCKS_PER_WORKER * n_sharing)))
        block_points = max(min(most, _MOST_POINTS), min(LEAST_BLOCK, size.points))
        while stepping_with(block_points) > memory:  # with many classes
            block_points = max(int(0.9 * block_points), LEAST_BLOCK)
        wanted = held_bytes(size) / n_workers
        joined = stepping_with(-(-size.points // n_workers))
        # Blocks are joined where all columns of a worker fit; else what is left of the budget after
        # one block's task holds blocks and columns in memory, and the rest is on disk.
        is_joined = joined <= memory
        stepping = joined - wanted if is_joined else stepping_with(block_points)
        held = max(min(memory - stepping, wanted), 0)
        building = building_with(min(block_points, size.points))
        on_disk = max(cost.working for cost in scratch_costs(size, block_points).values())
        return cls(
            block_points,
            held,
            min(max(building, stepping + held), memory),  # rounding may exceed the budget
            on_disk + max(wanted * n_workers - held, 0),
            builder,
            is_joined,
            _tasks(n_workers if is_joined else -(-size.points // block_points), n_workers),
        )


def _tasks(n_blocks: int, n_workers: int) -> int:
    """Return the tasks of a step: one for each block, and for each that it sends to."""
    return 0 if n_workers == 1 else n_blocks * (1 + min(n_blocks - 1, _ADJACENT))


def building_bytes(block: Size) -> float:
    """Return the peak memory in bytes of a process that builds the graph of a block."""
    return max(size for stage, size in task_bytes(block).items() if stage != "diffusion")


def block_points_within(memory: float, n_features: int, n_neighbors: int) -> int:
    """Return the largest ``block_points`` whose tasks fit into a budget of one worker, in bytes.

    Raises `ParameterError` if a block of 10,000 points does not fit.
    """
    check_positive(memory, "memory")

    def needed(block_points: int) -> float:
        return building_bytes(Size(block_points, n_features, n_neighbors))

    if memory < needed(LEAST_BLOCK):
        least = _least_block(Size(LEAST_BLOCK, n_features, n_neighbors))
        raise _too_little(memory, needed(LEAST_BLOCK), least)
    return bisect_right(range(2**40), memory, key=needed) - 1


def _least_block(size: Size) -> str:
    return (
        f"a block of {LEAST_BLOCK} points with {size.features} features and {size.neighbors} "
        "neighbours"
    )


def _too_little(memory: float, needed: float, what: str) -> ParameterError:
    """Return the error of a budget; the figure that it names suffices, and is not the budget's."""
    given, enough = math.floor(memory / 1e6), math.floor(needed / 1e6) + 1
    return ParameterError(
        f"memory = {given / 1e3:.12g} GB is too little for {what}; give at least "
        f"{enough / 1e3:.12g} GB, {PROCESS / 1e9:.2f} GB of which the program itself takes"
    )
