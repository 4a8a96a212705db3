"""Every Numba loop, on bare arrays.

Loops never validate their arguments and allocate only scratch memory. The submodules load on first
use: importing Numba takes longer than importing the rest of diffclass.

Docstrings give shapes behind names, "X (n, d)", where they are not these:

    indptr, indices : (n + 1,), (m,)    a graph of n rows and m edges as CSR, int32 or int64
    data : (m,)                         its values, such as K(x, y)
    out                                 written, one entry per edge (m,) or per row (n,)

An edge e of row x leads from x to y = indices(e). Floating point arguments of one call have one
precision unless float64 is said; arrays are C-ordered; arguments that a docstring says are got,
filled in or written are results, others are only read. ``part`` says which share of the rows to do.
"""

from __future__ import annotations

import importlib
from types import ModuleType

_SUBMODULES = (
    "cell_tree",
    "choices",
    "columns",
    "gaussians",
    "graphs",
    "largest",
    "loops",
    "neighbor_lists",
)

__all__ = list(_SUBMODULES)


def __getattr__(name: str) -> ModuleType:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
