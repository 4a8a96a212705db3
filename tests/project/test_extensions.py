"""A small package of someone else adds a command, a reader, a kernel and a QGIS algorithm."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from diffclass import DiffusionClassifier
from diffclass.command_line import main as cli
from diffclass.datasets import make_tissue_scene
from diffclass.kernels import Gaussian
from diffclass.system import extensions
from diffclass_qgis import added

MODULE = '''
import click
import numpy as np

from diffclass.command_line import command, common_options
from diffclass.kernels import Gaussian
from diffclass_hyperspectral import Contents, open_scene

FLAT = lambda: Gaussian(bandwidth="global")
NOT_A_COMMAND = 3
ALGORITHM = {
    "command": "brightness",
    "title": "Brightness",
    "help": "Prints the mean of all values.",
    "parameters": [
        {"name": "SCENE", "kind": "raster", "label": "Scene", "help": "An image.", "required": True}
    ],
}


@command()
@click.argument("scene")
@common_options
def brightness(scene, *, console):
    """Print the mean of all values of SCENE."""
    mean = float(open_scene(scene).spectra().mean())
    console.give({"mean": mean}, f"mean {mean:.3f}")


def read_cells(path):
    """Read the lines of numbers of one row of pixels."""
    return Contents(np.loadtxt(path)[np.newaxis], "Cells")
'''
POINTS = """
[diffclass.commands]
brightness = acme:brightness
info = acme:brightness
broken = acme_is_gone:command
number = acme:NOT_A_COMMAND

[diffclass.readers]
.cells = acme:read_cells
.gone = acme_is_gone:read
.npy = acme:read_cells

[diffclass.kernels]
flat = acme:FLAT

[diffclass.qgis]
brightness = acme:ALGORITHM
"""


def install(folder: Path, name: str, points: str) -> None:
    """Put the metadata of a distribution where Python finds them."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    (folder / "acme.py").write_text(MODULE)
    install(folder, "acme", POINTS)
    return folder


@pytest.fixture
def diffclass(site, monkeypatch, capsys):
    """Run commands in this process, as if it had started with the package installed."""
    monkeypatch.syspath_prepend(site)
    extensions._points.cache_clear()

    def done(*arguments: object) -> tuple[int, str, str]:
        return cli.run([*map(str, arguments)]), *capsys.readouterr()

    yield done
    extensions._points.cache_clear()


def test_a_command_and_a_reader(diffclass, tmp_path):
    np.savetxt(tmp_path / "row.cells", np.arange(12.0).reshape(4, 3))
    code, out, err = diffclass("brightness", tmp_path / "row.cells", "--json")
    assert code == 0, err
    assert json.loads(out) == {"mean": 5.5}


def test_help_lists_what_works_and_says_what_does_not(diffclass):
    code, out, err = diffclass("--help")
    assert code == 0, err
    said = " ".join(out.split())
    assert "brightness Print the mean of all values of SCENE." in said
    assert "'broken' (diffclass.commands) of acme cannot be loaded (ModuleNotFoundError: No" in said
    assert "'number' (diffclass.commands) is no command of click" in said
    assert "Traceback" not in err
    assert err.count("the name is diffclass's own") == 1


def test_a_name_of_its_own_stays(diffclass, tmp_path):
    np.save(tmp_path / "scene.npy", np.ones((2, 2, 3)))
    code, out, err = diffclass("info", tmp_path / "scene.npy", "--json")
    assert code == 0, err
    assert json.loads(out)["format"] == "NumPy"
    assert "'info' (diffclass.commands) of acme is not used: the name is diffcl" in err
    assert "'.npy' (diffclass.readers) of acme is not used: the name is diffcl" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["broken", "scene.tif", "--option"], "of acme cannot be loaded (ModuleNotFoundError"),
        (["info", "row.gone"], "'.gone' (diffclass.readers) of acme cannot be loaded"),
    ],
)
def test_what_is_broken_is_one_line(diffclass, tmp_path, arguments, says):
    (tmp_path / "row.gone").write_text("1 2 3")
    words = [tmp_path / word if word == "row.gone" else word for word in arguments]
    code, _, err = diffclass(*words)
    assert code == 1
    (line,) = [line for line in err.splitlines() if not line.startswith("warning")]
    assert says in line


def test_a_kernel(diffclass, tmp_path):
    tissue = make_tissue_scene(48, 48)
    np.save(tmp_path / "scene.npy", tissue.cube)
    np.save(tmp_path / "labels.npy", tissue.labels)
    arguments = ["classify", "scene.npy", "--labels", "labels.npy", "-o", "map.png", "--kernel"]
    words = [tmp_path / word if "." in word else word for word in arguments]
    code, _, err = diffclass(*words, "flat", "--save", tmp_path / "model.zip")
    assert code == 0, err
    X, y = [[0.0], [1.0], [3.0], [4.0], [9.0]], [0, -1, -1, 1, -1]
    named, given = (
        DiffusionClassifier(n_neighbors=2, kernel=kernel).fit(X, y)
        for kernel in ("flat", Gaussian(bandwidth="global"))
    )
    assert (named.operator_.affinity != given.operator_.affinity).nnz == 0


def test_names_that_two_packages_add_are_refused(diffclass, tmp_path, monkeypatch):
    install(tmp_path, "other", "[diffclass.commands]\nbrightness = other:command\n")
    monkeypatch.syspath_prepend(tmp_path)
    code, _, err = diffclass("brightness", "scene.tif")
    assert code == 1
    assert "is not used: uninstall all of these but one" in err
    assert {"acme", "other"} <= set(err.split())


def test_a_qgis_algorithm(site, tmp_path, monkeypatch):
    monkeypatch.setattr(added, "_PATIENCE", 300.0)  # the machine may be busy
    program = tmp_path / "diffclass"
    program.write_text(
        f"#!{sys.executable}\nfrom diffclass.command_line.start import main\nmain()\n"
    )
    program.chmod(0o755)
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": path}
    (algorithm,), problems = added.added_algorithms(str(program), environment)
    assert problems == []
    assert (algorithm.command, algorithm.parameter("SCENE").required) == ("brightness", True)


def test_the_doctor_lists_all(diffclass):
    code, out, err = diffclass("doctor")
    assert code == 0, err
    assert "brightness, broken, info, number (diffclass.commands)" in out
    assert "'.gone' (diffclass.readers) of acme cannot be loaded" in out
