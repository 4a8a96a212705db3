"""Names of the API: on which page each is documented, and links to it from docstrings and guides.

A name is documented once. Its home is the chapter that exports it, or the package if no chapter
does.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from posixpath import relpath

from pdoc.doc import Class, Doc, Module

_COMMANDS = {"suggest"}
# not where it is the text of a link already
_QUOTED = re.compile(r'(?<!">)<code>([\w.]+)</code>')
# in a signature, where pdoc writes the module that defines a name
DEFINED = re.compile(r"(?<=[(\[ ,])diffclass\w*(?:\.\w+)*\.([A-Z]\w*)\b")

Place = tuple[str, str]  # a module and the name of one of its members


def give_homes(modules: Mapping[str, Module]) -> dict[Place, Place]:
    """Have pdoc document every name in its home, and link to it from elsewhere.

    Returns
    -------
    dict
        From the places in which names are defined to their homes.
    """
    homes: dict[Place, Place] = {}
    for module_name, module in sorted(modules.items(), key=lambda item: "." not in item[0]):
        for name, member in module.members.items():
            home = homes.get(member.taken_from, (module_name, name))
            move(member, home, homes)
    return homes


def move(member: Doc, home: Place, homes: dict[Place, Place]) -> None:
    """Say that a member, and what a class has of its own, is documented in its home."""
    homes.setdefault(member.taken_from, home)
    if isinstance(member, Class):
        for one in member.own_members:
            move(one, (home[0], f"{home[1]}.{one.name}"), homes)
    member.taken_from = home


def places_of(modules: Mapping[str, Module], homes: Mapping[Place, Place]) -> dict[str, str]:
    """Return page and anchor of every public name, by all its names.

    What a package exports goes by its name alone, too, unless a command has that name. A module
    inside a chapter leads to the chapter.
    """
    places = {}
    for name, module in reversed(modules.items()):
        inside = pkgutil.walk_packages(getattr(module.obj, "__path__", ()), f"{name}.")
        places |= {one.name: page_of(name) for one in inside if one.name not in places}
        places[name] = page_of(name)
        for member_name, member in module.members.items():
            if member_name not in getattr(module.obj, "__all__", ()):
                continue
            for prefix in (f"{name}.", f"{name.removeprefix('diffclass.')}."):
                places |= places_in(member, prefix + member_name)
            if member_name not in _COMMANDS:
                places |= places_in(member, member_name)
    for (module_name, name), (home, anchor) in homes.items():
        places.setdefault(f"{module_name}.{name}", f"{page_of(home)}#{anchor}")
    del places["diffclass"]
    return places


def page_of(module_name: str) -> str:
    """Return the page of a module."""
    return f"{module_name.replace('.', '/')}.html"


def places_in(member: Doc, name: str) -> dict[str, str]:
    """Return the place of a member that is called `name`, and of a class's methods."""
    home, anchor = member.taken_from
    methods = member.own_members if isinstance(member, Class) else ()
    return {name: f"{page_of(home)}#{anchor}"} | {
        f"{name}.{method.name}": f"{page_of(home)}#{anchor}.{method.name}"
        for method in methods
        if method.docstring and not method.name.startswith("_")
    }


def link_names(html: str, page: str, places: Mapping[str, str]) -> str:
    """Return a page in which the names in backquotes and in signatures are links."""

    def linked(match: re.Match[str]) -> str:
        place = places.get(match[1])
        if place is None:
            return match[0]
        return f'<code><a href="{relative(place, page)}">{match[1]}</a></code>'

    def shortened(match: re.Match[str]) -> str:
        place = places.get(match[0])
        return f'<a href="{relative(place, page)}">{match[1]}</a>' if place else match[1]

    return DEFINED.sub(shortened, _QUOTED.sub(linked, html))


def relative(place: str, page: str) -> str:
    """Return the address of `place` as seen from `page`, both from the top of the site."""
    return relpath(place, PurePosixPath(page).parent.as_posix())
