"""How outputs look: a style file for each, which QGIS reads when it opens the layer."""

from __future__ import annotations

from pathlib import Path

from qgis.core import (
    QgsColorRampShader,
    QgsMarkerSymbol,
    QgsPalettedRasterRenderer,
    QgsPalLayerSettings,
    QgsRasterBandStats,
    QgsRasterLayer,
    QgsRasterShader,
    QgsSingleBandPseudoColorRenderer,
    QgsSingleSymbolRenderer,
    QgsTextBufferSettings,
    QgsTextFormat,
    QgsVectorLayer,
    QgsVectorLayerSimpleLabeling,
)
from qgis.PyQt.QtGui import QColor

from diffclass_qgis import descriptions as kinds

# Opaque where the map is unsure, so that it covers it there.
_MARGIN_COLORS = ((0.0, QColor(20, 20, 20, 255)), (0.5, QColor(20, 20, 20, 60)),
                  (1.0, QColor(20, 20, 20, 0)))  # fmt: skip
_SCORE_COLORS = ("#000004", "#51127c", "#b73779", "#fc8961", "#fcfdbf")  # magma
_RARE = 0.995  # scores above this share of all have the brightest colour
_SAMPLED = 250_000  # pixels that this is judged by


def write_style(path: str, style: str) -> None:
    """Write the ``.qml`` beside a layer's file; an empty ``style`` is QGIS's own choice."""
    if not style:
        return
    layer = _styled_points(path) if style == kinds.SUGGESTIONS else _styled_raster(path, style)
    if layer is not None:
        layer.saveNamedStyle(str(Path(path).with_suffix(".qml")))


def _styled_raster(path: str, style: str) -> QgsRasterLayer | None:
    layer = QgsRasterLayer(path, style)
    if not layer.isValid():
        return None
    makers = {kinds.CLASSES: _classes, kinds.MARGINS: _margins, kinds.SCORES: _scores}
    renderer = makers[style](layer)
    if renderer is not None:
        layer.setRenderer(renderer)
    return layer


def _classes(layer: QgsRasterLayer) -> QgsPalettedRasterRenderer | None:
    """Return the file's own colours and names, without what a GeoTIFF's palette is filled with."""
    provider = layer.dataProvider()
    table = provider.colorTable(1)
    entries = QgsPalettedRasterRenderer.colorTableToClassData(table)
    classes = [one for one in entries if one.value > 0 and not _is_filling(one)]
    return QgsPalettedRasterRenderer(provider, 1, classes) if classes else None


def _is_filling(entry: QgsPalettedRasterRenderer.Class) -> bool:
    """Return whether an entry is black and has no name; QGIS shows its number then."""
    return entry.label in ("", f"{entry.value:g}") and entry.color.lightness() == 0


def _margins(layer: QgsRasterLayer) -> QgsSingleBandPseudoColorRenderer:
    return _ramp(layer, [(value, color, f"{value:g}") for value, color in _MARGIN_COLORS])


def _scores(layer: QgsRasterLayer) -> QgsSingleBandPseudoColorRenderer:
    provider = layer.dataProvider()
    low, high = provider.cumulativeCut(1, 0.0, _RARE, layer.extent(), _SAMPLED)
    if not high > low:
        statistics = provider.bandStatistics(1, QgsRasterBandStats.Min | QgsRasterBandStats.Max)
        low, high = statistics.minimumValue, max(statistics.maximumValue, low + 1)
    step = (high - low) / (len(_SCORE_COLORS) - 1)
    stops = []
    for place, color in enumerate(_SCORE_COLORS):
        value = low + step * place
        stops.append((value, QColor(color), f"{value:.3g}"))
    return _ramp(layer, stops)


def _ramp(
    layer: QgsRasterLayer, stops: list[tuple[float, QColor, str]]
) -> QgsSingleBandPseudoColorRenderer:
    ramp = QgsColorRampShader(stops[0][0], stops[-1][0])
    ramp.setColorRampType(QgsColorRampShader.Interpolated)
    ramp.setColorRampItemList([QgsColorRampShader.ColorRampItem(*stop) for stop in stops])
    shader = QgsRasterShader()
    shader.setRasterShaderFunction(ramp)
    renderer = QgsSingleBandPseudoColorRenderer(layer.dataProvider(), 1, shader)
    renderer.setClassificationMin(stops[0][0])
    renderer.setClassificationMax(stops[-1][0])
    return renderer


def _styled_points(path: str) -> QgsVectorLayer | None:
    """Return suggestions as rings, numbered by rank."""
    layer = QgsVectorLayer(path, kinds.SUGGESTIONS, "ogr")
    if not layer.isValid():
        return None
    ring = QgsMarkerSymbol.createSimple(
        {
            "name": "circle",
            "color": "0,0,0,0",
            "outline_color": "255,255,255,255",
            "outline_width": "0.6",
            "size": "4",
        }
    )
    layer.setRenderer(QgsSingleSymbolRenderer(ring))
    text = QgsTextFormat()
    text.setColor(QColor("white"))
    around = QgsTextBufferSettings()
    around.setEnabled(True)
    around.setColor(QColor("black"))
    text.setBuffer(around)
    settings = QgsPalLayerSettings()
    settings.fieldName = "rank"
    settings.setFormat(text)
    layer.setLabeling(QgsVectorLayerSimpleLabeling(settings))
    layer.setLabelsEnabled(True)
    return layer
