"""Stages of long computations, which a listener may show or time, and cancellation.

The library calls `stage` around its parts, which has no effect without a listener, such as that of
the command line. Each context has its own. Long loops call `checkpoint`, which ends them if they
run within a `cancellable` block whose result is no longer wanted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from diffclass.exceptions import CancelledError

__all__ = [
    "Listener",
    "Listeners",
    "cancellable",
    "checkpoint",
    "duration",
    "in_parts",
    "listening",
    "stage",
    "stage_seconds",
]


class Listener(Protocol):
    """What is notified of stages."""

    def begins(self, name: str) -> None:
        """Receive the beginning of a stage."""

    def advances(self, name: str, done: int, parts: int) -> None:
        """Receive how many of the parts of a stage are done."""

    def ends(self, name: str, seconds: float) -> None:
        """Receive the end of a stage, and how many seconds it took."""


class Listeners:
    """Several listeners as one."""

    def __init__(self, listeners: Iterable[Listener]):
        self._listeners = tuple(listeners)

    def begins(self, name: str) -> None:
        """Notify all listeners of the beginning of a stage."""
        for listener in self._listeners:
            listener.begins(name)

    def advances(self, name: str, done: int, parts: int) -> None:
        """Notify all listeners of the parts that are done."""
        for listener in self._listeners:
            listener.advances(name, done, parts)

    def ends(self, name: str, seconds: float) -> None:
        """Notify all listeners of the end of a stage."""
        for listener in self._listeners:
            listener.ends(name, seconds)


_Item = TypeVar("_Item")
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def stage(name: str, *, parts: int = 0) -> Iterator[Callable[[], None]]:
    """Notify the listener that a stage begins and, when the block is left, that it has ended.

    A part of a stage is called "features: smoothing"; the time of the stage around it includes its
    own. If the number of ``parts`` of about the same size is known, call what is yielded once for
    each that is done.
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
    """Yield items, all taken first, whose work is a part of a stage each."""
    items = list(items)
    with stage(name, parts=len(items)) as part_done:
        for item in items:
            yield item
            part_done()


def _nothing() -> None:
    pass


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Notify a listener of the stages within the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


_is_wanted: ContextVar[Callable[[], bool] | None] = ContextVar("is_wanted", default=None)


@contextmanager
def cancellable(is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Cancel the computations within the block once their result is not wanted.

    ``is_wanted`` is called often, from the computing thread. Once it, or that of an outer block,
    returns False, `checkpoint` raises `CancelledError`.
    """
    outer = _is_wanted.get()
    both = is_wanted if outer is None else lambda: is_wanted() and outer()
    token = _is_wanted.set(both)
    try:
        yield
    finally:
        _is_wanted.reset(token)


def checkpoint() -> None:
    """Raise `CancelledError` within a `cancellable` block whose result is not wanted."""
    is_wanted = _is_wanted.get()
    if is_wanted is not None and not is_wanted():
        raise CancelledError("cancelled: the result is no longer wanted")


class _Seconds:
    """A listener that collects the seconds of each stage."""

    def __init__(self) -> None:
        self.by_stage: dict[str, float] = {}

    def begins(self, name: str) -> None:
        """Do nothing."""

    def advances(self, name: str, done: int, parts: int) -> None:
        """Do nothing."""

    def ends(self, name: str, seconds: float) -> None:
        """Add the seconds."""
        self.by_stage[name] = self.by_stage.get(name, 0.0) + seconds


@contextmanager
def stage_seconds() -> Iterator[dict[str, float]]:
    """Yield a mapping that adds up the seconds of each stage within the block."""
    listener = _Seconds()
    with listening(listener):
        yield listener.by_stage


def duration(seconds: float) -> str:
    """Return a duration as text: "45 s", "3 min", "2 h 10 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
