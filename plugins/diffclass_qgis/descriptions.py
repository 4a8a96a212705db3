"""What an algorithm is, before QGIS: a command, its parameters, stages and results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Kinds of parameters. Inputs: RASTER and VECTOR are layers, RASTERS several, LAYER either, FIELD
# one of a layer's, EXTENT a rectangle on the map.
RASTER, RASTERS, VECTOR, LAYER = "raster", "rasters", "vector", "layer"
FILE, FOLDER, FIELD, EXTENT = "file", "folder", "field", "extent"
CHOICE, INTEGER, NUMBER, FLAG, TEXT = "choice", "integer", "number", "flag", "text"
RASTER_OUT, VECTOR_OUT, FILE_OUT = "raster output", "vector output", "file output"
OUTPUTS = (RASTER_OUT, VECTOR_OUT, FILE_OUT)
KINDS = (
    RASTER, RASTERS, VECTOR, LAYER, FILE, FOLDER, FIELD, EXTENT,
    CHOICE, INTEGER, NUMBER, FLAG, TEXT, *OUTPUTS,
)  # fmt: skip

# How outputs look when QGIS loads them.
CLASSES, MARGINS, SCORES, SUGGESTIONS = "classes", "margins", "scores", "suggestions"


@dataclass(frozen=True)
class Parameter:
    """A parameter of an algorithm, and the option of the command that it becomes.

    What an algorithm of the plugin leaves open is as the option has it (`of_command`).
    """

    name: str  # by which models and ``qgis_process`` know it
    label: str  # what the dialog shows; the name of the layer that an output is loaded as
    kind: str = ""  # one of the kinds above
    help: str = ""  # plain text, for the tool tip and the dialog's help panel
    option: str = ""  # of the command; empty for its arguments
    default: Any = None  # the command's own, not passed on; None: nothing is filled in
    choices: tuple[str, ...] = ()  # of a CHOICE
    least: float | None = None  # range of a number
    most: float | None = None
    required: bool = False
    advanced: bool = False
    # of a FIELD: the parameter that holds its layer; of an EXTENT: that in whose coordinates it is
    of: str = ""
    extension: str = ""  # of a file, without the dot
    style: str = ""  # of an output layer

    @property
    def is_output(self) -> bool:
        """Whether the command writes it."""
        return self.kind in OUTPUTS


@dataclass(frozen=True)
class Alternative:
    """Parameters of which at most one, or exactly one if it is required, may be given."""

    names: tuple[str, ...]
    required: bool = False


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of the toolbox."""

    command: str  # of ``diffclass``; the algorithm's id too, unless it has another
    title: str
    help: str
    parameters: tuple[Parameter, ...]  # in the dialog's order
    alternatives: tuple[Alternative, ...] = ()
    # the command's main stages in their order, with about the share of the time that each takes
    stages: tuple[tuple[str, float], ...] = ()
    # numbers of the report that become results, and what they are
    figures: tuple[tuple[str, str], ...] = ()
    is_served: bool = False  # it runs until it is cancelled
    own_id: str = ""  # where several algorithms are one command

    @property
    def id(self) -> str:
        """By which models and ``qgis_process`` know it."""
        return self.own_id or self.command

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of a name."""
        return next(one for one in self.parameters if one.name == name)
