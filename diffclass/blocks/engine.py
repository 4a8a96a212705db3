"""Engines: where the work on blocks is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Engine(Protocol):
    """Runs tasks on blocks, in this process or on workers.

    A task is a function of a module, without side effects except files in the scratch folder that
    are the same when it runs again: an engine may run it anew after a worker is lost.

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
            within lists and dicts: the task receives their results.
        """

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Wait for some results, and return them in the order of the handles."""


class SerialEngine:
    """Runs each task at once, in this process; a handle is the result itself."""

    n_workers = 1
    is_immediate = True

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Run the task and return its result."""
        return task(*arguments)

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Return the results."""
        return list(handles)
