"""A Markov operator cut into blocks of rows, each with the columns that its rows need.

It is cut from an operator in memory, or made from the affinities of blocks, by the functions of
`diffclass.operators.markov`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.blocks.arrays import BlockArrays
from diffclass.blocks.block_edges import BlockPattern
from diffclass.blocks.engine import Engine
from diffclass.blocks.scratch import Scratch, ScratchError
from diffclass.operators.markov import (
    MarkovOperator,
    divided_by_density,
    row_sums,
    scaled_at_ends,
    with_row_sums,
)
from diffclass.system.identity import content_hash


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

    Examples
    --------
    The first two points of a path of four; the third is their ghost:

    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.blocks import OperatorBlock
    >>> path = MarkovOperator.from_affinity(np.eye(4) + np.eye(4, k=1) + np.eye(4, k=-1))
    >>> block = OperatorBlock.from_rows(path.affinity[:2], path.degrees[:2], start=0)
    >>> block.affinity.shape, block.ghosts
    ((2, 3), array([2]))
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
        columns = _columns(rows.indices, start, n_own, ghosts)
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
    def load(cls, operator: BlockOperator, b: int) -> OperatorBlock:
        """Read a block into memory; what it is written in is joined."""
        parts, ghosts = operator.parts_of(b), operator.ghosts(b)
        n_own = operator.starts[b + 1] - operator.starts[b]
        n_edges = operator.n_edges(b)
        index = np.int32 if n_edges <= np.iinfo(np.int32).max else np.int64
        indptr, degrees = np.zeros(n_own + 1, dtype=index), np.empty(n_own)
        indices, data = np.empty(n_edges, dtype=index), np.empty(n_edges, dtype=operator.dtype)
        rows, edges = 0, 0
        for part in parts:
            row_ends, columns, values, sums, beyond = (
                operator.written.load(f"operator/{name}", part) for name in _PARTS
            )
            own = np.arange(rows, rows + len(sums))
            to = np.concatenate([own, _columns(beyond, operator.starts[b], n_own, ghosts)])
            # a column of the part is an own point of it, or a ghost: `to` has the column of either
            # in the joined block
            indices[edges : edges + len(values)] = to[columns]
            data[edges : edges + len(values)] = values
            indptr[own + 1], degrees[own] = row_ends[1:] + index(edges), sums
            rows, edges = rows + len(sums), edges + len(values)
        shape = n_own, n_own + len(ghosts)
        return cls(sp.csr_array((data, indices, indptr), shape=shape), degrees, ghosts)


_PARTS = ("indptr", "indices", "data", "degrees", "ghosts")


def _columns(places: np.ndarray, start: int, n_own: int, ghosts: np.ndarray) -> np.ndarray:
    """Return the columns of places: a block's own points, then its ghosts, which ascend."""
    own = (places >= start) & (places < start + n_own)
    return np.where(own, places - start, n_own + np.searchsorted(ghosts, places))


@dataclass(frozen=True)
class BlockOperator(BlockArrays):
    """A Markov operator whose blocks lie in a scratch folder.

    Attributes
    ----------
    written_starts : tuple of int, optional
        Starts of the blocks on files, if these blocks join several of them: see `joined`.
    has_mass : bool, default=False
        Whether points stand for several equal ones; see `mass_of`.
    """

    written_starts: tuple[int, ...] = ()
    has_mass: bool = False

    @property
    def written(self) -> BlockArrays:
        """The blocks on files."""
        return BlockArrays(self.scratch, self.written_starts or self.starts)

    @property
    def dtype(self) -> np.dtype:
        """float32 or float64, that of the affinities."""
        return self.written.load("operator/data", 0).dtype

    @property
    def n_points(self) -> int:
        """Number of points, n, or more where some stand for several equal ones."""
        if not self.has_mass:
            return len(self)
        return int(sum(self.written.load("operator/mass", b).sum() for b in self._written_blocks))

    @property
    def _written_blocks(self) -> range:
        return range(self.written.n_blocks)

    def mass_of(self, b: int) -> np.ndarray | None:
        """Return how many equal points each of a block stands for; None where all are 1."""
        if not self.has_mass:
            return None
        parts = self.parts_of(b)
        return np.concatenate([self.written.load("operator/mass", part) for part in parts])

    def mass_at(self, places: np.ndarray) -> np.ndarray | None:
        """Return how many equal points those at some places, ascending, stand for."""
        return self.written.at("operator/mass", places) if self.has_mass else None

    def check(self) -> None:
        """Raise `ScratchError` unless its files are those that were written, with these starts.

        It reads all of them once.
        """
        facts = self.scratch.checked("operator")
        if (facts["starts"], facts["has_mass"]) != (list(self.written.starts), self.has_mass):
            raise ScratchError(
                f"{self.scratch.folder} holds an operator of other blocks (starts "
                f"{facts['starts']}, equal points: {facts['has_mass']}); name these, or call "
                "build_operator again"
            )

    def parts_of(self, b: int) -> range:
        """Return the numbers of the blocks on files that a block joins."""
        return range(*np.searchsorted(self.written.starts, self.starts[b : b + 2]).tolist())

    def n_edges(self, b: int) -> int:
        """Return the number of edges of the rows of a block."""
        ends = (self.written.load("operator/indptr", part)[-1] for part in self.parts_of(b))
        return sum(map(int, ends))

    def ghosts(self, b: int) -> np.ndarray:
        """Return the places of the points of other blocks in which rows have edges, ascending."""
        parts = [self.written.load("operator/ghosts", part) for part in self.parts_of(b)]
        ghosts = np.unique(np.concatenate(parts))
        return ghosts[(ghosts < self.starts[b]) | (ghosts >= self.starts[b + 1])]

    def joined(self, n_blocks: int) -> BlockOperator:
        """Return the operator in fewer blocks, each of some next to one another.

        They have about equally many points. Nothing is written: blocks are joined when they are
        read.
        """
        written = self.written.starts
        ends = len(self) * np.arange(n_blocks + 1) / n_blocks
        # blocks are joined at starts that there are: those nearest to equal shares
        nearest = np.abs(np.array(written)[:, None] - ends).argmin(axis=0)
        return self.with_starts(tuple(written[i] for i in np.unique(nearest).tolist()))

    def with_starts(self, starts: tuple[int, ...]) -> BlockOperator:
        """Return the operator in other blocks, at some of the starts of those on files."""
        return replace(self, starts=starts, written_starts=self.written.starts)

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
            It holds no other operator.
        """
        K, degrees, mass = operator.affinity, operator.degrees, operator.mass
        ends = tuple(int(start) for start in starts)
        cut = cls(scratch, ends, has_mass=mass is not None)

        def work() -> dict[str, Any]:
            for b, (start, stop) in enumerate(itertools.pairwise(ends)):
                block = OperatorBlock.from_rows(K[start:stop], degrees[start:stop], start=start)
                block.save(cut, b)
            return cut._with_mass(mass)

        parts = [K, degrees] if mass is None else [K, degrees, mass]
        made_from = {"operator": content_hash(*parts), "starts": ends}
        scratch.completed("operator", work, made_from=made_from, shown="")
        return cut

    def _with_mass(self, mass: np.ndarray | None) -> dict[str, Any]:
        """Write the mass (n,) at each place, and return the facts of the operator's stage."""
        if mass is not None:
            for b in range(self.n_blocks):
                self.save("operator/mass", b, mass[self.starts[b] : self.starts[b + 1]])
        return {"starts": self.starts, "has_mass": mass is not None}


def normalise(
    arrays: BlockArrays, engine: Engine, alpha: float, mass: np.ndarray | None = None
) -> dict[str, Any]:
    """Write the blocks of the operator, "operator/b", from what `affinities.weigh_edges` writes.

    ``mass`` (n,) is the number of equal points at each place; see `diffclass.operators.markov`.
    """
    has_mass = mass is not None
    facts = BlockOperator(arrays.scratch, arrays.starts)._with_mass(mass)
    if alpha:
        arrays.on_each(engine, "operator: densities", find_densities, has_mass)
    arrays.on_each(engine, "operator: rows", make_operator_block, alpha, has_mass)
    arrays.drop("operator/density")
    return facts


def find_densities(arrays: BlockArrays, has_mass: bool, b: int) -> None:
    """Write the row sums of a block's affinities."""
    pattern, K = _affinities(arrays, has_mass, b)
    density = with_row_sums(K)[1][pattern.own]
    if has_mass:
        density = density / arrays.load("operator/mass", b)
    arrays.save("operator/density", b, density)


def make_operator_block(arrays: BlockArrays, alpha: float, has_mass: bool, b: int) -> None:
    """Write a block of the operator."""
    pattern, K = _affinities(arrays, has_mass, b)
    K, degrees = with_row_sums(K)
    if alpha:
        # K / (d(x) d(y))^alpha needs the degrees of ghosts, which their own blocks have written
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


def _affinities(arrays: BlockArrays, has_mass: bool, b: int) -> tuple[BlockPattern, sp.csr_array]:
    pattern = BlockPattern.load(arrays, b)
    K = pattern.matrix(np.array(arrays.load("affinities/values", b)))
    if has_mass:
        K = scaled_at_ends(K, arrays.at("operator/mass", pattern.places))
    return pattern, K
