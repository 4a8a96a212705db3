"""Parameters that several algorithms share: in words of QGIS what their options do not say."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from diffclass_qgis import descriptions as kinds
from diffclass_qgis.descriptions import Alternative, Parameter

# of each command the options with their kinds, ranges, choices, defaults and help, as
# .ci/qgis_options.py writes them
_OPTIONS: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("options.json").read_text(encoding="utf-8")
)
_LARGEST = 2**31 - 1  # that QGIS takes for a whole number
_OPTION = re.compile("--[a-z]+(?:-[a-z]+)*")


def option(name: str, label: str, kind: str = "", help: str = "", **more: Any) -> Parameter:
    """Return the parameter of the command's option of the same name: MIN_AREA of --min-area."""
    return Parameter(name, label, kind, help, "--" + name.lower().replace("_", "-"), **more)


def advanced_option(
    name: str, label: str, kind: str = "", help: str = "", **more: Any
) -> Parameter:
    """Return the same among those that the dialog shows when asked."""
    return option(name, label, kind, help, advanced=True, **more)


def of_command(command: str, parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """Return parameters of a command with what its options say of them."""
    labels = {one.option: f"'{one.label}'" for one in parameters}
    return tuple(_filled(one, _OPTIONS[command].get(one.option, {}), labels) for one in parameters)


def _filled(one: Parameter, facts: dict[str, Any], labels: dict[str, str]) -> Parameter:
    kind = one.kind or facts["kind"]
    help = one.help or _OPTION.sub(lambda found: labels.get(found[0], found[0]), facts["help"])
    most = facts.get("most")
    default = False if kind == kinds.FLAG else facts.get("default")
    return replace(
        one,
        kind=kind,
        help=help,
        choices=tuple(facts["choices"]) if kind == kinds.CHOICE else (),
        least=facts.get("least"),
        most=None if most is None else min(most, _LARGEST),
        default=default if one.default is None else one.default,
    )


SCENE = Parameter(
    "SCENE",
    "Scene",
    kinds.RASTER,
    "The image to work on, with all its bands: a raster layer or a file (ENVI, GeoTIFF, EMIT, "
    "PRISMA, EnMAP). Wavelengths, bad bands, scale and no-data are taken from the file.",
    required=True,
)
SELECTION = (
    advanced_option("BANDS", "Bands"),
    advanced_option("MASK", "Mask", kinds.LAYER),
    advanced_option(
        "ROI",
        "Region of interest",
        kinds.LAYER,
        "Work only inside the shapes of a vector layer, or where a raster is not 0.",
    ),
    Parameter(
        "EXTENT",
        "Region of interest as a rectangle",
        kinds.EXTENT,
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
    "Labels as shapes",
    kinds.VECTOR,
    "Points, lines or polygons well inside the classes. Other coordinates than the scene's are "
    "transformed; of a selection only the selected features count.",
)
FIELD_OF_LABELS = Parameter(
    "FIELD",
    "Field with the class",
    kinds.FIELD,
    "Numbers are class numbers, texts become class names. Empty: the field called class, or the "
    "only one.",
    "--label-variable",
    of="LABELS",
)
LABEL_IMAGE = Parameter(
    "LABEL_IMAGE",
    "Labels as an image",
    kinds.RASTER,
    "Instead of shapes: a raster with 0 where nothing is known and the class number elsewhere. On "
    "another grid than the scene's it is placed by coordinates.",
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
TRUTH_IMAGE = replace(LABEL_IMAGE, name="TRUTH_IMAGE", label="Truth as an image", option="--truth")
EITHER_TRUTH = ("TRUTH", "TRUTH_IMAGE")

FEATURES = option("FEATURES", "Features")
METRIC = advanced_option("METRIC", "Comparison of spectra")
COMPONENTS = advanced_option("COMPONENTS", "Number of components")
NEIGHBORS = advanced_option("NEIGHBORS", "Neighbours of a pixel")
LABEL_MODE = advanced_option("LABEL_MODE", "How labels count", default="auto")
DIFFUSION = (
    METRIC,
    COMPONENTS,
    NEIGHBORS,
    advanced_option("KERNEL", "Kernel"),
    LABEL_MODE,
    advanced_option("CLASS_SIZES", "Class sizes"),
    advanced_option("JOIN_FEATURES", "Whether the features count beside the graph"),
    advanced_option("TAU", "Diffusion time in steps"),
)
SEED = advanced_option("SEED", "Seed")
THREADS = advanced_option("THREADS", "Processor threads")
RUN = (SEED, THREADS)
REPORT = option("REPORT", "Report", kinds.FILE_OUT, extension="json")
PICTURE = option("PICTURE", "Picture", kinds.FILE_OUT, extension="png")
OUTPUT = Parameter(
    "OUTPUT", "Class map", kinds.RASTER_OUT, "Number, name and colour of each pixel's class.",
    "--output", required=True, style=kinds.CLASSES,
)  # fmt: skip
