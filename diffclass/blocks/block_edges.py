"""The symmetric graph of all points, block by block.

An edge from x in block a to y in block b is passed on to b. The edges that begin or end in a block
are a small graph of its own points and of the *ghosts* at the other ends; made symmetric by
`diffclass.neighbors`, the rows of the own points are complete.

A block's matrices are square, over its points and ghosts in the order of their places, the rows of
the ghosts empty: whatever works on a whole graph works on a block's own rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from diffclass.blocks.arrays import BlockArrays
from diffclass.blocks.engine import Engine
from diffclass.blocks.neighbors import NO_NEIGHBOR
from diffclass.neighbors.graph import symmetrized


@dataclass(frozen=True, eq=False)
class BlockPattern:
    """The edges of a block's points."""

    places: np.ndarray  # (n_near,), of the own points and of their ghosts, ascending
    own: slice  # which of these are own points
    indptr: np.ndarray
    indices: np.ndarray  # positions in ``places``; ascending in each row

    @classmethod
    def load(cls, arrays: BlockArrays, b: int) -> BlockPattern:
        """Read the pattern of a block's graph."""
        places, indptr, indices = (
            np.array(arrays.load(f"graph/{part}", b)) for part in ("places", "indptr", "indices")
        )
        first = int(np.searchsorted(places, arrays.starts[b]))
        return cls(places, slice(first, first + len(indptr) - 1), indptr, indices)

    def matrix(self, values: np.ndarray) -> sp.csr_array:
        """Return the square matrix with these values on the edges; the rows of ghosts are empty."""
        n, first = len(self.places), self.own.start
        indptr = np.full(n + 1, self.indptr[-1], dtype=self.indptr.dtype)
        indptr[:first] = 0
        indptr[first : first + len(self.indptr)] = self.indptr
        return sp.csr_array((values, self.indices, indptr), shape=(n, n))


def join_neighbors(arrays: BlockArrays, engine: Engine) -> dict[str, Any]:
    """Make the graph symmetric: x and y are joined if one is a neighbour of the other.

    For each block b it writes the arrays of a `BlockPattern` and "graph/distances.b", the squared
    distances. It returns n_edges, the diagonal included, and n_ghosts of all blocks.
    """
    arrays.on_each(engine, "graph: passing edges", pass_edges)
    made = arrays.on_each(engine, "graph: uniting", unite_edges)
    arrays.drop(*(f"graph/{kind}.{part}" for kind in _KINDS for part in _PARTS))
    return {name: sum(block[name] for block in made) for name in ("n_edges", "n_ghosts")}


_KINDS, _PARTS = ("within", "passed"), ("sources", "targets", "squared")


def pass_edges(arrays: BlockArrays, b: int) -> None:
    """Write the edges that begin in a block: those that stay in it, and those to be passed on."""
    sources, targets, squared = _directed_edges(arrays, b)
    within = (targets >= arrays.starts[b]) & (targets < arrays.starts[b + 1])
    # by target, so that the edges passed to a block lie together
    leaving = np.flatnonzero(~within)
    leaving = leaving[np.argsort(targets[leaving], kind="stable")]
    for kind, chosen in zip(_KINDS, (within, leaving), strict=True):
        for part, values in zip(_PARTS, (sources, targets, squared), strict=True):
            arrays.save(f"graph/{kind}.{part}", b, values[chosen])


def unite_edges(arrays: BlockArrays, b: int) -> dict[str, int]:
    """Write the symmetric graph of a block's points."""
    sources, targets, squared = _edges_of(arrays, b)
    own = np.arange(arrays.starts[b], arrays.starts[b + 1], dtype=sources.dtype)
    places = np.unique(np.concatenate([own, sources, targets]))
    ends = np.searchsorted(places, sources), np.searchsorted(places, targets)
    # The rows of own points are complete here, as all edges that begin or end in them have arrived;
    # those of ghosts are not, and are dropped below.
    directed = sp.csr_array((squared, ends), shape=(len(places), len(places)))
    rows = symmetrized(directed)
    first = int(np.searchsorted(places, arrays.starts[b]))
    bounds = rows.indptr[first : first + len(own) + 1]
    edges = slice(bounds[0], bounds[-1])
    arrays.save("graph/places", b, places)
    arrays.save("graph/indptr", b, bounds - bounds[0])
    arrays.save("graph/indices", b, rows.indices[edges])
    arrays.save("graph/distances", b, rows.data[edges])
    return {"n_edges": int(bounds[-1] - bounds[0]), "n_ghosts": len(places) - len(own)}


def _edges_of(arrays: BlockArrays, b: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the directed edges that begin or end in a block."""
    found = [[arrays.load(f"graph/{kind}.{part}", b) for part in _PARTS] for kind in _KINDS]
    for a in range(arrays.n_blocks):
        if a != b:
            passed = [arrays.load(f"graph/passed.{part}", a) for part in _PARTS]
            bounds = np.searchsorted(passed[1], arrays.starts[b : b + 2])
            found.append([values[slice(*bounds)] for values in passed])
    sources, targets, squared = (np.concatenate(part) for part in zip(*found, strict=True))
    return sources, targets, squared


def _directed_edges(arrays: BlockArrays, b: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sources, targets and squared lengths of the edges from a block's points."""
    tied, tied_lengths = (
        np.array(arrays.load(f"neighbors/{part}", b)) for part in ("tied", "tied_lengths")
    )
    targets = np.array(arrays.load("neighbors/places", b))
    lengths = np.array(arrays.load("neighbors/lengths", b))
    targets, lengths = _with_joined(arrays, b, targets, lengths)
    exists = targets != NO_NEIGHBOR
    rows = np.arange(arrays.starts[b], arrays.starts[b + 1], dtype=arrays.place_dtype)
    sources = np.broadcast_to(rows[:, None], targets.shape)[exists]
    sources = np.concatenate([sources, tied[:, 0]])
    targets = np.concatenate([targets[exists], tied[:, 1]])
    lengths = np.concatenate([lengths[exists], tied_lengths])
    return sources, targets, lengths * lengths


def _with_joined(
    arrays: BlockArrays,
    b: int,
    targets: np.ndarray,
    lengths: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Give joined points the neighbours of their representatives, and these instead of the last.

    Points of further blocks get their representative alone; see `partition`.
    """
    places = arrays.own(b)
    representatives = np.array(arrays.load("cells/representatives", b))
    joined = np.flatnonzero(representatives != places)
    if len(joined) == 0:
        return targets, lengths
    if targets.shape[1] == 0:
        targets = np.full((len(places), 1), NO_NEIGHBOR, dtype=targets.dtype)
        lengths = np.full((len(places), 1), np.inf, dtype=lengths.dtype)
    # A chief is the representative that stands for some points. It has a list if it was searched:
    # not where it is itself joined to a chief of an earlier block.
    chiefs, which = np.unique(representatives[joined], return_inverse=True)
    is_own = (chiefs >= arrays.starts[b]) & (chiefs < arrays.starts[b + 1])
    alone = is_own.copy()
    alone[is_own] = representatives[chiefs[is_own] - arrays.starts[b]] != chiefs[is_own]
    for values, name, nothing in ((targets, "places", NO_NEIGHBOR), (lengths, "lengths", np.inf)):
        given = np.full((len(chiefs), values.shape[1]), nothing, dtype=values.dtype)
        read = arrays.at(f"neighbors/{name}", chiefs)
        given[:, : read.shape[1]] = read
        given[alone] = nothing
        values[joined] = given[which]
    targets[joined, -1], lengths[joined, -1] = representatives[joined], 0
    return targets, lengths
