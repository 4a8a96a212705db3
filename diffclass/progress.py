"""Stages of long computations, which a listener may show or time, and giving them up.

The library calls `stage` around its parts. This has no effect unless a listener is installed, as
the command line does. Each context has its own listener: two threads do not hear each other.

Long loops call `checkpoint`, which ends them if they run in a block of `cancellable` whose result
nobody wants any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from diffclass.exceptions import CancelledError

__all__ = [
    "Audience",
    "Listener",
    "cancellable",
    "checkpoint",
    "duration",
    "in_parts",
    "listening",
    "stage",
    "stage_seconds",
]


class Listener(Protocol):
    """What hears of stages."""

    def begins(self, name: str) -> None:
        """Hear that a stage begins."""

    def advances(self, name: str, done: int, parts: int) -> None:
        """Hear how many of the parts of a stage are done."""

    def ends(self, name: str, seconds: float) -> None:
        """Hear that a stage has ended, and how long it took."""


class Audience:
    """Several listeners as one.

    Parameters
    ----------
    listeners : iterable of Listener
    """

    def __init__(self, listeners: Iterable[Listener]):
        self._listeners = tuple(listeners)

    def begins(self, name: str) -> None:
        """Tell all that a stage begins."""
        for listener in self._listeners:
            listener.begins(name)

    def advances(self, name: str, done: int, parts: int) -> None:
        """Tell all how many of the parts of a stage are done."""
        for listener in self._listeners:
            listener.advances(name, done, parts)

    def ends(self, name: str, seconds: float) -> None:
        """Tell all that a stage has ended, and how long it took."""
        for listener in self._listeners:
            listener.ends(name, seconds)


_Item = TypeVar("_Item")
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def stage(name: str, *, parts: int = 0) -> Iterator[Callable[[], None]]:
    """Announce that a stage begins and, when the block is left, that it has ended.

    Parameters
    ----------
    name : str
        Name of the stage, such as "neighbors". A part of a stage is called "features: smoothing";
        the time of the stage around it includes its own.
    parts : int, default=0
        Number of parts of about the same size, if it is known.

    Yields
    ------
    callable
        Call it once for each part that is done.
    """
    listener = _listener.get()
    if listener is None:
        yield _nothing
        return
    listener.begins(name)
    start = time.perf_counter()
    done = 0

    def part_done() -> None:
        nonlocal done
        done += 1
        listener.advances(name, done, parts)

    try:
        yield part_done
    finally:
        listener.ends(name, time.perf_counter() - start)


def in_parts(name: str, items: Iterable[_Item]) -> Iterator[_Item]:
    """Yield items, and announce a stage of which the work on each is a part.

    Parameters
    ----------
    name : str
        Name of the stage.
    items : iterable
        Short: all are taken before the first is yielded.
    """
    items = list(items)
    with stage(name, parts=len(items)) as part_done:
        for item in items:
            yield item
            part_done()


def _nothing() -> None:
    pass


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell a listener of the stages within the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


_is_wanted: ContextVar[Callable[[], bool] | None] = ContextVar("is_wanted", default=None)


@contextmanager
def cancellable(is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Let the computations within the block be given up once their result is not wanted.

    Parameters
    ----------
    is_wanted : callable
        Called often, from the computing thread. Once it returns False, or what an outer block has
        returns False, `CancelledError` is raised.
    """
    outer = _is_wanted.get()
    both = is_wanted if outer is None else lambda: is_wanted() and outer()
    token = _is_wanted.set(both)
    try:
        yield
    finally:
        _is_wanted.reset(token)


def checkpoint() -> None:
    """Go on, unless this runs within a block whose result nobody wants any more.

    Raises
    ------
    CancelledError
        If that is so. What was computed so far has to be dropped.
    """
    is_wanted = _is_wanted.get()
    if is_wanted is not None and not is_wanted():
        raise CancelledError("given up: the result is not wanted any more")


class _Seconds:
    """Collects the seconds of each stage."""

    def __init__(self) -> None:
        self.by_stage: dict[str, float] = {}

    def begins(self, name: str) -> None:
        """Nothing is to be done."""

    def advances(self, name: str, done: int, parts: int) -> None:
        """Nothing is to be done."""

    def ends(self, name: str, seconds: float) -> None:
        """Add the seconds."""
        self.by_stage[name] = self.by_stage.get(name, 0.0) + seconds


@contextmanager
def stage_seconds() -> Iterator[dict[str, float]]:
    """Yield a mapping that collects the seconds of each stage within the block.

    Yields
    ------
    dict of str to float
        Seconds by stage; repeated stages are added up.
    """
    listener = _Seconds()
    with listening(listener):
        yield listener.by_stage


def duration(seconds: float) -> str:
    """Return a time to read: "45 s", "3 min", "2 h 10 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
