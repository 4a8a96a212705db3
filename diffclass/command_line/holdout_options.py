"""Options that hold labels out of a fit, to score the classes on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from diffclass.command_line.option_groups import option
from diffclass.options import OneOf, Whole

AT_RANDOM = "random"


def holdout_option(help: str, *places: str) -> Any:
    """Return the field for ``--holdout``: at random, where no word follows, or in other places."""
    return option(
        help,
        usual=True,
        is_flag=False,
        flag_value=AT_RANDOM,
        of=OneOf((AT_RANDOM, *places), or_none=True),
    )


@dataclass(frozen=True)
class HoldoutOptions:
    """Which labels are held out."""

    holdout: str | None = holdout_option(
        "Hold half of the labels of each class out, at random, unless --labels-per-class is given."
    )
    labels_per_class: int | None = option(
        "Fit on this many labels of each class, drawn by --seed, and hold the others out.",
        usual=True,
        of=Whole(1, or_none=True),
    )
