"""The plugin: it has the provider registered as long as it is loaded."""

from __future__ import annotations

from qgis.core import QgsApplication

from diffclass_qgis.provider import DiffclassProvider


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
