"""The errors of a disk that has no room for a file."""

from __future__ import annotations

import errno

# no block is left, none of the user's share is, or the file system takes no file of that size
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_full(error: OSError) -> bool:
    """Tell whether an error of the system says that a disk has no room for a file."""
    return error.errno in _FULL
