"""What passes between page and server in JSON: the shapes of messages, of the state and of answers.

`diffclass_relabel.session_hub.page_types` makes the page's types from these; a text in `Annotated`
documents a field there too. Short messages stand on one line. Which answer belongs to which
question is in `diffclass_relabel.queries.kinds`.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta, Struct

SizesMet = Literal["met", "unused", "waiting"]
Result = Literal[
    "labels",
    "map",
    "polygons",
    "picture",
    "margin",
    "probability",
    "spectra",
    "report",
    "model",
    "prediction",
]


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
    unclassified: Annotated[int, "Pixels to which the map gives no class."]
    map_note: Annotated[str | None, "What is to be said of the map."]
    label_mode: Annotated[str, 'As it was asked for, maybe "auto".']
    counted: Annotated[str, "How labels count in the next map."]
    class_sizes: Annotated[str, "What is known of them; empty for nothing."]
    sizes_met: Annotated[SizesMet | None, "Whether the map meets them; null until that is known."]
    tau: int
    tau_mode: Literal["auto", "margin", "fixed"]
    refined: Annotated[
        bool, 'Whether no map is to follow, as that of the time that "auto" chooses.'
    ]
    max_time: int
    n_aggregates: Annotated[int | None, "Of the pixels, where provisional maps are made of them."]
    stale: bool
    map_version: Annotated[int | None, "Of the newest map, which may be on its way."]
    warped: bool
    step: Annotated[int, "Number of the present state in the history."]
    has_reference: Annotated[bool, "Whether there is an image to compare with."]
    has_prediction: Annotated[bool, "Whether a model was applied to the scene."]
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
    preparing: Annotated[
        float | None, "Seconds, about, until maps can be made; null once they can."
    ]
    problem: str | None


# where one of several scenes lies in their joint picture
TilePlace = TypedDict(
    "TilePlace", {"name": str, "row": int, "column": int, "rows": int, "columns": int}
)


class BandInfo(TypedDict):
    """The bands of a scene."""

    n_bands: int
    wavelengths: list[float] | None
    unit: str | None
    good: list[int]
    bands_true: list[int]
    bands_false: list[int]


class TableInfo(TypedDict):
    """A table, whose rows have a pixel of the raster each."""

    n_rows: int
    images: Annotated[bool, "Whether rows have pictures, at picture.png?row=PIXEL."]
    text: Annotated[bool, "Whether rows have texts."]


class SceneInfo(TypedDict):
    """The raster, and what its pixels are: those of a scene, or rows of a table."""

    name: str
    rows: int
    columns: int
    block: Annotated[int, "Side of the blocks of pixels that are classified as one; 1: none."]
    coarse_answers: Annotated[bool, "Whether answers and warped walks are of the aggregates too."]
    tiles: Annotated[list[TilePlace], "Several scenes; the first counts where they overlap."]
    bands: Annotated[BandInfo | None, "Of a scene."]
    table: Annotated[TableInfo | None, "Whose rows they are."]


class Geography(TypedDict):
    """Where the scene lies."""

    transform: Annotated[
        list[float], "x = t[0] + column t[1] + row t[2], y = t[3] + column t[4] + row t[5]."
    ]
    crs: str | None


Preset = TypedDict("Preset", {"name": str, "label": str})  # a picture of the scene to choose


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
    session: Annotated[str, "Path of its file."]
    shape: Annotated[list[int], "Rows, columns and bands."]
    at: Annotated[float, "When it was last worked on: seconds since 1970."]
    held: Annotated[bool, "Whether another process has it open."]


class OfferedScene(TypedDict):
    """A scene of the folder that is shown."""

    name: str
    bytes: Annotated[int | None, "Size of the file; null for a product of several."]
    at: Annotated[float, "When it was last written: seconds since 1970."]


class Start(TypedDict):
    """Where nothing is open yet: what can be."""

    kind: Literal["start"]
    root: Annotated[str, "Nothing outside this folder can be opened but the recent sessions."]
    problem: Annotated[str | None, "Why the last choice was refused."]
    recent: list[OfferedSession]
    path: Annotated[str, "The folder that is shown, relative to the root; empty for the root."]
    folders: list[str]
    scenes: list[OfferedScene]
    whole: Annotated[bool, "Whether the folder holds nothing more."]


class SceneProblem(TypedDict):
    """Why a scene of the folder cannot be opened."""

    name: str
    problem: str


class Checked(TypedDict):
    """What a look at the scenes of a folder has found, after they were listed."""

    kind: Literal["checked"]
    path: Annotated[str, "The folder."]
    problems: list[SceneProblem]


class Moved(TypedDict):
    """A scene was chosen: its session is at another address."""

    kind: Literal["moved"]
    port: Annotated[int | None, "Null where it is the same."]
    token: str


# the scene could not be prepared; the server ends, or offers others
Failed = TypedDict("Failed", {"kind": Literal["failed"], "message": str})

# in place of the greeting, to a page of another session; "scene" is the name of the one open here
Foreign = TypedDict("Foreign", {"kind": Literal["foreign"], "scene": str})


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


Refused = TypedDict("Refused", {"kind": Literal["refused"], "seq": int | None, "message": str})

# a question was cancelled: the same client has asked it again
Superseded = TypedDict("Superseded", {"kind": Literal["superseded"], "seq": int})

# begins the answer to a question, whose own fields follow
Answer = TypedDict("Answer", {"kind": Literal["answer"], "seq": int, "ask": str})


_Opening = Start | Checked | Moved | Preparing | Failed | Hello | Foreign
TextMessage = _Opening | StateMessage | Done | Refused | Superseded | Answer

Spectrum = list[float | None]
Pixels = Annotated[list[int], "start, length, start, length, ..."]


SpectrumAnswer = TypedDict("SpectrumAnswer", {"pixel": int, "values": Spectrum})

ClassSpectrum = TypedDict(
    "ClassSpectrum",
    {
        "class": int,
        "count": Annotated[int, "Labelled pixels that it is made of."],
        "mean": Spectrum,
        "low": Annotated[Spectrum, "10 % of the pixels are below."],
        "high": Annotated[Spectrum, "10 % of the pixels are above."],
    },
)


class ClassSpectraAnswer(TypedDict):
    """The spectra of the classes' labelled pixels."""

    version: Annotated[int, "Of the labels."]
    classes: list[ClassSpectrum]


class RowFacts(TypedDict):
    """What users see of a row of a table."""

    pixel: int
    name: Annotated[str, "Its id, or number from 0."]
    text: str | None
    values: Annotated[list[list[str]], "Name and value of each column."]


RowsAnswer = TypedDict("RowsAnswer", {"rows": list[RowFacts]})

StrokeShare = TypedDict(
    "StrokeShare",
    {
        "stroke": int,
        "class": int,
        "share": Annotated[float, "0 to 1."],
        "pixel": Annotated[int, "One of the stroke's."],
    },
)


WhyAnswer = TypedDict("WhyAnswer", {"pixel": int, "shares": list[StrokeShare]})

ContradictedStroke = TypedDict(
    "ContradictedStroke",
    {
        "pixel": Annotated[int, "The one with the largest margin."],
        "pixels": Pixels,
        "count": Annotated[int, "Of pixels."],
        "stroke": int,
        "class": int,
        "says": Annotated[int, "The class that all other strokes say."],
        "margin": float,
    },
)


AuditAnswer = TypedDict("AuditAnswer", {"count": int, "items": list[ContradictedStroke]})
SuggestAnswer = TypedDict(
    "SuggestAnswer", {"pixels": list[int], "scores": list[float], "rule": str}
)


class CurveAnswer(TypedDict):
    """Mean margin and coverage by time."""

    times: list[int]
    margin: list[float]
    coverage: list[float]
    tau: int


SegmentAnswer = TypedDict("SegmentAnswer", {"pixel": int, "class": int, "pixels": Pixels})


# likeness comes in a binary message: up to k are the nearest (k / 254)^2 of half of all pixels
SimilarAnswer = TypedDict("SimilarAnswer", {"pixel": int})


class PredictAnswer(TypedDict):
    """A model was applied to the scene."""

    name: Annotated[str, "Of its file."]
    unclassified: Annotated[int, "Pixels with data that are none of the session's classes there."]
    said: Annotated[list[str], "What was assumed."]


class SentFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A file on its way to the server."""

    name: Annotated[str, Meta(pattern=r"^(?!\.{1,2}\Z)[^/\\\x00-\x1f]{1,200}\Z")]
    data: Annotated[bytes, Meta(description="In base 64.")]


NewClass = TypedDict("NewClass", {"id": int, "name": str, "color": str})


class GivenClass(TypedDict):
    """A class of a file, and which class of the session it may be."""

    id: Annotated[int, "In the file."]
    name: str
    color: str
    count: Annotated[int, "Pixels of it."]
    compared: Annotated[int, "Those of them that have a class in the session."]
    agreed: Annotated[int, "Those of these whose class is the proposed one."]
    to: Annotated[int, "The session's class that it is; 0: none."]
    proposed: Annotated[int, "The one that it may be; 0: none."]


class FileClass(GivenClass):
    """A class of a label file; the session's class that it is gets its pixels."""

    pixels: Pixels
    new: Annotated[NewClass | None, "To be added if it is none; null where the list is full."]


class ReadLabelsAnswer(TypedDict):
    """The labels of a file: what to add to the session, as one operation."""

    title: str
    classes: list[FileClass]
    asks: Annotated[bool, "Neither names nor numbers tell which class is which: ask the user."]
    left_out: Annotated[int, "Labelled pixels without data."]
    said: Annotated[list[str], "What was assumed of the file, or lost of it."]


ClassNumbers = TypedDict(
    "ClassNumbers",
    {
        "class": int,
        "labelled": int,
        "mapped": int,
        "probability": Annotated[float | None, "Mean over its pixels of the map."],
        "recall": float | None,
        "precision": float | None,
        "n_true": Annotated[int, "Pixels of the class to compare with."],
    },
)


class ChannelHistogram(TypedDict):
    """The values of red, green or blue."""

    low: Annotated[float, "Where the first of the equal bins begins."]
    high: Annotated[float, "Where the last one ends."]
    counts: list[int]
    percentiles: Annotated[list[float], "0 to 100."]


class HistogramsAnswer(TypedDict):
    """The values behind a picture."""

    channels: Annotated[list[ChannelHistogram], "Red, green and blue."]


HistoryStep = TypedDict(
    "HistoryStep",
    {
        "step": Annotated[int, "Number of the state that it led to; the session begins with 0."],
        "title": Annotated[str, "What was done, in a few words."],
        "class": Annotated[int, "The class it concerns, 0 for none or several."],
        "name": Annotated[str, "Name of the class at that time."],
        "count": Annotated[int | None, "Pixels."],
        "pixel": Annotated[int | None, "One of them."],
        "at": Annotated[float, "Seconds since 1970."],
    },
)


class HistoryAnswer(TypedDict):
    """What can be undone and done again."""

    step: Annotated[int, "Number of the present state."]
    n_steps: Annotated[int, "Of the last one."]
    steps: Annotated[list[HistoryStep], "The newest ones, in the order of doing."]


ForeignClass = TypedDict("ForeignClass", {"class": int, "name": str})


class AccuracyFacts(TypedDict):
    """How well known classes were found."""

    overall: float
    interval: Annotated[list[float], "Of the overall accuracy, 95 %."]
    average: float
    kappa: float | None
    n_pixels: int
    classes: Annotated[list[int], "0: none; below 0: a class that the session lacks."]
    foreign: list[ForeignClass]
    confusion: Annotated[list[list[int]], "Rows are the truth, columns the map."]


class ReferenceMatch(TypedDict):
    """Which class of the reference is which of the session's."""

    by: Annotated[Literal["names", "ids", "overlap", "choice"], 'What decided; "choice": a user.']
    asks: Annotated[bool, "Another match agrees far better, or overlap alone decided."]
    agreement: Annotated[float, "Share of the pixels that agree."]
    by_overlap: Annotated[float, "Share that would agree after the best match: an upper bound."]
    classes: list[GivenClass]


ClassArea = TypedDict(
    "ClassArea",
    {
        "class": int,
        "mapped": int,
        "pixels": Annotated[float, "Estimate of how many truly are of the class."],
        "interval": Annotated[list[float] | None, "95 %; null where too few pixels tell."],
    },
)


class AreaFacts(TypedDict):
    """Areas corrected by the pixels that were compared, as if drawn at random from each class."""

    classes: list[ClassArea]
    total: Annotated[float, "Pixels that the areas are shares of."]
    not_sampled: Annotated[list[int], "Classes of the map with no pixel to compare; left out."]


# the accuracy of an earlier map
AccuracyPoint = TypedDict(
    "AccuracyPoint", {"version": int, "labelled": int, "overall": float, "average": float}
)

# how many pixels went from one class to another; 255 is no data, 0 no class
ClassFlow = TypedDict("ClassFlow", {"before": int, "after": int, "pixels": int})


class ChangeFacts(TypedDict):
    """What the last map changed."""

    pixels: int
    flows: Annotated[list[ClassFlow], "The largest first."]
    probability: Annotated[float, "Change of the mean."]
    margin: Annotated[float, "Change of the mean."]
    overall: Annotated[float | None, "Change of the overall accuracy."]


class NumbersAnswer(TypedDict):
    """The session in numbers."""

    by: Literal["reference", "held_out"]
    has_reference: bool
    note: Annotated[str, "Why there is no accuracy."]
    accuracy: AccuracyFacts | None
    match: Annotated[ReferenceMatch | None, "Null where the map is compared with own labels."]
    history: list[AccuracyPoint]
    classes: list[ClassNumbers]
    areas: AreaFacts | None
    pixel_area: Annotated[float | None, "Square metres."]
    change: ChangeFacts | None


LiveAnswer = TypedDict("LiveAnswer", {"on": bool})
UpdateAnswer = TypedDict("UpdateAnswer", {"version": int})
PreviewAnswer = TypedDict("PreviewAnswer", {"tau": int})
ExportAnswer = TypedDict("ExportAnswer", {"url": str, "files": list[str]})
# a map was on its way, and is sent in another order
ViewAnswer = TypedDict("ViewAnswer", {"sent_anew": bool})
# of the history; null for the reference. The map to compare with is sent as the frame "compared".
CompareAnswer = TypedDict("CompareAnswer", {"step": int | None})
