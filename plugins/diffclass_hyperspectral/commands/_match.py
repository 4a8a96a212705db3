"""The option that says which class of one file is which of another."""

from __future__ import annotations

from typing import Any

import click

from diffclass.command_line import option

RULES = ("names", "ids", "overlap")  # `MATCH_RULES`, without what it takes to import them


def match_option(given: str, own: str) -> Any:
    """Return the field for ``--match``.

    Parameters
    ----------
    given, own : str
        What the classes of which file are matched with.
    """
    return option(
        f"How classes of {given} are matched with those of {own}: by name, by id, or by best "
        "overlap, each class once. By default the first of these under which two classes are one; "
        "that another agrees far better is said.",
        type=click.Choice(RULES),
    )
