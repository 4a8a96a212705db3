"""*Classify*: a scene and labels in, a class map out."""

from __future__ import annotations

from diffclass_qgis.descriptions import (
    CHOICE,
    FOLDER,
    INTEGER,
    MARGINS,
    NUMBER,
    RASTER_OUT,
    RASTERS,
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
    OUTPUT,
    REPORT,
    RUN,
    SCENE,
    SELECTION,
)

CLASSIFY = Algorithm(
    "classify",
    "Classify",
    "Classifies every pixel of a scene from a few labels: the labels diffuse over a graph that "
    "joins pixels with like spectra. Five labelled places per class are a beginning; Suggest says "
    "where the next ones help most. The accuracy can be told only by labels that are held out.",
    (
        SCENE,
        Parameter(
            "FURTHER",
            RASTERS,
            "Further scenes",
            "Tiles or flight lines that share the scene's map grid: one graph, one model and one "
            "map of all. The labels are shapes, an image of any extent, or a folder of images.",
        ),
        LABELS,
        FIELD_OF_LABELS,
        LABEL_IMAGE,
        Parameter(
            "LABEL_FOLDER",
            FOLDER,
            "Labels as a folder of images",
            "Instead of a layer, for several scenes: images that are named as the scenes are.",
            "--labels",
            advanced=True,
        ),
        FEATURES,
        Parameter(
            "HOLDOUT",
            CHOICE,
            "Labels held out to measure the accuracy",
            "random: half of them. blocks: those in parts of the picture apart from the others, "
            "which says more about places where nobody has labelled. Empty: none.",
            "--holdout",
            choices=("random", "blocks", "both"),
        ),
        Parameter(
            "LABELS_PER_CLASS",
            INTEGER,
            "Labels per class to fit on",
            "As many are drawn of each class, and the others are held out. Empty: all labels.",
            "--labels-per-class",
            least=1,
            advanced=True,
        ),
        Parameter(
            "MIN_MARGIN",
            NUMBER,
            "Least margin",
            "Pixels with a smaller one stay unclassified. The margin is by how much the best class "
            "is more probable than the second best.",
            "--min-margin",
            least=0,
            most=1,
            advanced=True,
        ),
        Parameter(
            "MAJORITY",
            INTEGER,
            "Width of a majority filter",
            "In pixels, an odd number: 3, 5, ... Empty: the map is not smoothed.",
            "--majority",
            least=3,
            advanced=True,
        ),
        Parameter(
            "MIN_AREA",
            INTEGER,
            "Least segment",
            "Segments of fewer pixels join a neighbouring class.",
            "--min-area",
            least=2,
            advanced=True,
        ),
        *SELECTION,
        *DIFFUSION,
        *RUN,
        OUTPUT,
        Parameter(
            "MARGIN",
            RASTER_OUT,
            "Margins",
            "Between 0 and 1: by how much the best class is more probable than the second best. "
            "Drawn over the map it covers what is unsure.",
            "--margin",
            style=MARGINS,
        ),
        Parameter(
            "PROBABILITY",
            RASTER_OUT,
            "Probabilities",
            "Calibrated, one band per class.",
            "--probability",
        ),
        REPORT,
    ),
    (Alternative((*EITHER_LABELS, "LABEL_FOLDER"), required=True), EITHER_ROI),
    (("opening", 1), ("features", 20), ("neighbors", 45), ("affinities", 5), ("diffusion", 25),
     ("writing", 4)),
    (("mean_margin", "Mean margin"), ("holdout.overall_accuracy", "Accuracy on labels held out")),
)  # fmt: skip
