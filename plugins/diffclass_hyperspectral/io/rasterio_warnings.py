"""Warnings of ``rasterio`` that say nothing a user could act on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from diffclass_hyperspectral.io.optional import require


@contextmanager
def quiet() -> Iterator[None]:
    """Keep rasterio from warning of missing coordinates and of its own arithmetic."""
    errors = require("rasterio.errors", extra="maps")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.NotGeoreferencedWarning)
        # rasterio 1.4 multiplies transforms as affine 3 no longer likes
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        yield
