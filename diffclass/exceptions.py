"""Errors and warnings of diffclass, and the errors of a full disk.

Each class also derives from the built-in class that users of scikit-learn or NumPy expect, so that
``except ValueError`` keeps working.
"""

from __future__ import annotations

import errno
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

__all__ = [
    "CancelledError",
    "ClusterError",
    "DataError",
    "DiffclassError",
    "ExtensionError",
    "ParameterError",
    "ScaleWarning",
    "UnreachedWarning",
    "is_full",
    "kept_warnings",
    "named_when_full",
    "option_name",
    "serving_a_command",
    "warn_user",
]

_CALLERS = ("contextlib", "functools", "joblib", "sklearn")  # between users and diffclass
# no block is left, none of the user's quota, or the file exceeds what the file system allows
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class DiffclassError(Exception):
    """Base of every error that diffclass raises on purpose."""


class ParameterError(DiffclassError, ValueError):
    """A parameter has a value that cannot be used; change the call."""


class DataError(DiffclassError, ValueError):
    """Data, labels or a file are unreadable or contradict each other."""


class ClusterError(DiffclassError, RuntimeError):
    """A cluster of workers failed: its scheduler is gone, or work was lost too often."""


class CancelledError(DiffclassError):
    """A computation was cancelled because its result is no longer needed."""


class ExtensionError(DiffclassError, ImportError):
    """An extension of another distribution cannot be used."""


class ScaleWarning(UserWarning):
    """Features are too small beside others to count in distances."""


class UnreachedWarning(UserWarning):
    """No label reaches some points: there is no path to them, or none as short as the walk."""


def is_full(error: OSError) -> bool:
    """Return whether an error of the system means that a disk has no room for a file.

    See Also
    --------
    named_when_full : Turns such an error into one that says what to do.

    Examples
    --------
    >>> import errno
    >>> from diffclass.exceptions import is_full
    >>> is_full(OSError(errno.ENOSPC, "No space left on device"))
    True
    >>> is_full(OSError(errno.EACCES, "Permission denied"))
    False
    """
    return error.errno in _FULL


@contextmanager
def named_when_full(say: Callable[[OSError], str]) -> Iterator[None]:
    """Turn the error of a full disk into a `DataError` with the message that ``say`` returns.

    Other errors pass.

    Examples
    --------
    >>> import errno
    >>> from diffclass.exceptions import named_when_full
    >>> with named_when_full(lambda error: "map.tif: no space is left"):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    diffclass.exceptions.DataError: map.tif: no space is left
    """
    try:
        yield
    except OSError as error:
        if not is_full(error):
            raise
        raise DataError(say(error)) from error


_served: list[str] = []  # commands that run; messages name options as their user writes them


@contextmanager
def serving_a_command() -> Iterator[None]:
    """Have messages name options as a command has them, and not as Python.

    Examples
    --------
    >>> from diffclass.exceptions import option_name, serving_a_command
    >>> with serving_a_command():
    ...     option_name("label_variable", "ids")
    '--label-variable ids'
    """
    _served.append("command")
    try:
        yield
    finally:
        _served.pop()


def option_name(name: str, value: str | None = None) -> str:
    """Return an option, and a value of it, as the user writes them: in Python or for a command.

    The name is the command's, with underscores; in Python all that end in "variable" are so called.

    Examples
    --------
    >>> from diffclass.exceptions import option_name
    >>> option_name("label_variable", "ids"), option_name("bands")
    ("variable='ids'", 'bands=')
    """
    if _served:
        return f"--{name.replace('_', '-')}" + ("" if value is None else f" {value}")
    named = "variable" if name.endswith("variable") else name
    return f"{named}=" + ("" if value is None else repr(value))


_kept: ContextVar[list[str] | None] = ContextVar("kept", default=None)


@contextmanager
def kept_warnings() -> Iterator[list[str]]:
    """Keep what `warn_user` says within the block, of this thread alone, besides warning of it.

    What is kept in a block within is added at its end, as it is then.

    Examples
    --------
    >>> import warnings
    >>> from diffclass.exceptions import kept_warnings, warn_user
    >>> with kept_warnings() as said, warnings.catch_warnings(action="ignore"):
    ...     warn_user("labels.tif: 3 labelled pixels lie outside")
    >>> said
    ['labels.tif: 3 labelled pixels lie outside']
    """
    said: list[str] = []
    outer, token = _kept.get(), _kept.set(said)
    try:
        yield said
    finally:
        _kept.reset(token)
        if outer is not None:
            outer += said


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called diffclass, however deep the warning arises.

    It is the line of the innermost caller that is neither in diffclass nor in what calls diffclass
    for somebody, such as scikit-learn. By default each such line is shown once.

    Examples
    --------
    >>> import warnings
    >>> from diffclass.exceptions import ScaleWarning, warn_user
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("feature 0 counts for nothing", ScaleWarning)
    >>> str(caught[0].message)
    'feature 0 counts for nothing'
    """
    if (said := _kept.get()) is not None:
        said.append(message)
    frame = sys._getframe(1)
    while _is_between(frame) and frame.f_back is not None:
        frame = frame.f_back
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    place = frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__")
    warnings.warn_explicit(message, category, *place, registry)


def _is_between(frame: FrameType) -> bool:
    """Say whether code is diffclass's own, or calls diffclass for somebody."""
    package = str(frame.f_globals.get("__name__")).partition(".")[0]
    return package.startswith("diffclass") or package in _CALLERS
