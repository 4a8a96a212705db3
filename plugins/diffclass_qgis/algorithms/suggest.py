"""*Suggest*: what to label next."""

from __future__ import annotations

from diffclass_qgis.descriptions import (
    CHOICE,
    INTEGER,
    NUMBER,
    SUGGESTIONS,
    VECTOR_OUT,
    Algorithm,
    Alternative,
    Parameter,
)
from diffclass_qgis.shared_parameters import (
    DIFFUSION,
    EITHER_LABELS,
    EITHER_ROI,
    FEATURES,
    FIELD_OF_LABELS,
    LABEL_IMAGE,
    LABELS,
    RUN,
    SCENE,
    SELECTION,
)

SUGGEST = Algorithm(
    "suggest",
    "Suggest",
    "Says which pixels to label next, the most useful first, well apart from each other. Fill in "
    "the field class of the result, and it is a layer of labels. Without labels: where to begin.",
    (
        SCENE,
        LABELS,
        FIELD_OF_LABELS,
        LABEL_IMAGE,
        Parameter(
            "NUMBER",
            INTEGER,
            "Number of pixels",
            "How many to suggest.",
            "--number",
            default=10,
            least=1,
        ),
        Parameter(
            "RULE",
            CHOICE,
            "Rule",
            "hybrid: what lowers the variance of the whole map most, then where classes are close "
            "(margin). unexplored: where few labels arrive. distance: dense and far from labels. "
            "The others come from Gaussian processes.",
            "--rule",
            default="hybrid",
            choices=(
                "hybrid",
                "margin",
                "unexplored",
                "distance",
                "vopt",
                "model-change",
                "uncertainty",
            ),
        ),
        Parameter(
            "MIN_DISTANCE",
            NUMBER,
            "Least distance between two",
            "In pixels.",
            "--min-distance",
            default=5.0,
            least=0,
            advanced=True,
        ),
        FEATURES,
        *SELECTION,
        *DIFFUSION,
        *RUN,
        Parameter(
            "OUTPUT",
            VECTOR_OUT,
            "Suggestions",
            "Points with rank, score, present class and margin, and an empty field class.",
            "--output",
            required=True,
            style=SUGGESTIONS,
        ),
    ),
    (Alternative(EITHER_LABELS), EITHER_ROI),
    (("opening", 1), ("features", 20), ("neighbors", 40), ("affinities", 5), ("diffusion", 20),
     ("eigenpairs", 8), ("suggestions", 5), ("writing", 1)),
)  # fmt: skip
