"""What a page can ask: each query with its fields and the shape of its answer.

Queries change no labels. They are decoded as operations are (`diffclass.relabel.operations`), and
follow them in the page's types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, get_args

from msgspec import Meta

from diffclass.acquisition import RULES
from diffclass.relabel import (
    LARGEST_NUMBER,
    LARGEST_TAU,
    Flag,
    Message,
    Name,
    printable_text,
    shortened,
    table_of,
    whole_number,
)
from diffclass_relabel import protocol

MOST_SUGGESTIONS = 200
MOST_ROWS = 500
_FEW_ROWS = f"at most {MOST_ROWS} pixels"


Pixel = Annotated[int, whole_number(0, LARGEST_NUMBER, "pixels")]
End = Annotated[int, whole_number(0, LARGEST_NUMBER, "rows and columns")]
Step = Annotated[int, whole_number(0, LARGEST_NUMBER, "steps")]
Steps = Annotated[int, whole_number(1, LARGEST_TAU, "times")]
Count = Annotated[int, whole_number(1, MOST_SUGGESTIONS, "suggestions")]
Path = Annotated[str, printable_text(1000)]
MinArea = Annotated[int, whole_number(1, LARGEST_NUMBER, "areas")]
Tolerance = Annotated[float, Meta(ge=0, le=1000, description="0 to 1000 pixels")]
FileName = Annotated[str, printable_text(100)]
Files = Annotated[
    list[protocol.SentFile],
    Meta(
        min_length=1,
        description="a list of at least one file, each with a name and its content in base 64",
    ),
]
Compared = Annotated[
    Literal["reference", "held_out"], Meta(description="one of reference, held_out")
]
ResultName = Annotated[
    protocol.Result, Meta(description=f"one of {', '.join(get_args(protocol.Result))}")
]
_PAIRS = "a list of pairs of class ids, [of the file, of the session, ...], each of the file once"
ClassPairs = Annotated[list[int], Meta(description=_PAIRS)]
if TYPE_CHECKING:
    RuleName = str
else:
    RuleName = Annotated[Literal[tuple(RULES)], Meta(description=f"one of {', '.join(RULES)}")]


class Query(Message, frozen=True, tag_field="ask"):
    """Something that a page asks."""

    answer: ClassVar[type]  # the shape of its answer's own fields


class Spectrum(Query, frozen=True):
    """The spectrum of a pixel."""

    answer = protocol.SpectrumAnswer
    pixel: Pixel


class ClassSpectra(Query, frozen=True):
    """Mean and spread of the spectra of each class's labelled pixels."""

    answer = protocol.ClassSpectraAnswer


class Rows(Query, frozen=True):
    """What users see of the rows of a table at pixels."""

    answer = protocol.RowsAnswer
    pixels: Annotated[list[Pixel], Meta(max_length=MOST_ROWS, description=_FEW_ROWS)]


class Histograms(Query, frozen=True):
    """The values of red, green and blue of a preset's picture, or of three bands."""

    answer = protocol.HistogramsAnswer
    preset: Name | None = None
    bands: Name | None = None


class Why(Query, frozen=True):
    """The share of each stroke in a pixel's class."""

    answer = protocol.WhyAnswer
    pixel: Pixel


class Audit(Query, frozen=True):
    """The strokes with pixels that all other strokes contradict."""

    answer = protocol.AuditAnswer


class Suggest(Query, frozen=True):
    """Pixels to label next."""

    answer = protocol.SuggestAnswer
    n: Count | None = None
    rule: RuleName | None = None
    passed: list[Pixel] | None = None


class Curve(Query, frozen=True):
    """Mean margin and coverage by time."""

    answer = protocol.CurveAnswer


class Segment(Query, frozen=True):
    """The connected piece of the map around a pixel."""

    answer = protocol.SegmentAnswer
    pixel: Pixel


class Similar(Query, frozen=True):
    """How like all pixels are to one, by the walk on the graph."""

    answer = protocol.SimilarAnswer
    pixel: Pixel


class ReadLabels(Query, frozen=True):
    """The labels of a file that is sent, or lies at a path next to the scene."""

    answer = protocol.ReadLabelsAnswer
    path: Path | None = None
    files: Files | None = None
    variable: Name | None = None


class Predict(Query, frozen=True):
    """Classify the scene with a model, in a file that is sent or lies next to the scene."""

    answer = protocol.PredictAnswer
    path: Path | None = None
    files: Files | None = None


class Numbers(Query, frozen=True):
    """Accuracy, a table of the classes, and what the last map changed."""

    answer = protocol.NumbersAnswer
    by: Compared | None = None


class MatchReference(Query, frozen=True):
    """Say which class of the reference is which of the session's; the numbers then."""

    answer = protocol.NumbersAnswer
    pairs: ClassPairs

    def __post_init__(self) -> None:
        if len(self.pairs) % 2 or len({*self.pairs[::2]}) * 2 != len(self.pairs):
            raise ValueError(f"pairs = {shortened(self.pairs)}; it is {_PAIRS}")


class History(Query, frozen=True):
    """The operations that can be undone and done again."""

    answer = protocol.HistoryAnswer


class Compare(Query, frozen=True):
    """The map of an earlier state of the history or of a model, or else the reference."""

    answer = protocol.CompareAnswer
    step: Step | None = None
    prediction: Flag | None = None


class Live(Query, frozen=True):
    """Let the map follow every operation, or not."""

    answer = protocol.LiveAnswer
    on: Flag


class Update(Query, frozen=True):
    """Bring the map up to date."""

    answer = protocol.UpdateAnswer


class View(Query, frozen=True):
    """Say what part of the raster is in view."""

    answer = protocol.ViewAnswer
    top: End
    left: End
    bottom: End
    right: End


class PreviewTau(Query, frozen=True):
    """The map at another time."""

    answer = protocol.PreviewAnswer
    tau: Steps


class Export(Query, frozen=True):
    """Write a result to files that can be fetched."""

    answer = protocol.ExportAnswer
    what: ResultName
    name: FileName | None = None
    min_area: MinArea | None = None
    simplify: Tolerance | None = None


QUERIES: dict[str, type[Query]] = table_of(Query.__subclasses__())
