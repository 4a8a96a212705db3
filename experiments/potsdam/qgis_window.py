"""Run inside QGIS's window (``qgis --code``): loads layers, waits until they are drawn, keeps it.

What to load stands as JSON in the variable QGIS_SHOWN: "scene" (raster files, joined and shown in
true colour), "bands" (red, green, blue, from 1), "layers" (file and name, from bottom to top; each
looks as its style file says), "expanded" (the layer whose classes are listed), "picture" (where the
window is kept).
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from osgeo import gdal
from qgis.core import (
    QgsContrastEnhancement,
    QgsFillSymbol,
    QgsMultiBandColorRenderer,
    QgsProject,
    QgsRasterLayer,
    QgsRasterMinMaxOrigin,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QTimer
from qgis.PyQt.QtWidgets import QApplication, QDockWidget, QToolBar
from qgis.utils import iface

_SHOWN = json.loads(os.environ["QGIS_SHOWN"])
_OUTLINE = {"style": "no", "outline_color": "white", "outline_width": "0.5"}
_SCENE = "Scene"
_TOOLBOX = "ProcessingToolbox"
_SETTLING = 3000  # ms until the panels have their places


def scene_layer() -> QgsRasterLayer:
    """Return all files of the scene as one layer in true colour."""
    joined = str(Path(_SHOWN["picture"]).with_suffix(".vrt"))
    gdal.BuildVRT(joined, _SHOWN["scene"]).FlushCache()
    layer = QgsRasterLayer(joined, _SCENE)
    layer.setRenderer(QgsMultiBandColorRenderer(layer.dataProvider(), *_SHOWN["bands"]))
    layer.setContrastEnhancement(
        QgsContrastEnhancement.StretchToMinimumMaximum, QgsRasterMinMaxOrigin.CumulativeCut
    )
    return layer


def load() -> None:
    """Load all layers."""
    project = QgsProject.instance()
    scene = scene_layer()
    project.addMapLayer(scene)
    for path, name in _SHOWN["layers"]:
        layer = QgsRasterLayer(path, name)
        if not layer.isValid():
            layer = QgsVectorLayer(path, name)
            layer.renderer().setSymbol(QgsFillSymbol.createSimple(_OUTLINE))
        project.addMapLayer(layer)


def arrange() -> None:
    """Show the map, the legend and the toolbox with its algorithms."""
    window = iface.mainWindow()
    window.resize(1280, 800)
    for dock in window.findChildren(QDockWidget):
        dock.setVisible(dock.objectName() in ("Layers", _TOOLBOX))
    for bar in window.findChildren(QToolBar):
        bar.setVisible(bar.objectName() in ("mFileToolBar", "mMapNavToolBar"))
    toolbox = window.findChild(QDockWidget, _TOOLBOX)
    if toolbox is not None:
        toolbox.searchBox.setText("diffclass")
    project = QgsProject.instance()
    (scene,) = project.mapLayersByName(_SCENE)
    project.setCrs(scene.crs())
    for node in project.layerTreeRoot().findLayers():
        node.setExpanded(False)  # the panel may have folded in what counts as unfolded
        node.setExpanded(node.name() == _SHOWN["expanded"])
    iface.messageBar().clearWidgets()
    iface.mapCanvas().zoomToFullExtent()


def keep() -> None:
    """Keep the window as a picture and end QGIS."""
    iface.mapCanvas().waitWhileRendering()
    iface.messageBar().clearWidgets()
    QApplication.processEvents()
    iface.mainWindow().grab().save(_SHOWN["picture"])
    QgsProject.instance().clear()  # it would ask what to do with layers in temporary folders
    iface.actionExit().trigger()


load()
QTimer.singleShot(_SETTLING, arrange)
QTimer.singleShot(3 * _SETTLING, keep)
