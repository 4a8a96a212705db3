"""Lets the program start sooner: scikit-learn without two modules that it imports in vain.

`sklearn.utils.fixes` imports pandas, which it never uses, and `scipy.stats`, for one function that
nothing here calls. Together they take two thirds of the time in which scikit-learn loads. Both load
as ever where something else imports them, and `scipy.stats` where that one function is called.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


def install() -> None:
    """Let scikit-learn, once it is imported, leave out what it does not need."""
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "sklearn.utils.fixes":
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _LeanLoader(spec.loader)
        return spec


class _LeanLoader(Loader):
    """A loader for which pandas is not installed, and `scipy.stats` comes where it is used."""

    def __init__(self, loader: Loader):
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        found: dict[str, Any] = {"pandas": None, "scipy.stats": _Later("scipy.stats")}
        instead = {name: one for name, one in found.items() if name not in sys.modules}
        sys.modules.update(instead)
        try:
            self._loader.exec_module(module)
        finally:
            for name, one in instead.items():
                _forget(name, one)


class _Later(ModuleType):
    def __getattr__(self, name: str) -> Any:
        _forget(self.__name__, self)
        return getattr(import_module(self.__name__), name)


def _forget(name: str, instead: ModuleType | None) -> None:
    """Let a module be imported in place of what stood for it."""
    if name in sys.modules and sys.modules[name] is instead:
        del sys.modules[name]
