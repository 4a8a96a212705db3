"""Arrays that are cut at the blocks: the values of block b lie in "name.b"."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from diffclass.blocks.engine import Engine, retry
from diffclass.blocks.scratch import Scratch
from diffclass.progress import stage


def on_each_block(
    engine: Engine, name: str, n_blocks: int, task: Callable[..., Any], *arguments: Any
) -> list[Any]:
    """Run ``task(*arguments, b)`` for each block b, and return the results in order.

    Parameters
    ----------
    engine : Engine
    name : str
        Of the work, for those who listen to progress.
    n_blocks : int
    task : callable
        As `Engine.submit` takes it.
    *arguments
        The same for all blocks.

    Raises
    ------
    ClusterError
        If results are lost again and again; work that is lost once is done again.
    """
    with stage(name, parts=n_blocks) as part_done:
        handles = []
        for b in range(n_blocks):
            handles.append(engine.submit(task, *arguments, b))
            if engine.is_immediate:
                part_done()

        def again(first: int) -> None:
            handles[first:] = [engine.submit(task, *arguments, b) for b in range(first, n_blocks)]

        results = []
        for b in range(n_blocks):
            results += retry(partial(_result, engine, handles, b), partial(again, b))
            if not engine.is_immediate:
                part_done()
        return results


def _result(engine: Engine, handles: list[Any], b: int) -> list[Any]:
    return engine.gather([handles[b]])


def drop_blocks(scratch: Scratch, n_blocks: int, *names: str) -> None:
    """Remove arrays of all blocks."""
    scratch.drop(*(f"{name}.{b}" for name in names for b in range(n_blocks)))


def read_places(
    scratch: Scratch, name: str, starts: Sequence[int], places: np.ndarray
) -> np.ndarray:
    """Return the values of some places.

    Parameters
    ----------
    scratch : Scratch
    name : str
        The values of block b lie in "name.b", one row per place.
    starts : sequence of int
        Place of the first point of each block; the last is n.
    places : ndarray of int of shape (m,)
        Ascending.
    """
    bounds = np.searchsorted(places, starts).tolist()
    first = scratch.load(f"{name}.0")
    out = np.empty((len(places), *first.shape[1:]), dtype=first.dtype)
    for b, bound in enumerate(itertools.pairwise(bounds)):
        if bound[0] < bound[1]:
            part = slice(*bound)
            out[part] = scratch.load(f"{name}.{b}")[places[part] - starts[b]]
    return out


def place_dtype(n_points: int) -> type[np.integer]:
    """Return the type that holds places."""
    return np.int32 if n_points <= np.iinfo(np.int32).max else np.int64
