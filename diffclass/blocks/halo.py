"""What a process needs of a block to walk on it: rows, a halo of other blocks' points, and labels.

With a halo of depth s, the points within s edges of the block are its *ghosts*, and it holds the
rows of those within s - 1 edges. From the columns of its own points and its ghosts it takes s
steps, of ever fewer rows, before it has to hear of the others again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from diffclass.blocks.arrays import BlockArrays, row_entries
from diffclass.blocks.operator import BlockOperator, OperatorBlock
from diffclass.blocks.scratch import Scratch
from diffclass.label_diffusion import Labels
from diffclass.label_diffusion.walk import HEIGHT
from diffclass.operators.absorbing import AbsorbingLabels
from diffclass.operators.processor import CompiledProduct

_DEEPEST = 8  # edges, of a halo


@dataclass(frozen=True, eq=False)
class WalkBlock:
    """A block with its halo and its labels."""

    # (n_rows, n_columns); both begin with own points; ghosts follow, the nearest first
    affinity: sp.csr_array
    inverse_degrees: np.ndarray  # (n_rows,), in the dtype of the affinity
    degrees: np.ndarray  # (n_own,)
    mass: np.ndarray | None  # (n_own,), how many equal points each is; None where all are 1
    within: tuple[int, ...]  # number of columns within 0, 1, ... edges of the block
    arrival: np.ndarray  # column of each ghost, in the order of their places
    labels: AbsorbingLabels  # those among the columns, ascending

    def __len__(self) -> int:
        return len(self.degrees)

    def __sizeof__(self) -> int:  # which dask asks for
        K, labels = self.affinity, self.labels
        arrays = [K.indptr, K.indices, K.data, self.inverse_degrees, self.degrees, self.arrival]
        arrays += [labels.points, labels.stopped]
        arrays += [] if self.mass is None else [self.mass]
        return sum(array.nbytes for array in arrays)

    @property
    def depth(self) -> int:
        """Steps between two exchanges."""
        return len(self.within) - 1

    def with_ghosts(self, own: np.ndarray, pieces: list[np.ndarray]) -> np.ndarray:
        """Return the columns of own points and ghosts.

        ``pieces`` are what the adjacent blocks send, in the order of the blocks.
        """
        columns = np.empty((self.within[-1], *own.shape[1:]), dtype=own.dtype)
        columns[: len(own)] = own
        if pieces:
            columns[self.arrival] = np.concatenate(pieces)
        return columns

    def product(self, columns: np.ndarray, n_rows: int) -> np.ndarray:
        """Return one step A f of the first rows."""
        K = self.affinity
        out = np.empty((n_rows, columns.shape[1]), dtype=columns.dtype)
        walk = CompiledProduct(K.indptr[: n_rows + 1], K.indices, K.data, self.inverse_degrees)
        walk(columns, out)
        return out

    @property
    def own_rows(self) -> sp.csr_array:
        """The rows of the block's own points, with the columns of their ghosts."""
        K, n = self.affinity, len(self)
        stop = K.indptr[n]
        shape = n, self.within[min(1, self.depth)]
        return sp.csr_array((K.data[:stop], K.indices[:stop], K.indptr[: n + 1]), shape=shape)

    @classmethod
    def load(cls, operator: BlockOperator, b: int, depth: int, name: str) -> WalkBlock:
        """Read a block, its halo and its labels."""
        start, block = operator.starts[b], OperatorBlock.load(operator, b)
        layers = ghost_layers(operator, b, depth)
        ghosts = np.concatenate(layers)
        order = np.argsort(ghosts)
        arrival = len(block) + order
        affinity, degrees = block.affinity, block.degrees
        if depth > 1:
            halo, halo_degrees = rows_at(operator, np.concatenate(layers[:-1]))
            # The rows of the halo follow the own ones; of the last layer of ghosts only values are
            # needed.
            column = _columns_of(halo.indices, start, len(block), ghosts[order], arrival)
            affinity = _stacked(affinity, halo, column, len(block) + len(ghosts))
            degrees = np.concatenate([degrees, halo_degrees])
        return cls(
            affinity=affinity,
            inverse_degrees=(1 / degrees).astype(affinity.dtype),
            degrees=block.degrees,
            mass=operator.mass_of(b),
            within=tuple(np.cumsum([len(block), *map(len, layers)]).tolist()),
            arrival=arrival,
            labels=_labels(operator, b, name, ghosts[order], arrival),
        )


@dataclass(frozen=True, eq=False)
class Border:
    """The points of a block that others need: for each of these, own rows, ascending."""

    sends: dict[int, np.ndarray]

    def __sizeof__(self) -> int:
        return 100 + sum(rows.nbytes for rows in self.sends.values())

    @classmethod
    def load(cls, operator: BlockOperator, b: int, name: str, needed_by: list[int]) -> Border:
        """Read the border of a block off the ghosts of the others, which `save_ghosts` wrote."""
        start, stop = operator.starts[b : b + 2]
        sends = {}
        for c in needed_by:
            ghosts = operator.load(f"{name}/ghosts", c)
            first, last = np.searchsorted(ghosts, [start, stop])
            sends[c] = np.asarray(ghosts[first:last]) - start
        return cls(sends)


def ghost_layers(operator: BlockOperator, b: int, depth: int) -> list[np.ndarray]:
    """Return the places of the points that are 1, 2, ..., depth edges from a block, ascending."""
    own = operator.own(b)
    layers = [operator.ghosts(b)]
    while len(layers) < depth:
        # a breadth-first search: the next layer is what the last one has edges to, and none before
        columns = rows_at(operator, layers[-1])[0].indices
        layers.append(np.setdiff1d(columns, np.concatenate([own, *layers])).astype(np.int64))
    return layers


def save_ghosts(operator: BlockOperator, b: int, depth: int, name: str) -> list[int]:
    """Write the places of a block's ghosts, and return in which blocks they lie."""
    ghosts = np.sort(np.concatenate(ghost_layers(operator, b, depth)))
    operator.save(f"{name}/ghosts", b, ghosts)
    home = np.searchsorted(operator.starts, ghosts, side="right") - 1
    return np.unique(home).tolist()


def halo_shares(operator: BlockOperator, b: int, most: float) -> list[float]:
    """Return what the rows of halos of depth 1, 2, ... cost, as shares of the block's own edges.

    It ends before the first that costs more than ``most``, or where nothing is farther away.
    """
    n_edges = operator.n_edges(b)
    shares, layer = [0.0], ghost_layers(operator, b, 1)[0]
    known = np.concatenate([operator.own(b), layer])
    while len(layer) and len(shares) < _DEEPEST:
        rows = rows_at(operator, layer)[0]
        shares.append(shares[-1] + rows.nnz / n_edges)
        if shares[-1] > most:
            return shares[:-1]
        layer = np.setdiff1d(rows.indices, known)
        known = np.concatenate([known, layer])
    return shares + [shares[-1]] * (_DEEPEST - len(shares))


def rows_at(operator: BlockOperator, places: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
    """Read rows of any blocks, (k, n), whose columns are places, and their degrees."""
    written = operator.written
    home = np.searchsorted(written.starts, places, side="right") - 1
    parts = [sp.csr_array((0, len(operator)), dtype=operator.dtype)]
    degrees = np.empty(len(places))
    for b in np.unique(home):
        block_rows, degrees[home == b] = _rows_of(written, int(b), places[home == b])
        parts.append(block_rows)
    # rows are read block by block, and go back to the order in which they were asked for
    back = np.argsort(np.argsort(home, kind="stable"), kind="stable")
    rows = sp.csr_array(sp.vstack(parts[1:] or parts, format="csr"))
    return (rows if (np.diff(home) >= 0).all() else rows[back]), degrees


def _rows_of(written: BlockArrays, b: int, places: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
    parts = ("indptr", "indices", "data", "degrees", "ghosts")
    indptr, indices, data, degrees, ghosts = (written.load(f"operator/{part}", b) for part in parts)
    local = places - written.starts[b]
    entries, ends = row_entries(indptr, local)
    columns = indices[entries].astype(np.int64)
    is_own = columns < len(degrees)
    columns[is_own] += written.starts[b]
    columns[~is_own] = ghosts[columns[~is_own] - len(degrees)]
    shape = len(places), len(written)
    return sp.csr_array((data[entries], columns, ends), shape=shape), degrees[local]


def _columns_of(
    places: np.ndarray, start: int, n_own: int, ghosts: np.ndarray, arrival: np.ndarray
) -> np.ndarray:
    """Return the columns of places; the ghosts ascend."""
    is_own = (places >= start) & (places < start + n_own)
    found = np.minimum(np.searchsorted(ghosts, places), len(ghosts) - 1)
    return np.where(is_own, places - start, arrival[found])


def _stacked(
    own: sp.csr_array, halo: sp.csr_array, halo_columns: np.ndarray, n_columns: int
) -> sp.csr_array:
    indptr = np.concatenate([own.indptr, own.indptr[-1] + halo.indptr[1:]])
    indices = np.concatenate([own.indices, halo_columns])
    data = np.concatenate([own.data, halo.data])
    index = own.indices.dtype
    return sp.csr_array(
        (data, indices.astype(index), indptr.astype(own.indptr.dtype)),
        shape=(len(indptr) - 1, n_columns),
    )


def save_labels(scratch: Scratch, name: str, labels: Labels) -> None:
    """Write the labels of a walk, by place."""
    scratch.save(f"{name}/labels.places", labels.points)
    scratch.save(f"{name}/labels.codes", labels.codes)
    scratch.save(f"{name}/labels.weight", labels.weight)
    scratch.save(f"{name}/labels.n_classes", np.array(labels.n_classes))


def _labels(
    operator: BlockOperator, b: int, name: str, ghosts: np.ndarray, arrival: np.ndarray
) -> AbsorbingLabels:
    """Return the labels among the columns of a block."""
    start, stop = operator.starts[b : b + 2]
    places, codes, weight, n_classes = (
        operator.scratch.load(f"{name}/labels.{part}")
        for part in ("places", "codes", "weight", "n_classes")
    )
    first, last = np.searchsorted(places, [start, stop])
    # labels of ghosts are set here too: between two exchanges the walk stops at them
    _, in_ghosts, in_places = np.intersect1d(ghosts, places, return_indices=True)
    columns = np.concatenate([places[first:last] - start, arrival[in_ghosts]])
    which = np.concatenate([np.arange(first, last), in_places])
    order = np.argsort(columns)
    return AbsorbingLabels.at(
        columns[order],
        codes[which[order]],
        weight[which[order]],
        n_classes=int(n_classes),
        dtype=operator.dtype,
        heights=HEIGHT,
    )
