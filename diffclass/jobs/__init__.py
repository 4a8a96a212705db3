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
from diffclass.jobs.classification.forecasts import forecast_classification
from diffclass.jobs.classification.holdout import (
    AT_RANDOM,
    IN_BLOCKS,
    Holdout,
    check_two_classes,
    none_left,
    warn_of_lost_labels,
)
from diffclass.jobs.classification.places import MEMORY, InBlocks, InMemory
from diffclass.jobs.classification.report import (
    ClassesReport,
    ClassFacts,
    Classifier,
    FitFacts,
    HoldoutFacts,
    share,
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
from diffclass.jobs.evaluation import (
    Certainty,
    EvaluationReport,
    measure_certainty,
    other_accuracies,
    span_text,
    with_span,
)
from diffclass.jobs.parameters import (
    check_classifier,
    check_map,
    taken_neighbors,
)
from diffclass.jobs.point_set import MadePoints, PointSet
from diffclass.jobs.reports import (
    HIDDEN,
    IF_KNOWN,
    MERGED,
    Facts,
    PointsReport,
    RunCosts,
    RunReport,
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
    "AT_RANDOM",
    "HIDDEN",
    "IF_KNOWN",
    "IN_BLOCKS",
    "MEMORY",
    "MERGED",
    "METHODS",
    "Anomalies",
    "AnomalyReport",
    "Certainty",
    "ClassFacts",
    "ClassesReport",
    "Classifier",
    "ClusterReport",
    "Clusters",
    "Embedding",
    "EmbeddingReport",
    "EvaluationReport",
    "Facts",
    "FitFacts",
    "Holdout",
    "HoldoutFacts",
    "InBlocks",
    "InMemory",
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
    "check_two_classes",
    "cluster",
    "detection_of",
    "draw_map",
    "embed",
    "find_anomalies",
    "forecast_classification",
    "forecast_suggestions",
    "measure_certainty",
    "n_kept_loops",
    "none_left",
    "other_accuracies",
    "plain",
    "report_anomalies",
    "report_clusters",
    "report_embedding",
    "share",
    "size_lines",
    "sizes_as_text",
    "sizes_in_words",
    "sizes_of",
    "span_text",
    "suggest_next",
    "suggest_points",
    "taken_neighbors",
    "warn_of_lost_labels",
    "with_span",
    "written_as",
    "written_prior",
]
