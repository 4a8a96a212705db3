"""Errors and warnings of diffclass.

Each also derives from the built-in class that users of scikit-learn or NumPy expect, so that
``except ValueError`` keeps working.
"""

from __future__ import annotations

__all__ = [
    "CancelledError",
    "ClusterError",
    "DataError",
    "DiffclassError",
    "ExtensionError",
    "ParameterError",
    "UnreachedWarning",
]


class DiffclassError(Exception):
    """Base of every error that diffclass raises on purpose."""


class ParameterError(DiffclassError, ValueError):
    """A parameter has a value that cannot be used: the caller has to change the call."""


class DataError(DiffclassError, ValueError):
    """Data, labels or a file are unreadable or contradict each other."""


class ClusterError(DiffclassError, RuntimeError):
    """A cluster of workers cannot go on: its scheduler is gone, or work was lost too often."""


class CancelledError(DiffclassError):
    """A computation was given up, because nobody wants its result any more."""


class ExtensionError(DiffclassError, ImportError):
    """What another distribution adds cannot be used."""


class UnreachedWarning(UserWarning):
    """No label reaches some points: no path leads there, or none as short as the walk."""
