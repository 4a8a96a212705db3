"""Clusters of a scene's pixels, and what is known about them."""

from diffclass_hyperspectral.workflows.clustering.clusters import (
    ClusterSpectra,
    SceneClusters,
    agreement,
    cluster_scene,
    known_classes,
    mean_spectra,
)
from diffclass_hyperspectral.workflows.clustering.report import draw_clusters, report_clusters

__all__ = [
    "ClusterSpectra",
    "SceneClusters",
    "agreement",
    "cluster_scene",
    "draw_clusters",
    "known_classes",
    "mean_spectra",
    "report_clusters",
]
