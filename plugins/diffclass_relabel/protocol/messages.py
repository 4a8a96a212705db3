"""What the server tells the page: the shape of every JSON message, and of the state.

The page's types are made from these, from `diffclass_relabel.protocol.answer_types` and from the
tables of operations and questions; see `diffclass_relabel.hub.page_types`. A text in `Annotated`
documents a field there too.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

Result = Literal["labels", "map", "picture", "margin", "probability", "report"]


class ClassState(TypedDict):
    """A class, and how much of the scene is in it."""

    id: int
    name: str
    color: str
    hidden: bool
    locked: bool
    pixels: Annotated[int, "Labelled pixels."]
    mapped: Annotated[int, "Pixels of the map."]
    since: Annotated[int, "Version in which it was added: an id may be another class's later."]


# "class" is a Python keyword, so that types with such a field are written as calls
StrokeState = TypedDict(
    "StrokeState",
    {"number": int, "class": int, "count": int, "first": Annotated[int, "One of its pixels."]},
)


class SessionFacts(TypedDict):
    """What the session itself knows of its state."""

    version: Annotated[int, "Operations applied so far."]
    classes: list[ClassState]
    strokes: Annotated[list[StrokeState], "The newest ones, in the order of painting."]
    n_strokes: Annotated[int, "All of them."]
    label_mode: Annotated[str, 'As it was asked for, maybe "auto".']
    counted: Annotated[str, "How labels count in the next map."]
    tau: int
    tau_mode: Literal["auto", "margin", "fixed"]
    refined: Annotated[bool, 'Whether the time is known; "auto" has to choose it first.']
    max_time: int
    stale: bool
    map_version: Annotated[int | None, "Of the newest map, which may be on its way."]
    warped: bool
    step: Annotated[int, "Number of the present state in the history."]
    has_reference: Annotated[bool, "Whether there is an image to compare with."]
    can_undo: bool
    can_redo: bool
    n_changed: int
    ms: float
    saved: bool
    session: str


class SessionState(SessionFacts):
    """The state of the session, sent to every tab after each operation."""

    live: bool
    computing: bool
    problem: str | None


class SceneInfo(TypedDict):
    """The scene: size and bands."""

    name: str
    rows: int
    columns: int
    n_bands: int
    wavelengths: list[float] | None
    unit: str | None
    good: list[int]
    bands_true: list[int]
    bands_false: list[int]
    block: Annotated[int, "Side of the blocks of pixels that are classified as one; 1: none."]
    n_aggregates: Annotated[int | None, "Of the pixels, where provisional maps are made of them."]
    coarse_answers: Annotated[bool, "Whether answers and warped walks are of the aggregates too."]


class Geography(TypedDict):
    """Where the scene lies."""

    transform: Annotated[
        list[float], "x = t[0] + column t[1] + row t[2], y = t[3] + column t[4] + row t[5]."
    ]
    crs: str | None


class Preset(TypedDict):
    """A picture of the scene to choose, and what to call it."""

    name: str
    label: str


class ExportFormat(TypedDict):
    """A result that can be exported, in one format."""

    what: Result
    suffix: str
    label: str
    name: Annotated[str, "Of the file."]


class SceneFacts(TypedDict):
    """What a page has to know before any operation."""

    scene: SceneInfo
    geo: Geography | None
    presets: list[Preset]
    exports: list[ExportFormat]


class Hello(SceneFacts):
    """The greeting of a page."""

    kind: Literal["hello"]
    id: Annotated[str, "The session's own; a page names it when it comes back."]
    state: SessionState
    included: Annotated[int, "Number of this page's newest operation in the state; 0: none."]


PreparingStep = TypedDict(
    "PreparingStep",
    {
        "name": str,
        "is": Literal["waiting", "running", "done"],
        "share": Annotated[float | None, "How much is done, 0 to 1; null if that is not known."],
        "seconds": Annotated[float | None, "So far, or all of them."],
    },
)


class Preparing(TypedDict):
    """Sent instead of the greeting as long as the scene is being prepared."""

    kind: Literal["preparing"]
    scene: str
    steps: list[PreparingStep]
    left: Annotated[float | None, "Seconds, about."]


class OfferedSession(TypedDict):
    """A session that was opened lately."""

    name: Annotated[str, "Of the scene."]
    folder: str
    shape: Annotated[list[int], "Rows, columns and bands."]
    at: Annotated[float, "When it was last worked on: seconds since 1970."]


class OfferedScene(TypedDict):
    """A scene of the folder that is shown."""

    name: str
    bytes: Annotated[int | None, "Size of the file; null for a product of several."]
    at: Annotated[float, "When it was last written: seconds since 1970."]


class Start(TypedDict):
    """Where nothing is open yet: what can be.

    A page answers {"look": path of a folder}, {"open": path of a scene}, relative to the root, or
    {"recent": number in the list}.
    """

    kind: Literal["start"]
    root: Annotated[str, "Nothing outside this folder can be opened but the recent sessions."]
    problem: Annotated[str | None, "Why the last choice was refused."]
    recent: list[OfferedSession]
    path: Annotated[str, "The folder that is shown, relative to the root; empty for the root."]
    folders: list[str]
    scenes: list[OfferedScene]
    whole: Annotated[bool, "Whether the folder holds nothing more."]


class Moved(TypedDict):
    """A scene was chosen: its session is at another address."""

    kind: Literal["moved"]
    port: Annotated[int | None, "Null where it is the same."]
    token: str


class Failed(TypedDict):
    """The scene could not be prepared; the server ends, or offers others."""

    kind: Literal["failed"]
    message: str


class Foreign(TypedDict):
    """Sent instead of the greeting to a page that comes back to another session than its own."""

    kind: Literal["foreign"]
    scene: Annotated[str, "Name of the scene that is open here."]


class StateMessage(TypedDict):
    """What has changed in the session."""

    kind: Literal["state"]
    state: SessionState
    included: Annotated[int, "Number of this page's newest operation in the state; 0: none."]


DoneFacts = TypedDict(
    "DoneFacts",
    {
        "version": int,
        "op": NotRequired[str],
        "again": Annotated[NotRequired[bool], "It had been done before."],
        "class": Annotated[NotRequired[int], "Id of a new class."],
        "stroke": Annotated[NotRequired[int], "Number of a new stroke."],
    },
)


class Done(DoneFacts):
    """An operation is done and on disk."""

    kind: Literal["done"]
    seq: int


class Refused(TypedDict):
    """A message was refused."""

    kind: Literal["refused"]
    seq: int | None
    message: str


class Superseded(TypedDict):
    """A question was cancelled: the same client has asked it again."""

    kind: Literal["superseded"]
    seq: int


class Answer(TypedDict):
    """A question is answered; the answer's own fields follow these."""

    kind: Literal["answer"]
    seq: int
    ask: str


TextMessage = (
    Start
    | Moved
    | Preparing
    | Failed
    | Hello
    | Foreign
    | StateMessage
    | Done
    | Refused
    | Superseded
    | Answer
)
