"""*Cluster*: classes without labels."""

from __future__ import annotations

from dataclasses import replace

from diffclass_qgis.descriptions import CHOICE, INTEGER, Algorithm, Alternative, Parameter
from diffclass_qgis.shared_parameters import (
    COMPONENTS,
    EITHER_ROI,
    EITHER_TRUTH,
    FEATURES,
    METRIC,
    OUTPUT,
    PICTURE,
    REPORT,
    RUN,
    SCENE,
    SELECTION,
    TRUTH,
    TRUTH_FIELD,
    TRUTH_IMAGE,
)

CLUSTER = Algorithm(
    "cluster",
    "Cluster",
    "Divides the pixels of a scene into clusters: classes without labels, numbered by falling "
    "size. What they are is for you to say: compare their mean spectra in the report.",
    (
        SCENE,
        Parameter(
            "CLUSTERS",
            INTEGER,
            "Number of clusters",
            "Empty: the one before the widest gap of the walk's spectrum.",
            "--clusters",
            least=2,
        ),
        Parameter(
            "METHOD",
            CHOICE,
            "Method",
            "kmeans: around means, in diffusion coordinates. modes: around dense pixels that are "
            "far from denser ones.",
            "--method",
            default="kmeans",
            choices=("kmeans", "modes"),
        ),
        FEATURES,
        METRIC,
        COMPONENTS,
        *SELECTION,
        TRUTH,
        TRUTH_FIELD,
        TRUTH_IMAGE,
        *RUN,
        replace(OUTPUT, label="Clusters", help="Number and colour of each pixel's cluster."),
        PICTURE,
        REPORT,
    ),
    (Alternative(EITHER_TRUTH), EITHER_ROI),
    (("opening", 1), ("features", 20), ("neighbors", 50), ("affinities", 5), ("eigenpairs", 10),
     ("clusters", 10), ("mean spectra", 3), ("writing", 1)),
    (("n_clusters", "Number of clusters"),),
)  # fmt: skip
