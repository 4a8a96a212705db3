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

from diffclass.blocks.arrays import drop_blocks, on_each_block, read_places
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

    def save(self, scratch: Scratch, name: str) -> None:
        """Write the block to some arrays."""
        for part, array in self._arrays.items():
            scratch.save(f"{name}.{part}", array)

    @classmethod
    def load(cls, scratch: Scratch, name: str) -> OperatorBlock:
        """Read a block into memory."""
        parts = ("indptr", "indices", "data", "degrees", "ghosts")
        arrays = {part: np.array(scratch.load(f"{name}.{part}")) for part in parts}
        shape = len(arrays["degrees"]), len(arrays["degrees"]) + len(arrays["ghosts"])
        affinity = sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
        return cls(affinity, arrays["degrees"], arrays["ghosts"])

    @property
    def _arrays(self) -> dict[str, np.ndarray]:
        K = self.affinity
        return {
            "indptr": K.indptr,
            "indices": K.indices,
            "data": K.data,
            "degrees": self.degrees,
            "ghosts": self.ghosts,
        }


@dataclass(frozen=True)
class BlockOperator:
    """A Markov operator whose blocks lie in a scratch folder.

    Attributes
    ----------
    scratch : Scratch
    starts : tuple of int of length n_blocks + 1
        Place of the first point of each block; the last is n.
    """

    scratch: Scratch
    starts: tuple[int, ...]

    def __len__(self) -> int:
        return self.starts[-1]

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.starts) - 1

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64, that of the affinities."""
        return self.scratch.load("operator/0.data").dtype

    def block(self, b: int) -> OperatorBlock:
        """Read a block into memory."""
        return OperatorBlock.load(self.scratch, f"operator/{b}")

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
        K = operator.affinity
        for b, (start, stop) in enumerate(itertools.pairwise(starts)):
            block = OperatorBlock.from_rows(
                K[start:stop], operator.degrees[start:stop], start=start
            )
            block.save(scratch, f"operator/{b}")
        return cls(scratch, tuple(int(start) for start in starts))


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
