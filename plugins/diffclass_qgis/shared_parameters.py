"""Parameters that several algorithms share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from diffclass_qgis import descriptions as kinds
from diffclass_qgis.descriptions import Alternative, Parameter


def option(name: str, kind: str, label: str, help: str, **more: Any) -> Parameter:
    """Return the parameter of the command's option of the same name: MIN_AREA of --min-area."""
    return Parameter(name, kind, label, help, "--" + name.lower().replace("_", "-"), **more)


def advanced_option(name: str, kind: str, label: str, help: str, **more: Any) -> Parameter:
    """Return the same among those that the dialog shows when asked."""
    return option(name, kind, label, help, advanced=True, **more)


SCENE = Parameter(
    "SCENE",
    kinds.RASTER,
    "Scene",
    "The image to work on, with all its bands: a raster layer or a file (ENVI, GeoTIFF, EMIT, "
    "PRISMA, EnMAP). Wavelengths, bad bands, scale and no-data are taken from the file.",
    required=True,
)
SELECTION = (
    advanced_option(
        "BANDS",
        kinds.TEXT,
        "Bands",
        "By number from 1 or by wavelength: 1-50,60 or 450-1300,1500-1750nm. Empty: all that the "
        "file calls good.",
    ),
    advanced_option(
        "MASK",
        kinds.LAYER,
        "Mask",
        "Pixels to leave out, such as clouds and water: those inside the shapes of a vector layer, "
        "or where a raster is not 0.",
    ),
    advanced_option(
        "ROI",
        kinds.LAYER,
        "Region of interest",
        "Work only inside the shapes of a vector layer, or where a raster is not 0.",
    ),
    Parameter(
        "EXTENT",
        kinds.EXTENT,
        "Region of interest as a rectangle",
        "Instead of a layer: drawn on the map, or of a layer. Of other coordinates than the "
        "scene's the rectangle around it counts.",
        "--roi",
        advanced=True,
        of="SCENE",
    ),
)
EITHER_ROI = Alternative(("ROI", "EXTENT"))
LABELS = option(
    "LABELS",
    kinds.VECTOR,
    "Labels as shapes",
    "Points, lines or polygons well inside the classes. Other coordinates than the scene's are "
    "transformed; of a selection only the selected features count.",
)
FIELD_OF_LABELS = Parameter(
    "FIELD",
    kinds.FIELD,
    "Field with the class",
    "Numbers are class numbers, texts become class names. Empty: the field called class, or the "
    "only one.",
    "--label-variable",
    of="LABELS",
)
LABEL_IMAGE = Parameter(
    "LABEL_IMAGE",
    kinds.RASTER,
    "Labels as an image",
    "Instead of shapes: a raster of the scene's rows and columns, 0 where nothing is known and the "
    "class number elsewhere.",
    "--labels",
)
EITHER_LABELS = ("LABELS", "LABEL_IMAGE")

# The same for another role of labels: names of the parameters, what they show, the option.
TRUTH = replace(
    LABELS,
    name="TRUTH",
    label="Truth as shapes",
    help="Points, lines or polygons of known class, best such that the map was not made with.",
    option="--truth",
)
TRUTH_FIELD = replace(FIELD_OF_LABELS, name="TRUTH_FIELD", option="--truth-variable", of="TRUTH")
TRUTH_IMAGE = replace(
    LABEL_IMAGE,
    name="TRUTH_IMAGE",
    label="Truth as an image",
    help="Instead of shapes: a raster of the same rows and columns, 0 where nothing is known.",
    option="--truth",
)
EITHER_TRUTH = ("TRUTH", "TRUTH_IMAGE")

FEATURES = option(
    "FEATURES",
    kinds.CHOICE,
    "Features",
    "spectral: components of each pixel's spectrum. spatial: together with smoothed ones; often "
    "far better on fields, worse on fine mixtures.",
    default="spectral",
    choices=("spectral", "spatial"),
)
METRIC = advanced_option(
    "METRIC",
    kinds.CHOICE,
    "Comparison of spectra",
    "euclidean: by noise-adjusted components. angle, correlation: by shape, regardless of "
    "brightness, in all good bands.",
    default="euclidean",
    choices=("euclidean", "angle", "correlation"),
)
COMPONENTS = advanced_option(
    "COMPONENTS",
    kinds.INTEGER,
    "Number of components",
    "Empty: 20 noise-adjusted ones; for angle and correlation as many as keep the distances.",
    least=1,
)
NEIGHBORS = advanced_option(
    "NEIGHBORS",
    kinds.INTEGER,
    "Neighbours of a pixel",
    "In the graph over which labels diffuse. Empty: the command's own number.",
    least=1,
)
LABEL_MODE = advanced_option(
    "LABEL_MODE",
    kinds.CHOICE,
    "How labels count",
    "absorbing: the walk stops at them. summed, free: they diffuse away, and count over the whole "
    "walk or at its end; free-l1: in the measure of Coifman et al. 2005. auto: absorbing, or, with "
    "one label per class, summed if that map cuts the graph less.",
    default="auto",
    choices=("auto", "absorbing", "free", "free-l1", "summed"),
)
DIFFUSION = (
    METRIC,
    COMPONENTS,
    NEIGHBORS,
    advanced_option(
        "KERNEL",
        kinds.CHOICE,
        "Kernel",
        "How alike neighbours are. gaussian: by distance alone; all others by shared neighbours "
        "too. directed, discriminant: shaped by the posteriors of a first diffusion.",
        default="shared",
        choices=(
            "shared",
            "gaussian",
            "covariance",
            "directed",
            "discriminant",
            "directed-discriminant",
        ),
    ),
    LABEL_MODE,
    advanced_option(
        "CLASS_SIZES",
        kinds.TEXT,
        "Class sizes",
        "What is known of them: corn=20%, soy=1200px, wood=3.5ha (also m2, km2) or a range, "
        "oats=10-20%; or uniform. The map meets them as far as the graph agrees. Empty: nothing.",
    ),
    advanced_option(
        "JOIN_FEATURES",
        kinds.FLAG,
        "Use the features as well as the graph",
        "Where held-out labels support it, as in mixtures without borders.",
        default=False,
    ),
    advanced_option(
        "TAU",
        kinds.INTEGER,
        "Diffusion time in steps",
        "Empty: chosen by the margin between classes.",
        least=1,
    ),
)
SEED = advanced_option(
    "SEED",
    kinds.INTEGER,
    "Seed",
    "Of every random choice; the same seed gives the same result.",
    default=0,
    least=0,
    most=2**31 - 1,
)
THREADS = advanced_option(
    "THREADS",
    kinds.INTEGER,
    "Processor threads",
    "Empty: all of them.",
    least=1,
)
RUN = (SEED, THREADS)
REPORT = option(
    "REPORT",
    kinds.FILE_OUT,
    "Report",
    "All numbers of the run as JSON.",
    extension="json",
)
PICTURE = option(
    "PICTURE",
    kinds.FILE_OUT,
    "Picture",
    "The result as a figure (needs matplotlib in the environment).",
    extension="png",
)
OUTPUT = Parameter(
    "OUTPUT", kinds.RASTER_OUT, "Class map", "Number, name and colour of each pixel's class.",
    "--output", required=True, style=kinds.CLASSES,
)  # fmt: skip
