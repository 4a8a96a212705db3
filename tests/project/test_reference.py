"""Public names have an example, and what stands at them leads to names that there are.

No example is asked of errors, of what others derive from, of records that a call returns (their
page says which), and in the chapters for authors of commands.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Protocol

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOR_AUTHORS = ("command_line", "jobs", "options", "system.")


@pytest.fixture(scope="module")
def reference():
    """Return the names of each chapter, the addresses of all, and what belongs with each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / ".docs")
        names = importlib.import_module("names")
    relations = names.relations({})
    return SimpleNamespace(
        chapters={
            module.removeprefix("diffclass."): {
                name: value for name, value in members.items() if names.is_code(value)
            }
            for module, members in names.DOCUMENTED.items()
        },
        places=names.PLACES,
        returned={place for place, headings in relations.items() if "Returned by" in headings},
    )


def sections(docstring):
    parts = re.split(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", docstring, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def has_example(member):
    text = sections(inspect.getdoc(member) or "").get("Examples", "")
    return any(one.want for one in doctest.DocTestParser().get_examples(text))


def is_excused(member, others, reference):
    if not inspect.isclass(member):
        return False
    is_error = issubclass(member, BaseException)
    if is_error or inspect.isabstract(member) or Protocol in member.__bases__:
        return True
    if "Parameters" in sections(inspect.getdoc(member) or ""):
        return False  # users build it
    place = reference.places[f"{member.__module__}.{member.__qualname__}"]
    is_base = any(member in one.__mro__[1:] for one in others if inspect.isclass(one))
    return is_base or place in reference.returned


def test_public_names_have_an_example(reference):
    lacking = {
        chapter: [
            name
            for name, member in members.items()
            if not has_example(member) and not is_excused(member, members.values(), reference)
        ]
        for chapter, members in reference.chapters.items()
        if not chapter.startswith(("diffclass_relabel", "diffclass_tables.", *FOR_AUTHORS))
    }
    names = [f"{chapter}.{name}" for chapter, found in lacking.items() for name in found]
    assert not names, f"no example: {', '.join(names)}"


@pytest.mark.parametrize("guide", ["diffclass/README.md", "guide/papers.md"])
def test_names_that_papers_lead_to_are_in_the_reference(guide, reference):
    text = (ROOT / guide).read_text(encoding="utf-8")
    named = set(re.findall(r"`(diffclass\w*(?:\.[a-zA-Z]\w*)+)`", text))
    assert named
    assert not named - reference.places.keys()


def test_see_also_leads_to_names_of_the_reference(reference):
    lines = [
        (module, name, line)
        for module, members in reference.chapters.items()
        for name, member in members.items()
        for line in sections(inspect.getdoc(member) or "").get("See Also", "").splitlines()
        if line[:1].strip()  # others go on with the line before
    ]
    assert lines
    wrong = [
        line
        for line in lines
        if not {(told := line[2].partition(" : ")[0]), f"{line[0]}.{told}"}
        & reference.places.keys()
    ]
    assert not wrong, f"no such names: {wrong}"


def test_what_draws_at_random_takes_random_state(reference):
    taken = {
        f"{chapter}.{name}": inspect.signature(member).parameters
        for chapter, members in reference.chapters.items()
        for name, member in members.items()
        if inspect.isfunction(member)
    }
    assert any("random_state" in parameters for parameters in taken.values())
    assert [name for name, parameters in taken.items() if "seed" in parameters] == []
