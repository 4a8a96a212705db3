"""What is done with points of any kind, such as pixels and rows, and what is said of it."""

from __future__ import annotations

from diffclass.jobs.anomaly import (
    METHODS,
    Anomalies,
    AnomalyReport,
    detection_of,
    find_anomalies,
    report_anomalies,
)
from diffclass.jobs.clustering import (
    ClusterReport,
    Clusters,
    agreement,
    cluster,
    report_clusters,
)
from diffclass.jobs.embedding import (
    Embedding,
    EmbeddingReport,
    draw_map,
    embed,
    report_embedding,
)
from diffclass.jobs.parameters import check_classifier, check_map, check_neighbors
from diffclass.jobs.point_set import MadePoints, PointSet
from diffclass.jobs.reports import (
    HIDDEN,
    IF_KNOWN,
    MERGED,
    Facts,
    PointsReport,
    RunCosts,
    RunReport,
    hints_worth,
    n_kept_loops,
    plain,
    size_lines,
    written_as,
)
from diffclass.jobs.suggestion import (
    Suggestion,
    SuggestionReport,
    forecast_suggestions,
    suggest_next,
    suggest_points,
    suggestion_costs,
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
    "METHODS",
    "Anomalies",
    "AnomalyReport",
    "ClusterReport",
    "Clusters",
    "Embedding",
    "EmbeddingReport",
    "Facts",
    "MadePoints",
    "Measures",
    "PointSet",
    "PointsReport",
    "Prior",
    "RunCosts",
    "RunReport",
    "Suggestion",
    "SuggestionReport",
    "agreement",
    "check_classifier",
    "check_map",
    "check_neighbors",
    "cluster",
    "detection_of",
    "draw_map",
    "embed",
    "find_anomalies",
    "forecast_suggestions",
    "hints_worth",
    "n_kept_loops",
    "plain",
    "report_anomalies",
    "report_clusters",
    "report_embedding",
    "size_lines",
    "sizes_as_text",
    "sizes_in_words",
    "sizes_of",
    "suggest_next",
    "suggest_points",
    "suggestion_costs",
    "written_as",
    "written_prior",
]
