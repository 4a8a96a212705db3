"""What is said of classes that are compared with the truth."""

from __future__ import annotations

from dataclasses import dataclass, field

from diffclass.evaluation import Scores
from diffclass.jobs.reports import MERGED, Facts


@dataclass(frozen=True, eq=False, kw_only=True)
class EvaluationReport(Facts):
    """How far classes agree with the truth; a kind of input adds what it alone has."""

    scores: Scores = field(metadata=MERGED)
    unclassified: int  # of the points compared, which count as wrong
