"""How a budget of memory is spent: on the points of a block, on blocks and columns that stay."""

from __future__ import annotations

from dataclasses import dataclass

from diffclass._validation import check_positive
from diffclass.blocks import costs

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
    def within(
        cls,
        memory: float,
        n_points: int,
        n_features: int,
        n_neighbors: int,
        n_classes: int,
        *,
        n_workers: int = 1,
    ) -> BlockPlan:
        """Plan the blocks for a budget.

        Parameters
        ----------
        memory : float
            Bytes of this process, or of each worker.
        n_points, n_features, n_neighbors, n_classes : int
        n_workers : int, default=1

        Raises
        ------
        ParameterError
            If the memory is too little for a block of 10,000 points, or for what is held of all.
        """
        check_positive(memory, "memory")

        def stepping_with(block_points: int) -> float:
            stepping = costs.stepping_bytes(min(block_points, n_points), n_neighbors, n_classes)
            return stepping + (costs.driving_bytes(n_points) if n_workers == 1 else 0)

        least = stepping_with(costs.LEAST_BLOCK)
        needed = max(least, costs.task_bytes(costs.LEAST_BLOCK, n_features, n_neighbors))
        if memory < needed:
            is_of_classes = needed == least
            what = f"{n_points} points of {n_classes} classes"
            raise costs.too_little(
                memory,
                needed,
                what if is_of_classes else costs.least_block(n_features, n_neighbors),
            )
        most = costs.block_points_within(memory, n_features, n_neighbors)
        if n_workers > 1:
            most = min(most, -(-n_points // (_BLOCKS_PER_WORKER * n_workers)))
        block_points = max(min(most, _MOST_POINTS), min(costs.LEAST_BLOCK, n_points))
        while (stepping := stepping_with(block_points)) > memory:  # with many classes
            block_points = max(int(0.9 * block_points), costs.LEAST_BLOCK)
        wanted = costs.diffusing_bytes(n_points, n_neighbors, n_classes) / n_workers
        held = max(min(memory - stepping, wanted), 0)
        task = costs.task_bytes(min(block_points, n_points), n_features, n_neighbors)
        return cls(
            block_points,
            held,
            max(task, stepping + held),
            costs.scratch_bytes(n_points, n_features, n_neighbors, block_points=block_points)
            + max(wanted * n_workers - held, 0),
        )
