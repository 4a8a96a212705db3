"""Parameters that several algorithms share."""

from __future__ import annotations

from dataclasses import replace

from diffclass_qgis.descriptions import (
    CHOICE,
    CLASSES,
    EXTENT,
    FIELD,
    FILE_OUT,
    FLAG,
    INTEGER,
    LAYER,
    RASTER,
    RASTER_OUT,
    TEXT,
    VECTOR,
    Alternative,
    Parameter,
)

SCENE = Parameter(
    "SCENE",
    RASTER,
    "Scene",
    "The image to work on, with all its bands: a raster layer or a file (ENVI, GeoTIFF, EMIT, "
    "PRISMA, EnMAP). Wavelengths, bad bands, scale and no-data are taken from the file.",
    required=True,
)
SELECTION = (
    Parameter(
        "BANDS",
        TEXT,
        "Bands",
        "By number from 1 or by wavelength: 1-50,60 or 450-1300,1500-1750nm. Empty: all that the "
        "file calls good.",
        "--bands",
        advanced=True,
    ),
    Parameter(
        "MASK",
        LAYER,
        "Mask",
        "Pixels to leave out, such as clouds and water: those inside the shapes of a vector layer, "
        "or where a raster is not 0.",
        "--mask",
        advanced=True,
    ),
    Parameter(
        "ROI",
        LAYER,
        "Region of interest",
        "Work only inside the shapes of a vector layer, or where a raster is not 0.",
        "--roi",
        advanced=True,
    ),
    Parameter(
        "EXTENT",
        EXTENT,
        "Region of interest as a rectangle",
        "Instead of a layer: drawn on the map, or of a layer. Of other coordinates than the "
        "scene's the rectangle around it counts.",
        "--roi",
        advanced=True,
        of="SCENE",
    ),
)
EITHER_ROI = Alternative(("ROI", "EXTENT"))
LABELS = Parameter(
    "LABELS",
    VECTOR,
    "Labels as shapes",
    "Points, lines or polygons well inside the classes. Other coordinates than the scene's are "
    "transformed; of a selection only the selected features count.",
    "--labels",
)
FIELD_OF_LABELS = Parameter(
    "FIELD",
    FIELD,
    "Field with the class",
    "Numbers are class numbers, texts become class names. Empty: the field called class, or the "
    "only one.",
    "--label-variable",
    of="LABELS",
)
LABEL_IMAGE = Parameter(
    "LABEL_IMAGE",
    RASTER,
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

FEATURES = Parameter(
    "FEATURES",
    CHOICE,
    "Features",
    "spectral: components of each pixel's spectrum. spatial: together with smoothed ones; often "
    "far better on fields, worse on fine mixtures.",
    "--features",
    default="spectral",
    choices=("spectral", "spatial"),
)
METRIC = Parameter(
    "METRIC",
    CHOICE,
    "Comparison of spectra",
    "euclidean: by noise-adjusted components. angle, correlation: by shape, regardless of "
    "brightness, in all good bands.",
    "--metric",
    default="euclidean",
    choices=("euclidean", "angle", "correlation"),
    advanced=True,
)
COMPONENTS = Parameter(
    "COMPONENTS",
    INTEGER,
    "Number of components",
    "Empty: 20 noise-adjusted ones; for angle and correlation as many as keep the distances.",
    "--components",
    least=1,
    advanced=True,
)
NEIGHBORS = Parameter(
    "NEIGHBORS",
    INTEGER,
    "Neighbours of a pixel",
    "In the graph over which labels diffuse. Empty: the command's own number.",
    "--neighbors",
    least=1,
    advanced=True,
)
LABEL_MODE = Parameter(
    "LABEL_MODE",
    CHOICE,
    "How labels count",
    "absorbing: the walk stops at them. summed, free: they diffuse away, and count over the whole "
    "walk or at its end. auto: absorbing, or, with one label per class, summed if that map cuts "
    "the graph less.",
    "--label-mode",
    default="auto",
    choices=("auto", "absorbing", "free", "summed"),
    advanced=True,
)
DIFFUSION = (
    METRIC,
    COMPONENTS,
    NEIGHBORS,
    Parameter(
        "KERNEL",
        CHOICE,
        "Kernel",
        "How alike neighbours are. gaussian: by distance alone; all others by shared neighbours "
        "too. directed, discriminant: shaped by the posteriors of a first diffusion.",
        "--kernel",
        default="shared",
        choices=(
            "shared",
            "gaussian",
            "covariance",
            "directed",
            "discriminant",
            "directed-discriminant",
        ),
        advanced=True,
    ),
    LABEL_MODE,
    Parameter(
        "JOIN_FEATURES",
        FLAG,
        "Use the features as well as the graph",
        "Where held-out labels support it, as in mixtures without borders.",
        "--join-features",
        default=False,
        advanced=True,
    ),
    Parameter(
        "TAU",
        INTEGER,
        "Diffusion time in steps",
        "Empty: chosen by the margin between classes.",
        "--tau",
        least=1,
        advanced=True,
    ),
)
SEED = Parameter(
    "SEED",
    INTEGER,
    "Seed",
    "Of every random choice; the same seed gives the same result.",
    "--seed",
    default=0,
    least=0,
    most=2**31 - 1,
    advanced=True,
)
THREADS = Parameter(
    "THREADS",
    INTEGER,
    "Processor threads",
    "Empty: all of them.",
    "--threads",
    least=1,
    advanced=True,
)
RUN = (SEED, THREADS)
REPORT = Parameter(
    "REPORT",
    FILE_OUT,
    "Report",
    "All numbers of the run as JSON.",
    "--report",
    extension="json",
)
PICTURE = Parameter(
    "PICTURE",
    FILE_OUT,
    "Picture",
    "The result as a figure (needs matplotlib in the environment).",
    "--picture",
    extension="png",
)
OUTPUT = Parameter(
    "OUTPUT", RASTER_OUT, "Class map", "Number, name and colour of each pixel's class.",
    "--output", required=True, style=CLASSES,
)  # fmt: skip
