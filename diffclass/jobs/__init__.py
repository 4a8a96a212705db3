"""What is done with points of any kind, such as pixels and rows, and what is said of it."""

from __future__ import annotations

from diffclass.jobs.embedding import EmbeddingReport, draw_map, embedding_costs, report_embedding
from diffclass.jobs.parameters import check_classifier, check_map, check_neighbors
from diffclass.jobs.point_set import MadePoints, PointSet
from diffclass.jobs.reports import (
    HIDDEN,
    IF_KNOWN,
    MERGED,
    Facts,
    RunCosts,
    RunReport,
    hints_worth,
    n_kept_loops,
    plain,
    size_lines,
    written_as,
)
from diffclass.jobs.written_sizes import (
    Measures,
    Prior,
    sizes_as_text,
    sizes_in_words,
    sizes_of,
    written_prior,
)

__all__ = [
    "HIDDEN",
    "IF_KNOWN",
    "MERGED",
    "EmbeddingReport",
    "Facts",
    "MadePoints",
    "Measures",
    "PointSet",
    "Prior",
    "RunCosts",
    "RunReport",
    "check_classifier",
    "check_map",
    "check_neighbors",
    "draw_map",
    "embedding_costs",
    "hints_worth",
    "n_kept_loops",
    "plain",
    "report_embedding",
    "size_lines",
    "sizes_as_text",
    "sizes_in_words",
    "sizes_of",
    "written_as",
    "written_prior",
]
