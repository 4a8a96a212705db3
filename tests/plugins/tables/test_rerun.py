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


@pytest.mark.parametrize("elsewhere", [False, True])
def test_it_is_the_same_from_every_folder(report, monkeypatch, capsys, elsewhere):
    before = Path("o.csv").read_text()
    if elsewhere:
        Path("other").mkdir()
        monkeypatch.chdir("other")
    place = "../r.json" if elsewhere else "r.json"
    assert run(["rerun", place, "--into", "again", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["same_map"], found["changed"]) == (True, [])
    assert Path("again/o.csv").read_text() == before
    assert run(["rerun", place, "-q"]) == 2  # the classes are there already
    assert run(["rerun", place, "--overwrite", "-q"]) == 0


def test_labels_in_a_column_are_no_file(report, capsys):
    text = Path("t.csv").read_text().replace("name,note", "name,class").replace(",0\n", ",\n")
    lines = text.splitlines()
    lines[1], lines[-1] = lines[1] + "u", lines[-1].removesuffix("0") + "v"
    Path("c.csv").write_text("\n".join(lines))
    words = "classify c.csv --labels class -o n.csv --report n.json --apart name -q"
    assert run(words.split()) == 0
    assert run(["rerun", "n.json", "--into", "again"]) == 0
    assert "the same classes, row for row" in capsys.readouterr().out


def test_what_has_changed_is_said(report, capsys):
    Path("l.csv").write_text("row,class\n0,b\n1,b\n70,a\n71,a\n")
    assert run(["rerun", "r.json", "--into", "again"]) == 4
    said = capsys.readouterr()
    assert "others than before" in said.out
    assert "l.csv: has changed (the same size, another content)" in said.err


@pytest.mark.parametrize("name", ["command", "of", "arguments", "inputs", "map_sha256", "versions"])
def test_a_recipe_of_another_shape_is_refused(report, name, capsys):
    for value in (None, 3, {}, ["a", 1], [{}], [[]], ["--report"], ["--help", "--report", "x"]):
        odd = copy.deepcopy(report)
        odd["recipe"][name] = value
        Path("odd.json").write_text(json.dumps(odd))
        assert run(["rerun", "odd.json", "--into", "again"]) == 3
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("error: odd.json: ")
        assert not Path("again").exists()
