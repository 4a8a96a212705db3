"""What all reports have in common: facts for programs, lines for people."""

from diffclass_hyperspectral.workflows.reports.facts import (
    HIDDEN,
    IF_KNOWN,
    MERGED,
    Facts,
    RunCosts,
    RunReport,
    written_as,
)
from diffclass_hyperspectral.workflows.reports.lines import (
    accuracy_lines,
    certainty_lines,
    span_text,
    with_span,
)

__all__ = [
    "HIDDEN",
    "IF_KNOWN",
    "MERGED",
    "Facts",
    "RunCosts",
    "RunReport",
    "accuracy_lines",
    "certainty_lines",
    "span_text",
    "with_span",
    "written_as",
]
