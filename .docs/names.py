"""Names of the API in backquotes, in docstrings and guides, become links to their documentation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from posixpath import relpath

from pdoc.doc import Class, Doc, Module

_COMMANDS = {"suggest"}
# not where it is the text of a link already
_QUOTED = re.compile(r'(?<!">)<code>([\w.]+)</code>')


def places_of(modules: Mapping[str, Module]) -> dict[str, str]:
    """Return page and anchor of every public name, by all its names.

    What a package exports goes by its name alone, too, unless a command has that name.
    """
    places = {}
    for module_name, module in reversed(modules.items()):
        page = f"{module_name.replace('.', '/')}.html"
        places[module_name] = page
        exported = getattr(module.obj, "__all__", ())
        for name, member in module.members.items():
            if name.startswith("_") or not (member.docstring or name in exported):
                continue
            for prefix in (f"{module_name}.", f"{module_name.removeprefix('diffclass.')}."):
                places[prefix + name] = f"{page}#{name}"
                places |= methods_of(member, prefix + name, modules)
            if name in exported and name not in _COMMANDS:
                places[name] = f"{page}#{name}"
    del places["diffclass"]
    return places


def methods_of(member: Doc, name: str, modules: Mapping[str, Module]) -> dict[str, str]:
    """Return the places of a class's methods, which are where the class is defined."""
    home, _ = member.taken_from
    if not isinstance(member, Class) or home not in modules:
        return {}
    page = f"{home.replace('.', '/')}.html"
    return {
        f"{name}.{method.name}": f"{page}#{method.qualname}"
        for method in member.own_members
        if method.docstring and not method.name.startswith("_")
    }


def link_names(html: str, page: str, places: Mapping[str, str]) -> str:
    """Return a page with every name in backquotes linked that is known and not yet linked."""

    def linked(match: re.Match[str]) -> str:
        place = places.get(match[1])
        if place is None:
            return match[0]
        return f'<code><a href="{relative(place, page)}">{match[1]}</a></code>'

    return _QUOTED.sub(linked, html)


def relative(place: str, page: str) -> str:
    """Return the address of `place` as seen from `page`, both from the top of the site."""
    return relpath(place, PurePosixPath(page).parent.as_posix())
