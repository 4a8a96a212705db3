"""Affinities of a block's edges, by the kernels' own functions on the block's own rows.

What a kernel needs of single points, such as scales and degrees, is a vector that all blocks share.
The cosine of two bumps (see `diffclass.kernels.shared_neighbors`) needs whole rows: those of ghosts
are read from the blocks that own them, in the columns that the block has.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass._validation import check_positive
from diffclass.blocks.arrays import BlockArrays, row_entries
from diffclass.blocks.block_edges import BlockPattern
from diffclass.blocks.engine import Engine
from diffclass.exceptions import ParameterError
from diffclass.kernels import FittedIsotropic, Gaussian, Kernel, SharedNeighbors, check_kernel
from diffclass.kernels.isotropic import (
    OwnScale,
    exponentials,
    median_above_0,
    squared_neighbor_distances,
)
from diffclass.kernels.shared_neighbors import (
    roots_of_degrees,
    times_shared,
    unit_bumps,
    with_diagonal_scaled,
)


@dataclass(frozen=True)
class BlockKernel:
    """The self-tuning Gaussian, and the power of the shared neighbours over it."""

    neighbor: int  # whose distance is the scale
    power: float  # of the cosines; 0 for the Gaussian alone

    @classmethod
    def of(cls, kernel: Kernel | None) -> BlockKernel:
        """Return what a kernel means in blocks; `ParameterError` if it does not work there."""
        kernel = SharedNeighbors() if kernel is None else check_kernel(kernel)
        power, inner = 0.0, kernel
        if type(kernel) is SharedNeighbors:
            power = check_positive(kernel.power, "power", zero=True)
            inner = Gaussian() if kernel.kernel is None else kernel.kernel
        if type(inner) is not Gaussian or inner.bandwidth != "self-tuning":
            raise ParameterError(
                f"kernel = {kernel!r} does not work in blocks; Gaussian() and "
                "SharedNeighbors(Gaussian()) do, with the bandwidth 'self-tuning'"
            )
        return cls(check_positive(inner.neighbor, "neighbor", integer=True), float(power))


def weigh_edges(arrays: BlockArrays, engine: Engine, kernel: BlockKernel) -> dict[str, Any]:
    """Write the affinities of the edges of each block b, "affinities/values.b"."""
    zeros = arrays.on_each(engine, "affinities: scales", find_scales, kernel)
    # A point that has only duplicates takes the median scale of the others, as in one process.
    lonely = 1.0
    if any(zeros):
        lonely = float(median_above_0(arrays.all("affinities/scales")))
    arrays.on_each(engine, "affinities: Gaussian", weigh_block, kernel, lonely)
    if kernel.power:
        arrays.on_each(engine, "affinities: bumps", make_bumps)
        arrays.on_each(engine, "affinities: sharing", share_block, kernel)
    parts = ("scales", "gaussian", "roots", "bumps")
    arrays.drop(*(f"affinities/{part}" for part in parts))
    return {}


def find_scales(arrays: BlockArrays, kernel: BlockKernel, b: int) -> bool:
    """Write the squared scales of a block's points; return whether some are 0, of duplicates."""
    pattern = BlockPattern.load(arrays, b)
    graph = pattern.matrix(np.array(arrays.load("graph/distances", b)))
    squared = squared_neighbor_distances(graph, kernel.neighbor, without_diagonal=True)
    arrays.save("affinities/scales", b, squared[pattern.own])
    return not squared[pattern.own].all()


def weigh_block(arrays: BlockArrays, kernel: BlockKernel, lonely: float, b: int) -> None:
    """Write the Gaussian's affinities of a block; where scales are 0, ``lonely`` is the square."""
    pattern = BlockPattern.load(arrays, b)
    graph = pattern.matrix(np.array(arrays.load("graph/distances", b)))
    squared = arrays.at("affinities/scales", pattern.places)
    squared[squared == 0] = lonely
    scales = np.sqrt(squared)
    K = FittedIsotropic(exponentials, scales, OwnScale(kernel.neighbor)).profiled(graph, scales)
    if not kernel.power:
        arrays.save("affinities/values", b, K.data)
        return
    arrays.save("affinities/gaussian", b, K.data)
    arrays.save("affinities/roots", b, roots_of_degrees(K)[pattern.own])


def make_bumps(arrays: BlockArrays, b: int) -> None:
    """Write the bumps of a block's points."""
    pattern = BlockPattern.load(arrays, b)
    K = pattern.matrix(np.array(arrays.load("affinities/gaussian", b)))
    roots = arrays.at("affinities/roots", pattern.places)
    arrays.save("affinities/bumps", b, unit_bumps(K, roots).data)


def share_block(arrays: BlockArrays, kernel: BlockKernel, b: int) -> None:
    """Write the affinities of a block, times powers of the cosines of bumps."""
    pattern = BlockPattern.load(arrays, b)
    K = pattern.matrix(np.array(arrays.load("affinities/gaussian", b)))
    bumps = pattern.matrix(np.array(arrays.load("affinities/bumps", b)))
    near = _with_ghosts(arrays, pattern, bumps, b)
    shared = times_shared(K, bumps, near, kernel.power)
    arrays.save("affinities/values", b, with_diagonal_scaled(K, shared).data)


def _with_ghosts(
    arrays: BlockArrays,
    pattern: BlockPattern,
    bumps: sp.csr_array,
    b: int,
) -> sp.csr_array:
    """Fill in the rows of the ghosts, in the columns that the block has."""
    bounds = np.searchsorted(pattern.places, arrays.starts)
    parts = [
        bumps[pattern.own]
        if a == b
        else _bumps_of(arrays, a, pattern.places[first:last] - arrays.starts[a], pattern.places)
        for a, (first, last) in enumerate(itertools.pairwise(bounds))
    ]
    return sp.csr_array(sp.vstack(parts, format="csr"))


def _bumps_of(arrays: BlockArrays, a: int, rows: np.ndarray, columns: np.ndarray) -> sp.csr_array:
    """Return some rows of block a in some columns, given as places."""
    edges, ends = row_entries(arrays.load("graph/indptr", a), rows)
    places = arrays.load("graph/places", a)[arrays.load("graph/indices", a)[edges]]
    # Bumps are compared on common support alone, so that entries outside these columns do not
    # count.
    positions = np.minimum(np.searchsorted(columns, places), len(columns) - 1)
    kept = columns[positions] == places
    before = np.concatenate([[0], np.cumsum(kept)])
    return sp.csr_array(
        (
            arrays.load("affinities/bumps", a)[edges[kept]],
            positions[kept].astype(np.int32),
            before[ends].astype(np.int32),
        ),
        shape=(len(rows), len(columns)),
    )
