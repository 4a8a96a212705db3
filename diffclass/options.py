"""What an option may be, declared once: commands take their types from it, Python is checked by it.

A package that has options lists them by name. Its commands declare
``option(..., of=OPTIONS[name])``, and its functions check what they are given at the door.

>>> OPTIONS = {"holdout": OneOf(("random", "blocks"), or_none=True), "seed": SEED}
>>> check_options(OPTIONS, holdout="blocks", seed=3)
>>> check_options(OPTIONS, holdout="Blocks", seed=3)
Traceback (most recent call last):
diffclass.exceptions.ParameterError: holdout = 'Blocks'; possible: 'random', 'blocks'
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from diffclass.exceptions import ParameterError

__all__ = [
    "COUNT",
    "SEED",
    "YES_NO",
    "Domain",
    "Number",
    "OneOf",
    "Text",
    "Texts",
    "Whole",
    "YesNo",
    "check_options",
]

_LONG = 60  # characters of a value beyond which messages name its type only


@dataclass(frozen=True, kw_only=True)
class Domain(ABC):
    """The values that an option may have, and None if ``or_none``."""

    or_none: bool = False

    @abstractmethod
    def holds(self, value: Any) -> bool:
        """Return whether a value other than None is one of them."""

    @property
    @abstractmethod
    def in_words(self) -> str:
        """What a value has to be, as the end of a sentence."""

    def check(self, value: Any, name: str) -> None:
        """Raise `ParameterError` for any other value."""
        if not (self.or_none if value is None else self.holds(value)):
            raise ParameterError(f"{name} = {_shown(value)}; {self.in_words}")


@dataclass(frozen=True)
class Whole(Domain):
    """Whole numbers, both ends included."""

    least: int
    most: int | None = None
    is_odd: bool = False

    def holds(self, value: Any) -> bool:
        """Return whether it is one; True and 1.0 are not."""
        if isinstance(value, bool) or not isinstance(value, Integral):
            return False
        return _lies_in(value, self) and not (self.is_odd and int(value) % 2 == 0)

    @property
    def in_words(self) -> str:
        """What a value has to be."""
        most = "" if self.most is None else f" and at most {self.most}"
        odd = "odd, " if self.is_odd else ""
        return f"it has to be a whole number, {odd}at least {self.least}{most}"


@dataclass(frozen=True)
class Number(Domain):
    """Finite numbers, without the ends if ``is_open``."""

    least: float
    most: float | None = None
    is_open: bool = False

    def holds(self, value: Any) -> bool:
        """Return whether it is one; True is not."""
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        number: Any = value
        is_finite = bool(abs(number) < float("inf"))  # NaN is not
        is_end = self.is_open and value in (self.least, self.most)
        return is_finite and _lies_in(value, self) and not is_end

    @property
    def in_words(self) -> str:
        """What a value has to be."""
        low, high = ("above", "below") if self.is_open else ("at least", "at most")
        most = "" if self.most is None else f" and {high} {self.most:g}"
        return f"it has to be a number {low} {self.least:g}{most}"


@dataclass(frozen=True)
class OneOf(Domain):
    """Some words, or those of a list "package.module:LIST", imported when a value is checked."""

    words: tuple[str, ...] | str

    @property
    def names(self) -> tuple[str, ...]:
        """The words."""
        if not isinstance(self.words, str):
            return self.words
        module, _, listing = self.words.partition(":")
        return tuple(getattr(importlib.import_module(module), listing))

    def holds(self, value: Any) -> bool:
        """Return whether it is one of them, letter for letter."""
        return isinstance(value, str) and value in self.names

    @property
    def in_words(self) -> str:
        """What a value has to be."""
        return f"possible: {', '.join(map(repr, self.names))}"


@dataclass(frozen=True)
class YesNo(Domain):
    """True and False, in a command a flag."""

    def holds(self, value: Any) -> bool:
        """Return whether it is one of them, also of NumPy."""
        kind = type(value)
        return isinstance(value, bool) or (
            kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_")
        )

    @property
    def in_words(self) -> str:
        """What a value has to be."""
        return "it has to be True or False"


@dataclass(frozen=True)
class Text(Domain):
    """Any text."""

    def holds(self, value: Any) -> bool:
        """Return whether it is one."""
        return isinstance(value, str)

    @property
    def in_words(self) -> str:
        """What a value has to be."""
        return "it has to be a text"


@dataclass(frozen=True)
class Texts(Domain):
    """A list of texts; a text alone is none."""

    def holds(self, value: Any) -> bool:
        """Return whether it is one."""
        is_list = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
        return is_list and all(isinstance(one, str) for one in value)

    @property
    def in_words(self) -> str:
        """What a value has to be."""
        return "it has to be a list of texts"


COUNT = Whole(1)
SEED = Whole(0, 2**32 - 1)
YES_NO = YesNo()


def check_options(domains: Mapping[str, Domain], /, **given: Any) -> None:
    """Raise `ParameterError` for the first option that has a value outside its domain."""
    for name, value in given.items():
        domains[name].check(value, name)


def _lies_in(value: Any, domain: Whole | Number) -> bool:
    return bool(value >= domain.least and (domain.most is None or value <= domain.most))


def _shown(value: Any) -> str:
    shown = repr(value)
    kind = type(value)
    return f"an object of {kind.__module__}.{kind.__name__}" if len(shown) > _LONG else shown
