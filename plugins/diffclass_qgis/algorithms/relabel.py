"""*Open relabel page*: strokes in the browser, served until it is cancelled."""

from __future__ import annotations

from dataclasses import replace

from diffclass_qgis.descriptions import FILE_OUT, Algorithm, Alternative, Parameter
from diffclass_qgis.shared_parameters import (
    COMPONENTS,
    EITHER_LABELS,
    EITHER_ROI,
    FEATURES,
    FIELD_OF_LABELS,
    LABEL_IMAGE,
    LABEL_MODE,
    LABELS,
    NEIGHBORS,
    SCENE,
    SELECTION,
    THREADS,
)

RELABEL = Algorithm(
    "relabel",
    "Open relabel page",
    "Opens the page on which a scene is labelled with strokes, in the browser; the class map "
    "follows every stroke. The page is served until this algorithm is cancelled. Every stroke is "
    "in the session file at once: running this again continues the session. Export map and labels "
    "from the page.",
    (
        SCENE,
        replace(LABELS, help="Labels that a new session begins with."),
        FIELD_OF_LABELS,
        LABEL_IMAGE,
        *SELECTION,
        replace(FEATURES, advanced=True),
        replace(COMPONENTS, help="Empty: 20."),
        replace(NEIGHBORS, help="In the graph. Empty: 12."),
        replace(
            LABEL_MODE,
            help="summed, free: labels diffuse away, and count over the whole walk or at its end. "
            "absorbing: they stay. auto: as Classify chooses.",
            choices=("auto", "summed", "free", "absorbing"),
        ),
        THREADS,
        Parameter(
            "SESSION",
            FILE_OUT,
            "Session",
            "Where strokes are kept; continued if it exists. Empty: beside the scene.",
            "--session",
            extension="jsonl",
        ),
    ),
    (Alternative(EITHER_LABELS), EITHER_ROI),
    is_served=True,
)  # fmt: skip
