"""From the table's parameters to those of QGIS."""

from __future__ import annotations

from typing import Any

from qgis.core import (
    QgsProcessing,
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
)

from diffclass_qgis import descriptions as kinds
from diffclass_qgis.descriptions import Parameter


def qgis_parameter(parameter: Parameter) -> QgsProcessingParameterDefinition:
    """Return a parameter as QGIS wants it, with its help."""
    made = _MAKERS[parameter.kind](parameter)
    made.setHelp(parameter.help)
    if parameter.advanced:
        made.setFlags(made.flags() | QgsProcessingParameterDefinition.FlagAdvanced)
    return made


def _named(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "description": parameter.label,
        "optional": not parameter.required,
    }


def _raster(parameter: Parameter) -> QgsProcessingParameterDefinition:
    return QgsProcessingParameterRasterLayer(**_named(parameter))


def _rasters(parameter: Parameter) -> QgsProcessingParameterDefinition:
    return QgsProcessingParameterMultipleLayers(
        layerType=QgsProcessing.TypeRaster, **_named(parameter)
    )


def _layer(parameter: Parameter) -> QgsProcessingParameterDefinition:
    kinds_of_layers = [QgsProcessing.TypeRaster, QgsProcessing.TypeVectorAnyGeometry]
    return QgsProcessingParameterMapLayer(types=kinds_of_layers, **_named(parameter))


def _vector(parameter: Parameter) -> QgsProcessingParameterDefinition:
    return QgsProcessingParameterFeatureSource(
        types=[QgsProcessing.TypeVectorAnyGeometry], **_named(parameter)
    )


def _field(parameter: Parameter) -> QgsProcessingParameterDefinition:
    return QgsProcessingParameterField(parentLayerParameterName=parameter.of, **_named(parameter))


def _file(parameter: Parameter) -> QgsProcessingParameterDefinition:
    return QgsProcessingParameterFile(extension=parameter.extension, **_named(parameter))


def _folder(parameter: Parameter) -> QgsProcessingParameterDefinition:
    behavior = QgsProcessingParameterFile.Folder
    return QgsProcessingParameterFile(behavior=behavior, **_named(parameter))


def _extent(parameter: Parameter) -> QgsProcessingParameterDefinition:
    return QgsProcessingParameterExtent(**_named(parameter))


def _text(parameter: Parameter) -> QgsProcessingParameterDefinition:
    return QgsProcessingParameterString(**_named(parameter))


def _choice(parameter: Parameter) -> QgsProcessingParameterDefinition:
    return QgsProcessingParameterEnum(
        options=list(parameter.choices),
        defaultValue=parameter.default,
        usesStaticStrings=True,
        **_named(parameter),
    )


def _number(parameter: Parameter) -> QgsProcessingParameterDefinition:
    whole = parameter.kind == kinds.INTEGER
    made = QgsProcessingParameterNumber(
        type=QgsProcessingParameterNumber.Integer if whole else QgsProcessingParameterNumber.Double,
        defaultValue=parameter.default,
        **_named(parameter),
    )
    if parameter.least is not None:
        made.setMinimum(parameter.least)
    if parameter.most is not None:
        made.setMaximum(parameter.most)
    return made


def _flag(parameter: Parameter) -> QgsProcessingParameterDefinition:
    return QgsProcessingParameterBoolean(defaultValue=parameter.default, **_named(parameter))


def _raster_output(parameter: Parameter) -> QgsProcessingParameterDefinition:
    return QgsProcessingParameterRasterDestination(
        createByDefault=bool(parameter.style), **_named(parameter)
    )


def _vector_output(parameter: Parameter) -> QgsProcessingParameterDefinition:
    return QgsProcessingParameterVectorDestination(
        type=QgsProcessing.TypeVectorPoint, createByDefault=True, **_named(parameter)
    )


def _file_output(parameter: Parameter) -> QgsProcessingParameterDefinition:
    return QgsProcessingParameterFileDestination(
        fileFilter=f"{parameter.label} (*.{parameter.extension})",
        createByDefault=False,
        **_named(parameter),
    )


_MAKERS = {
    kinds.RASTER: _raster,
    kinds.RASTERS: _rasters,
    kinds.VECTOR: _vector,
    kinds.LAYER: _layer,
    kinds.FIELD: _field,
    kinds.FILE: _file,
    kinds.FOLDER: _folder,
    kinds.EXTENT: _extent,
    kinds.TEXT: _text,
    kinds.CHOICE: _choice,
    kinds.INTEGER: _number,
    kinds.NUMBER: _number,
    kinds.FLAG: _flag,
    kinds.RASTER_OUT: _raster_output,
    kinds.VECTOR_OUT: _vector_output,
    kinds.FILE_OUT: _file_output,
}
