"""The classes of a table again, from the report: the same, or what has changed since is said."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest

from diffclass.command_line.main import run

CLASSIFY = "classify t.csv --labels l.csv -o o.csv --report r.json --apart name --apart note -q"


@pytest.fixture
def report(tmp_path, monkeypatch, rng):
    """A table that was classified, in this folder, and its report."""
    monkeypatch.chdir(tmp_path)
    points = rng.normal(size=(80, 2)) + 6 * np.repeat([[0], [1]], 40, axis=0)
    lines = [f"{x},{y},{i},0" for i, (x, y) in enumerate(points)]
    Path("t.csv").write_text("\n".join(["x,y,name,note", *lines]))
    Path("l.csv").write_text("row,class\n0,a\n1,a\n70,b\n71,b\n")
    assert run(CLASSIFY.split()) == 0
    return json.loads(Path("r.json").read_text())


def test_labels_in_a_column_are_no_file(report, capsys):
    text = Path("t.csv").read_text().replace("name,note", "name,class").replace(",0\n", ",\n")
    lines = text.splitlines()
    lines[1], lines[-1] = lines[1] + "u", lines[-1].removesuffix("0") + "v"
    Path("c.csv").write_text("\n".join(lines))
    words = "classify c.csv --labels class -o n.csv --report n.json --apart name -q"
    assert run(words.split()) == 0
    assert run(["rerun", "n.json", "--into", "again"]) == 0
    assert "the same result, point for point" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["command", "arguments", "inputs", "result_sha256", "versions"])
def test_a_recipe_of_another_shape_is_refused(report, name, capsys):
    for value in (None, 3, {}, ["a", 1], [{}], [[]], ["--report"], ["--help", "--report", "x"]):
        odd = copy.deepcopy(report)
        odd["recipe"][name] = value
        Path("odd.json").write_text(json.dumps(odd))
        assert run(["rerun", "odd.json", "--into", "again"]) == 3
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("error: odd.json: ")
        assert not Path("again").exists()
