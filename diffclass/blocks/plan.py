"""How a budget of memory is spent: on the points of a block, on blocks and columns that stay."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, replace

from diffclass._validation import check_positive
from diffclass.blocks.costs import LEADING, held_bytes, scratch_costs, task_bytes
from diffclass.costs import Size
from diffclass.exceptions import ParameterError

LEAST_BLOCK = 10_000  # points; smaller blocks would be little else than borders
_MOST_POINTS = 200_000  # per block: neighbours among more points take longer for each of them
_BLOCKS_PER_WORKER = 2  # at least, so that workers have something to do while others end


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
        Memory of this process, or of each worker.
    scratch_bytes : float
        Space on the scratch disk.
    """

    block_points: int
    held_bytes: float
    peak_bytes: float
    scratch_bytes: float

    @classmethod
    def within(cls, memory: float, size: Size, *, n_workers: int = 1) -> BlockPlan:
        """Plan the blocks for a budget.

        Parameters
        ----------
        memory : float
            Bytes of this process, or of each worker.
        size : Size
        n_workers : int, default=1

        Raises
        ------
        ParameterError
            If the memory is too little for a block of 10,000 points, or for what is held of all.
        """
        check_positive(memory, "memory")
        leading = float(LEADING * size.points) if n_workers == 1 else 0.0

        def stepping_with(block_points: int) -> float:
            block = replace(size, points=min(block_points, size.points))
            return task_bytes(block)["diffusion"] + leading

        least = stepping_with(LEAST_BLOCK)
        needed = max(least, building_bytes(replace(size, points=LEAST_BLOCK)))
        if memory < needed:
            what = f"{size.points} points of {size.classes} classes"
            raise _too_little(memory, needed, what if needed == least else _least_block(size))
        most = block_points_within(memory, size.features, size.neighbors)
        if n_workers > 1:
            most = min(most, -(-size.points // (_BLOCKS_PER_WORKER * n_workers)))
        block_points = max(min(most, _MOST_POINTS), min(LEAST_BLOCK, size.points))
        while (stepping := stepping_with(block_points)) > memory:  # with many classes
            block_points = max(int(0.9 * block_points), LEAST_BLOCK)
        wanted = held_bytes(size) / n_workers
        held = max(min(memory - stepping, wanted), 0)
        building = building_bytes(replace(size, points=min(block_points, size.points)))
        on_disk = max(cost.working for cost in scratch_costs(size, block_points).values())
        return cls(
            block_points,
            held,
            max(building, stepping + held),
            on_disk + max(wanted * n_workers - held, 0),
        )


def building_bytes(block: Size) -> float:
    """Return the peak memory in bytes of a process that builds the graph of a block."""
    return max(size for stage, size in task_bytes(block).items() if stage != "diffusion")


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
    >>> from diffclass.blocks.plan import block_points_within
    >>> block_points_within(2e9, 20, 12) > 300_000
    True
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
        f"memory = {given / 1e3:.12g} GB is too little for {what}; give each worker at least "
        f"{enough / 1e3:.12g} GB"
    )
