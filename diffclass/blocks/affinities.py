"""Affinities of a block's edges, by the kernels' own functions on the block's own rows.

What a kernel needs of single points, such as scales and degrees, is a vector that all blocks share.
The cosine of two bumps (see `diffclass.kernels.shared_neighbors`) needs whole rows: those of ghosts
are read from the blocks that own them, in the columns that the block has.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass._validation import check_positive
from diffclass.blocks.arrays import drop_blocks, on_each_block, read_places
from diffclass.blocks.edges import BlockPattern
from diffclass.blocks.engine import Engine
from diffclass.blocks.scratch import Scratch
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
    """The self-tuning Gaussian, and the power of the shared neighbours over it.

    Attributes
    ----------
    neighbor : int
        Whose distance is the scale.
    power : float
        Of the cosines; 0 for the Gaussian alone.
    """

    neighbor: int
    power: float

    @classmethod
    def of(cls, kernel: Kernel | None) -> BlockKernel:
        """Return what a kernel means in blocks.

        Raises
        ------
        ParameterError
            If it does not work in blocks.
        """
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


def weigh_edges(
    scratch: Scratch, engine: Engine, starts: Sequence[int], kernel: BlockKernel
) -> dict[str, Any]:
    """Write the affinities of the edges of each block b, "affinities/values.b".

    Parameters
    ----------
    scratch : Scratch
        With what `edges.join_neighbors` writes.
    engine : Engine
    starts : sequence of int
        Place of the first point of each block; the last is n.
    kernel : BlockKernel

    Returns
    -------
    dict
        Nothing to tell.
    """
    n_blocks = len(starts) - 1
    zeros = on_each_block(
        engine, "affinities: scales", n_blocks, find_scales, scratch, starts, kernel
    )
    lonely = _median_scale(scratch, n_blocks) if any(zeros) else 1.0
    on_each_block(
        engine, "affinities: Gaussian", n_blocks, weigh_block, scratch, starts, kernel, lonely
    )
    if kernel.power:
        on_each_block(engine, "affinities: bumps", n_blocks, make_bumps, scratch, starts)
        on_each_block(engine, "affinities: sharing", n_blocks, share_block, scratch, starts, kernel)
    parts = ("scales", "gaussian", "roots", "bumps")
    drop_blocks(scratch, n_blocks, *(f"affinities/{part}" for part in parts))
    return {}


def find_scales(scratch: Scratch, starts: Sequence[int], kernel: BlockKernel, b: int) -> bool:
    """Write the squared scales of a block's points; return whether some are 0, of duplicates."""
    pattern = BlockPattern.load(scratch, starts, b)
    graph = pattern.matrix(np.array(scratch.load(f"graph/distances.{b}")))
    squared = squared_neighbor_distances(graph, kernel.neighbor, without_diagonal=True)
    scratch.save(f"affinities/scales.{b}", squared[pattern.own])
    return not squared[pattern.own].all()


def _median_scale(scratch: Scratch, n_blocks: int) -> float:
    scales = [scratch.load(f"affinities/scales.{b}") for b in range(n_blocks)]
    return float(median_above_0(np.concatenate(scales)))


def weigh_block(
    scratch: Scratch, starts: Sequence[int], kernel: BlockKernel, lonely: float, b: int
) -> None:
    """Write the Gaussian's affinities of a block; where scales are 0, ``lonely`` is the square."""
    pattern = BlockPattern.load(scratch, starts, b)
    graph = pattern.matrix(np.array(scratch.load(f"graph/distances.{b}")))
    squared = read_places(scratch, "affinities/scales", starts, pattern.places)
    squared[squared == 0] = lonely
    scales = np.sqrt(squared)
    K = FittedIsotropic(exponentials, scales, OwnScale(kernel.neighbor)).profiled(graph, scales)
    if not kernel.power:
        scratch.save(f"affinities/values.{b}", K.data)
        return
    scratch.save(f"affinities/gaussian.{b}", K.data)
    scratch.save(f"affinities/roots.{b}", roots_of_degrees(K)[pattern.own])


def make_bumps(scratch: Scratch, starts: Sequence[int], b: int) -> None:
    """Write the bumps of a block's points."""
    pattern = BlockPattern.load(scratch, starts, b)
    K = pattern.matrix(np.array(scratch.load(f"affinities/gaussian.{b}")))
    roots = read_places(scratch, "affinities/roots", starts, pattern.places)
    scratch.save(f"affinities/bumps.{b}", unit_bumps(K, roots).data)


def share_block(scratch: Scratch, starts: Sequence[int], kernel: BlockKernel, b: int) -> None:
    """Write the affinities of a block, times powers of the cosines of bumps."""
    pattern = BlockPattern.load(scratch, starts, b)
    K = pattern.matrix(np.array(scratch.load(f"affinities/gaussian.{b}")))
    bumps = pattern.matrix(np.array(scratch.load(f"affinities/bumps.{b}")))
    near = _with_ghosts(scratch, starts, pattern, bumps, b)
    shared = times_shared(K, bumps, near, kernel.power)
    scratch.save(f"affinities/values.{b}", with_diagonal_scaled(K, shared).data)


def _with_ghosts(
    scratch: Scratch,
    starts: Sequence[int],
    pattern: BlockPattern,
    bumps: sp.csr_array,
    b: int,
) -> sp.csr_array:
    """Fill in the rows of the ghosts, in the columns that the block has."""
    bounds = np.searchsorted(pattern.places, starts)
    parts = [
        bumps[pattern.own]
        if a == b
        else _bumps_of(scratch, a, pattern.places[first:last] - starts[a], pattern.places)
        for a, (first, last) in enumerate(itertools.pairwise(bounds))
    ]
    return sp.csr_array(sp.vstack(parts, format="csr"))


def _bumps_of(scratch: Scratch, a: int, rows: np.ndarray, columns: np.ndarray) -> sp.csr_array:
    """Return some rows of block a in some columns, given as places."""
    indptr = scratch.load(f"graph/indptr.{a}")
    begin, lengths = indptr[rows].astype(np.int64), indptr[rows + 1] - indptr[rows]
    ends = np.cumsum(lengths, dtype=np.int64)
    edges = np.repeat(begin - (ends - lengths), lengths) + np.arange(lengths.sum())
    places = scratch.load(f"graph/places.{a}")[scratch.load(f"graph/indices.{a}")[edges]]
    positions = np.minimum(np.searchsorted(columns, places), len(columns) - 1)
    kept = columns[positions] == places
    before = np.concatenate([[0], np.cumsum(kept)])
    return sp.csr_array(
        (
            scratch.load(f"affinities/bumps.{a}")[edges[kept]],
            positions[kept].astype(np.int32),
            before[np.concatenate([[0], ends])].astype(np.int32),
        ),
        shape=(len(rows), len(columns)),
    )
