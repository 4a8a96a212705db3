"""What all reports have in common: facts for programs, lines for people."""

from diffclass_hyperspectral.workflows.reports.facts import Facts, RunCosts, RunReport, plain
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
    "Facts",
    "RunCosts",
    "RunReport",
    "area_lines",
    "certainty_lines",
    "holdout_lines",
    "match_lines",
    "match_warning",
    "plain",
    "report_lines",
    "score_lines",
]
