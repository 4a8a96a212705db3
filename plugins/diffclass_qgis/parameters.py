"""From the table's parameters to those of QGIS, and their values as the command takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from qgis.core import (
    QgsMapLayer,
    QgsProcessing,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterEnum,
    QgsProcessingParameterExtent,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterFile,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterMapLayer,
    QgsProcessingParameterMultipleLayers,
    QgsProcessingParameterNumber,
    QgsProcessingParameterRasterDestination,
    QgsProcessingParameterRasterLayer,
    QgsProcessingParameterString,
    QgsProcessingParameterVectorDestination,
    QgsRasterLayer,
)

from diffclass_qgis import descriptions as kinds
from diffclass_qgis.command_line import file_of
from diffclass_qgis.descriptions import Parameter

_VECTOR_FILES = ["gpkg", "shp", "geojson", "json"]

_Keywords = Callable[[Parameter], "dict[str, Any]"]


def qgis_parameter(parameter: Parameter) -> QgsProcessingParameterDefinition:
    """Return a parameter as QGIS wants it, with its help."""
    kind, keywords = _KINDS[parameter.kind]
    made = kind(
        name=parameter.name,
        description=parameter.label,
        optional=not parameter.required,
        **keywords(parameter),
    )
    if parameter.least is not None:
        made.setMinimum(parameter.least)
    if parameter.most is not None:
        made.setMaximum(parameter.most)
    made.setHelp(parameter.help)
    if parameter.advanced:
        made.setFlags(made.flags() | QgsProcessingParameterDefinition.FlagAdvanced)
    return made


def _nothing(_: Parameter) -> dict[str, Any]:
    return {}


def _number(kind: Any) -> _Keywords:
    return lambda one: {"type": kind, "defaultValue": one.default}


# The class of each kind, and what it takes besides name, description and whether it is optional.
_KINDS: dict[str, tuple[Any, _Keywords]] = {
    kinds.RASTER: (QgsProcessingParameterRasterLayer, _nothing),
    kinds.RASTERS: (
        QgsProcessingParameterMultipleLayers,
        lambda one: {"layerType": QgsProcessing.TypeRaster},
    ),
    kinds.VECTOR: (
        QgsProcessingParameterFeatureSource,
        lambda one: {"types": [QgsProcessing.TypeVectorAnyGeometry]},
    ),
    kinds.LAYER: (
        QgsProcessingParameterMapLayer,
        lambda one: {"types": [QgsProcessing.TypeRaster, QgsProcessing.TypeVectorAnyGeometry]},
    ),
    kinds.FIELD: (
        QgsProcessingParameterField,
        lambda one: {"parentLayerParameterName": one.of},
    ),
    kinds.FILE: (QgsProcessingParameterFile, lambda one: {"extension": one.extension}),
    kinds.FOLDER: (
        QgsProcessingParameterFile,
        lambda one: {"behavior": QgsProcessingParameterFile.Folder},
    ),
    kinds.EXTENT: (QgsProcessingParameterExtent, _nothing),
    kinds.TEXT: (QgsProcessingParameterString, _nothing),
    kinds.CHOICE: (
        QgsProcessingParameterEnum,
        lambda one: {
            "options": list(one.choices),
            "defaultValue": one.default,
            "usesStaticStrings": True,
        },
    ),
    kinds.INTEGER: (
        QgsProcessingParameterNumber,
        _number(QgsProcessingParameterNumber.Integer),
    ),
    kinds.NUMBER: (
        QgsProcessingParameterNumber,
        _number(QgsProcessingParameterNumber.Double),
    ),
    kinds.FLAG: (QgsProcessingParameterBoolean, lambda one: {"defaultValue": one.default}),
    kinds.RASTER_OUT: (
        QgsProcessingParameterRasterDestination,
        lambda one: {"createByDefault": bool(one.style)},
    ),
    kinds.VECTOR_OUT: (
        QgsProcessingParameterVectorDestination,
        lambda one: {"type": QgsProcessing.TypeVectorPoint, "createByDefault": True},
    ),
    kinds.FILE_OUT: (
        QgsProcessingParameterFileDestination,
        lambda one: {"fileFilter": f"{one.label} (*.{one.extension})", "createByDefault": False},
    ),
}


class Source(NamedTuple):
    """What QGIS asks values of: its own names, each passed to its readers."""

    algorithm: QgsProcessingAlgorithm
    parameters: dict[str, Any]
    context: QgsProcessingContext
    feedback: QgsProcessingFeedback


def value_of(parameter: Parameter, source: Source) -> Any:
    """Return a parameter's value: a path, a list of paths, "left,bottom,right,top" for an extent.

    `QgsProcessingException`: a layer cannot be opened, or no file is behind it.
    """
    algorithm, parameters, context, _ = source
    if parameter.kind in kinds.OUTPUTS:
        return algorithm.parameterAsOutputLayer(parameters, parameter.name, context) or None
    if parameters.get(parameter.name) in (None, ""):
        return parameter.default
    readers = {
        kinds.RASTER: _raster,
        kinds.RASTERS: _rasters,
        kinds.VECTOR: _vector,
        kinds.LAYER: _layer,
        kinds.FIELD: _field,
        kinds.EXTENT: _extent,
    }
    if parameter.kind in readers:
        return readers[parameter.kind](parameter, source)
    plain = {
        kinds.CHOICE: algorithm.parameterAsEnumString,
        kinds.INTEGER: algorithm.parameterAsInt,
        kinds.NUMBER: algorithm.parameterAsDouble,
        kinds.FLAG: algorithm.parameterAsBool,
        kinds.TEXT: algorithm.parameterAsString,
        kinds.FILE: algorithm.parameterAsFile,
        kinds.FOLDER: algorithm.parameterAsFile,
    }
    return plain[parameter.kind](parameters, parameter.name, context)


def _raster(parameter: Parameter, source: Source) -> str:
    return _file(_raster_layer(parameter.name, source))


def _rasters(parameter: Parameter, source: Source) -> list[str]:
    algorithm, parameters, context, _ = source
    return [
        _file(one) for one in algorithm.parameterAsLayerList(parameters, parameter.name, context)
    ]


def _layer(parameter: Parameter, source: Source) -> str:
    """Return the file of a layer of either kind."""
    algorithm, parameters, context, _ = source
    layer = algorithm.parameterAsLayer(parameters, parameter.name, context)
    if isinstance(layer, QgsRasterLayer):
        return _file(layer)
    if layer is None:
        raise QgsProcessingException(f"{parameters[parameter.name]}: no raster and no vector layer")
    return _vector(parameter, source)


def _vector(parameter: Parameter, source: Source) -> str:
    """Return the layer's own file, or a copy: of a selection, unsaved edits, one of several."""
    algorithm, parameters, context, feedback = source
    layer = algorithm.parameterAsVectorLayer(parameters, parameter.name, context)
    is_whole_file = (
        layer is not None and not layer.isEditable() and layer.dataProvider().subLayerCount() == 1
    )
    formats = _VECTOR_FILES if is_whole_file else []
    return algorithm.parameterAsCompatibleSourceLayerPath(
        parameters, parameter.name, context, formats, "gpkg", feedback
    )


def _field(parameter: Parameter, source: Source) -> str | None:
    algorithm, parameters, context, _ = source
    return next(iter(algorithm.parameterAsFields(parameters, parameter.name, context)), None)


def _extent(parameter: Parameter, source: Source) -> str | None:
    """Return a rectangle in the coordinates of the parameter's scene."""
    algorithm, parameters, context, _ = source
    crs = _raster_layer(parameter.of, source).crs()
    box = algorithm.parameterAsExtent(parameters, parameter.name, context, crs)
    sides = (box.xMinimum(), box.yMinimum(), box.xMaximum(), box.yMaximum())
    return None if box.isNull() else ",".join(map(repr, sides))


def _raster_layer(name: str, source: Source) -> QgsRasterLayer:
    algorithm, parameters, context, _ = source
    layer = algorithm.parameterAsRasterLayer(parameters, name, context)
    if layer is None:
        raise QgsProcessingException(algorithm.invalidRasterError(parameters, name))
    return layer


def _file(layer: QgsMapLayer) -> str:
    try:
        return file_of(layer.source())
    except ValueError as error:
        raise QgsProcessingException(str(error)) from error
