"""The demo and the bench as commands."""

from __future__ import annotations

import json
import subprocess
import sys

from PIL import Image


def start(*arguments, folder):
    done = subprocess.run(
        [sys.executable, "-c", "from diffclass.command_line.main import main; main()", *arguments],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done


def run(*arguments, folder):
    return json.loads(start(*arguments, folder=folder).stdout)


def test_the_demo_beats_both_and_leaves_pictures(tmp_path):
    (tmp_path / "demo_output").mkdir()
    (tmp_path / "demo_output" / "overview.png").write_text("an earlier run's")
    result = run("demo", "--json", folder=tmp_path)
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


def test_the_bench_compares_with_scipy(tmp_path):
    result = run("bench", "--rows=96", "--columns=96", "--repeats=2", "--json", folder=tmp_path)
    assert result["n_points"] == 96 * 96
    assert result["product"]["milliseconds"] > 0
    assert result["product"]["scipy_milliseconds"] > 0
    assert {"neighbors", "affinities", "diffusion", "total"} <= set(result["fit"]["seconds"])
    assert result["fit"]["neighbor_recall"] >= 0.98


def test_a_bench_of_few_points_ends(tmp_path):
    result = run("bench", "--rows=32", "--columns=32", "--repeats=1", "--json", folder=tmp_path)
    assert result["n_points"] == 32 * 32


def test_a_bench_says_nothing_of_each_stroke(tmp_path):
    words = ["bench", "--rows=32", "--columns=32", "--repeats=9", "--progress=json", "--json"]
    done = start(*words, folder=tmp_path)
    events = [json.loads(line) for line in done.stderr.splitlines()]
    begun = [one["name"] for one in events if one.get("state") == "begins"]
    assert begun.count("map") <= 2
    warned = [one["text"] for one in events if one["type"] == "warning"]
    assert len(warned) == len(set(warned))
