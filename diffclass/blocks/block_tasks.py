"""Tasks of a walk on one block. Each returns new arrays and changes none of its arguments.

The sums of a row have one order, whatever the blocks are, so the values have the same bits as those
of `diffclass.label_diffusion.walk`.
"""

from __future__ import annotations

import numpy as np

from diffclass.blocks.arrays import BlockArrays
from diffclass.blocks.halo import WalkBlock
from diffclass.blocks.scratch import Scratch
from diffclass.label_diffusion.maps import decide, posteriors_of
from diffclass.label_diffusion.walk import HEIGHT, MapSums, map_columns, values_of

# The columns of which a series is the sum, (n_own, 1 or 2, m), and the sum so far.
Series = tuple[np.ndarray, np.ndarray]
# The classes by each weighting, (n_own, n_weightings), and sums of their margins.
Maps = tuple[np.ndarray, np.ndarray]


def labels_at_start(block: WalkBlock) -> np.ndarray:
    """Return the columns at time 0."""
    state = np.zeros((len(block), block.labels.stopped.shape[1]), dtype=block.affinity.dtype)
    block.labels.first(len(block)).start(state)
    return state


def walked(
    block: WalkBlock, state: np.ndarray, pieces: list[np.ndarray], n_steps: int
) -> np.ndarray:
    """Return the columns some steps later, at most as many as the halo is deep."""
    columns = block.with_ghosts(state, pieces)
    for n_left in range(n_steps - 1, -1, -1):
        # Each step makes the outermost layer of the halo stale: the rows that are still exact after
        # it.
        n_rows = block.within[n_left]
        columns = block.product(columns, n_rows)
        block.labels.first(n_rows).set_again(columns)
    return columns


def difference(after: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return the change of a step."""
    return after - before


def largest(change: np.ndarray) -> float:
    """Return the largest change of a probability."""
    return float(np.abs(change).max()) / HEIGHT


def least_stopped(state: np.ndarray, distance: np.ndarray) -> float:
    """Return the least probability of having stopped, where the walk can stop."""
    return float(state.sum(axis=1)[distance >= 0].min(initial=np.inf)) / HEIGHT


def series_begun(change: np.ndarray, coefficient: float) -> Series:
    """Return the first term of a series."""
    return change[:, None], change.dtype.type(coefficient) * change


def series_continued(
    block: WalkBlock, series: Series, pieces: list[np.ndarray], coefficients: np.ndarray
) -> Series:
    """Add the next terms, at most as many as the halo is deep; the walk ends at the labels."""
    recent, total = series
    columns = block.with_ghosts(recent, pieces)
    previous = columns[:, 0] if columns.shape[1] == 2 else None
    current = np.ascontiguousarray(columns[:, -1])
    for k, coefficient in enumerate(coefficients.astype(total.dtype)):
        n_rows = block.within[len(coefficients) - 1 - k]
        following = block.product(current, n_rows)
        block.labels.first(n_rows).end_walks(following)
        # the recurrence of Chebyshev's polynomials, T_(k+1) = 2 A T_k - T_(k-1); the first step is
        # T_1 = A
        if previous is not None:
            following = following + following - previous[:n_rows]
        previous, current = current, following
        total = total + coefficient * following[: len(block)]
    assert previous is not None
    return np.stack([previous[: len(block)], current[: len(block)]], axis=1), total


def series_added(state: np.ndarray, series: Series) -> np.ndarray:
    """Return the columns with the sum of a series; what comes out below 0 is 0."""
    return np.maximum(state + series[1], 0)


def labels_and_map(block: WalkBlock, held: Maps) -> np.ndarray:
    """Return the columns of the first map, with the labels set."""
    codes, labels = held[0][:, 0], block.labels.first(len(block))
    columns = map_columns(codes, block.labels.stopped.shape[1], block.affinity.dtype)
    labels.start(columns)
    return columns


def save_values(state: np.ndarray, scale: float, least: float, scratch: Scratch, name: str) -> None:
    """Write N_i; see `diffclass.label_diffusion.walk.values_of`."""
    scratch.save(name, values_of(state, scale, least))


def volume(block: WalkBlock) -> float:
    """Return the sum of the degrees."""
    return float(block.degrees.sum())


def mass(block: WalkBlock, values: np.ndarray) -> np.ndarray:
    """Return the sums of d N_i."""
    return np.einsum("x,xi->i", block.degrees, values)


def maps(block: WalkBlock, values: np.ndarray, weights: np.ndarray) -> Maps:
    """Return the map of each weighting, and the sum of its margins over the points."""
    decisions = [decide(values, weight) for weight in weights]
    codes = np.stack([decision.codes.astype(np.int16) for decision in decisions], axis=1)
    margins, mass = [decision.margin for decision in decisions], block.mass
    return codes, np.array([m.sum() if mass is None else mass @ m for m in margins])


def first_map(held: Maps) -> np.ndarray:
    """Return the map of the first weighting."""
    return np.ascontiguousarray(held[0][:, 0])


def map_sums(
    block: WalkBlock,
    held: Maps,
    pieces: list[np.ndarray],
    before: np.ndarray | None,
    n_classes: int,
) -> MapSums:
    """Return the sums of each map over the points of a block."""
    own, margins = held
    codes = block.with_ghosts(own, pieces).astype(np.intp)
    columns = [np.ascontiguousarray(column) for column in codes.T]
    return MapSums.of(
        block.own_rows, block.degrees, columns, margins, before, n_classes, mass=block.mass
    )


def save_map(values: np.ndarray, place: tuple[BlockArrays, str, int], weight: np.ndarray) -> None:
    """Write the map of a block; see `diffclass.blocks.block_diffusion.BlockDiffusion.part`."""
    arrays, name, b = place
    decision = decide(values, weight, dtype=np.float32)
    arrays.save(f"{name}/codes", b, decision.codes.astype(np.int16))
    arrays.save(f"{name}/probability", b, decision.probability)
    arrays.save(f"{name}/margin", b, decision.margin)
    arrays.save(f"{name}/posteriors", b, posteriors_of(values, weight).astype(np.float32))
