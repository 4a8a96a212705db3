"""Write guide/papers.md from the tests of the papers: python -m tests.papers.page."""

from __future__ import annotations

import importlib
from pathlib import Path

from experiments.markdown import markdown_table
from tests.papers.items import DOCUMENTS, ITEMS, Item

PAGE = Path(__file__).parents[2] / "guide" / "papers.md"

_INTRODUCTION = """\
# The papers, item by item

What five documents write down, what computes exactly that here, and how well the two agree. Each
row is a test in [tests/papers](../tests/papers/items.py), which writes the document's formula in
dense NumPy and compares. "Within" is the largest difference that the test allows; "to rounding" is
1e-10. Where a default differs, the notes below each table say how and why. The tests make this
page: `python -m tests.papers.page`.
"""


def all_items() -> list[Item]:
    """Return the items of all documents in their order."""
    for document in DOCUMENTS:
        importlib.import_module(f"tests.papers.test_{document}")
    order = list(DOCUMENTS)
    return sorted(ITEMS, key=lambda item: order.index(item.document))


def page() -> str:
    """Return the page as text."""
    found = all_items()
    parts = [_INTRODUCTION]
    for document, title in DOCUMENTS.items():
        own = [item for item in found if item.document == document]
        parts.append(f"\n## {title}\n")
        parts += _section(own)
    return "\n".join(parts) + "\n"


def _section(items: list[Item]) -> list[str]:
    head = ["place", "what it says", "here", "agreement", "test"]
    rows, notes = [], []
    for one in items:
        number = ""
        if one.differs:
            notes.append(f"{len(notes) + 1}. *{one.place}.* {one.differs}")
            number = f" ({len(notes)})"
        names = ", ".join(f"`{name}`" for name in one.names)
        test = f"`{one.test.removeprefix('test_')}`"
        cells = [one.place, one.formula + number, names, one.agreement, test]
        rows.append([cell.replace("|", r"\|") for cell in cells])
    return [*markdown_table(head, rows), *(["", *notes] if notes else [])]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
