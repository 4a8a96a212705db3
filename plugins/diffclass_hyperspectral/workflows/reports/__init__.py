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
    area_lines,
    certainty_lines,
    holdout_lines,
    match_lines,
    match_warning,
    report_lines,
    score_lines,
)

__all__ = [
    "HIDDEN",
    "IF_KNOWN",
    "MERGED",
    "Facts",
    "RunCosts",
    "RunReport",
    "area_lines",
    "certainty_lines",
    "holdout_lines",
    "match_lines",
    "match_warning",
    "report_lines",
    "score_lines",
    "written_as",
]
