"""Long work says which stage it is in; whoever listens may show it or time it.

The library calls `stage` around its parts. Nothing happens unless a listener is installed, as the
command line does. Listeners are per context: two threads do not hear each other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[str, float | None], None] | None] = ContextVar(
    "listener", default=None
)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Announce that a stage begins and, when the block is left, that it has ended.

    Parameters
    ----------
    name : str
        What is being done, such as "neighbors"; a part of a stage as "features: smoothing", whose
        time the stage around it holds too.
    """
    listener = _listener.get()
    if listener is None:
        yield
        return
    listener(name, None)
    start = time.perf_counter()
    try:
        yield
    finally:
        listener(name, time.perf_counter() - start)


@contextmanager
def listening(listener: Callable[[str, float | None], None]) -> Iterator[None]:
    """Hear of the stages within the block.

    Parameters
    ----------
    listener : callable
        Called with a stage's name and None when it begins, with its seconds when it ends.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def stage_seconds() -> Iterator[dict[str, float]]:
    """Yield a mapping that fills with the seconds of each stage within the block.

    Yields
    ------
    dict of str to float
        A stage that comes again is added up.
    """
    seconds: dict[str, float] = {}

    def hear(name: str, spent: float | None) -> None:
        if spent is not None:
            seconds[name] = seconds.get(name, 0.0) + spent

    with listening(hear):
        yield seconds
