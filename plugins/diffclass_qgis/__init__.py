"""A provider of QGIS Processing that calls the ``diffclass`` program of an environment.

What an algorithm is stands in a table (`algorithms`). The modules that know QGIS are `provider`,
`algorithm`, `parameters` and `styles`; all others run without it, in Python 3.9 or later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffclass_qgis.provider import DiffclassPlugin


def classFactory(interface: Any) -> DiffclassPlugin:  # noqa: N802 (QGIS calls it by this name)
    """Return the plugin; QGIS calls this when it loads the folder."""
    from diffclass_qgis.provider import DiffclassPlugin

    return DiffclassPlugin()
