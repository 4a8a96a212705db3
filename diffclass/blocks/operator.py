"""A Markov operator cut into blocks of rows, each with the columns that its rows need.

It is cut from an operator in memory, or made from the affinities of blocks, by the functions of
`diffclass.operators.markov`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.blocks.arrays import BlockArrays
from diffclass.blocks.edges import BlockPattern
from diffclass.blocks.engine import Engine
from diffclass.blocks.scratch import Scratch
from diffclass.operators.markov import MarkovOperator, divided_by_density, row_sums, with_row_sums


@dataclass(frozen=True, eq=False)
class OperatorBlock:
    """Some rows of K_alpha and their degrees.

    Attributes
    ----------
    affinity : csr_array of shape (n_own, n_own + n_ghosts)
        Columns are numbered within the block: its own points, then its ghosts.
    degrees : ndarray of float64 of shape (n_own,)
        Row sums d.
    ghosts : ndarray of int64 of shape (n_ghosts,)
        Places of the points of other blocks in which the rows have edges, ascending.
    """

    affinity: sp.csr_array
    degrees: np.ndarray
    ghosts: np.ndarray

    def __len__(self) -> int:
        return len(self.degrees)

    @classmethod
    def from_rows(cls, rows: sp.csr_array, degrees: np.ndarray, *, start: int) -> OperatorBlock:
        """Renumber the columns of some rows within their block.

        Parameters
        ----------
        rows : csr_array of shape (n_own, n)
            Columns are places.
        degrees : ndarray of shape (n_own,)
        start : int
            Place of the first row.
        """
        n_own = rows.shape[0]
        own = (rows.indices >= start) & (rows.indices < start + n_own)
        ghosts = np.unique(rows.indices[~own]).astype(np.int64)
        columns = np.where(own, rows.indices - start, n_own + np.searchsorted(ghosts, rows.indices))
        # one order of summation, by place, whatever the blocks are
        affinity = sp.csr_array(
            (rows.data, columns.astype(rows.indptr.dtype), rows.indptr),
            shape=(n_own, n_own + len(ghosts)),
        )
        return cls(affinity, np.asarray(degrees, dtype=np.float64), ghosts)

    def save(self, arrays: BlockArrays, b: int) -> None:
        """Write the block as that of a number."""
        K = self.affinity
        parts = K.indptr, K.indices, K.data, self.degrees, self.ghosts
        for name, part in zip(_PARTS, parts, strict=True):
            arrays.save(f"operator/{name}", b, part)

    @classmethod
    def load(cls, arrays: BlockArrays, b: int) -> OperatorBlock:
        """Read a block into memory."""
        parts = (np.array(arrays.load(f"operator/{name}", b)) for name in _PARTS)
        indptr, indices, data, degrees, ghosts = parts
        shape = len(degrees), len(degrees) + len(ghosts)
        return cls(sp.csr_array((data, indices, indptr), shape=shape), degrees, ghosts)


_PARTS = ("indptr", "indices", "data", "degrees", "ghosts")


@dataclass(frozen=True)
class BlockOperator(BlockArrays):
    """A Markov operator whose blocks lie in a scratch folder."""

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64, that of the affinities."""
        return self.load("operator/data", 0).dtype

    @classmethod
    def from_operator(
        cls, operator: MarkovOperator, starts: Sequence[int], scratch: Scratch
    ) -> BlockOperator:
        """Cut an operator into blocks; the points keep their order.

        Parameters
        ----------
        operator : MarkovOperator
        starts : sequence of int
            As the attribute.
        scratch : Scratch
        """
        K, cut = operator.affinity, cls(scratch, tuple(int(start) for start in starts))
        for b, (start, stop) in enumerate(itertools.pairwise(starts)):
            block = OperatorBlock.from_rows(
                K[start:stop], operator.degrees[start:stop], start=start
            )
            block.save(cut, b)
        return cut


def normalise(arrays: BlockArrays, engine: Engine, alpha: float) -> dict[str, Any]:
    """Write the blocks of the operator, "operator/b", from what `affinities.weigh_edges` writes."""
    if alpha:
        arrays.on_each(engine, "operator: densities", find_densities)
    arrays.on_each(engine, "operator: rows", make_operator_block, alpha)
    arrays.drop("operator/density")
    return {}


def find_densities(arrays: BlockArrays, b: int) -> None:
    """Write the row sums of a block's affinities."""
    pattern, K = _affinities(arrays, b)
    arrays.save("operator/density", b, with_row_sums(K)[1][pattern.own])


def make_operator_block(arrays: BlockArrays, alpha: float, b: int) -> None:
    """Write a block of the operator."""
    pattern, K = _affinities(arrays, b)
    K, degrees = with_row_sums(K)
    if alpha:
        density = arrays.at("operator/density", pattern.places)
        K = divided_by_density(K, density, alpha)
        degrees = row_sums(K)
    own = K[pattern.own]
    rows = sp.csr_array(
        (own.data, pattern.places[own.indices], own.indptr.astype(own.indices.dtype)),
        shape=(own.shape[0], arrays.starts[-1]),
    )
    block = OperatorBlock.from_rows(rows, degrees[pattern.own], start=arrays.starts[b])
    block.save(arrays, b)


def _affinities(arrays: BlockArrays, b: int) -> tuple[BlockPattern, sp.csr_array]:
    pattern = BlockPattern.load(arrays, b)
    return pattern, pattern.matrix(np.array(arrays.load("affinities/values", b)))
