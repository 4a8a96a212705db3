"""What a page can ask: each query with its fields and the shape of its answer.

Queries change no labels. They are decoded as operations are (`diffclass.relabel.operations`), and
follow them in the page's types.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import NoneType
from typing import Annotated, Any, ClassVar, Literal, cast, get_args

from msgspec import Meta, defstruct

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


def _one_of(names: Iterable[str]) -> Any:
    return Annotated[Literal[*names], Meta(description=f"one of {', '.join(names)}")]


Pixel = Annotated[int, whole_number(0, LARGEST_NUMBER, "pixels")]
End = Annotated[int, whole_number(0, LARGEST_NUMBER, "rows and columns")]
Path = Annotated[str, printable_text(1000)] | None
Files = (
    Annotated[
        list[protocol.SentFile],
        Meta(
            min_length=1,
            description="a list of at least one file, each with a name and its content in base 64",
        ),
    ]
    | None
)
_PAIRS = "a list of pairs of class ids, [of the file, of the session, ...], each of the file once"


class Query(Message, frozen=True, tag_field="ask"):
    """Something that a page asks."""

    answer: ClassVar[type]  # the shape of its answer's own fields


def _query(name: str, purpose: str, answer: type, /, **fields: Any) -> type[Query]:
    """Declare a query; its fields that may be None may be left out."""
    typed = [
        (field, hint, None) if NoneType in get_args(hint) else (field, hint)
        for field, hint in fields.items()
    ]
    own = {"answer": answer, "__doc__": purpose}
    kind = defstruct(name, typed, bases=(Query,), module=__name__, namespace=own, tag=name)
    return cast(type[Query], kind)


class MatchReference(Query, frozen=True):
    """Say which class of the reference is which of the session's; the numbers then."""

    answer = protocol.NumbersAnswer
    pairs: Annotated[list[int], Meta(description=_PAIRS)]

    def __post_init__(self) -> None:
        if len(self.pairs) % 2 or len({*self.pairs[::2]}) * 2 != len(self.pairs):
            raise ValueError(f"pairs = {shortened(self.pairs)}; it is {_PAIRS}")


QUERIES: dict[str, type[Query]] = table_of(
    [
        _query("spectrum", "The spectrum of a pixel.", protocol.SpectrumAnswer, pixel=Pixel),
        _query(
            "class_spectra",
            "Mean and spread of the spectra of each class's labelled pixels.",
            protocol.ClassSpectraAnswer,
        ),
        _query(
            "rows",
            "What users see of the rows of a table at pixels.",
            protocol.RowsAnswer,
            pixels=Annotated[
                list[Pixel], Meta(max_length=MOST_ROWS, description=f"at most {MOST_ROWS} pixels")
            ],
        ),
        _query(
            "histograms",
            "The values of red, green and blue of a preset's picture, or of three bands.",
            protocol.HistogramsAnswer,
            preset=Name | None,
            bands=Name | None,
        ),
        _query(
            "why", "The share of each stroke in a pixel's class.", protocol.WhyAnswer, pixel=Pixel
        ),
        _query(
            "audit",
            "The strokes with pixels that all other strokes contradict.",
            protocol.AuditAnswer,
        ),
        _query(
            "suggest",
            "Pixels to label next.",
            protocol.SuggestAnswer,
            n=Annotated[int, whole_number(1, MOST_SUGGESTIONS, "suggestions")] | None,
            rule=_one_of(RULES) | None,
            passed=list[Pixel] | None,
        ),
        _query("curve", "Mean margin and coverage by time.", protocol.CurveAnswer),
        _query(
            "segment",
            "The connected piece of the map around a pixel.",
            protocol.SegmentAnswer,
            pixel=Pixel,
        ),
        _query(
            "similar",
            "How like all pixels are to one, by the walk on the graph.",
            protocol.SimilarAnswer,
            pixel=Pixel,
        ),
        _query(
            "read_labels",
            "The labels of a file that is sent, or lies at a path next to the scene.",
            protocol.ReadLabelsAnswer,
            path=Path,
            files=Files,
            variable=Name | None,
        ),
        _query(
            "predict",
            "Classify the scene with a model, in a file that is sent or lies next to the scene.",
            protocol.PredictAnswer,
            path=Path,
            files=Files,
        ),
        _query(
            "numbers",
            "Accuracy, a table of the classes, and what the last map changed.",
            protocol.NumbersAnswer,
            by=_one_of(("reference", "held_out")) | None,
        ),
        MatchReference,
        _query(
            "history", "The operations that can be undone and done again.", protocol.HistoryAnswer
        ),
        _query(
            "compare",
            "The map of an earlier state of the history or of a model, or else the reference.",
            protocol.CompareAnswer,
            step=Annotated[int, whole_number(0, LARGEST_NUMBER, "steps")] | None,
            prediction=Flag | None,
        ),
        _query("live", "Let the map follow every operation, or not.", protocol.LiveAnswer, on=Flag),
        _query("update", "Bring the map up to date.", protocol.UpdateAnswer),
        _query(
            "view",
            "Say what part of the raster is in view.",
            protocol.ViewAnswer,
            top=End,
            left=End,
            bottom=End,
            right=End,
        ),
        _query(
            "preview_tau",
            "The map at another time.",
            protocol.PreviewAnswer,
            tau=Annotated[int, whole_number(1, LARGEST_TAU, "times")],
        ),
        _query(
            "export",
            "Write a result to files that can be fetched.",
            protocol.ExportAnswer,
            what=_one_of(get_args(protocol.Result)),
            name=Annotated[str, printable_text(100)] | None,
            min_area=Annotated[int, whole_number(1, LARGEST_NUMBER, "areas")] | None,
            simplify=Annotated[float, Meta(ge=0, le=1000, description="0 to 1000 pixels")] | None,
        ),
    ]
)
