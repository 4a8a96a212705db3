"""Every Numba loop, on bare ``(indptr, indices, data)`` arrays.

Loops never validate and never allocate what their caller could. The submodules load on first
use: importing Numba takes longer than importing the rest of diffclass.
"""

from __future__ import annotations

import importlib
from types import ModuleType

_SUBMODULES = ("edges", "gaussians", "graphs", "nn_descent", "posteriors", "products")

__all__ = list(_SUBMODULES)


def __getattr__(name: str) -> ModuleType:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
