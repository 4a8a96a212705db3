"""The guide's table of places is true: a change of a kind, in the files of its row alone, works.

Each case changes a copy of the tree and uses the change there, in a process of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "diffclass" / "README.md").read_text("utf-8")
WEB = "plugins/diffclass_relabel/web"
Edit = str | Callable[[str], str]  # what a new file holds, or how an old one changes


def places_of(kind: str) -> set[str]:
    """Return the product's files and folders that the row of a kind tells to change."""
    (row,) = re.findall(rf"^\| {re.escape(kind)} \|(.*)$", GUIDE, re.MULTILINE)
    told = re.sub(r"\([^)]*\)", "", row)  # in brackets: to be read
    found = re.findall(r"`([\w./]*/[\w./]*)`", told)
    return {path for path in found if not path.startswith("tests/")}


def replaced(pattern: str, by: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        changed, n = re.subn(pattern, by, text, count=1, flags=re.MULTILINE)
        assert n == 1, f"{pattern!r} is not there any more"
        return changed

    return edit


def added(line: str) -> Callable[[str], str]:
    """Append to a module; the line may begin with imports."""
    return lambda text: f"{text}\n\n{line}\n"


@dataclass
class Change:
    """What a stranger wants, the edits of it, and a script that uses it."""

    kind: str
    edits: dict[str, Edit]
    script: str


POINTS = """
import numpy as np
X = np.random.default_rng(0).normal(size=(24, 2)) + 6.0 * (np.arange(24) % 2)[:, np.newaxis]
y = np.where(np.arange(24) < 4, np.arange(24) % 2, -1)
def run(*arguments):
    import csv, sys
    from diffclass.command_line.start import main
    np.savetxt("points.csv", X, "%g", ",", header="a,b", comments="")
    rows = np.c_[np.arange(4), y[:4]]
    np.savetxt("labels.csv", rows, "%d", ",", header="row,class", comments="")
    sys.argv = ["diffclass", "classify", "points.csv", "--labels", "labels.csv", "-o", "map.csv"]
    sys.argv += arguments
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
    with open("map.csv") as file:
        return np.array([int(row["class"]) for row in csv.DictReader(file)])
"""
CHANGES = [
    Change(
        "add a kernel",
        {
            "diffclass/kernels/cube.py": (
                "from diffclass.kernels.isotropic import Isotropic\n"
                "def profile(u):\n    return 1 / (1 + u) ** 3\n"
                "class Cube(Isotropic):\n"
                "    def __init__(self):\n        super().__init__(profile)\n"
            ),
            "diffclass/kernels/__init__.py": added(
                'from diffclass.kernels.cube import Cube\nNAMED["cube"] = Cube'
            ),
        },
        """
from diffclass import DiffusionClassifier
fitted = DiffusionClassifier(kernel="cube", tau=4).fit(X, y)
assert (fitted.transduction_ == np.arange(24) % 2).all()
assert (run("--kernel", "cube", "--tau", "4") == np.arange(24) % 2).all()
""",
    ),
    Change(
        "add a way to count labels",
        {
            "diffclass/label_diffusion/twice_walk.py": (
                "from diffclass.label_diffusion.free_walk import SummedWalk\n"
                "class TwiceWalk(SummedWalk):\n    pass\n"
            ),
            "diffclass/label_diffusion/label_modes.py": added(
                "from diffclass.label_diffusion.twice_walk import TwiceWalk\n"
                'LABEL_MODES["twice"] = LabelMode(name="twice", walk=TwiceWalk, is_sum=True)'
            ),
        },
        """
from diffclass import DiffusionClassifier
fitted = DiffusionClassifier(label_mode="twice", tau=4).fit(X, y)
assert fitted.diffusion_.label_mode == "twice"
assert (run("--label-mode", "twice", "--tau", "4") == np.arange(24) % 2).all()
""",
    ),
    Change(
        "change the rule of the time tau",
        {
            "diffclass/label_diffusion/stopping.py": replaced(
                r"^def last_time\(.*\n(?:.*\n)*?(?=^    \"\"\"|^    return)",
                "def last_time(*_, **__) -> int:\n    return 3\n",
            )
        },
        """
from diffclass import DiffusionClassifier
assert DiffusionClassifier().fit(X, y).margin_curve_.times.max() <= 3
""",
    ),
    Change(
        "change the rule by which sizes of classes count",
        {
            "diffclass/label_diffusion/class_sizes.py": replaced(
                r"return cls\.exact\(np\.ones\(n_classes\)\)",
                "return cls.exact(np.arange(1.0, n_classes + 1))",
            )
        },
        """
from diffclass.label_diffusion.class_sizes import ClassSizes
assert ClassSizes.of("uniform", 2).most.round(3).tolist() == [0.333, 0.667]
assert (run("--class-sizes", "uniform", "--tau", "4") >= 0).all()
""",
    ),
    Change(
        "add a rule of suggestions",
        {
            "diffclass/acquisition/selection.py": lambda text: replaced(
                r'^        if rule == "margin":\n            choice = ',
                '        if rule == "first":\n'
                "            choice = lambda chosen, free, n: "
                "(np.flatnonzero(free)[:n], np.ones(min(n, free.sum())))\n"
                '        elif rule == "margin":\n            choice = ',
            )(replaced(r"^RULES = \(", 'RULES = ("first", ')(text)),
        },
        """
from diffclass import markov_operator, suggest
found = suggest(markov_operator(X, n_neighbors=5), rule="first", n_points=2, min_distance=0)
assert (found.rule, found.points.tolist()) == ("first", [0, 1])
""",
    ),
    Change(
        "add a plot",
        {
            "diffclass/plots/dots.py": (
                "from diffclass.plots.display import Display\n"
                "class DotsDisplay(Display):\n"
                "    def __init__(self, values):\n        self.values = values\n"
                "    def _draw(self, legend):\n        self.ax_.plot(self.values, '.')\n"
            ),
            "diffclass/plots/__init__.py": added(
                'from diffclass.plots.dots import DotsDisplay\n__all__ += ["DotsDisplay"]'
            ),
        },
        """
from diffclass.plots import DotsDisplay
assert DotsDisplay([1, 2, 3]).plot().ax_.lines
""",
    ),
    Change(
        "add a reader of scenes",
        {
            "plugins/diffclass_hyperspectral/io/readers/cells.py": (
                "import numpy as np\n"
                "from diffclass_hyperspectral.io.readers.contents import Contents\n"
                "def read(path):\n"
                "    return Contents(np.loadtxt(path)[np.newaxis], format='Cells')\n"
            ),
            "plugins/diffclass_hyperspectral/io/formats.py": replaced(
                r"^FORMATS(.*)= \{$",
                r'FORMATS\1= {\n    "cells": Format("cells", suffixes=(".cells",)),',
            ),
        },
        """
from diffclass_hyperspectral import open_scene
np.savetxt("row.cells", X)
scene = open_scene("row.cells")
np.testing.assert_allclose(scene.spectra(), X)
""",
    ),
    Change(
        "add a format of tables",
        {
            "plugins/diffclass_tables/io/spaced.py": (
                "from diffclass_tables.io import arrow_tables\n"
                "def read(path, **options):\n"
                "    commas = path.with_suffix('.csv')\n"
                "    commas.write_text(path.read_text().replace(' ', ','))\n"
                "    return arrow_tables.read(commas, **options)\n"
            ),
            "plugins/diffclass_tables/formats.py": replaced(
                r'^(\s+)"\.npy": ', r'\1".spaced": "spaced:read", ".npy": '
            ),
        },
        """
from diffclass.command_line import kind_of
from diffclass_tables import open_table
np.savetxt("rows.spaced", X, header="a b", comments="")
assert kind_of("rows.spaced").name == "table"
np.testing.assert_allclose(open_table("rows.spaced").values, X)
""",
    ),
]


def copied(folder: Path, edits: dict[str, Edit]) -> Path:
    """Copy the product, with some edits."""
    ignored = shutil.ignore_patterns("__pycache__", "node_modules", "*.nbc")
    for part in ("diffclass", "plugins"):
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    for name, edit in edits.items():
        path = folder / name
        assert path.exists() == callable(edit), name
        path.write_text(edit(path.read_text("utf-8")) if callable(edit) else edit, "utf-8")
    return folder


def told(kind: str, edits: dict[str, Edit]) -> set[str]:
    """Return the edited files, a new one as its folder where the guide names that."""
    return {
        name if callable(edit) else f"{Path(name).parent.as_posix()}/"
        for name, edit in edits.items()
    }


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.kind)
def test_the_files_of_a_row_are_those_that_a_change_needs(change, tmp_path):
    assert told(change.kind, change.edits) == places_of(change.kind)
    tree = copied(tmp_path / "tree", change.edits)
    plain = {"NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", POINTS + change.script],
        cwd=tmp_path,
        env=os.environ | plain | {"PYTHONPATH": f"{tree}{os.pathsep}{tree / 'plugins'}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_a_panel_of_the_page_needs_the_files_of_its_row(tmp_path):
    modules = ROOT / WEB / "node_modules"
    if not modules.is_dir():
        pytest.skip("building the page needs `npm install`")
    edits: dict[str, Edit] = {
        f"{WEB}/src/panels/greeting.ts": (
            'import { el } from "../base/dom";\n'
            'export const greeting = (): HTMLElement => el("p", { text: "a panel is added" });\n'
        ),
        f"{WEB}/src/main.ts": lambda text: (
            'import { greeting } from "./panels/greeting";\n'
            f"{text}\ndocument.body.append(greeting());\n"
        ),
    }
    questions = {  # only where a panel asks something new
        f"plugins/diffclass_relabel/{file}.py"
        for file in ("queries/kinds", "protocol", "session_hub/queries")
    }
    kind = "add a panel to the page"
    assert told(kind, edits) | questions == places_of(kind)
    tree = copied(tmp_path / "tree", edits)
    (tree / WEB / "node_modules").symlink_to(modules)
    subprocess.run(["node", "build.mjs", str(tmp_path)], cwd=tree / WEB, check=True)
    assert "a panel is added" in (tmp_path / "app.js").read_text("utf-8")
