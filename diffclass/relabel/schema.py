"""The operations of a session: name, purpose and fields of each.

This table is the one source of checks, error messages, the documentation of
`RelabelSession.apply`, the operations over pixels and the types of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from diffclass.exceptions import ParameterError
from diffclass.relabel.fields import (
    LARGEST_CLASS_ID,
    LARGEST_NUMBER,
    Color,
    Flag,
    Kind,
    LabelMode,
    Points,
    Text,
    Time,
    Whole,
    refusal,
    shortened,
)

Operation = Mapping[str, Any]

_CLASS = Whole(1, LARGEST_CLASS_ID, "class ids")
_STROKE = Whole(1, LARGEST_NUMBER, "numbers of strokes")
_STEPS = Whole(1, LARGEST_NUMBER, "steps")


@dataclass(frozen=True)
class Form:
    """Name, purpose and fields of one kind of message.

    Attributes
    ----------
    name : str
    purpose : str
        What it does, in a few words.
    required, optional : mapping of str to Kind
        Fields that have to be given, and fields that may be left out.
    """

    name: str
    purpose: str
    required: Mapping[str, Kind] = field(default_factory=dict)
    optional: Mapping[str, Kind] = field(default_factory=dict)

    @property
    def fields(self) -> dict[str, Kind]:
        """All fields, the required ones first."""
        return {**self.required, **self.optional}

    @property
    def contents(self) -> str:
        """List of the fields, as in "id, name (optional)"."""
        given = [*self.required, *(f"{name} (optional)" for name in self.optional)]
        return ", ".join(given) or "nothing else"

    def __str__(self) -> str:
        fields = f" ({self.contents})" if self.fields else ""
        return f"``{self.name}``{fields}: {self.purpose}"

    def checked(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the cleaned values of the fields.

        Raises
        ------
        ParameterError
            If a field is missing, unknown or of the wrong kind; the message begins with the name.
        """
        missing = [name for name in self.required if name not in values]
        unknown = [shortened(name).strip("'") for name in values if name not in self.fields]
        for names, verb in ((missing, "missing"), (unknown[:3], "unknown")):
            if names:
                found = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {verb}"
                raise ParameterError(f"{self.name}: {found}; give {self.contents}")
        try:
            return {name: self.fields[name].checked(value, name) for name, value in values.items()}
        except ParameterError as error:
            raise ParameterError(f"{self.name}: {error}") from None


def table_of(forms: Iterable[Form]) -> dict[str, Form]:
    """Return a mapping from names to forms."""
    return {form.name: form for form in forms}


def checked_message(
    message: Any, forms: Mapping[str, Form], *, key: str = "op"
) -> tuple[str, dict[str, Any]]:
    """Return the name of a message and the cleaned values of its fields.

    Parameters
    ----------
    message : mapping
        {key: name} and the fields of the form with that name.
    forms : mapping of str to Form
    key : str, default="op"

    Raises
    ------
    ParameterError
        If it is no mapping, no form has the name, or a field is missing, unknown or of the wrong
        kind.
    """
    if not isinstance(message, Mapping):
        raise ParameterError(f'give a mapping {{"{key}": name, ...}}, not {type(message).__name__}')
    name = message.get(key)
    if not isinstance(name, str) or name not in forms:
        raise ParameterError(f"{key} = {shortened(name)}; possible: {', '.join(forms)}")
    return name, forms[name].checked({k: v for k, v in message.items() if k != key})


@dataclass(frozen=True)
class Parts:
    """A list of operations that are done together.

    Attributes
    ----------
    forms : mapping of str to Form
        Which ones these may be.
    """

    forms: Mapping[str, Form]

    says = "a list of at least one operation"
    json_type = list["Operation"]  # type: ignore[type-arg]

    def checked(self, value: Any, name: str) -> list[dict[str, Any]]:
        """Return the operations with cleaned values."""
        if not isinstance(value, list | tuple) or not value:
            raise refusal(self, value, name)
        checked = [checked_message(operation, self.forms) for operation in value]
        return [{"op": operation} | values for operation, values in checked]


_EDITS = table_of(
    (
        Form(
            "stroke",
            "label points, taken from older strokes where they were labelled before; points of "
            "locked classes are left out",
            {"class": _CLASS, "points": Points()},
        ),
        Form("erase", "unlabel points, except those of locked classes", {"points": Points()}),
        Form("move", "give a whole stroke to a class", {"stroke": _STROKE, "class": _CLASS}),
        Form("remove", "unlabel a whole stroke", {"stroke": _STROKE}),
        Form(
            "add_class",
            "add a class; what is left out gets the next id, a name and a colour",
            optional={"id": _CLASS, "name": Text(), "color": Color()},
        ),
        Form("rename_class", "name a class anew", {"id": _CLASS, "name": Text()}),
        Form("recolor_class", "give a class another colour", {"id": _CLASS, "color": Color()}),
        Form(
            "hide_class",
            "leave a class out when maps are drawn, or show it again; it diffuses all the same",
            {"id": _CLASS, "hidden": Flag()},
        ),
        Form(
            "lock_class",
            "protect what is labelled in a class, or free it again",
            {"id": _CLASS, "locked": Flag()},
        ),
        Form(
            "merge_classes",
            "move all strokes of one class to another and remove the first",
            {"source": _CLASS, "into": _CLASS},
        ),
        Form("remove_class", "remove a class without labels", {"id": _CLASS}),
        Form(
            "tau",
            'set the time in steps, or the rule "auto" or "margin" that chooses it',
            {"tau": Time()},
        ),
        Form(
            "label_mode",
            'set how labels count; "auto" leaves that to the rule of the time "auto"',
            {"mode": LabelMode()},
        ),
        Form(
            "warp",
            "walk separately in each class, by the present posteriors, until ``unwarp`` or the "
            "next ``warp``",
        ),
        Form("unwarp", "walk alike in all classes again"),
    )
)

OPERATIONS = _EDITS | table_of(
    (
        Form(
            "batch",
            "do several of the operations above as one, all of them or none; the name says what "
            "they are together",
            {"operations": Parts(_EDITS)},
            {"name": Text()},
        ),
        Form(
            "undo",
            "take the last of these operations back, or the last few",
            optional={"steps": _STEPS},
        ),
        Form(
            "redo",
            "do what was undone last again, or the next few",
            optional={"steps": _STEPS},
        ),
    )
)
