"""What a page can ask: the questions with their fields, and the shape of each answer.

They change no labels, and follow the operations in the page's types.
"""

from __future__ import annotations

from diffclass.acquisition import RULES
from diffclass.relabel.fields import LARGEST_NUMBER, LARGEST_TAU, Choice, Flag, Text, Whole
from diffclass.relabel.schema import Form, table_of
from diffclass_relabel import protocol
from diffclass_relabel.queries.exports import FORMATS
from diffclass_relabel.queries.uploads import Files
from diffclass_relabel.session import ClassPairs

MOST_SUGGESTIONS = 200

SIDES = ("top", "left", "bottom", "right")  # of a window, the last two excluded
_PIXEL = Whole(0, LARGEST_NUMBER, "pixels")
_END = Whole(0, LARGEST_NUMBER, "rows and columns")

QUESTIONS = table_of(
    (
        Form("spectrum", "the spectrum of a pixel", {"pixel": _PIXEL}),
        Form("class_spectra", "mean and spread of the spectra of each class's labelled pixels"),
        Form(
            "histograms",
            "the values of red, green and blue of a preset's picture, or of three bands",
            optional={"preset": Text(), "bands": Text()},
        ),
        Form("why", "the share of each stroke in a pixel's class", {"pixel": _PIXEL}),
        Form("audit", "the strokes with pixels that all other strokes contradict"),
        Form(
            "suggest",
            "pixels to label next",
            optional={"n": Whole(1, MOST_SUGGESTIONS, "suggestions"), "rule": Choice([*RULES])},
        ),
        Form("curve", "mean margin and coverage by time"),
        Form("segment", "the connected piece of the map around a pixel", {"pixel": _PIXEL}),
        Form(
            "read_labels",
            "the labels of a file that is sent, or lies at a path next to the scene",
            optional={"path": Text(longest=1000), "files": Files(), "variable": Text()},
        ),
        Form(
            "numbers",
            "accuracy, a table of the classes, and what the last map changed",
            optional={"by": Choice(["reference", "held_out"])},
        ),
        Form(
            "match_reference",
            "say which class of the reference is which of the session's; the numbers then",
            {"pairs": ClassPairs()},
        ),
        Form("history", "the operations that can be undone and done again"),
        Form(
            "compare",
            "the map of an earlier state of the history, or else the reference",
            optional={"step": Whole(0, LARGEST_NUMBER, "steps")},
        ),
        Form("live", "let the map follow every operation, or not", {"on": Flag()}),
        Form("update", "bring the map up to date"),
        Form("view", "say what part of the raster is in view", dict.fromkeys(SIDES, _END)),
        Form("preview_tau", "the map at another time", {"tau": Whole(1, LARGEST_TAU, "times")}),
        Form(
            "export",
            "write a result to files that can be fetched",
            {"what": Choice([*FORMATS])},
            {"name": Text(longest=100)},
        ),
    )
)

ANSWERS: dict[str, type] = {
    "spectrum": protocol.SpectrumAnswer,
    "class_spectra": protocol.ClassSpectraAnswer,
    "histograms": protocol.HistogramsAnswer,
    "why": protocol.WhyAnswer,
    "audit": protocol.AuditAnswer,
    "suggest": protocol.SuggestAnswer,
    "curve": protocol.CurveAnswer,
    "segment": protocol.SegmentAnswer,
    "read_labels": protocol.ReadLabelsAnswer,
    "numbers": protocol.NumbersAnswer,
    "match_reference": protocol.NumbersAnswer,
    "history": protocol.HistoryAnswer,
    "compare": protocol.CompareAnswer,
    "live": protocol.LiveAnswer,
    "update": protocol.UpdateAnswer,
    "view": protocol.ViewAnswer,
    "preview_tau": protocol.PreviewAnswer,
    "export": protocol.ExportAnswer,
}
