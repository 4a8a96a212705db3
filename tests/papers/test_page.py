"""The page of the papers is that of the tests, and names what there is."""

from __future__ import annotations

import importlib
from functools import reduce

import pytest

from tests.papers import items
from tests.papers.page import PAGE, all_items, page


def test_the_page_is_that_of_the_tests():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.papers.page"


def test_an_item_names_what_there_is():
    for one in all_items():
        for name in one.names:
            assert _found(name.partition("(")[0]) is not None, name


def test_an_item_that_deviates_fails(monkeypatch):
    monkeypatch.setattr(items, "ITEMS", [])
    with pytest.raises(AssertionError, match=r"deviates by 0\.1"):
        items.item("1", "a sum")(lambda: 0.1)()


def _found(name):
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        return reduce(_attribute, parts[n:], module)
    return None


def _attribute(home, name):
    fields = getattr(home, "__dataclass_fields__", {})
    return fields[name] if name in fields else getattr(home, name)
