"""Engines: where the work on blocks is done."""

from __future__ import annotations

import gc
import sys
import tempfile
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

import numpy as np

from diffclass.blocks.scratch import room_in
from diffclass.exceptions import ClusterError
from diffclass.system.mapped_files import map_under, release_pages

_ATTEMPTS = 10  # at work that is lost
_SMALL = 2**20  # bytes that are not worth a file
_Found = TypeVar("_Found")


class WorkLost(ClusterError):  # noqa: N818 - it is the work's state, and mostly mended
    """Results on workers are lost for good; the work can begin again where it was last kept."""


def retry(work: Callable[[], _Found], begin_again: Callable[[], object]) -> _Found:
    """Do some work; where it is lost, call ``begin_again`` and do it again, some times."""
    attempt = 1
    while True:
        try:
            if attempt > 1:
                gc.collect()  # errors keep handles in cycles, and those keep results on workers
                begin_again()
            return work()
        except WorkLost:
            if attempt == _ATTEMPTS:
                raise
            attempt += 1


class Engine(Protocol):
    """Runs tasks on blocks, in this process or on workers.

    A task is a function of a module, without side effects except files in the scratch folder that
    are the same when it runs again: an engine may run it anew after a worker is lost. It never
    changes its arguments.

    Attributes
    ----------
    n_workers : int
    is_immediate : bool
        Whether a task is done once it is submitted.
    """

    n_workers: int
    is_immediate: bool

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Start a task and return a handle of its result.

        Parameters
        ----------
        task : callable
        *arguments
            Small values (large ones lie in the scratch folder), or handles of earlier tasks, also
            within lists: the task receives their results.
        """

    def hold(self, task: Callable[..., Any], *arguments: Any, share: float) -> Any:
        """Return a handle of something large that many tasks use, such as a block.

        Parameters
        ----------
        task : callable
            Reads it from the scratch folder; it may be called for every use.
        *arguments
            Small values.
        share : float
            Place among all that is held, 0 to 1: what is near goes to the same worker.
        """

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Wait for some results, and return them in the order of the handles.

        Raises
        ------
        WorkLost
            If results cannot be had again by running their tasks again.
        """

    def require_visible(self, *paths: Path) -> None:
        """Check that workers see some files or folders.

        Raises
        ------
        ParameterError
            If any does not.
        """


class _Recipe:
    """Makes something large when it is used, and may hold it from then on."""

    def __init__(self, task: Callable[..., Any], arguments: tuple[Any, ...]):
        self._work = task, arguments
        self._held: Any = None
        self.size = 0

    def result(self, room: float) -> Any:
        """Return it, and hold it if it is not larger than the room."""
        if self.size:
            return self._held
        task, arguments = self._work
        made = task(*arguments)
        if sys.getsizeof(made) <= room:
            self._held, self.size = made, sys.getsizeof(made)
        return made


class SerialEngine:
    """Runs each task at once, in this process; a handle is the result itself.

    Parameters
    ----------
    memory : float, default=2**31
        Bytes of blocks and results to keep in memory. Blocks have half of it; those that do not fit
        are read again for each use. Results that do not fit go to disk.
    folder : Path, optional
        For such results.

    See Also
    --------
    cluster_at : The workers of a dask cluster, for more points than one machine has time for.

    Examples
    --------
    >>> from diffclass.blocks import SerialEngine
    >>> engine = SerialEngine()
    >>> handles = [engine.submit(sum, [1, 2]), engine.submit(max, 3, 4)]
    >>> engine.gather(handles)
    [3, 4]
    """

    n_workers = 1
    is_immediate = True

    def __init__(self, *, memory: float = 2.0**31, folder: Path | None = None):
        self._memory = memory / 2
        self._recipes: WeakSet[_Recipe] = WeakSet()
        self._spill_files = SpillFiles(memory / 2, folder)

    def __reduce__(self) -> tuple[Callable[..., SerialEngine], tuple[()]]:
        """Return an engine with the same room, which holds nothing yet."""
        folder = self._spill_files.folder
        return partial(SerialEngine, memory=2 * self._memory, folder=folder), ()

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Run the task and return its result."""
        # A task may be given arrays on disk; their pages are let go of once it is done, or they
        # would fill the memory that was planned for others.
        given = [self._result(argument) for argument in arguments]
        result = self._spill_files.put(task(*given))
        release(given)
        return result

    def hold(self, task: Callable[..., Any], *arguments: Any, share: float) -> Any:
        """Return a recipe, which is followed at each use."""
        recipe = _Recipe(task, arguments)
        self._recipes.add(recipe)
        return recipe

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results."""
        return [self._result(handle) for handle in handles]

    def require_visible(self, *paths: Path) -> None:
        """Do nothing: tasks run in this process."""

    def _result(self, handle: Any) -> Any:
        if not isinstance(handle, _Recipe):
            return handle
        return handle.result(self._memory - sum(recipe.size for recipe in self._recipes))


class SpillFiles:
    """Arrays in memory as long as there is room for them (bytes), then on disk.

    What goes to disk lies in files without a name: they are gone when the arrays are, or the
    process. They lie in ``folder``, or among the system's temporary files. ``size`` is what memory
    holds now.
    """

    def __init__(self, room: float, folder: Path | None = None):
        self.size = 0
        self._room, self.folder = room, folder
        self._known: set[int] = set()

    def put(self, result: Any) -> Any:
        """Return a result with its arrays, also those within tuples, where there is room."""
        if isinstance(result, tuple):
            return tuple(self.put(part) for part in result)
        if not isinstance(result, np.ndarray) or result.nbytes < _SMALL:
            return result
        if id(result) in self._known or map_under(result) is not None:
            return result
        if self.size + result.nbytes > self._room:
            return self._on_disk(result)
        self.size += result.nbytes
        self._known.add(id(result))
        # room is counted until the array is collected, whoever still holds it
        weakref.finalize(result, self._forget, id(result), result.nbytes)
        return result

    def _forget(self, number: int, size: int) -> None:
        self.size -= size
        self._known.discard(number)

    def _on_disk(self, array: np.ndarray) -> np.ndarray:
        with room_in(self.folder), tempfile.TemporaryFile(dir=self.folder) as file:
            # written, not mapped: a full disk is an error then, and no signal
            file.write(np.ascontiguousarray(array).data)
            file.flush()
            return np.memmap(file, array.dtype, "r", shape=array.shape)


def release(values: Any) -> None:
    """Let go of the pages of arrays on disk, also within tuples and lists; they are read again."""
    if isinstance(values, tuple | list):
        for part in values:
            release(part)
    elif isinstance(values, np.ndarray):
        release_pages(values)
