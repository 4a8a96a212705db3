"""What rasterio and GDAL say that nobody needs to read."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from diffclass.system.libraries import require


@contextmanager
def quiet() -> Iterator[None]:
    """Silence rasterio's warnings of missing coordinates, own arithmetic and undecodable text."""
    errors = require("rasterio.errors", extra="maps")
    with warnings.catch_warnings(), _undecodable_messages_dropped():
        warnings.simplefilter("ignore", errors.NotGeoreferencedWarning)
        # rasterio 1.4 multiplies transforms as affine 3 no longer likes
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        yield


@contextmanager
def _undecodable_messages_dropped() -> Iterator[None]:
    printed, unraisable = sys.excepthook, sys.unraisablehook

    def print_others(kind: type[BaseException], error: BaseException, where: Any) -> None:
        if not issubclass(kind, UnicodeDecodeError):
            printed(kind, error, where)

    def print_others_ignored(ignored: Any) -> None:
        if not issubclass(ignored.exc_type, UnicodeDecodeError):
            unraisable(ignored)

    sys.excepthook, sys.unraisablehook = print_others, print_others_ignored
    try:
        yield
    finally:
        sys.excepthook, sys.unraisablehook = printed, unraisable
