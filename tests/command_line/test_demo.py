"""The demo and the bench as commands."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from diffclass.command_line import main as cli


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder; return its result and the lines of standard error."""
    monkeypatch.chdir(tmp_path)

    def finished(*words):
        assert cli.run([*words, "--json"]) == 0
        said = capsys.readouterr()
        return json.loads(said.out), said.err.splitlines()

    return finished


def test_the_demo_beats_both_and_leaves_pictures(run, tmp_path):
    (tmp_path / "demo_output").mkdir()
    (tmp_path / "demo_output" / "overview.png").write_text("an earlier run's")
    result, _ = run("demo")
    accuracy = result["accuracy"]
    assert accuracy["diffusion"] > max(accuracy["nearest_neighbor"], accuracy["gaussian"]) + 0.1
    assert accuracy["diffusion"] > 0.95
    assert [name.rsplit("/")[-1] for name in result["files"]] == [
        "overview.png",
        "margin_curve.png",
    ]
    for name in result["files"]:
        with Image.open(tmp_path / name) as picture:
            assert len(picture.convert("RGB").getcolors(2**24)) > 20


def test_the_bench_compares_with_scipy(run):
    result, _ = run("bench", "--rows=96", "--columns=96", "--classes=4", "--repeats=2")
    assert result["n_points"] == 96 * 96
    assert result["product"]["milliseconds"] > 0
    assert result["product"]["scipy_milliseconds"] > 0
    assert {"neighbors", "affinities", "diffusion", "total"} <= set(result["fit"]["seconds"])
    assert result["fit"]["neighbor_recall"] >= 0.98


def test_a_bench_of_few_points_ends_and_says_nothing_of_each_stroke(run):
    words = ["bench", "--rows=32", "--columns=32", "--repeats=9", "--progress=json"]
    result, said = run(*words)
    assert result["n_points"] == 32 * 32
    events = [json.loads(line) for line in said]
    begun = [one["name"] for one in events if one.get("state") == "begins"]
    assert begun.count("map") <= 2
    warned = [one["text"] for one in events if one["type"] == "warning"]
    assert len(warned) == len(set(warned))
