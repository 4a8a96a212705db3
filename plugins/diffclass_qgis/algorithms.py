"""The table of the toolbox's algorithms: all that tells one from another is here."""

from __future__ import annotations

from dataclasses import replace

from diffclass_qgis import descriptions as kinds
from diffclass_qgis import shared_parameters as shared
from diffclass_qgis.descriptions import Algorithm, Alternative, Parameter
from diffclass_qgis.shared_parameters import advanced_option, option

_FURTHER = Parameter(
    "FURTHER",
    kinds.RASTERS,
    "Further scenes",
    "Tiles or flight lines that share the scene's map grid: one graph, one model and one map of "
    "all. The labels are shapes, an image of any extent, or a folder of images.",
)
_CLASS_MAP = replace(
    shared.SCENE,
    name="MAP",
    label="Class map",
    help="A raster of class numbers; 0 is no class.",
)
_MAPS = (
    shared.OUTPUT,
    option(
        "MARGIN",
        kinds.RASTER_OUT,
        "Margins",
        "Between 0 and 1: by how much the best class is more probable than the second best. "
        "Drawn over the map it covers what is unsure.",
        style=kinds.MARGINS,
    ),
    option(
        "PROBABILITY",
        kinds.RASTER_OUT,
        "Probabilities",
        "Calibrated, one band per class.",
    ),
    option(
        "AMBIGUITY",
        kinds.RASTER_OUT,
        "Ambiguity",
        "How many classes may be a pixel's own; sets of so many hold the true one in nine of ten "
        "pixels.",
    ),
)

CLASSIFY = Algorithm(
    "classify",
    "Classify",
    "Classifies every pixel of a scene from a few labels: the labels diffuse over a graph that "
    "joins pixels with like spectra. Five labelled places per class are a beginning; Suggest says "
    "where the next ones help most. The accuracy can be told only by labels that are held out.",
    (
        shared.SCENE,
        _FURTHER,
        shared.LABELS,
        shared.FIELD_OF_LABELS,
        shared.LABEL_IMAGE,
        Parameter(
            "LABEL_FOLDER",
            kinds.FOLDER,
            "Labels as a folder of images",
            "Instead of a layer, for several scenes: images that are named as the scenes are.",
            "--labels",
            advanced=True,
        ),
        shared.FEATURES,
        option(
            "HOLDOUT",
            kinds.CHOICE,
            "Labels held out to measure the accuracy",
            "random: half of them. blocks: those in parts of the picture apart from the others, "
            "which says more about places where nobody has labelled. Empty: none.",
            choices=("random", "blocks", "both"),
        ),
        advanced_option(
            "LABELS_PER_CLASS",
            kinds.INTEGER,
            "Labels per class to fit on",
            "As many are drawn of each class, and the others are held out. Empty: all labels.",
            least=1,
        ),
        advanced_option(
            "MIN_MARGIN",
            kinds.NUMBER,
            "Least margin",
            "Pixels with a smaller one stay unclassified. The margin is by how much the best class "
            "is more probable than the second best.",
            least=0,
            most=1,
        ),
        advanced_option(
            "MAJORITY",
            kinds.INTEGER,
            "Width of a majority filter",
            "In pixels, an odd number: 3, 5, ... Empty: the map is not smoothed.",
            least=3,
        ),
        advanced_option(
            "MIN_AREA",
            kinds.INTEGER,
            "Least segment",
            "Segments of fewer pixels join a neighbouring class.",
            least=2,
        ),
        *shared.SELECTION,
        *shared.DIFFUSION,
        *shared.RUN,
        *_MAPS,
        option(
            "SAVE",
            kinds.FILE_OUT,
            "Model",
            "To be applied to other scenes of the same sensor.",
            extension="model",
        ),
        replace(shared.REPORT, help="All numbers of the run as JSON, and what Run again needs."),
    ),
    (Alternative((*shared.EITHER_LABELS, "LABEL_FOLDER"), required=True), shared.EITHER_ROI),
    (("opening", 1), ("features", 20), ("neighbors", 45), ("affinities", 5), ("diffusion", 25),
     ("writing", 4)),
    (("mean_margin", "Mean margin"), ("holdout.overall_accuracy", "Accuracy on labels held out")),
)  # fmt: skip

APPLY = Algorithm(
    "classify",
    "Apply model",
    "Classifies every pixel of another scene with a model that Classify has saved. Pixels beyond "
    "the reach of those that the model was fitted to stay unclassified; Novelty shows how far they "
    "are.",
    (
        shared.SCENE,
        replace(_FURTHER, help="Tiles or flight lines that share the scene's map grid."),
        option(
            "MODEL",
            kinds.FILE,
            "Model",
            "A file that Classify has saved.",
            extension="model",
            required=True,
        ),
        advanced_option(
            "CLASSIFY_ALL",
            kinds.FLAG,
            "Classify all pixels",
            "Also those beyond the reach of the pixels that the model was fitted to.",
            default=False,
        ),
        *(one for one in shared.SELECTION if one.name != "BANDS"),
        shared.THREADS,
        *_MAPS,
        option(
            "NOVELTY",
            kinds.RASTER_OUT,
            "Novelty",
            "Distance of each pixel to those that the model was fitted to, in units of theirs; "
            "above 5 it is beyond their reach.",
        ),
        shared.REPORT,
    ),
    (shared.EITHER_ROI,),
    (("opening", 10), ("features", 80), ("writing", 10)),
    own_id="apply",
)  # fmt: skip

RERUN = Algorithm(
    "rerun",
    "Run again",
    "Runs a classification again from its report, and says whether the map is the same, and which "
    "inputs have changed since.",
    (
        Parameter(
            "OF_REPORT",
            kinds.FILE,
            "Report",
            "The JSON that Classify has written.",
            extension="json",
            required=True,
        ),
        option(
            "INTO",
            kinds.FOLDER,
            "Folder for the files",
            "They have their names of before. Empty: they replace those of before.",
        ),
        shared.THREADS,
    ),
    stages=(("opening", 1), ("features", 20), ("neighbors", 45), ("affinities", 5),
            ("diffusion", 25), ("writing", 4)),
)  # fmt: skip

EMBED = Algorithm(
    "embed",
    "Embed",
    "Gives each pixel its diffusion coordinates, a band for each: pixels that are joined by many "
    "short paths through like spectra are near each other.",
    (
        shared.SCENE,
        option(
            "COMPONENTS",
            kinds.INTEGER,
            "Number of coordinates",
            "Each is a band.",
            default=3,
            least=1,
        ),
        advanced_option(
            "NEIGHBORS",
            kinds.INTEGER,
            "Neighbours of a pixel",
            "In the graph, at least.",
            default=64,
            least=1,
        ),
        shared.FEATURES,
        shared.METRIC,
        *shared.SELECTION,
        *shared.RUN,
        replace(
            shared.OUTPUT,
            label="Coordinates",
            help="One band per coordinate.",
            style="",
        ),
        shared.PICTURE,
        shared.REPORT,
    ),
    (shared.EITHER_ROI,),
    (("opening", 1), ("features", 10), ("neighbors", 60), ("affinities", 9), ("eigenpairs", 15),
     ("writing", 5)),
)  # fmt: skip

EVALUATE = Algorithm(
    "evaluate",
    "Evaluate",
    "Compares a class map, from here or elsewhere, with known classes: accuracies with their "
    "intervals, precision and recall of each class, the confusion matrix.",
    (
        _CLASS_MAP,
        replace(shared.TRUTH, option="--labels"),
        shared.TRUTH_FIELD,
        replace(shared.TRUTH_IMAGE, option="--labels"),
        advanced_option(
            "MATCH",
            kinds.CHOICE,
            "Match classes of truth and map",
            "By name, by number or by best overlap, which makes all figures upper bounds. Not set: "
            "the first of these under which two classes are one.",
            choices=("names", "ids", "overlap"),
        ),
        replace(
            shared.LABELS,
            name="FITTED",
            label="Labels the map was made with",
            help="Left out of the truth: they would count as right.",
            option="--fitted",
        ),
        advanced_option(
            "GAP",
            kinds.INTEGER,
            "Gap around these, in pixels",
            "Truth that lies nearer to them is left out too: neighbours are alike.",
            least=1,
        ),
        replace(
            shared.SCENE,
            name="MARGIN",
            label="Margins of the map",
            help="Shows whether a high margin means a correct class.",
            option="--margin",
            required=False,
            advanced=True,
        ),
        advanced_option(
            "AREAS",
            kinds.FLAG,
            "Correct the classes' areas",
            "By the truth, which then has to be a random sample of each mapped class.",
            default=False,
        ),
        shared.THREADS,
        shared.REPORT,
        shared.PICTURE,
    ),
    (Alternative(shared.EITHER_TRUTH, required=True),),
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
        shared.SCENE,
        shared.LABELS,
        shared.FIELD_OF_LABELS,
        shared.LABEL_IMAGE,
        option(
            "NUMBER",
            kinds.INTEGER,
            "Number of pixels",
            "How many to suggest.",
            default=10,
            least=1,
        ),
        option(
            "RULE",
            kinds.CHOICE,
            "Rule",
            "coverage: pixels that stand for many others in doubt. margin: pixels where classes "
            "are close.",
            default="coverage",
            choices=("coverage", "margin"),
        ),
        advanced_option(
            "MIN_DISTANCE",
            kinds.NUMBER,
            "Least distance between two",
            "In pixels.",
            default=5.0,
            least=0,
        ),
        shared.FEATURES,
        *shared.SELECTION,
        *shared.DIFFUSION,
        *shared.RUN,
        option(
            "OUTPUT",
            kinds.VECTOR_OUT,
            "Suggestions",
            "Points with rank, score, present class and margin, and an empty field class.",
            required=True,
            style=kinds.SUGGESTIONS,
        ),
    ),
    (Alternative(shared.EITHER_LABELS), shared.EITHER_ROI),
    (("opening", 1), ("features", 20), ("neighbors", 40), ("affinities", 5), ("diffusion", 20),
     ("eigenpairs", 8), ("suggestions", 5), ("writing", 1)),
)  # fmt: skip

VALIDATION = Algorithm(
    "suggest",
    "Draw validation points",
    "Draws pixels of a class map at random, to find out their classes in the field. With the field "
    "class filled in the points are the truth of Evaluate, which corrects the classes' areas by "
    "them.",
    (
        _CLASS_MAP,
        Parameter(
            "NUMBER",
            kinds.INTEGER,
            "Number of points",
            "At least two for each class.",
            "--for-validation",
            least=1,
            required=True,
        ),
        option(
            "BY_CLASS",
            kinds.FLAG,
            "By class",
            "Half of the points in equal parts for each class, so that rare ones can be judged, "
            "half by area. Otherwise all pixels have the same chance.",
            default=False,
        ),
        shared.SEED,
        option(
            "OUTPUT",
            kinds.VECTOR_OUT,
            "Validation points",
            "Points with an id in random order, and an empty field class.",
            required=True,
        ),
    ),
    own_id="validation",
)

CLUSTER = Algorithm(
    "cluster",
    "Cluster",
    "Divides the pixels of a scene into clusters: classes without labels, numbered by falling "
    "size. To name them, compare their mean spectra in the report.",
    (
        shared.SCENE,
        option(
            "CLUSTERS",
            kinds.INTEGER,
            "Number of clusters",
            "Empty: the one before the widest gap of the walk's spectrum.",
            least=2,
        ),
        option(
            "METHOD",
            kinds.CHOICE,
            "Method",
            "kmeans: around means, in diffusion coordinates. modes: around dense pixels that are "
            "far from denser ones.",
            default="kmeans",
            choices=("kmeans", "modes"),
        ),
        shared.FEATURES,
        shared.METRIC,
        shared.COMPONENTS,
        *shared.SELECTION,
        shared.TRUTH,
        shared.TRUTH_FIELD,
        shared.TRUTH_IMAGE,
        *shared.RUN,
        replace(shared.OUTPUT, label="Clusters", help="Number and colour of each pixel's cluster."),
        shared.PICTURE,
        shared.REPORT,
    ),
    (Alternative(shared.EITHER_TRUTH), shared.EITHER_ROI),
    (("opening", 1), ("features", 20), ("neighbors", 50), ("affinities", 5), ("eigenpairs", 10),
     ("clusters", 10), ("mean spectra", 3), ("writing", 1)),
    (("n_clusters", "Number of clusters"),),
)  # fmt: skip

ANOMALY = Algorithm(
    "anomaly",
    "Anomaly",
    "Scores every pixel by how unlike the others its spectrum is. "
    "Edges and shadows score high too.",
    (
        shared.SCENE,
        option(
            "METHOD",
            kinds.CHOICE,
            "Method",
            "diffusion: how far the walk from a pixel is from equilibrium. rx: squared Mahalanobis "
            "distance from the mean. isolation-forest: how few cuts set a pixel apart.",
            default="diffusion",
            choices=("diffusion", "rx", "isolation-forest"),
        ),
        replace(
            shared.NEIGHBORS,
            default=32,
            help="Of diffusion: more than there are anomalies that are alike.",
        ),
        advanced_option(
            "TIME",
            kinds.INTEGER,
            "Steps of the walk",
            "Of diffusion: more find groups of anomalies that are alike, and lose mixed pixels.",
            default=1,
            least=1,
        ),
        *shared.SELECTION,
        replace(
            shared.TRUTH, help="Known anomalies: the report then has the area under the ROC curve."
        ),
        shared.TRUTH_FIELD,
        replace(shared.TRUTH_IMAGE, help="Instead of shapes: a raster with anomalies above 0."),
        *shared.RUN,
        option(
            "OUTPUT",
            kinds.RASTER_OUT,
            "Anomaly scores",
            "One band; pixels without data have none.",
            required=True,
            style=kinds.SCORES,
        ),
        shared.PICTURE,
        shared.REPORT,
    ),
    (Alternative(shared.EITHER_TRUTH), shared.EITHER_ROI),
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
        shared.SCENE,
        replace(shared.LABELS, help="Labels that a new session begins with."),
        shared.FIELD_OF_LABELS,
        shared.LABEL_IMAGE,
        *shared.SELECTION,
        replace(shared.FEATURES, advanced=True),
        replace(shared.COMPONENTS, help="Empty: 20."),
        replace(shared.NEIGHBORS, help="In the graph. Empty: 12."),
        replace(
            shared.LABEL_MODE,
            help="summed, free: labels diffuse away, and count over the whole walk or at its end. "
            "absorbing: they stay. auto: as Classify chooses.",
            choices=("auto", "summed", "free", "absorbing"),
        ),
        shared.THREADS,
        option(
            "SESSION",
            kinds.FILE_OUT,
            "Session",
            "Where strokes are kept; continued if it exists. Empty: next to the scene.",
            extension="jsonl",
        ),
    ),
    (Alternative(shared.EITHER_LABELS), shared.EITHER_ROI),
    is_served=True,
)  # fmt: skip

ALGORITHMS = (
    CLASSIFY, APPLY, RERUN, EVALUATE, SUGGEST, VALIDATION, CLUSTER, ANOMALY, EMBED, RELABEL,
)  # fmt: skip
