"""What a command's options were set to, as frozen dataclasses that are made once at its door."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

_Kind = TypeVar("_Kind")


def names_of(kind: type) -> tuple[str, ...]:
    """Return the names of the options that a dataclass holds."""
    return tuple(field.name for field in fields(kind))


def chosen(kind: type[_Kind], options: dict[str, Any]) -> _Kind:
    """Take the values of a dataclass's fields out of a command's options."""
    return kind(**{name: options.pop(name) for name in names_of(kind)})
