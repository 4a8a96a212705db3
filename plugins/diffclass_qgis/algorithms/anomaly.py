"""*Anomaly*: how unlike the others each pixel is."""

from __future__ import annotations

from dataclasses import replace

from diffclass_qgis.descriptions import (
    CHOICE,
    INTEGER,
    RASTER_OUT,
    SCORES,
    Algorithm,
    Alternative,
    Parameter,
)
from diffclass_qgis.shared_parameters import (
    EITHER_ROI,
    EITHER_TRUTH,
    NEIGHBORS,
    PICTURE,
    REPORT,
    RUN,
    SCENE,
    SELECTION,
    TRUTH,
    TRUTH_FIELD,
    TRUTH_IMAGE,
)

ANOMALY = Algorithm(
    "anomaly",
    "Anomaly",
    "Scores every pixel by how unlike the others its spectrum is; the higher, the stranger. Edges "
    "and shadows score high too.",
    (
        SCENE,
        Parameter(
            "METHOD",
            CHOICE,
            "Method",
            "diffusion: how far the walk from a pixel is from equilibrium. rx: squared Mahalanobis "
            "distance from the mean. isolation-forest: how few cuts set a pixel apart.",
            "--method",
            default="diffusion",
            choices=("diffusion", "rx", "isolation-forest"),
        ),
        replace(
            NEIGHBORS,
            default=32,
            help="Of diffusion: more than there are anomalies that are alike.",
        ),
        Parameter(
            "TIME",
            INTEGER,
            "Steps of the walk",
            "Of diffusion: more find groups of anomalies that are alike, and lose mixed pixels.",
            "--time",
            default=1,
            least=1,
            advanced=True,
        ),
        *SELECTION,
        replace(TRUTH, help="Known anomalies: the report then has the area under the ROC curve."),
        TRUTH_FIELD,
        replace(TRUTH_IMAGE, help="Instead of shapes: a raster with anomalies above 0."),
        *RUN,
        Parameter(
            "OUTPUT",
            RASTER_OUT,
            "Anomaly scores",
            "One band; pixels without data have none.",
            "--output",
            required=True,
            style=SCORES,
        ),
        PICTURE,
        REPORT,
    ),
    (Alternative(EITHER_TRUTH), EITHER_ROI),
    (("opening", 1), ("covariance", 10), ("components", 10), ("neighbors", 65), ("affinities", 9),
     ("writing", 5)),
)  # fmt: skip
