"""Scores of how unlike the others each pixel is, and what is known about them."""

from diffclass_hyperspectral.workflows.anomalies.report import draw_anomalies, report_anomalies
from diffclass_hyperspectral.workflows.anomalies.scores import (
    SceneAnomalies,
    detection_of,
    find_anomalies,
    known_anomalies,
)

__all__ = [
    "SceneAnomalies",
    "detection_of",
    "draw_anomalies",
    "find_anomalies",
    "known_anomalies",
    "report_anomalies",
]
