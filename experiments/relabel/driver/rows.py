"""Rows of a table answered with keys, as by a user who knows the truth."""

from __future__ import annotations

KEYS = "123456789abcdefghijklmnopqrstuvwxyz"


def focused(tab):
    """Return the name of the row that has the focus, waiting until it is one without a label."""
    tab.wait(
        "document.activeElement?.matches('.row-card:not(.answered)') && "
        "document.activeElement.querySelector('.row-name').textContent"
    )
    return int(tab.js("document.activeElement.querySelector('.row-name').textContent"))


def answered(tab, truth, known):
    """Answer the row that has the focus as a user who knows the truth would; return the row."""
    row = focused(tab)
    name = str(truth[row])
    if name in known:
        tab.key(KEYS[known.index(name)])
    else:
        tab.key("+")
        tab.page.keyboard.type(name)
        tab.key("Enter")
        known.append(name)
    tab.wait(
        "!document.activeElement?.matches('.row-card') || "
        f"document.activeElement.querySelector('.row-name').textContent !== '{row}'"
    )
    return row
