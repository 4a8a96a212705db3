"""In an installation without extras every command names the one that it lacks."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

BARE = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout

class Lacking:
    names = {"spectral", "h5py", "PIL", "rasterio", "pyogrio", "shapely", "matplotlib",
             "starlette", "uvicorn", "websockets", "distributed", "dask", "xarray"}

    def find_spec(self, name, *_):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}")

sys.meta_path.insert(0, Lacking())
from diffclass.command_line.start import main
for line in sys.stdin.read().splitlines():
    sys.argv[1:], said = line.split(), io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code
    print(json.dumps([line, code, said.getvalue()]))
"""
EXTRAS = {
    "info scene.hdr": "hyperspectral",
    "info scene.tif": "maps",
    "classify scene.npy --labels ids.npy -o map.tif": "maps",
    "cluster scene.npy -o map.png": "plots",
    "embed scene.npy -o e.npy --picture e.png": "plots",
    "relabel scene.npy": "relabel",
    "demo": "plots",
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What each command answers where all extras are missing, as exit code and text."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "scene.hdr").write_text("ENVI\n")
    (folder / "scene.tif").write_bytes(b"II*\x00" + bytes(200))
    np.save(folder / "scene.npy", np.zeros((2, 2, 3)))
    done = subprocess.run(
        [sys.executable, "-c", BARE], cwd=folder, capture_output=True, text=True,
        input="\n".join([*EXTRAS, "doctor"]),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {line: answer for line, *answer in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize(("line", "extra"), EXTRAS.items())
def test_the_extra_is_named(answers, line, extra):
    code, said = answers[line]
    assert code == 2
    assert f"pip install 'diffclass[{extra}]'" in said
    assert "Traceback" not in said


def test_the_doctor_says_what_is_lacking(answers):
    code, said = answers["doctor"]
    assert code == 0
    assert "cannot be imported" in said
