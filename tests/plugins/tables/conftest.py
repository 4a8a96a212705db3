"""A folder with few, well separated rows, and the commands as a user runs them there."""

from __future__ import annotations

import json

import numpy as np
import pytest

from diffclass.command_line.main import run

from .writers import write_csv, write_table

NAMES = np.array(["ant", "bee", "cat"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def blobs():
    """Rows (120, 5) of three classes, exact in float16, and the classes' names."""
    rng = np.random.default_rng(3)
    truth = np.arange(120) % 3
    means = np.array([[4, 0, 0, 1, 1], [0, 4, 0, 1, -1], [0, 0, 4, -1, 1]])
    X = means[truth] + rng.normal(size=(120, 5)) * 0.9
    return X.astype(np.float16).astype(np.float32), NAMES[truth]


@pytest.fixture
def rows(folder, blobs):
    """The folder with points.npy, twelve labels by row number in labels.csv, and truth.csv."""
    X, truth = blobs
    write_table("points.npy", X)
    write_csv("labels.csv", {"row": range(12), "class": truth[:12]})
    write_csv("truth.csv", {"row": range(120), "class": truth})
    return blobs


@pytest.fixture
def works(capsys):
    """Run a command that has to succeed, and return what it prints as JSON."""

    def worked(*arguments, code=0):
        assert run([*map(str, arguments), "--json"]) == code, capsys.readouterr().err
        return json.loads(capsys.readouterr().out, parse_constant=_refuse)

    return worked


@pytest.fixture
def fails(folder, capsys):
    """Run a command that has to fail: one line, the right code, nothing written."""

    def failed(*arguments, code, says=()):
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        got = run([*map(str, arguments), "-q"])
        said = capsys.readouterr()
        assert got == code, said.err
        assert said.out == ""
        line = said.err.strip().splitlines()[-1]
        assert line.lower().startswith("error: ")
        assert "Traceback" not in said.err
        for word in [says] if isinstance(says, str) else says:
            assert word in line
        after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert after == before

    return failed


def _refuse(constant):
    raise AssertionError(f"{constant} in a report")
