"""QGIS with a profile of its own: the plugin of this tree, and the program that it calls.

Needs QGIS (Debian: ``qgis python3-qgis qgis-providers``, for windows ``xvfb`` too).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from experiments import PROGRAM

ROOT = Path(__file__).resolve().parents[2]
# Debian's scripts pass an option that the programs themselves do not know
PROCESS = shutil.which("qgis_process.bin") or shutil.which("qgis_process")
DESKTOP = shutil.which("qgis.bin") or shutil.which("qgis")
PYTHON = "/usr/bin/python3"  # that of python3-qgis
_PATIENCE = 1800  # seconds; a run takes ten on a quiet machine


class Profile:
    """A folder of QGIS's settings.

    Parameters
    ----------
    folder : Path
        Empty.

    Attributes
    ----------
    environment : dict of str to str
        Variables for QGIS's programs.
    """

    def __init__(self, folder: Path):
        program = folder / "environment" / "bin" / "diffclass"
        program.parent.mkdir(parents=True)
        # the plugin takes PYTHONPATH away, by which alone a tree that is not installed is found
        program.write_text(
            f"#!/bin/sh\nexport PYTHONPATH='{ROOT}:{ROOT / 'plugins'}'\n"
            f"exec '{sys.executable}' -c '{PROGRAM}' \"$@\"\n"
        )
        program.chmod(0o755)
        settings = folder / "profiles" / "default" / "QGIS" / "QGIS3.ini"
        settings.parent.mkdir(parents=True)
        settings.write_text(
            "[PythonPlugins]\ndiffclass_qgis=true\n\n"
            "[migration]\nfirstRunVersionFlag=32200\n\n"  # no window of welcome
            f"[Processing]\nConfiguration\\DIFFCLASS_ENVIRONMENT={program.parents[1]}\n"
        )
        plugins = folder / "plugins"
        plugins.mkdir()
        shutil.copytree(ROOT / "plugins" / "diffclass_qgis", plugins / "diffclass_qgis")
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700)
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.environment = kept | {
            "PATH": f"/usr/bin:{kept['PATH']}",  # QGIS takes its Python from the first one there
            "QGIS_CUSTOM_CONFIG_PATH": str(folder),
            "QGIS_PLUGINPATH": str(plugins),
            "QT_QPA_PLATFORM": "offscreen",
            "XDG_RUNTIME_DIR": str(runtime),
        }

    def run(self, algorithm: str, **parameters: object) -> subprocess.CompletedProcess[str]:
        """Run an algorithm by ``qgis_process``; a list is a parameter with several values."""
        words = [
            f"{name}={one}"
            for name, value in parameters.items()
            for one in (value if isinstance(value, list) else [value])
        ]
        command = [str(PROCESS), "run", f"diffclass:{algorithm}", "--", *words]
        return self._finished(command)

    def python(self, code: str, *arguments: object) -> str:
        """Run code in QGIS's own Python with its libraries started, and return what it prints."""
        start = (
            "import sys; from qgis.core import QgsApplication\n"
            "app = QgsApplication([], False); app.initQgis()\n"
        )
        done = self._finished([PYTHON, "-c", start + code, *map(str, arguments)])
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        return done.stdout

    def _finished(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=_PATIENCE
        )
