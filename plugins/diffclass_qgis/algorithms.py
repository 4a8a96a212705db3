"""The table of the toolbox's algorithms: all that tells one from another is here."""

from __future__ import annotations

from dataclasses import replace

from diffclass_qgis.descriptions import (
    CHOICE,
    FILE_OUT,
    FLAG,
    FOLDER,
    INTEGER,
    MARGINS,
    NUMBER,
    RASTER_OUT,
    RASTERS,
    SCORES,
    SUGGESTIONS,
    VECTOR_OUT,
    Algorithm,
    Alternative,
    Parameter,
)
from diffclass_qgis.shared_parameters import (
    COMPONENTS,
    DIFFUSION,
    EITHER_LABELS,
    EITHER_ROI,
    EITHER_TRUTH,
    FEATURES,
    FIELD_OF_LABELS,
    LABEL_IMAGE,
    LABEL_MODE,
    LABELS,
    METRIC,
    NEIGHBORS,
    OUTPUT,
    PICTURE,
    REPORT,
    RUN,
    SCENE,
    SELECTION,
    THREADS,
    TRUTH,
    TRUTH_FIELD,
    TRUTH_IMAGE,
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

ALGORITHMS = (CLASSIFY, EVALUATE, SUGGEST, CLUSTER, ANOMALY, RELABEL)
