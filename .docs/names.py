"""Public names: on which page each is documented, and which names and guides belong with it.

A name is documented once: in the chapter that exports it, or in the package if no chapter does.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

PACKAGES = ("diffclass", "diffclass_hyperspectral", "diffclass_relabel", "diffclass_tables")
_WORDS = {"cluster", "embed", "suggest"}  # commands, where they stand alone
_FIELD = 4  # the rank of fields, after those of functions (0, 1) and methods (2, 3)
_BUILT = re.compile(r"^Parameters\n-+$", re.MULTILINE)  # a class that users build


def public_modules() -> Iterator[ModuleType]:
    """Yield the packages, and their chapters that have an ``__all__``, with all names loaded."""
    for package in map(importlib.import_module, PACKAGES):
        yield _loaded(package)
        for chapter in _modules_in(package):
            if hasattr(chapter, "__all__"):
                yield _loaded(chapter)
            elif hasattr(chapter, "__path__"):  # a folder, whose modules are chapters
                yield from (_loaded(one) for one in _modules_in(chapter) if hasattr(one, "__all__"))


def _modules_in(package: ModuleType) -> list[ModuleType]:
    found = pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    return [importlib.import_module(info.name) for info in found if "._" not in info.name]


def _loaded(module: ModuleType) -> ModuleType:
    """Load the names that a module exports lazily."""
    for name in module.__all__:
        setattr(module, name, getattr(module, name))
    return module


@dataclass
class Names:
    """Where names are documented.

    Attributes
    ----------
    documented : dict of str to dict of str to object
        What each public module documents.
    places : dict of str to str
        Full name at the place of documentation, by every name that something goes by.
    """

    documented: dict[str, dict[str, Any]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)


def read_names() -> Names:
    """Return the names of all packages."""
    names, homes = Names(), {}
    modules = {module.__name__: module for module in public_modules()}
    names.documented = {name: {} for name in modules}
    for name, module in sorted(modules.items(), key=lambda item: "." not in item[0]):
        inside = pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}.")
        for one in inside:  # a module inside a chapter leads to the chapter
            names.places.setdefault(one.name, name)
        names.places[name] = name
        for member in module.__all__:
            value = getattr(module, member)
            home = homes.setdefault((member, id(value)), f"{name}.{member}")
            if home == f"{name}.{member}":
                names.documented[name][member] = value
            called = {f"{name}.{member}", f"{name.removeprefix('diffclass.')}.{member}", member}
            if is_code(value):
                called.add(f"{value.__module__}.{value.__qualname__}")
            for one in called - _WORDS:
                names.places.setdefault(one, home)
                for method, _ in methods_of(value):
                    names.places.setdefault(f"{one}.{method}", f"{home}.{method}")
    exported = {name for package in PACKAGES for name in modules[package].__all__}
    methods = {name.partition(".")[2] for name in names.places if re.match(r"[A-Z]\w*\.\w+$", name)}
    for word in methods & names.places.keys() - exported:
        del names.places[word]
    del names.places["diffclass"]
    return names


def is_code(value: Any) -> bool:
    """Return whether something is a class or a function, and no constant."""
    return inspect.isclass(value) or inspect.isroutine(value)


def methods_of(value: Any) -> list[tuple[str, Any]]:
    """Return what a class documents of its own: methods and properties with a docstring."""
    members = vars(value).items() if inspect.isclass(value) else ()
    return [
        (name, member)
        for name, member in members
        if not name.startswith("_") and not name.endswith("_request")  # scikit-learn's
        and (inspect.isroutine(member) or isinstance(member, property)) and inspect.getdoc(member)
    ]  # fmt: skip


def relations_of(names: Names) -> dict[str, dict[str, list[str]]]:
    """Return what returns and takes each class, by its name and a heading, functions first.

    A record returns its fields, if a call returns it.
    """
    calls = sorted(_calls(names), key=lambda call: call[0])
    found: dict[str, dict[str, list[str]]] = {}
    for rank, home, taken, returned in calls:
        if rank >= _FIELD and "Returned by" not in found.get(home, {}):
            continue  # users know what they have put there
        for heading, text in (("Returned by", returned), ("Taken by", taken)):
            for word in dict.fromkeys(re.findall(r"\b[A-Z]\w*", text)):
                place = names.places.get(word)
                if place and not f"{home}.".startswith(f"{place}."):
                    rows = found.setdefault(place, {}).setdefault(heading, [])
                    rows += [home] if home not in rows else []
    return found


def _calls(names: Names) -> Iterator[tuple[int, str, str, str]]:
    """Yield rank, name, what is taken and what is returned; what the package exports first."""
    package = importlib.import_module("diffclass").__all__
    for module, members in names.documented.items():
        for member, value in members.items():
            rank, home = int(member not in package), f"{module}.{member}"
            if inspect.isclass(value):
                if _BUILT.search(inspect.getdoc(value) or ""):
                    yield rank, home, _signature(value)[0], ""
                fields = vars(value).get("__annotations__", {}).values()
                yield rank + _FIELD, home, "", " ".join(map(str, fields))
                for name, method in methods_of(value):
                    call = getattr(method, "fget", None) or getattr(method, "func", None)
                    yield rank + 2, f"{home}.{name}", *_signature(call or getattr(value, name))
            elif inspect.isroutine(value):
                yield rank, home, *_signature(value)


def _signature(call: Any) -> tuple[str, str]:
    signature = inspect.signature(call)
    taken = (str(one.annotation) for one in signature.parameters.values())
    return " ".join(taken), str(signature.return_annotation)


def explanations(texts: Mapping[str, str], names: Names) -> dict[str, list[str]]:
    """Return the guides that name each name in backquotes or import it, the most often first."""
    counts: Counter[tuple[str, str]] = Counter()
    for guide, text in texts.items():
        for name in _named(text):
            place = names.places.get(name, "")
            counts[place, guide] += 1
    found: dict[str, list[str]] = {}
    for (place, guide), _ in counts.most_common():
        found.setdefault(place, []).append(guide)
    return found


def _named(text: str) -> Iterable[str]:
    yield from re.findall(r"`([\w.]+)(?:\([^`]*\))?`", text)
    for module, imported in re.findall(r"^from (\S+) import (.+)$", text, re.MULTILINE):
        yield from (f"{module}.{name.strip()}" for name in imported.split(","))
