"""Arrays that are cut at the blocks, and work on each of these."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from diffclass.blocks.engine import Engine, retry
from diffclass.blocks.scratch import Scratch
from diffclass.system.progress import stage


@dataclass(frozen=True)
class BlockArrays:
    """Arrays of points in a scratch folder, cut at the blocks: the rows of block b in "name.b".

    It is a small value that tasks take with them. (The slices in which a file is read are blocks
    too, until its points are sorted.)

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
    def place_dtype(self) -> type[np.integer]:
        """Type that holds places."""
        return place_dtype(len(self))

    def own(self, b: int) -> np.ndarray:
        """Return the places of a block."""
        return np.arange(self.starts[b], self.starts[b + 1])

    def load(self, name: str, b: int) -> np.ndarray:
        """Return the rows of a block, on their file."""
        return self.scratch.load(f"{name}.{b}")

    def save(self, name: str, b: int, rows: np.ndarray) -> None:
        """Write the rows of a block."""
        self.scratch.save(f"{name}.{b}", rows)

    def drop(self, *names: str) -> None:
        """Remove arrays of all blocks."""
        self.scratch.drop(*(f"{name}.{b}" for name in names for b in range(self.n_blocks)))

    def all(self, name: str, *, axis: int = 0) -> np.ndarray:
        """Return what all blocks hold, one after the other, in memory."""
        return np.concatenate([self.load(name, b) for b in range(self.n_blocks)], axis=axis)

    def at(self, name: str, places: np.ndarray) -> np.ndarray:
        """Return the rows at some places, of which there is one for each point.

        Parameters
        ----------
        name : str
        places : ndarray of int of shape (m,)
            Ascending.
        """
        bounds = np.searchsorted(places, self.starts).tolist()
        first = self.load(name, 0)
        out = np.empty((len(places), *first.shape[1:]), dtype=first.dtype)
        for b, bound in enumerate(itertools.pairwise(bounds)):
            if bound[0] < bound[1]:
                part = slice(*bound)
                out[part] = self.load(name, b)[places[part] - self.starts[b]]
        return out

    def on_each(
        self, engine: Engine, name: str, task: Callable[..., Any], *arguments: Any
    ) -> list[Any]:
        """Run ``task(these arrays, *arguments, b)`` for each block b; return the results in order.

        Work that is lost once is done again. ``name`` is for those who listen to progress.
        """
        blocks = range(self.n_blocks)
        with stage(name, parts=self.n_blocks) as part_done:
            handles = []
            for b in blocks:
                handles.append(engine.submit(task, self, *arguments, b))
                if engine.is_immediate:
                    part_done()

            def again(first: int) -> None:
                handles[first:] = [engine.submit(task, self, *arguments, b) for b in blocks[first:]]

            results = []
            for b in blocks:
                results += retry(partial(_result, engine, handles, b), partial(again, b))
                if not engine.is_immediate:
                    part_done()
            return results


def _result(engine: Engine, handles: list[Any], b: int) -> list[Any]:
    return engine.gather([handles[b]])


def row_entries(indptr: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the entries of some rows of a CSR matrix lie, and the ``indptr`` of these."""
    first, lengths = indptr[rows].astype(np.int64), indptr[rows + 1] - indptr[rows]
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return np.arange(ends[-1]) + np.repeat(first - ends[:-1], lengths), ends


def place_dtype(n_points: int) -> type[np.integer]:
    """Return the type that holds places."""
    return np.int32 if n_points <= np.iinfo(np.int32).max else np.int64
