"""The provider, a group of the toolbox with its setting, and the plugin that registers it."""

from __future__ import annotations

import os
from pathlib import Path

from processing.core.ProcessingConfig import ProcessingConfig, Setting
from qgis.core import Qgis, QgsApplication, QgsMessageLog, QgsProcessingProvider
from qgis.PyQt.QtGui import QIcon

from diffclass_qgis.added import added_algorithms
from diffclass_qgis.algorithm import DiffclassAlgorithm
from diffclass_qgis.algorithms import ALGORITHMS
from diffclass_qgis.command_line import ProgramNotFoundError, find_program, outside_qgis
from diffclass_qgis.descriptions import Algorithm

ENVIRONMENT = "DIFFCLASS_ENVIRONMENT"


class DiffclassProvider(QgsProcessingProvider):
    """All algorithms of the table, and those that other packages add."""

    def id(self) -> str:
        """Return the first part of the algorithms' names."""
        return "diffclass"

    def name(self) -> str:
        """Return the group's name."""
        return "diffclass"

    def longName(self) -> str:  # noqa: N802
        """Return the name with what it is."""
        return "diffclass (classification from few labels)"

    def icon(self) -> QIcon:
        """Return the group's picture."""
        return QIcon(str(Path(__file__).with_name("icon.svg")))

    def load(self) -> bool:
        """Add the setting and the algorithms."""
        ProcessingConfig.settingIcons[self.name()] = self.icon()
        ProcessingConfig.addSetting(
            Setting(
                self.name(),
                ENVIRONMENT,
                "Environment that diffclass is installed in (empty: the path is searched)",
                "",
                valuetype=Setting.FOLDER,
            )
        )
        ProcessingConfig.readSettings()
        self.refreshAlgorithms()
        return True

    def unload(self) -> None:
        """Remove the setting."""
        ProcessingConfig.removeSetting(ENVIRONMENT)

    def loadAlgorithms(self) -> None:  # noqa: N802
        """Add the algorithms."""
        for description in (*ALGORITHMS, *_added()):
            self.addAlgorithm(DiffclassAlgorithm(description, program))

    def supportedOutputRasterLayerExtensions(self) -> list[str]:  # noqa: N802
        """Return what the commands write rasters as; the first one is the default."""
        return ["tif", "img"]

    def supportedOutputVectorLayerExtensions(self) -> list[str]:  # noqa: N802
        """Return what the commands write points as."""
        return ["gpkg", "geojson"]

    def defaultVectorFileExtension(self, hasGeometry: bool = True) -> str:  # noqa: N802
        """Return the extension of temporary layers."""
        return "gpkg"


class DiffclassPlugin:
    """What QGIS loads and unloads."""

    def __init__(self) -> None:
        self._provider: DiffclassProvider | None = None

    def initProcessing(self) -> None:  # noqa: N802
        """Register the provider; all that ``qgis_process`` calls."""
        self._provider = DiffclassProvider()
        QgsApplication.processingRegistry().addProvider(self._provider)

    def initGui(self) -> None:  # noqa: N802
        """Register the provider in the desktop program."""
        self.initProcessing()

    def unload(self) -> None:
        """Take the provider away."""
        if self._provider is not None:
            QgsApplication.processingRegistry().removeProvider(self._provider)
            self._provider = None


def _added() -> list[Algorithm]:
    """Return what other packages add; what is wrong with them goes to QGIS's log."""
    try:
        found, problems = added_algorithms(program(), outside_qgis(os.environ))
    except ProgramNotFoundError:  # each algorithm says so when it is opened
        return []
    for problem in problems:
        QgsMessageLog.logMessage(problem, "diffclass", Qgis.Warning)
    return found


def program() -> str:
    """Return the path of the program that the settings name; see `find_program`."""
    named = ProcessingConfig.getSetting(ENVIRONMENT) or ""
    try:
        return find_program(str(named), os.environ)
    except OSError as error:
        raise ProgramNotFoundError(str(error)) from error
