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

    Parameters
    ----------
    name : str
        By which models and ``qgis_process`` know it.
    kind : str
        One of the kinds above.
    label : str
        What the dialog shows; the name of the layer that an output is loaded as.
    help : str
        Plain text for the tool tip and for the help panel of the dialog.
    option : str
        Of the command; empty for its arguments.
    default : object
        Not passed on: it is the command's own. None: nothing is filled in.
    choices : tuple of str
        Of a CHOICE.
    least, most : float, optional
        Range of a number.
    required, advanced : bool
    of : str
        Of a FIELD: the parameter that holds its layer. Of an EXTENT: that in whose coordinates it
        is passed on.
    extension : str
        Of a file, without the dot.
    style : str
        Of an output layer.
    """

    name: str
    kind: str
    label: str
    help: str
    option: str = ""
    default: Any = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    required: bool = False
    advanced: bool = False
    of: str = ""
    extension: str = ""
    style: str = ""

    @property
    def is_output(self) -> bool:
        """Whether the command writes it."""
        return self.kind in OUTPUTS


@dataclass(frozen=True)
class Alternative:
    """Parameters of which at most one, or exactly one, may be given.

    Parameters
    ----------
    names : tuple of str
    required : bool
        Whether one has to be.
    """

    names: tuple[str, ...]
    required: bool = False


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of the toolbox.

    Parameters
    ----------
    command : str
        Of ``diffclass``; the algorithm's id too.
    title, help : str
    parameters : tuple of Parameter
        In the dialog's order.
    alternatives : tuple of Alternative
    stages : dict of str to float
        The command's main stages in their order, with about the share of the time that each takes.
    figures : dict of str to str
        Numbers of the report that become results, and what they are.
    is_served : bool
        Whether it runs until it is cancelled.
    """

    command: str
    title: str
    help: str
    parameters: tuple[Parameter, ...]
    alternatives: tuple[Alternative, ...] = ()
    stages: tuple[tuple[str, float], ...] = ()
    figures: tuple[tuple[str, str], ...] = ()
    is_served: bool = False

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of a name."""
        return next(one for one in self.parameters if one.name == name)
