"""In an installation without extras every command names the one that it lacks."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

BARE = """
import sys

class Lacking:
    names = {"spectral", "h5py", "PIL", "rasterio", "pyogrio", "shapely", "matplotlib",
             "starlette", "uvicorn", "websockets", "distributed", "dask", "xarray"}

    def find_spec(self, name, *_):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}")

sys.meta_path.insert(0, Lacking())
from diffclass.command_line.start import main
main()
"""


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["info", "scene.hdr"], "hyperspectral"),
        (["info", "scene.tif"], "maps"),
        (["classify", "scene.npy", "--labels", "ids.npy", "-o", "map.tif"], "maps"),
        (["cluster", "scene.npy", "-o", "map.png"], "plots"),
        (["embed", "scene.npy", "-o", "e.npy", "--picture", "e.png"], "plots"),
        (["relabel", "scene.npy"], "relabel"),
        (["demo"], "plots"),
    ],
)
def test_the_extra_is_named(tmp_path, words, extra):
    (tmp_path / "scene.hdr").write_text("ENVI\n")
    (tmp_path / "scene.tif").write_bytes(b"II*\x00" + bytes(200))
    np.save(tmp_path / "scene.npy", np.zeros((2, 2, 3)))
    done = subprocess.run(
        [sys.executable, "-c", BARE, *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert f"pip install 'diffclass[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_doctor_says_what_is_lacking(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", BARE, "doctor"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "cannot be imported" in done.stdout
