"""The errors of a disk that has no room for a file."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from diffclass.exceptions import DataError

# no block is left, none of the user's share is, or the file system takes no file of that size
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_full(error: OSError) -> bool:
    """Tell whether an error of the system says that a disk has no room for a file."""
    return error.errno in _FULL


@contextmanager
def named_when_full(say: Callable[[OSError], str]) -> Iterator[None]:
    """Raise `DataError` with a message of one's own for a full disk: the system's names no file."""
    try:
        yield
    except OSError as error:
        if not is_full(error):
            raise
        raise DataError(say(error)) from error
