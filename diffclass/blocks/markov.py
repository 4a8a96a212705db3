"""Operators of blocks from their affinities, by the functions of `diffclass.operators.markov`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.blocks.arrays import drop_blocks, on_each_block, read_places
from diffclass.blocks.edges import BlockPattern
from diffclass.blocks.engine import Engine
from diffclass.blocks.operator import OperatorBlock
from diffclass.blocks.scratch import Scratch
from diffclass.operators.markov import divided_by_density, row_sums, with_row_sums


def normalise(
    scratch: Scratch, engine: Engine, starts: Sequence[int], alpha: float
) -> dict[str, Any]:
    """Write the blocks of the operator, "operator/b".

    Parameters
    ----------
    scratch : Scratch
        With what `affinities.weigh_edges` writes.
    engine : Engine
    starts : sequence of int
        Place of the first point of each block; the last is n.
    alpha : float
        Density exponent.

    Returns
    -------
    dict
        Nothing to tell.
    """
    n_blocks = len(starts) - 1
    if alpha:
        on_each_block(engine, "operator: densities", n_blocks, find_densities, scratch, starts)
    on_each_block(engine, "operator: rows", n_blocks, make_operator_block, scratch, starts, alpha)
    drop_blocks(scratch, n_blocks, "operator/density")
    return {}


def find_densities(scratch: Scratch, starts: Sequence[int], b: int) -> None:
    """Write the row sums of a block's affinities."""
    pattern, K = _affinities(scratch, starts, b)
    scratch.save(f"operator/density.{b}", with_row_sums(K)[1][pattern.own])


def make_operator_block(scratch: Scratch, starts: Sequence[int], alpha: float, b: int) -> None:
    """Write a block of the operator."""
    pattern, K = _affinities(scratch, starts, b)
    K, degrees = with_row_sums(K)
    if alpha:
        density = read_places(scratch, "operator/density", starts, pattern.places)
        K = divided_by_density(K, density, alpha)
        degrees = row_sums(K)
    own = K[pattern.own]
    rows = sp.csr_array(
        (own.data, pattern.places[own.indices], own.indptr.astype(own.indices.dtype)),
        shape=(own.shape[0], starts[-1]),
    )
    block = OperatorBlock.from_rows(rows, degrees[pattern.own], start=starts[b])
    block.save(scratch, f"operator/{b}")


def _affinities(
    scratch: Scratch, starts: Sequence[int], b: int
) -> tuple[BlockPattern, sp.csr_array]:
    pattern = BlockPattern.load(scratch, starts, b)
    return pattern, pattern.matrix(np.array(scratch.load(f"affinities/values.{b}")))
