"""Lets the program start sooner: scikit-learn without two modules that it imports in vain.

`sklearn.utils.fixes` imports pandas, which it never uses, and `scipy.stats`, for one function that
nothing here calls. Together they take two thirds of the time in which scikit-learn loads. Both load
as ever where something else imports them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_IMPORTER = "sklearn.utils.fixes"
# what it finds in place of them; None: there is no such module
_IMPORTED = {"pandas": None, "scipy.stats": ModuleType("scipy.stats")}


def install() -> None:
    """Let scikit-learn, once it is imported, leave out what it does not need."""
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _IMPORTER:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _LeanLoader(spec.loader)
        return spec


class _LeanLoader(Loader):
    """A loader, while some modules seem to be there already, or not to be installed."""

    def __init__(self, loader: Loader):
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        instead = {name: one for name, one in _IMPORTED.items() if name not in sys.modules}
        sys.modules.update(instead)  # type: ignore[arg-type]
        try:
            self._loader.exec_module(module)
        finally:
            for name in instead:
                del sys.modules[name]
