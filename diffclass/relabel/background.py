"""Work in the background of the map: on one core, so that the others are the map's.

Its threads have no lower priority than the map's. One that holds the interpreter's lock and gets no
core would hold up the map as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from diffclass._compiled._threads import threads
from diffclass.progress import cancellable


@contextmanager
def background(is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Compute on one thread within the block, and only as long as the result is wanted.

    Parameters
    ----------
    is_wanted : callable
        As for `diffclass.progress.cancellable`.

    Raises
    ------
    CancelledError
        Once the result is not wanted.
    """
    with threads(1), cancellable(is_wanted):
        yield
