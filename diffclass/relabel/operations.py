"""The operations of a session: what a user does, and what is undone, logged and replayed.

Each is a type of message, ``{"op": name, ...}``; see `diffclass.relabel.messages`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import numpy as np
from msgspec import Meta, Struct, field

from diffclass.label_diffusion.label_modes import LABEL_MODES
from diffclass.relabel.messages import (
    Message,
    meta_of,
    printable_text,
    shortened,
    table_of,
    whole_number,
)
from diffclass.targets import MOST_CLASSES

LARGEST_CLASS_ID = MOST_CLASSES
LARGEST_TAU = 16_384  # the last that "auto" looks at
LONGEST_NAME = 200
LARGEST_NUMBER = 2**31 - 1


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


OPERATIONS: dict[str, type[Operation]] = table_of((*get_args(Edit), Batch, Undo, Redo))


def _check_points(points: Any) -> None:
    is_list = isinstance(points, np.ndarray) and points.ndim == 1 and len(points) > 0
    if not is_list or points.dtype.kind not in "iu":
        given = points.tolist() if isinstance(points, np.ndarray) else points
        raise ValueError(f"points = {shortened(given)}; it is {meta_of(Points).description}")
