"""*Evaluate*: a class map against known classes."""

from __future__ import annotations

from dataclasses import replace

from diffclass_qgis.descriptions import CHOICE, FLAG, INTEGER, Algorithm, Alternative, Parameter
from diffclass_qgis.shared_parameters import (
    EITHER_TRUTH,
    LABELS,
    PICTURE,
    REPORT,
    SCENE,
    THREADS,
    TRUTH,
    TRUTH_FIELD,
    TRUTH_IMAGE,
)

EVALUATE = Algorithm(
    "evaluate",
    "Evaluate",
    "Compares a class map, from here or elsewhere, with known classes: accuracies with their "
    "intervals, precision and recall of each class, the confusion matrix.",
    (
        replace(
            SCENE, name="MAP", label="Class map", help="A raster of class numbers; 0 is no class."
        ),
        replace(TRUTH, option="--labels"),
        TRUTH_FIELD,
        replace(TRUTH_IMAGE, option="--labels"),
        Parameter(
            "MATCH",
            CHOICE,
            "Match classes of truth and map",
            "By name, by number or by best overlap, which makes all figures upper bounds. Not set: "
            "the first of these under which two classes are one.",
            "--match",
            choices=("names", "ids", "overlap"),
            advanced=True,
        ),
        replace(
            LABELS,
            name="FITTED",
            label="Labels the map was made with",
            help="Left out of the truth: they would count as right.",
            option="--fitted",
        ),
        Parameter(
            "GAP",
            INTEGER,
            "Gap around these, in pixels",
            "Truth that lies nearer to them is left out too: neighbours are alike.",
            "--gap",
            least=1,
            advanced=True,
        ),
        replace(
            SCENE,
            name="MARGIN",
            label="Margins of the map",
            help="Shows whether a high margin means a correct class.",
            option="--margin",
            required=False,
            advanced=True,
        ),
        Parameter(
            "AREAS",
            FLAG,
            "Correct the classes' areas",
            "By the truth, which then has to be a random sample of each mapped class.",
            "--areas",
            default=False,
            advanced=True,
        ),
        THREADS,
        REPORT,
        PICTURE,
    ),
    (Alternative(EITHER_TRUTH, required=True),),
    figures=(
        ("overall_accuracy", "Overall accuracy"),
        ("average_accuracy", "Average accuracy of the classes"),
        ("kappa", "Kappa"),
        ("n_points", "Pixels compared"),
    ),
)
