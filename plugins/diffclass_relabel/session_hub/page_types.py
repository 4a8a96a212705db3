"""The protocol in TypeScript, written by ``python -m diffclass_relabel.session_hub.page_types``.

Operations and queries come from their tables, messages and answers from
`diffclass_relabel.protocol`, limits from where they are checked: the page's compiler then refuses
what the server would.
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from msgspec import Meta, Struct
from msgspec.structs import fields

from diffclass.plots import DEFAULT_PALETTE
from diffclass.relabel import (
    LARGEST_CLASS_ID,
    LONGEST_NAME,
    Message,
    Operation,
    name_of,
    purpose_of,
)
from diffclass_relabel.access import PART_LENGTH
from diffclass_relabel.maps import NO_DATA
from diffclass_relabel.protocol import TextMessage
from diffclass_relabel.queries import MOST_SUGGESTIONS, QUERIES
from diffclass_relabel.session import PIXEL_OPERATIONS

TARGET = Path(__file__).parents[1] / "web" / "src" / "session" / "protocol.generated.ts"

_HEAD = """\
// What page and server say to each other. Made from the Python sources by
// `python -m diffclass_relabel.session_hub.page_types`; do not edit.
"""
_WIDTH = 100  # columns into which a short type has to fit to stand on one line
_LIMITS = {
    "LARGEST_CLASS_ID": LARGEST_CLASS_ID,
    "LONGEST_NAME": LONGEST_NAME,
    "MOST_SUGGESTIONS": MOST_SUGGESTIONS,
    "NO_DATA": NO_DATA,
    "PART_LENGTH": PART_LENGTH,
    "PALETTE": json.dumps([color.lower() for color in DEFAULT_PALETTE]),
}
_SCALARS = {
    int: "number", float: "number", str: "string", bytes: "string", bool: "boolean",
    type(None): "null",
}  # fmt: skip


def protocol_types() -> str:
    """Return the text of the page's generated types."""
    parts = [
        _HEAD,
        "".join(f"export const {name} = {value};\n" for name, value in _LIMITS.items()),
        _union("Operation", "An operation: the unit of undo, of the log and of replay.",
               _objects(PIXEL_OPERATIONS, "op")),
        _union("Question", "A question; it changes no labels.", _objects(QUERIES, "ask")),
        _interface("Answers", "The answer to each question.",
                   {name: kind.answer for name, kind in QUERIES.items()}),
        *(_interface(t.__name__, _first_line(t), _hints(t)) for t in _types()),
        f"/** A message in JSON. */\nexport type TextMessage = {typescript(TextMessage)};\n",
    ]  # fmt: skip
    return "\n".join(parts)


def typescript(hint: Any) -> str:
    """Return a type hint of JSON values in TypeScript.

    >>> typescript(list[float | None])
    '(number | null)[]'
    >>> typescript(int | Literal["margin"])
    'number | "margin"'
    """
    if hint in _SCALARS:
        return _SCALARS[hint]
    if _is_object(hint):
        return hint.__name__
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Annotated, NotRequired):
        return typescript(arguments[0])
    if origin is Literal:
        return " | ".join(f'"{choice}"' for choice in arguments)
    if origin in (Union, types.UnionType):
        return " | ".join(map(typescript, arguments))
    if origin is list:
        if any(map(_is_operation, get_args(arguments[0]))):
            return "Operation[]"
        item = typescript(arguments[0])
        return f"({item})[]" if " | " in item else f"{item}[]"
    raise TypeError(f"{hint!r} has no counterpart in TypeScript; add one here")


def _objects(kinds: Mapping[str, type[Message]], key: str) -> Iterator[tuple[str, str]]:
    """Yield purpose and type of each kind of message."""
    for kind in kinds.values():
        members = [f'{key}: "{name_of(kind)}"']
        for one in fields(kind):
            # what may be left out is None then, or has a value of its own type
            hint = one.type if one.required else (*get_args(one.type), one.type)[0]
            members.append(f"{one.encode_name}{'' if one.required else '?'}: {typescript(hint)}")
        yield purpose_of(kind).replace("``", '"'), f"{{ {'; '.join(members)} }}"


def _is_object(hint: Any) -> bool:
    return is_typeddict(hint) or (isinstance(hint, type) and issubclass(hint, Struct))


def _is_operation(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Operation)


def _union(name: str, text: str, members: Iterable[tuple[str, str]]) -> str:
    *before, (purpose, last) = members
    lines = [f"  | {member} // {said}\n" for said, member in before]
    return f"/** {text} */\nexport type {name} =\n{''.join(lines)}  | {last}; // {purpose}\n"


def _interface(name: str, text: str, hints: Mapping[str, Any]) -> str:
    comment = f"/** {text} */\n" if text else ""
    members = [_member(field, hint) for field, hint in hints.items()]
    line = f"export interface {name} {{ {' '.join(members).removesuffix(';')} }}"
    if "//" not in line and len(line) <= _WIDTH:
        return f"{comment}{line}\n"
    return f"{comment}export interface {name} {{\n" + "".join(f"  {m}\n" for m in members) + "}\n"


def _member(field: str, hint: Any) -> str:
    is_optional = get_origin(_bare(hint)) is NotRequired
    said = map(_words, hint.__metadata__) if get_origin(hint) is Annotated else ()
    remarks = "".join(f" // {text}" for text in said if text)
    return f"{field}{'?' if is_optional else ''}: {typescript(hint)};{remarks}"


def _types() -> list[type]:
    """Return all objects that messages and answers hold, each once."""
    found: dict[type, None] = {}

    def visit(hint: Any) -> None:
        if _is_object(hint) and hint not in found:
            found[hint] = None
        for inner in _hints(hint).values() if _is_object(hint) else get_args(hint):
            visit(inner)

    sent = [one.type for kind in QUERIES.values() for one in fields(kind)]
    for root in (TextMessage, *(kind.answer for kind in QUERIES.values()), *sent):
        visit(root)
    return list(found)


def _hints(of: Any) -> dict[str, Any]:
    return get_type_hints(of, include_extras=True)


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _words(metadata: Any) -> str | None:
    """Return what an annotation says of a field."""
    return metadata.description if isinstance(metadata, Meta) else str(metadata)


def _first_line(of: type) -> str:
    text = of.__doc__ or ""
    return "" if text.startswith("dict(") else text.strip().split("\n")[0]


if __name__ == "__main__":
    TARGET.write_text(protocol_types(), encoding="utf-8", newline="\n")
