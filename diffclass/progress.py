"""Stages of long computations, which a listener may show or time.

The library calls `stage` around its parts. This has no effect unless a listener is installed, as
the command line does. Each context has its own listener: two threads do not hear each other.
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
        Name of the stage, such as "neighbors". A part of a stage is called "features: smoothing";
        the time of the stage around it includes its own.
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
    """Call a listener at the stages within the block.

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
    """Yield a mapping that collects the seconds of each stage within the block.

    Yields
    ------
    dict of str to float
        Seconds by stage; repeated stages are added up.
    """
    seconds: dict[str, float] = {}

    def hear(name: str, spent: float | None) -> None:
        if spent is not None:
            seconds[name] = seconds.get(name, 0.0) + spent

    with listening(hear):
        yield seconds
