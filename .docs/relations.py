"""What a public name belongs with: the calls that return and take it, the guides that explain it.

It is read off signatures and guides, so that docstrings need not say it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from guides import Guide
from names import DEFINED, page_of
from pdoc.doc import Class, Function, Module, Variable

_RECORDS = ("experiments/", "tests/", "CHANGELOG.md")  # guides that explain no name
_PARAMETERS = re.compile(r"^Parameters\n-+$", re.MULTILINE)

Links = dict[str, str]  # texts by address
Relations = dict[str, dict[str, Links]]  # by the address of a name, and by heading


class Call(NamedTuple):
    """A public function, class, method or field; what it takes and returns, as pdoc writes it."""

    rank: int
    text: str
    address: str
    taken: str
    returned: str
    field_of: str = ""  # address of its class


def relations_of(
    modules: Mapping[str, Module], guides: Iterable[Guide], places: Mapping[str, str]
) -> Relations:
    """Return what each public name belongs with, the most telling first."""
    found: Relations = {}

    def add(heading: str, place: str, address: str, text: str) -> None:
        found.setdefault(place, {}).setdefault(heading, {}).setdefault(address, text)

    def places_in(text: str) -> set[str]:
        return {places[name[0]] for name in DEFINED.finditer(text) if name[0] in places}

    calls = sorted(_calls(modules), key=lambda call: call.rank)
    made = set().union(*(places_in(call.returned) for call in calls if not call.field_of))
    for heading, part in (("Returned by", "returned"), ("Taken by", "taken")):
        for call in calls:
            if call.field_of and call.field_of not in made:
                continue  # of a record that users make: they know what they have put there
            for place in places_in(getattr(call, part)):
                if not f"{call.address}.".startswith(f"{place}."):
                    add(heading, place, call.address, call.text)
    for place, address, title in _explanations(guides, places):
        add("Explained in", place, address, title)
    return found


def _calls(modules: Mapping[str, Module]) -> Iterator[Call]:
    """Yield what may return or take something; functions, and what the package exports, first."""
    for module_name, module in modules.items():
        for name in module.obj.__all__:
            member = module.members[name]
            if member.taken_from[0] != module_name:
                continue
            address = f"{page_of(module_name)}#{name}"
            rank = int(name not in modules["diffclass"].obj.__all__)
            if isinstance(member, Function):
                yield Call(rank, name, address, *_signature(member))
            elif isinstance(member, Class):
                yield from _calls_of(member, address, rank)


def _calls_of(one: Class, address: str, rank: int) -> Iterator[Call]:
    for member in one.own_members:
        if isinstance(member, Function) and member.name == "__init__":
            if _PARAMETERS.search(one.docstring):  # else a record, which nobody builds
                yield Call(rank, one.name, address, *_signature(member))
        elif member.name.startswith("_"):
            continue
        elif isinstance(member, Function):
            yield Call(rank + 2, member.qualname, f"{address}.{member.name}", *_signature(member))
        elif isinstance(member, Variable) and member.docstring:  # a property
            place = f"{address}.{member.name}"
            yield Call(rank + 2, member.qualname, place, "", member.annotation_str)
        elif isinstance(member, Variable):  # fields have no place of their own
            yield Call(rank + 4, member.qualname, address, "", member.annotation_str, address)


def _signature(function: Function) -> tuple[str, str]:
    taken, _, returned = str(function.signature).partition(" ->")
    return taken, returned


def _explanations(
    guides: Iterable[Guide], places: Mapping[str, str]
) -> Iterator[tuple[str, str, str]]:
    """Yield name, section and title of the guides that name a name, the most often first."""
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    titles = {guide.page: guide.title for guide in guides if not guide.path.startswith(_RECORDS)}
    for guide in guides:
        for section, name in guide.names if guide.page in titles else ():
            place = re.sub(r"(#\w+)\..*", r"\1", places.get(name, ""))  # a method is its class's
            counts[place, guide.page] += 1
            first.setdefault((place, guide.page), section)
    for (place, page), _ in counts.most_common():
        yield place, f"{page}#{first[place, page]}", titles[page]
