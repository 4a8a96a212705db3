"""Kinds of values that a field of an operation may hold; each checks a value or refuses it.

Every kind has ``says``, its description in error messages, and ``json_type``, the type of the value
in JSON, from which the types of other languages follow.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.stopping_time import RULES
from diffclass.targets import MOST_CLASSES

LARGEST_CLASS_ID = MOST_CLASSES
LARGEST_TAU = 16_384  # the last that "auto" looks at
LONGEST_NAME = 200
LARGEST_NUMBER = 2**31 - 1


class Kind(Protocol):
    """A kind of value that a field may hold."""

    @property
    def says(self) -> str:
        """Description of the kind, as in "it is true or false"."""

    @property
    def json_type(self) -> Any:
        """Type of the value in JSON, as a type hint."""

    def checked(self, value: Any, name: str) -> Any:
        """Return the cleaned value, or raise a `ParameterError` that names the field."""


@dataclass(frozen=True)
class Whole:
    """A whole number within a range.

    Attributes
    ----------
    least, most : int
        The bounds, both included.
    are : str
        Plural name of such numbers, as in "class ids".
    """

    least: int
    most: int
    are: str

    says = "a whole number"
    json_type = int

    def checked(self, value: Any, name: str) -> int:
        """Return a whole number within the range."""
        if not is_whole(value):
            raise refusal(self, value, name)
        if not self.least <= value <= self.most:
            raise ParameterError(
                f"{name} = {shortened(value)}; {self.are} are {self.least} to {self.most}"
            )
        return int(value)


@dataclass(frozen=True)
class Flag:
    """True or false."""

    says = "true or false"
    json_type = bool

    def checked(self, value: Any, name: str) -> bool:
        """Return a Boolean; 0 and 1 are refused."""
        if not isinstance(value, bool):
            raise refusal(self, value, name)
        return value


@dataclass(frozen=True)
class Text:
    """A printable text of one line."""

    longest: int = LONGEST_NAME

    json_type = str

    @property
    def says(self) -> str:
        """Description of the kind."""
        return f"a text of 1 to {self.longest} characters, all printable"

    def checked(self, value: Any, name: str) -> str:
        """Return the text without spaces at its ends."""
        if not isinstance(value, str) or len(value) > self.longest or not value.isprintable():
            raise refusal(self, value, name)
        if not value.strip():
            raise refusal(self, value, name)
        return value.strip()


@dataclass(frozen=True)
class Color:
    """A colour as "#rrggbb", in hexadecimal digits."""

    says = 'a text such as "#e69f00"'
    json_type = str

    def checked(self, value: Any, name: str) -> str:
        """Return the colour in lower case."""
        if not isinstance(value, str) or not re.fullmatch(r"#[0-9a-fA-F]{6}", value):
            raise refusal(self, value, name)
        return value.lower()


@dataclass(frozen=True)
class Choice:
    """One of several texts."""

    choices: Collection[str]

    @property
    def says(self) -> str:
        """Description of the kind."""
        return f"one of {', '.join(self.choices)}"

    @property
    def json_type(self) -> Any:
        """Literal type of the choices."""
        return Literal.__getitem__(tuple(self.choices))

    def checked(self, value: Any, name: str) -> str:
        """Return a text that is one of the choices."""
        if not isinstance(value, str) or value not in self.choices:
            raise refusal(self, value, name)
        return value


@dataclass(frozen=True)
class Time:
    """A number of steps, or the rule that chooses one."""

    says = f'a whole number above 0, up to {LARGEST_TAU} steps, "auto", or "margin"'
    json_type = int | Literal["auto", "margin"]

    def checked(self, value: Any, name: str) -> int | str:
        """Return a number of steps, "auto" or "margin"."""
        if isinstance(value, str) and value in RULES:
            return value
        if not is_whole(value) or not 1 <= value <= LARGEST_TAU:
            raise refusal(self, value, name)
        return int(value)


@dataclass(frozen=True)
class LabelMode:
    """How labels count."""

    says = 'one of "auto", "summed", "free" and "absorbing"'
    json_type = Literal["auto", "summed", "free", "absorbing"]

    def checked(self, value: Any, name: str) -> str:
        """Return the name of a mode."""
        if not isinstance(value, str) or value not in get_args(self.json_type):
            raise refusal(self, value, name)
        return value


@dataclass(frozen=True)
class Points:
    """A list of point numbers. Their upper bound is checked by the edit, which knows it."""

    says = "a list of at least one point number"
    json_type = list[int]

    def checked(self, value: Any, name: str) -> np.ndarray:
        """Return an array of whole numbers of shape (m,), m > 0."""
        points = _as_array(value)
        if points is None or points.ndim != 1 or points.dtype.kind not in "iu" or not len(points):
            raise refusal(self, value, name)
        return points


def refusal(kind: Kind, value: Any, name: str) -> ParameterError:
    """Return the error for a value that is not of a kind."""
    return ParameterError(f"{name} = {shortened(value)}; it is {kind.says}")


def shortened(value: Any) -> str:
    """Return a value as messages quote it, in at most 40 characters."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number. Booleans do not count."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _as_array(given: Any) -> np.ndarray | None:
    if isinstance(given, np.ndarray):
        return given
    if not isinstance(given, list | tuple):
        return None
    kinds = set(map(type, given))
    if not all(kind is int or issubclass(kind, np.integer) for kind in kinds):
        return None  # NumPy would turn true into 1
    return np.asarray(given)
