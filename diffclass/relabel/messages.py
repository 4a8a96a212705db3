"""Messages: mappings with a name and fields of JSON values, and the errors of wrong ones.

A kind of message is a type, made by `decoded`, which checks every field once. The type is the one
source of the error messages, of the documentation and of the types of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin

import numpy as np
from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import FieldInfo, fields, force_setattr

from diffclass.exceptions import ParameterError


def whole_number(least: int, most: int, title: str) -> Meta:
    """Return what is said of a whole number; ``title`` is plural, as in "class ids".

    See Also
    --------
    printable_text : For texts.

    Examples
    --------
    >>> from typing import Annotated
    >>> import msgspec
    >>> from diffclass.relabel import whole_number
    >>> BrushSize = Annotated[int, whole_number(1, 64, "brush sizes")]
    >>> msgspec.convert(65, BrushSize)
    Traceback (most recent call last):
    ...
    msgspec.ValidationError: Expected `int` <= 64
    """
    return Meta(ge=least, le=most, title=title, description="a whole number")


def printable_text(longest: int) -> Meta:
    """Return what is said of a printable text of one line.

    See Also
    --------
    whole_number : For whole numbers.

    Examples
    --------
    >>> from diffclass.relabel import printable_text
    >>> printable_text(40).description
    'a text of 1 to 40 characters, all printable'
    """
    says = f"a text of 1 to {longest} characters, all printable"
    return Meta(min_length=1, max_length=longest, description=says)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Message(
    Struct,
    frozen=True,
    eq=False,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag=_snake_case,
):
    """Something with a name and fields; texts lose the spaces at their ends."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, str):
                if not value.isprintable() or not value.strip():
                    raise ValueError(_refusal(one, value))
                force_setattr(self, one.name, value.strip())


_Kind = TypeVar("_Kind", bound=Message)


def name_of(kind: type[Message] | Message) -> str:
    """Return the name of a kind of message, or of one of it, as in ``{"op": name}``.

    Examples
    --------
    >>> from diffclass.relabel import AddClass, Paint, name_of
    >>> name_of(Paint), name_of(AddClass(name="corn"))
    ('stroke', 'add_class')
    """
    return str(kind.__struct_config__.tag)


def table_of(kinds: Iterable[type[_Kind]]) -> dict[str, type[_Kind]]:
    """Return kinds of messages by name.

    Examples
    --------
    >>> from diffclass.relabel import AddClass, Paint, table_of
    >>> list(table_of([Paint, AddClass]))
    ['stroke', 'add_class']
    """
    return {name_of(kind): kind for kind in kinds}


def purpose_of(kind: type[Message]) -> str:
    """Return what a message does, in a few words: the first paragraph of its documentation.

    Examples
    --------
    >>> from diffclass.relabel import Erase, purpose_of
    >>> purpose_of(Erase)
    'unlabel points, except those of locked classes'
    """
    text = " ".join((kind.__doc__ or "").partition("\n\n")[0].split()).removesuffix(".")
    return text[:1].lower() + text[1:]


def contents_of(kind: type[Message]) -> str:
    """Return the list of the fields, as in "id, name (optional)"."""
    given = [f.encode_name + ("" if f.required else " (optional)") for f in fields(kind)]
    return ", ".join(sorted(given, key=lambda one: one.endswith(")"))) or "nothing else"


def decoded(message: Any, kinds: Mapping[str, type[_Kind]], *, key: str = "op") -> _Kind:
    """Return a message as its type.

    Parameters
    ----------
    message : mapping
        {key: name} and the fields of the kind with that name.
    kinds : mapping of str to type
    key : str, default="op"

    Raises
    ------
    ParameterError
        If it is no mapping, no kind has the name, or a field is missing, unknown or wrong; the
        error says which, and what to give.

    Examples
    --------
    >>> from diffclass.relabel import OPERATIONS, decoded
    >>> decoded({"op": "rename_class", "id": 1, "name": " corn "}, OPERATIONS)
    RenameClass(id=1, name='corn')
    >>> decoded({"op": "rename_class", "id": 0, "name": "corn"}, OPERATIONS)
    Traceback (most recent call last):
    ...
    diffclass.exceptions.ParameterError: rename_class: id = 0; class ids are 1 to 254
    """
    if not isinstance(message, Mapping):
        raise ParameterError(f'give a mapping {{"{key}": name, ...}}, not {type(message).__name__}')
    name = message.get(key)
    if not isinstance(name, str) or name not in kinds:
        raise ParameterError(f"{key} = {shortened(name)}; possible: {', '.join(kinds)}")
    kind, values = kinds[name], _plain(message)
    known = {one.encode_name: one for one in fields(kind)}
    missing = [one for one, info in known.items() if info.required and one not in values]
    unknown = [shortened(one).strip("'") for one in values if one not in known and one != key]
    for names, verb in ((missing, "missing"), (unknown[:3], "unknown")):
        if names:
            found = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {verb}"
            raise ParameterError(f"{name}: {found}; give {contents_of(kind)}")
    try:
        return convert(values, kind, dec_hook=_array)
    except ValidationError as error:
        raise ParameterError(f"{name}: {_explained(error, values, known)}") from None


def shortened(value: Any) -> str:
    """Return a value as messages quote it, in at most 40 characters.

    Examples
    --------
    >>> from diffclass.relabel import shortened
    >>> shortened("a text that a message should not quote in full")
    "'a text that a message should not quo..."
    """
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _explained(
    error: ValidationError, values: Mapping[str, Any], known: Mapping[str, FieldInfo]
) -> str:
    """Say which field is wrong, and what it is instead."""
    place = re.search(r" - at `\$\.(\w+)(?:\[(\d+)\])?", str(error))
    if place is None:
        return str(error)  # of the message's own check
    info, value, number = known[place[1]], values[place[1]], place[2]
    items = get_args(_annotated(info.type).__origin__) if number else ()
    kinds = [kind for kind in get_args(items[0]) if _is_message(kind)] if items else []
    if kinds:  # a list of operations: the one that is wrong says what is
        try:
            decoded(value[int(number)], table_of(kinds))
        except ParameterError as inner:
            return str(inner)
    return _refusal(info, value)


def _refusal(info: FieldInfo, value: Any) -> str:
    """Return why a field cannot have a value."""
    meta = meta_of(info.type)
    given = f"{info.encode_name} = {shortened(value)}"
    if meta.title and isinstance(value, int) and not isinstance(value, bool):
        return f"{given}; {meta.title} are {meta.ge} to {meta.le}"
    return f"{given}; it is {meta.description}"


def _is_message(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Message)


def _annotated(hint: Any) -> Any:
    """Return a field's annotated type; of an optional one, that which is not None."""
    return hint if get_origin(hint) is Annotated else get_args(hint)[0]


def meta_of(hint: Any) -> Meta:
    """Return what a field's type says of itself."""
    return next(one for one in _annotated(hint).__metadata__ if isinstance(one, Meta))


def _plain(value: Any) -> Any:
    """Return a message with Python's numbers in place of NumPy's; arrays stay."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple) and value and isinstance(value[0], Mapping):
        return [_plain(item) for item in value]
    return value


def _array(kind: type, value: Any) -> Any:
    """Return a list of whole numbers as an array; one that is an array stays."""
    if isinstance(value, np.ndarray):
        return value
    if not isinstance(value, list | tuple):
        raise ValueError("no list")
    if not all(one is int or issubclass(one, np.integer) for one in set(map(type, value))):
        raise ValueError("not whole")  # NumPy would turn true into 1
    return np.asarray(value)
