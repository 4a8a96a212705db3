"""What the server answers to each question: the shape of the answer's own fields, in JSON.

See `diffclass_relabel.queries.questions` for which answer is whose.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

Spectrum = list[float | None]
Pixels = Annotated[list[int], "start, length, start, length, ..."]


class SpectrumAnswer(TypedDict):
    """The spectrum of a pixel."""

    pixel: int
    values: Spectrum


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


StrokeShare = TypedDict(
    "StrokeShare",
    {
        "stroke": int,
        "class": int,
        "share": Annotated[float, "0 to 1."],
        "pixel": Annotated[int, "One of the stroke's."],
    },
)


class WhyAnswer(TypedDict):
    """The strokes behind a pixel's class."""

    pixel: int
    shares: list[StrokeShare]


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


class AuditAnswer(TypedDict):
    """The strokes with pixels that all other strokes contradict."""

    count: int
    items: list[ContradictedStroke]


class SuggestAnswer(TypedDict):
    """Pixels to label next."""

    pixels: list[int]
    scores: list[float]
    rule: str


class CurveAnswer(TypedDict):
    """Mean margin and coverage by time."""

    times: list[int]
    margin: list[float]
    coverage: list[float]
    tau: int


SegmentAnswer = TypedDict("SegmentAnswer", {"pixel": int, "class": int, "pixels": Pixels})


class SentFile(TypedDict):
    """A file on its way to the server."""

    name: str
    data: Annotated[str, "In base 64."]


class NewClass(TypedDict):
    """A class to add."""

    id: int
    name: str
    color: str


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


class AccuracyPoint(TypedDict):
    """The accuracy of an earlier map."""

    version: int
    labelled: int
    overall: float
    average: float


class ClassFlow(TypedDict):
    """Pixels that went from one class to another; 255 is no data, 0 no class."""

    before: int
    after: int
    pixels: int


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


class CompareAnswer(TypedDict):
    """What to compare the map with was sent, as the frame "compared"."""

    step: Annotated[int | None, "Of the history; null for the reference."]


class LiveAnswer(TypedDict):
    """Whether the map follows every operation."""

    on: bool


class UpdateAnswer(TypedDict):
    """The map is up to date."""

    version: int


class ViewAnswer(TypedDict):
    """What is in view is known."""

    sent_anew: Annotated[bool, "A map was on its way; it is sent in another order."]


class PreviewAnswer(TypedDict):
    """A preview was sent."""

    tau: int


class ExportAnswer(TypedDict):
    """Where exported files can be fetched."""

    url: str
    files: list[str]
