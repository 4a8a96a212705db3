"""Attributes of files: which a reader honours, which it leaves out, and which it does not know.

A reader declares them once, in its own module; guides and tests read the same declaration. Most of
what files state besides is harmless: a title, a date, a sensor. What a reader does not know is told
where its name speaks of what values mean: scales, missing values, wavelengths and the like.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diffclass.exceptions import warn_user

__all__ = ["Attributes", "say_unused"]

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_OF_VALUES = re.compile(
    r"\b(scales?|scaling|gains?|mult|offsets?|bias|no ?data|fill ?values?|missing (values?|data)|"
    r"data ignore|ignore values?|valid (range|min|max)|wave ?lengths?|fwhm|band ?widths?|bbl|"
    r"(bad|good) ?bands?|band mask)\b"
)
_ONE = re.compile(r"\b(scales?|scaling|gains?|mult)\b")
_ZERO = re.compile(r"\b(offsets?|bias)\b")


@dataclass(frozen=True)
class Attributes:
    """What the reader of a format makes of attributes.

    Attributes
    ----------
    format : str
        For people.
    honoured : mapping of str to str
        From an attribute to what it becomes, in words.
    left_out : mapping of str to str
        From an attribute that is known and not used to what it would be.

    Examples
    --------
    >>> cells = Attributes("Cells", honoured={"gain": "scale"}, left_out={"rpc": "place"})
    >>> cells.unused({"gain": 2, "rpc": "...", "title": "x", "fill_value": -1, "offset": 0})
    ('rpc', 'fill_value')
    """

    format: str
    honoured: Mapping[str, str]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def unused(self, stated: Mapping[str, Any]) -> tuple[str, ...]:
        """Return what a file states that is left out, or unknown and about the values' meaning.

        ``stated`` has the values by names as declared. Empty attributes, scales of 1 and offsets of
        0 state nothing.
        """
        return tuple(
            name
            for name, value in stated.items()
            if name not in self.honoured
            and (name in self.left_out or _is_of_values(name))
            and not _says_nothing(name, value)
        )


def _is_of_values(name: str) -> bool:
    return _OF_VALUES.search(_words(name)) is not None


def _words(name: str) -> str:
    return " ".join(word.lower() for word in _WORDS.findall(name))


def _says_nothing(name: str, value: Any) -> bool:
    """Tell whether a value is none, or leaves all numbers as they are."""
    if value is None or np.size(value) == 0 or (isinstance(value, str) and not value.strip()):
        return True
    words = _words(name)
    neutral = 1.0 if _ONE.search(words) else 0.0 if _ZERO.search(words) else None
    try:
        return neutral is not None and bool((np.asarray(value, dtype=float) == neutral).all())
    except (TypeError, ValueError):
        return False


def say_unused(place: object, form: str, unused: Sequence[str]) -> None:
    """Warn in one line of attributes that a file states and its reader, of ``form``, does not use.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     say_unused("row.cells", "Cells", ("rpc",))
    >>> print(said[0].message)
    row.cells: states rpc, which the reader of Cells does not use
    """
    if unused:
        warn_user(
            f"{place}: states {', '.join(dict.fromkeys(unused))}, which the reader of {form} does "
            "not use"
        )
