"""A Markov operator cut into blocks of rows, each with the columns that its rows need."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from diffclass.blocks.scratch import Scratch
from diffclass.operators.markov import MarkovOperator


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
