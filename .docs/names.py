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


def is_code(value: Any) -> bool:
    """Return whether something is a class or a function, and no constant."""
    return inspect.isclass(value) or inspect.isroutine(value)


def _members() -> Iterator[tuple[str, str, Any]]:
    """Yield module, name and value of all that is documented, of a class also its methods."""
    for module, members in DOCUMENTED.items():
        for name, value in members.items():
            yield module, name, value
            for method, member in vars(value).items() if inspect.isclass(value) else ():
                is_call = inspect.isroutine(member) or isinstance(member, property)
                is_own = not method.startswith("_") and not method.endswith("_request")
                if is_call and is_own and inspect.getdoc(member):
                    yield module, f"{name}.{method}", member


def _places() -> dict[str, str]:
    """Return full names at the places of documentation, by every name that something goes by."""
    places = {}
    for name in _modules():  # one that is not public leads to its chapter
        places[name] = max((one for one in DOCUMENTED if f"{name}.".startswith(f"{one}.")), key=len)
    del places["diffclass"]  # the word is the project's name
    methods = {name.partition(".")[2] for _, name, _ in MEMBERS}
    unclear = methods - set().union(*EXPORTED.values()) | _COMMANDS
    for module, name, _ in MEMBERS:
        home, first = f"{module}.{name}", name.partition(".")[0]
        called = {home, home.removeprefix("diffclass."), name}
        called |= {f"{package}.{name}" for package in PACKAGES if first in EXPORTED[package]}
        if is_code(value := DOCUMENTED[module][first]):
            called.add(f"{value.__module__}.{name}")
        places = dict.fromkeys(called - unclear, home) | places  # the first one stays
    return places


DOCUMENTED = _documented()
EXPORTED = {package: {*importlib.import_module(package).__all__} for package in PACKAGES}
MEMBERS = [*_members()]
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
    for module, name, value in MEMBERS:
        home = f"{module}.{name}"
        rank = 2 * ("." in name) + (name.partition(".")[0] not in EXPORTED["diffclass"])
        if inspect.isclass(value):
            if "\nParameters\n---" in f"\n{inspect.getdoc(value)}":  # users build it
                yield rank, home, _annotations(value)[0], ""
            yield _FIELD, home, "", " ".join(map(str, inspect.get_annotations(value).values()))
        elif is_code(value) or isinstance(value, property):
            called = (getattr(value, one, None) for one in ("fget", "func", "__func__"))
            yield rank, home, *_annotations(next(filter(None, called), value))


def _annotations(call: Any) -> tuple[str, str]:
    signature = inspect.signature(call)
    taken = (str(one.annotation) for one in signature.parameters.values())
    return " ".join(taken), str(signature.return_annotation)


def _named(text: str) -> Iterator[str]:
    """Yield what a guide names in backquotes and imports."""
    yield from re.findall(r"`([\w.]+)(?:\([^`]*\))?`", text)
    for module, imported in re.findall(r"^from (\S+) import (.+)$", text, re.MULTILINE):
        yield from (f"{module}.{name.strip()}" for name in imported.split(","))
