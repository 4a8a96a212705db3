"""Tasks on all blocks of a graph, and the exchange of ghosts between adjacent ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffclass.blocks.engine import Engine, retry
from diffclass.blocks.halo import Border, WalkBlock, halo_shares, save_ghosts
from diffclass.blocks.operator import BlockOperator
from diffclass.blocks.scratch import Scratch
from diffclass.system.progress import stage

# A halo is as deep as its rows cost at most this share of a block's own: the more steps between two
# exchanges, the fewer tasks.
_MOST_HALO = 0.5
_ROUNDS_AT_ONCE = 16  # of tasks that wait in the scheduler
Handles = list[Any]


@dataclass
class Traffic:
    """What has gone through the scheduler so far."""

    tasks: int = 0  # submitted
    exchanges: int = 0  # rounds in which blocks exchanged ghosts
    bytes: int = 0  # of all exchanged pieces


class BlockGraph:
    """The blocks of an operator, ready for a walk, whose labels lie in the folder ``name``.

    The halos are as deep as costs little (1 with one worker) unless ``depth`` says how deep.
    """

    def __init__(
        self, operator: BlockOperator, engine: Engine, *, name: str, depth: int | None = None
    ):
        self.operator, self.engine, self.name = operator, engine, name
        self.traffic = Traffic()
        retry(lambda: self._prepare(depth), lambda: None)

    def _prepare(self, depth: int | None) -> None:
        blocks, operator = range(self.operator.n_blocks), self.operator
        self.depth = self._least_depth() if depth is None else depth
        ghosts = [self.submit(save_ghosts, operator, b, self.depth, self.name) for b in blocks]
        self._ghosts: list[list[int]] = self.gather(ghosts)
        self.load()
        self._n_sent = self.gather([self.submit(_n_sent, border) for border in self._borders])

    def load(self) -> None:
        """Load the blocks, again if they were lost."""
        n = self.operator.n_blocks
        hold, operator, name = self.engine.hold, self.operator, self.name
        shares = [(b, (b + 0.5) / n) for b in range(n)]
        self._blocks = [
            hold(WalkBlock.load, operator, b, self.depth, name, share=share) for b, share in shares
        ]
        self._borders = [
            hold(Border.load, operator, b, name, self.beside([b]), share=share)
            for b, share in shares
        ]

    def each(
        self, task: Callable[..., Any], *columns: Sequence[Any], values: tuple = ()
    ) -> Handles:
        """Start ``task(block, *its columns, *values)`` on each block; values are small."""
        return [
            self.submit(task, block, *own, *values)
            for block, *own in zip(self._blocks, *columns, strict=True)
        ]

    def apply(self, task: Callable[..., Any], *columns: Sequence[Any]) -> Handles:
        """Start ``task(*its columns)`` for each block; it does not need the block itself."""
        return [self.submit(task, *own) for own in zip(*columns, strict=True)]

    def exchanged(
        self,
        task: Callable[..., Any],
        columns: Handles,
        *more: Sequence[Any],
        values: tuple = (),
        row_bytes: int,
        only: Collection[int] | None = None,
    ) -> Handles:
        """Start ``task(block, its columns, pieces, *more, *values)`` on each block.

        Columns are arrays, or tuples that begin with the array that is exchanged; a row has
        ``row_bytes``. Blocks that are not in ``only`` keep their columns.
        """
        only = range(len(self._blocks)) if only is None else only
        found = list(columns)
        # Each block sends what the others need before any of them walks on: with the old columns,
        # so that the result does not depend on the order of the tasks.
        for c in only:
            arriving = [
                self.submit(_taken, self._borders[b], columns[b], c) for b in self._ghosts[c]
            ]
            self.traffic.bytes += row_bytes * sum(self._n_sent[b][c] for b in self._ghosts[c])
            extra = [handles[c] for handles in more]
            found[c] = self.submit(task, self._blocks[c], columns[c], arriving, *extra, *values)
        self.traffic.exchanges += 1
        return found

    def beside(self, changed: Collection[int]) -> list[int]:
        """Return the blocks that have ghosts in some of the blocks."""
        return [c for c, ghosts in enumerate(self._ghosts) if not set(ghosts).isdisjoint(changed)]

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Wait for the results of some tasks."""
        return self.engine.gather(handles)

    def rows_at(self, columns: Handles, places: np.ndarray) -> np.ndarray:
        """Wait for the rows of columns at some places, ascending."""
        starts = self.operator.starts
        wanted = np.split(places, np.searchsorted(places, starts[1:-1]))
        local = [own - start for own, start in zip(wanted, starts[:-1], strict=True)]
        return np.concatenate(self.gather(self.apply(_rows, columns, local)))

    def wait(self, handles: Handles) -> None:
        """Wait until some arrays are there, on the workers."""
        self.gather(self.apply(_is_there, handles))

    def total(self, handles: Sequence[Any]) -> Any:
        """Wait for arrays or numbers and return their sum, in the order of the blocks."""
        return np.sum(self.gather(handles), axis=0)

    @contextmanager
    def rounds(self, name: str, n_steps: int) -> Iterator[Callable[[Handles], None]]:
        """Announce a stage of so many steps, as many in each round as halos are deep.

        It yields a function to be called with the handles of each round that has begun: from time
        to time it waits for them, so that the scheduler is not flooded.
        """
        immediate, pending = self.engine.is_immediate, 0
        with stage(name, parts=-(-n_steps // self.depth)) as part_done:

            def begun(handles: Handles) -> None:
                nonlocal pending
                pending += 1
                if not immediate:
                    if pending < _ROUNDS_AT_ONCE:
                        return
                    self.wait(handles)
                for _ in range(pending):
                    part_done()
                pending = 0

            yield begun

    def keep(self, handles: Handles, name: str) -> Callable[[], Handles]:
        """Write arrays to scratch, where no loss of a worker reaches them; see `kept`."""
        scratch = [self.operator.scratch] * len(handles)
        self.gather(self.apply(_save, handles, scratch, self.files(name)))
        return self.kept(name)

    def kept(self, name: str) -> Callable[[], Handles]:
        """Return a function that returns handles of arrays in scratch, as often as it is called."""
        scratch, n = self.operator.scratch, self.operator.n_blocks
        return lambda: [
            self.engine.hold(_load, scratch, file, share=(b + 0.5) / n)
            for b, file in enumerate(self.files(name))
        ]

    def drop(self, name: str) -> None:
        """Remove kept arrays."""
        self.operator.scratch.drop(*self.files(name))

    def files(self, name: str) -> list[str]:
        """Return the names of the arrays of each block in scratch."""
        return [f"{self.name}/{name}.{b}" for b in range(self.operator.n_blocks)]

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Start a task and return a handle of its result."""
        self.traffic.tasks += 1
        return self.engine.submit(task, *arguments)

    def _least_depth(self) -> int:
        if self.engine.n_workers == 1:
            return 1
        shares = self.gather(
            [
                self.submit(halo_shares, self.operator, b, _MOST_HALO)
                for b in range(self.operator.n_blocks)
            ]
        )
        # all blocks exchange in the same round, so that the shallowest halo counts
        return min(map(len, shares))


def first_of(held: tuple) -> Any:
    """Return the first part of a result, as a task."""
    return held[0]


def rest_of(held: tuple) -> Any:
    """Return the second part of a result, as a task."""
    return held[1]


def _save(array: np.ndarray, scratch: Scratch, name: str) -> None:
    scratch.save(name, array)


def _load(scratch: Scratch, name: str) -> np.ndarray:
    return np.array(scratch.load(name))


def _rows(columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return columns[rows]


def _is_there(held: Any) -> bool:
    return True


def _n_sent(border: Border) -> dict[int, int]:
    return {c: len(rows) for c, rows in border.sends.items()}


def _taken(border: Border, held: Any, c: int) -> np.ndarray:
    """Return the rows that a block needs."""
    columns = held[0] if isinstance(held, tuple) else held
    return columns[border.sends[c]]
