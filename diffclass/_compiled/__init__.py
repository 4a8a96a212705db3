"""Every Numba loop, on bare ``(indptr, indices, data)`` arrays.

Loops never validate their arguments and allocate only scratch memory. The submodules load on first
use: importing Numba takes longer than importing the rest of diffclass.

Docstrings state each argument as ``name : type of shape``:

- ``float`` is float32 or float64, the same for all arguments called ``float`` in one call;
- ``index`` is int32 or int64, the same for all arguments called ``index`` in one call;
- n is the number of rows of a graph, m its number of edges, d the number of features;
- arrays are C-ordered; ``out`` and arguments marked "written" are filled in, others only read.

An edge e of row x leads from x to y = indices(e).
"""

from __future__ import annotations

import importlib
from types import ModuleType

_SUBMODULES = (
    "aggregates",
    "cell_bins",
    "cell_tree",
    "decisions",
    "edges",
    "gaussians",
    "graphs",
    "neighbor_lists",
    "products",
)

__all__ = list(_SUBMODULES)


def __getattr__(name: str) -> ModuleType:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
