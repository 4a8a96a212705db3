"""From the table's parameters to those of QGIS."""

from __future__ import annotations

from collections.abc import Callable
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
