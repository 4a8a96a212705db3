"""Public names: where each is documented, and what belongs with it.

A name is documented once: in the chapter that exports it, or in the package if no chapter does.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

PACKAGES = ("diffclass", "diffclass_hyperspectral", "diffclass_relabel", "diffclass_tables")
_COMMANDS = {"cluster", "embed", "suggest"}  # where these words stand alone
_FIELD = 4  # the rank of fields, after those of functions (0, 1) and methods (2, 3)


def _modules() -> list[str]:
    """Return the names of all modules, each package before what it holds."""
    found = []
    for package in PACKAGES:
        inside = pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
        found += [package, *(module.name for module in inside)]
    return found


def _documented() -> dict[str, dict[str, Any]]:
    """Return what each public module documents; public is what has an ``__all__``."""
    modules = [importlib.import_module(name) for name in _modules() if "._" not in name]
    public = {module.__name__: module for module in modules if hasattr(module, "__all__")}
    found = {}
    for name, module in public.items():
        chapters = [public[other] for other in public if other.startswith(f"{name}.")]
        elsewhere = {member for chapter in chapters for member in chapter.__all__}
        for member in module.__all__:  # some load on first use
            setattr(module, member, getattr(module, member))
        found[name] = {one: getattr(module, one) for one in module.__all__ if one not in elsewhere}
    return found


DOCUMENTED = _documented()
EXPORTED = {package: {*importlib.import_module(package).__all__} for package in PACKAGES}


def is_code(value: Any) -> bool:
    """Return whether something is a class or a function, and no constant."""
    return inspect.isclass(value) or inspect.isroutine(value)


def _methods(value: Any) -> dict[str, Any]:
    """Return what a class documents of its own: methods and properties with a docstring."""
    members = vars(value).items() if inspect.isclass(value) else ()
    return {
        name: member
        for name, member in members
        if not name.startswith("_") and not name.endswith("_request")  # scikit-learn's
        and (inspect.isroutine(member) or isinstance(member, property)) and inspect.getdoc(member)
    }  # fmt: skip


def _places() -> dict[str, str]:
    """Return full names at the places of documentation, by every name that something goes by."""
    places = {}
    for name in _modules():  # one that is not public leads to its chapter
        places[name] = max((one for one in DOCUMENTED if f"{name}.".startswith(f"{one}.")), key=len)
    del places["diffclass"]  # the word is the project's name
    values = (value for members in DOCUMENTED.values() for value in members.values())
    methods = {method for value in values for method in _methods(value)}
    unclear = methods - set().union(*EXPORTED.values()) | _COMMANDS
    for module, members in DOCUMENTED.items():
        for name, value in members.items():
            home = f"{module}.{name}"
            called = {home, home.removeprefix("diffclass."), name}
            called |= {f"{package}.{name}" for package in PACKAGES if name in EXPORTED[package]}
            called |= {f"{value.__module__}.{value.__qualname__}"} if is_code(value) else set()
            places = dict.fromkeys(called - unclear, home) | places  # the first one stays
            for method in _methods(value):
                places |= {f"{one}.{method}": f"{home}.{method}" for one in called}
    return places


PLACES = _places()


def relations(guides: Mapping[str, str]) -> dict[str, dict[str, list[str]]]:
    """Return links to what returns, takes and explains each name, by the name and a heading."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for rank, home, taken, returned in sorted(_calls(), key=lambda call: call[0]):
        if rank == _FIELD and "Returned by" not in found[home]:
            continue  # a record that no call returns: users know what they have put there
        for heading, types in (("Returned by", returned), ("Taken by", taken)):
            for word in dict.fromkeys(re.findall(r"\b[A-Z]\w*", types)):
                place, link = PLACES.get(word), f":py:obj:`{home} <{home}>`"
                if place and not f"{home}.".startswith(f"{place}."):
                    rows = found[place][heading]
                    rows += [link] if link not in rows else []
    named = ((name, guide) for guide, text in guides.items() for name in _named(text))
    counts = Counter((PLACES.get(name, ""), guide) for name, guide in named)
    for (place, guide), _ in counts.most_common():
        found[place]["Explained in"].append(f":doc:`/{guide.removesuffix('.md')}`")
    return found


def _calls() -> Iterator[tuple[int, str, str, str]]:
    """Yield rank, name, what is taken and what is returned; what the package exports first."""
    for module, members in DOCUMENTED.items():
        for name, value in members.items():
            rank, home = int(name not in EXPORTED["diffclass"]), f"{module}.{name}"
            if inspect.isclass(value):
                if "\nParameters\n---" in f"\n{inspect.getdoc(value)}":  # users build it
                    yield rank, home, _annotations(value)[0], ""
                yield _FIELD, home, "", " ".join(map(str, inspect.get_annotations(value).values()))
                for method, member in _methods(value).items():
                    getter = getattr(member, "fget", None) or getattr(member, "func", None)
                    types = _annotations(getter or getattr(value, method))
                    yield rank + 2, f"{home}.{method}", *types
            elif is_code(value):
                yield rank, home, *_annotations(value)


def _annotations(call: Any) -> tuple[str, str]:
    signature = inspect.signature(call)
    taken = (str(one.annotation) for one in signature.parameters.values())
    return " ".join(taken), str(signature.return_annotation)


def _named(text: str) -> Iterator[str]:
    """Yield what a guide names in backquotes and imports."""
    yield from re.findall(r"`([\w.]+)(?:\([^`]*\))?`", text)
    for module, imported in re.findall(r"^from (\S+) import (.+)$", text, re.MULTILINE):
        yield from (f"{module}.{name.strip()}" for name in imported.split(","))
