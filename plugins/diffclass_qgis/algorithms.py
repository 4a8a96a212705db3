"""The table of the toolbox's algorithms: all that tells one from another is here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from diffclass_qgis import descriptions as kinds
from diffclass_qgis import shared_parameters as shared
from diffclass_qgis.descriptions import Algorithm, Alternative, Parameter
from diffclass_qgis.shared_parameters import advanced_option, of_command, option


def _algorithm(
    command: str,
    title: str,
    help: str,
    parameters: tuple[Parameter, ...],
    *more: Any,
    **others: Any,
) -> Algorithm:
    return Algorithm(command, title, help, of_command(command, parameters), *more, **others)


_FURTHER = Parameter(
    "FURTHER",
    "Further scenes",
    kinds.RASTERS,
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
        "Margins",
        kinds.RASTER_OUT,
        "Between 0 and 1: by how much the best class is more probable than the second best. "
        "Drawn over the map it covers what is unsure.",
        style=kinds.MARGINS,
    ),
    option("PROBABILITY", "Probabilities", kinds.RASTER_OUT, "Calibrated, one band per class."),
    option(
        "AMBIGUITY",
        "Ambiguity",
        kinds.RASTER_OUT,
        "How many classes may be a pixel's own; sets of so many hold the true one in nine of ten "
        "pixels.",
    ),
)

CLASSIFY = _algorithm(
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
            "Labels as a folder of images",
            kinds.FOLDER,
            "Instead of a layer, for several scenes: images that are named as the scenes are.",
            "--labels",
            advanced=True,
        ),
        shared.FEATURES,
        option("HOLDOUT", "Labels held out to measure the accuracy"),
        advanced_option("LABELS_PER_CLASS", "Labels per class to fit on"),
        advanced_option("MIN_MARGIN", "Least margin"),
        advanced_option("MAJORITY", "Width of a majority filter"),
        advanced_option("MIN_AREA", "Least segment"),
        *shared.SELECTION,
        *shared.DIFFUSION,
        *shared.RUN,
        *_MAPS,
        option(
            "SAVE",
            "Model",
            kinds.FILE_OUT,
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

APPLY = _algorithm(
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
            "Model",
            kinds.FILE,
            "A file that Classify has saved.",
            extension="model",
            required=True,
        ),
        advanced_option("CLASSIFY_ALL", "Classify all pixels"),
        *(one for one in shared.SELECTION if one.name != "BANDS"),
        shared.THREADS,
        *_MAPS,
        option(
            "NOVELTY",
            "Novelty",
            kinds.RASTER_OUT,
            "Distance of each pixel to those that the model was fitted to, in units of theirs; "
            "above 5 it is beyond their reach.",
        ),
        shared.REPORT,
    ),
    (shared.EITHER_ROI,),
    (("opening", 10), ("features", 80), ("writing", 10)),
    own_id="apply",
)  # fmt: skip

RERUN = _algorithm(
    "rerun",
    "Run again",
    "Runs an algorithm again from its report, and says whether the result is the same, and which "
    "inputs have changed since.",
    (
        Parameter(
            "OF_REPORT",
            "Report",
            kinds.FILE,
            "The JSON that it has written as its report.",
            extension="json",
            required=True,
        ),
        option(
            "INTO",
            "Folder for the files",
            kinds.FOLDER,
            "They have their names of before. Empty: they replace those of before.",
        ),
        shared.THREADS,
    ),
    stages=(("opening", 1), ("features", 20), ("neighbors", 45), ("affinities", 5),
            ("diffusion", 25), ("writing", 4)),
)  # fmt: skip

EMBED = _algorithm(
    "embed",
    "Embed",
    "Gives each pixel its diffusion coordinates, a band for each: pixels that are joined by many "
    "short paths through like spectra are near each other.",
    (
        shared.SCENE,
        option("COMPONENTS", "Number of coordinates"),
        advanced_option("NEIGHBORS", "Neighbours of a pixel"),
        shared.FEATURES,
        shared.METRIC,
        *shared.SELECTION,
        *shared.RUN,
        replace(shared.OUTPUT, label="Coordinates", help="One band per coordinate.", style=""),
        shared.PICTURE,
        shared.REPORT,
    ),
    (shared.EITHER_ROI,),
    (("opening", 1), ("features", 10), ("neighbors", 60), ("affinities", 9), ("eigenpairs", 15),
     ("writing", 5)),
)  # fmt: skip

EVALUATE = _algorithm(
    "evaluate",
    "Evaluate",
    "Compares a class map, from here or elsewhere, with known classes: accuracies with their "
    "intervals, precision and recall of each class, the confusion matrix.",
    (
        _CLASS_MAP,
        replace(shared.TRUTH, option="--labels"),
        shared.TRUTH_FIELD,
        replace(shared.TRUTH_IMAGE, option="--labels"),
        advanced_option("MATCH", "Match classes of truth and map"),
        replace(
            shared.LABELS,
            name="FITTED",
            label="Labels the map was made with",
            help="Left out of the truth: they would count as right.",
            option="--fitted",
        ),
        advanced_option("GAP", "Gap around these, in pixels"),
        replace(
            shared.SCENE,
            name="MARGIN",
            label="Margins of the map",
            help="Shows whether a high margin means a correct class.",
            option="--margin",
            required=False,
            advanced=True,
        ),
        advanced_option("AREAS", "Correct the classes' areas"),
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

SUGGEST = _algorithm(
    "suggest",
    "Suggest",
    "Says which pixels to label next, the most useful first, well apart from each other. Fill in "
    "the field class of the result, and it is a layer of labels. Without labels: where to begin.",
    (
        shared.SCENE,
        shared.LABELS,
        shared.FIELD_OF_LABELS,
        shared.LABEL_IMAGE,
        option("NUMBER", "Number of pixels"),
        option("RULE", "Rule"),
        advanced_option("MIN_DISTANCE", "Least distance between two"),
        shared.FEATURES,
        *shared.SELECTION,
        *shared.DIFFUSION,
        *shared.RUN,
        option(
            "OUTPUT",
            "Suggestions",
            kinds.VECTOR_OUT,
            "Points with rank, score, present class and margin, and an empty field class.",
            required=True,
            style=kinds.SUGGESTIONS,
        ),
    ),
    (Alternative(shared.EITHER_LABELS), shared.EITHER_ROI),
    (("opening", 1), ("features", 20), ("neighbors", 40), ("affinities", 5), ("diffusion", 20),
     ("eigenpairs", 8), ("suggestions", 5), ("writing", 1)),
)  # fmt: skip

VALIDATION = _algorithm(
    "suggest",
    "Draw validation points",
    "Draws pixels of a class map at random, to find out their classes in the field. With the field "
    "class filled in the points are the truth of Evaluate, which corrects the classes' areas by "
    "them.",
    (
        _CLASS_MAP,
        Parameter("NUMBER", "Number of points", option="--for-validation", required=True),
        option("BY_CLASS", "By class"),
        shared.SEED,
        option(
            "OUTPUT",
            "Validation points",
            kinds.VECTOR_OUT,
            "Points with an id in random order, and an empty field class.",
            required=True,
        ),
    ),
    own_id="validation",
)

CLUSTER = _algorithm(
    "cluster",
    "Cluster",
    "Divides the pixels of a scene into clusters: classes without labels, numbered by falling "
    "size. To name them, compare their mean spectra in the report.",
    (
        shared.SCENE,
        option("CLUSTERS", "Number of clusters"),
        option("METHOD", "Method"),
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

ANOMALY = _algorithm(
    "anomaly",
    "Anomaly",
    "Scores every pixel by how unlike the others its spectrum is. "
    "Edges and shadows score high too.",
    (
        shared.SCENE,
        option("METHOD", "Method"),
        shared.NEIGHBORS,
        advanced_option("TIME", "Steps of the walk"),
        *shared.SELECTION,
        replace(
            shared.TRUTH, help="Known anomalies: the report then has the area under the ROC curve."
        ),
        shared.TRUTH_FIELD,
        replace(shared.TRUTH_IMAGE, help="Instead of shapes: a raster with anomalies above 0."),
        *shared.RUN,
        option(
            "OUTPUT",
            "Anomaly scores",
            kinds.RASTER_OUT,
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

RELABEL = _algorithm(
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
        replace(shared.FEATURES, default="spectral", advanced=True),
        shared.COMPONENTS,
        shared.NEIGHBORS,
        shared.LABEL_MODE,
        shared.THREADS,
        option(
            "SESSION",
            "Session",
            kinds.FILE_OUT,
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
