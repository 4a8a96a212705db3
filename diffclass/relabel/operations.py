"""The operations of a session: what a user does, and what is undone, logged and replayed.

Each is a type. It is made of a message, a mapping ``{"op": name, ...}`` of JSON values, by
`decoded`, which checks every field once; then it is passed on as it is. The types are the one
source of the error messages, the documentation of `RelabelSession.apply`, the operations over
pixels and the types of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin

import numpy as np
from msgspec import Meta, Struct, ValidationError, convert, field
from msgspec.structs import FieldInfo, fields, force_setattr

from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.label_modes import LABEL_MODES
from diffclass.targets import MOST_CLASSES

LARGEST_CLASS_ID = MOST_CLASSES
LARGEST_TAU = 16_384  # the last that "auto" looks at
LONGEST_NAME = 200
LARGEST_NUMBER = 2**31 - 1


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


ClassId = Annotated[int, whole_number(1, LARGEST_CLASS_ID, "class ids")]
StrokeNumber = Annotated[int, whole_number(1, LARGEST_NUMBER, "numbers of strokes")]
Steps = Annotated[int, whole_number(1, LARGEST_NUMBER, "steps")]
Flag = Annotated[bool, Meta(description="true or false")]
Name = Annotated[str, printable_text(LONGEST_NAME)]
Color = Annotated[str, Meta(pattern=r"^#[0-9a-fA-F]{6}\Z", description='a text such as "#e69f00"')]
Points = Annotated[np.ndarray, Meta(description="a list of at least one point number")]
_Time = Annotated[int, Meta(ge=1, le=LARGEST_TAU)] | Literal["auto", "margin"]
Time = Annotated[
    _Time,
    Meta(
        description=f'a whole number above 0, up to {LARGEST_TAU} steps, "auto", or "margin"',
    ),
]
SESSION_MODES = tuple(name for name, mode in LABEL_MODES.items() if mode.in_sessions)
*_others, _last = (f'"{name}"' for name in SESSION_MODES)
if TYPE_CHECKING:
    _Mode = str
else:
    _Mode = Literal[SESSION_MODES]
LabelMode = Annotated[
    _Mode,
    Meta(description=f"one of {', '.join(_others)} and {_last}"),
]
_Share = Annotated[float, Meta(ge=0, le=1)]


class ClassSize(Struct, frozen=True):
    """The least and the most share of the points that a class may have.

    Examples
    --------
    >>> from diffclass.relabel import ClassSize
    >>> ClassSize(1, 0.1, 0.2, written="10-20%")
    ClassSize(class_id=1, least=0.1, most=0.2, written='10-20%')
    """

    class_id: ClassId = field(name="class")
    least: _Share
    most: _Share
    written: str = ""  # as it was given, to be shown

    def __post_init__(self) -> None:
        if not self.least <= self.most or not self.most > 0:
            raise ValueError("the least is above the most, or both are 0")


Sizes = Annotated[
    list[ClassSize] | Literal["uniform"],
    Meta(
        description='"uniform", or a list of {"class": id, "least": share, "most": share}, the '
        "shares 0 to 1",
    ),
]


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


class Operation(Message, frozen=True, tag_field="op"):
    """A change of a session."""


class Paint(Operation, frozen=True, tag="stroke"):
    """Label points, taken from older strokes where they were labelled before; points of locked
    classes, or with ``spare`` of all other classes, are left out.

    See Also
    --------
    Erase : Unlabels points.
    Move : Gives all points of a stroke to another class.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import Paint, RelabelSession
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "soy"])
    >>> session.apply(Paint(1, np.array([0, 1])))
    >>> session.apply(Paint(2, np.array([1, 2]), spare=True))
    >>> session.label_ids.tolist()
    [1, 1, 2, 0]
    """  # noqa: D205

    class_id: ClassId = field(name="class")
    points: Points
    spare: Flag = False

    def __post_init__(self) -> None:
        _check_points(self.points)


class Erase(Operation, frozen=True):
    """Unlabel points, except those of locked classes.

    See Also
    --------
    Remove : Unlabels all points of a stroke.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import Erase, Paint, RelabelSession
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "soy"])
    >>> session.apply(Paint(1, np.array([0, 1, 2])))
    >>> session.apply(Erase(np.array([1, 3])))
    >>> session.label_ids.tolist()
    [1, 0, 1, 0]
    """

    points: Points

    def __post_init__(self) -> None:
        _check_points(self.points)


class Move(Operation, frozen=True):
    """Give a whole stroke to a class.

    See Also
    --------
    MergeClasses : Moves all strokes of a class.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import Move, Paint, RelabelSession
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "soy"])
    >>> session.apply(Paint(1, np.array([0, 1])))
    >>> session.apply(Move(session.newest_stroke, 2))
    >>> session.label_ids.tolist()
    [2, 2, 0, 0]
    """

    stroke: StrokeNumber
    class_id: ClassId = field(name="class")


class Remove(Operation, frozen=True):
    """Unlabel a whole stroke.

    See Also
    --------
    Erase : Unlabels some points, of whatever stroke.
    Undo : Takes back what was done last.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import Paint, RelabelSession, Remove
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "soy"])
    >>> session.apply(Paint(1, np.array([0, 1])))
    >>> session.apply(Paint(2, np.array([3])))
    >>> session.apply(Remove(1))
    >>> session.label_ids.tolist()
    [0, 0, 0, 2]
    """

    stroke: StrokeNumber


class AddClass(Operation, frozen=True):
    """Add a class; what is left out gets the next id, a name and a colour.

    If the next operation is on this class and the one that it ``joins``, both are undone as one.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import AddClass, RelabelSession
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn"])
    >>> session.apply(AddClass(name="soy"))
    >>> session.classes[-1]
    ClassInfo(id=2, name='soy', color='#56b4e9', hidden=False, locked=False)
    """

    id: ClassId | None = None
    name: Name | None = None
    color: Color | None = None
    joins: Literal["stroke", "rename_class"] | None = None


class RenameClass(Operation, frozen=True):
    """Name a class anew.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import RelabelSession, RenameClass
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "soy"])
    >>> session.apply(RenameClass(1, "maize"))
    >>> [info.name for info in session.classes]
    ['maize', 'soy']
    """

    id: ClassId
    name: Name


class RecolorClass(Operation, frozen=True):
    """Give a class another colour.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import RecolorClass, RelabelSession
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "soy"])
    >>> session.apply(RecolorClass(1, "#ff0000"))
    >>> session.classes[0].color
    '#ff0000'
    """

    id: ClassId
    color: Color


class HideClass(Operation, frozen=True):
    """Leave a class out when maps are drawn, or show it again; it diffuses all the same.

    See Also
    --------
    RemoveClass : The class no longer diffuses either.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import HideClass, RelabelSession
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "soy"])
    >>> session.apply(HideClass(2, True))
    >>> [info.hidden for info in session.classes]
    [False, True]
    """

    id: ClassId
    hidden: Flag


class LockClass(Operation, frozen=True):
    """Protect what is labelled in a class, or free it again.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import LockClass, Paint, RelabelSession
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "soy"])
    >>> session.apply(Paint(1, np.array([0, 1])))
    >>> session.apply(LockClass(1, True))
    >>> session.apply(Paint(2, np.array([1, 2])))
    >>> session.label_ids.tolist()
    [1, 1, 2, 0]
    """

    id: ClassId
    locked: Flag


class MergeClasses(Operation, frozen=True):
    """Move all strokes of one class to another and remove the first.

    See Also
    --------
    Move : Moves one stroke.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import MergeClasses, Paint, RelabelSession
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "maize"])
    >>> session.apply(Paint(1, np.array([0])))
    >>> session.apply(Paint(2, np.array([3])))
    >>> session.apply(MergeClasses(2, 1))
    >>> session.label_ids.tolist(), [info.name for info in session.classes]
    ([1, 0, 0, 1], ['corn'])
    """

    source: ClassId
    into: ClassId


class RemoveClass(Operation, frozen=True):
    """Remove a class; its labels too, or only if it has none.

    See Also
    --------
    HideClass : The class still diffuses, but is not drawn.
    MergeClasses : Keeps the labels, in another class.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import Paint, RelabelSession, RemoveClass
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "soy"])
    >>> session.apply(Paint(2, np.array([3])))
    >>> session.apply(RemoveClass(2, with_labels=True))
    >>> session.label_ids.tolist(), [info.name for info in session.classes]
    ([0, 0, 0, 0], ['corn'])
    """

    id: ClassId
    with_labels: Flag = False


class SetTau(Operation, frozen=True, tag="tau"):
    """Set the time in steps, or the rule "auto" or "margin" that chooses it.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import RelabelSession, SetTau
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "soy"])
    >>> session.apply(SetTau(64))
    >>> session.tau, session.tau_mode
    (64, 'fixed')
    """

    tau: Time


class SetLabelMode(Operation, frozen=True, tag="label_mode"):
    """Set how labels count; "auto" leaves that to the rule of the time "auto".

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import RelabelSession, SetLabelMode
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "soy"])
    >>> session.apply(SetLabelMode("absorbing"))
    >>> session.label_mode
    'absorbing'
    """

    mode: LabelMode


class SetClassSizes(Operation, frozen=True, tag="class_sizes"):
    """Set what is known of the classes' sizes; without any, forget it.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import ClassSize, RelabelSession, SetClassSizes
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn", "soy"])
    >>> session.apply(SetClassSizes([ClassSize(1, 0.25, 0.5)]))
    >>> session.class_sizes
    (ClassSize(class_id=1, least=0.25, most=0.5, written=''),)
    """

    sizes: Sizes | None = None


class WarpWalk(Operation, frozen=True, tag="warp"):
    """Walk separately in each class, by the present posteriors, until ``unwarp`` or the next
    ``warp``.

    See Also
    --------
    UnwarpWalk : Ends it.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import markov_operator
    >>> from diffclass.relabel import Paint, RelabelSession, WarpWalk
    >>> A = markov_operator(np.arange(8.0)[:, None], n_neighbors=2)
    >>> session = RelabelSession(A, ["corn", "soy"], tau=8)
    >>> session.apply(Paint(1, np.array([0])))
    >>> session.apply(Paint(2, np.array([7])))
    >>> session.apply(WarpWalk())
    >>> change = session.update()
    >>> session.is_warped, session.map_ids.tolist()
    (True, [1, 1, 1, 1, 2, 2, 2, 2])
    """  # noqa: D205


class UnwarpWalk(Operation, frozen=True, tag="unwarp"):
    """Walk alike in all classes again.

    See Also
    --------
    WarpWalk : Begins it.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import markov_operator
    >>> from diffclass.relabel import Paint, RelabelSession, UnwarpWalk, WarpWalk
    >>> A = markov_operator(np.arange(8.0)[:, None], n_neighbors=2)
    >>> session = RelabelSession(A, ["corn"])
    >>> session.apply(Paint(1, np.array([0])))
    >>> session.apply(WarpWalk())
    >>> session.apply(UnwarpWalk())
    >>> session.is_warped
    False
    """


EditWithoutPoints = (
    Move
    | Remove
    | AddClass
    | RenameClass
    | RecolorClass
    | HideClass
    | LockClass
    | MergeClasses
    | RemoveClass
    | SetTau
    | SetLabelMode
    | WarpWalk
    | UnwarpWalk
)


Edit = Paint | Erase | SetClassSizes | EditWithoutPoints


class Batch(Operation, frozen=True):
    """Do several of the operations above as one, all of them or none; the name says what they are
    together.

    Examples
    --------
    One step to undo:

    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import AddClass, Batch, Paint, RelabelSession
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))))
    >>> session.apply(Batch([AddClass(name="corn"), Paint(1, np.array([0, 1]))], name="corn"))
    >>> session.label_ids.tolist(), session.n_steps
    ([1, 1, 0, 0], 1)
    """  # noqa: D205

    operations: Annotated[
        list[Edit],
        Meta(min_length=1, description="a list of at least one operation"),
    ]
    name: Name | None = None


class Undo(Operation, frozen=True):
    """Take the last of these operations back, or the last few.

    See Also
    --------
    Redo : Does it again.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import Paint, RelabelSession, Undo
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn"])
    >>> session.apply(Paint(1, np.array([0, 1])))
    >>> session.apply(Undo())
    >>> session.label_ids.tolist(), session.can_redo
    ([0, 0, 0, 0], True)
    """

    steps: Steps = 1


class Redo(Operation, frozen=True):
    """Do what was undone last again, or the next few.

    See Also
    --------
    Undo : Takes back what was done last.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.relabel import Paint, Redo, RelabelSession, Undo
    >>> session = RelabelSession(MarkovOperator.from_affinity(np.ones((4, 4))), ["corn"])
    >>> for operation in (Paint(1, np.array([0])), Paint(1, np.array([1])), Undo(2), Redo()):
    ...     session.apply(operation)
    >>> session.label_ids.tolist()
    [1, 0, 0, 0]
    """

    steps: Steps = 1


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


OPERATIONS: dict[str, type[Operation]] = table_of((*get_args(Edit), Batch, Undo, Redo))


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
    meta = _meta(info.type)
    given = f"{info.encode_name} = {shortened(value)}"
    if meta.title and isinstance(value, int) and not isinstance(value, bool):
        return f"{given}; {meta.title} are {meta.ge} to {meta.le}"
    return f"{given}; it is {meta.description}"


def _is_message(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Message)


def _annotated(hint: Any) -> Any:
    """Return a field's annotated type; of an optional one, that which is not None."""
    return hint if get_origin(hint) is Annotated else get_args(hint)[0]


def _meta(hint: Any) -> Meta:
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


def _check_points(points: Any) -> None:
    is_list = isinstance(points, np.ndarray) and points.ndim == 1 and len(points) > 0
    if not is_list or points.dtype.kind not in "iu":
        given = points.tolist() if isinstance(points, np.ndarray) else points
        raise ValueError(f"points = {shortened(given)}; it is {_meta(Points).description}")
