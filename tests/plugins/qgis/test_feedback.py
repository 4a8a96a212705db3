"""Progress and cancelling as QGIS's own dialogs hear and send them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.potsdam.qgis_profile import PROCESS

pytestmark = [
    pytest.mark.skipif(PROCESS is None, reason="needs qgis_process (Debian: qgis, python3-qgis)"),
    pytest.mark.slow,
]
_RUN = """
import json, os
from qgis.core import QgsProcessingContext, QgsProcessingFeedback
plugins, programs, parameters, least = sys.argv[1:]
os.environ["PATH"] = programs + ":" + os.environ["PATH"]  # no settings: they would be the user's
sys.path += ["/usr/share/qgis/python/plugins", plugins]
from diffclass_qgis.provider import DiffclassProvider
provider = DiffclassProvider()
app.processingRegistry().addProvider(provider)
algorithm = app.processingRegistry().createAlgorithmById("diffclass:classify")
feedback, heard = QgsProcessingFeedback(False), []
def hear(percent):
    heard.append(percent)
    if percent >= float(least):
        feedback.cancel()
feedback.progressChanged.connect(hear)
results, is_done = algorithm.run(json.loads(parameters), QgsProcessingContext(), feedback)
print(json.dumps([heard, sorted(results), is_done, feedback.textLog()]))
"""


def run_until(percent: float, profile, scene: Path, output: Path):
    """Classify, cancel when so much is done; return progress, results, success and messages."""
    folder = Path(profile.environment["QGIS_CUSTOM_CONFIG_PATH"])
    parameters = {
        "SCENE": str(scene / "tissue.tif"),
        "LABELS": str(scene / "labels.gpkg"),
        "OUTPUT": str(output),
    }
    programs = folder / "environment" / "bin"
    said = profile.python(_RUN, folder / "plugins", programs, json.dumps(parameters), percent)
    return json.loads(said.splitlines()[-1])


def test_progress_rises_to_its_end(profile, scene, tmp_path):
    heard, results, is_done, said = run_until(101, profile, scene, tmp_path / "map.tif")
    assert (is_done, results) == (True, ["MEAN_MARGIN", "OUTPUT"]), said
    assert heard == sorted(heard)
    assert len({percent for percent in heard if 0 < percent < 100}) >= 3
    assert heard[-1] == 100


def test_cancelling_ends_the_program_and_leaves_nothing(profile, scene, tmp_path):
    before = sorted(path.name for path in scene.iterdir())
    heard, results, _, said = run_until(1, profile, scene, tmp_path / "map.tif")
    assert results == [], said
    assert max(heard) < 100
    assert list(tmp_path.iterdir()) == []
    assert sorted(path.name for path in scene.iterdir()) == before
