"""``diffclass classify`` beyond memory: budgets, scratch folders, resumed runs, workers."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from pathlib import Path

import click
import distributed
import numpy as np
import pytest

from diffclass.blocks import Scratch, block_classifier, build, partition
from diffclass.command_line import BYTES
from diffclass.command_line.console import Console
from diffclass.command_line.main import run
from diffclass.graph import find_neighbors
from diffclass.jobs import Holdout
from diffclass_hyperspectral import Pixels, classify_scene, open_scene, read_labels
from diffclass_hyperspectral.features import components
from diffclass_hyperspectral.features.smoothing import GridDiffusion
from diffclass_hyperspectral.jobs.classification import block_runs
from experiments.datasets import make_hyperspectral_scene

BUDGET = "580MB"
LABELLED = ["classify", "scene.npy", "--labels", "labels.npy", "-o", "map.npy"]
ESTIMATE = (
    r"time: an estimate for two cores is \d+ .* to the map, \d+ .* of it for \w+; "
    r"probabilities take \d+ .* more"
)


@pytest.fixture
def truth(folder, monkeypatch):
    """Four fields with a hole, in blocks of a few hundred pixels."""
    monkeypatch.setattr("diffclass.blocks.plan._MOST_POINTS", 700)
    monkeypatch.setattr("diffclass.blocks.plan.LEAST_BLOCK", 300)
    # so that nothing fits into the budget in memory
    monkeypatch.setattr("diffclass.system.costs._TO_LOAD", 10**9)
    rows, columns = np.indices((48, 40))
    truth = (1 + (rows // 24) * 2 + columns // 20).astype(np.uint8)
    cube = make_hyperspectral_scene(truth, n_bands=30).astype(np.float32)
    cube[10:13, 7:20] = np.nan
    np.save("scene.npy", cube)
    np.save("labels.npy", np.where((rows + 3 * columns) % 41 == 0, truth, 0).astype(np.uint8))
    return truth


@pytest.fixture
def classify(truth, works):
    return lambda *words: works(*LABELLED, *words)


@pytest.fixture
def fails(truth, capsys):
    def failed(*arguments, code, says):
        assert run([*LABELLED, *arguments, "-q"]) == code
        said = capsys.readouterr().err
        assert says in said
        assert "Traceback" not in said
        assert not Path("map.npy").exists()

    return failed


def folders():
    return sorted(path.name for path in Path().iterdir() if path.is_dir())


def test_the_map_is_that_of_the_run_in_memory(classify, truth):
    known = classify("--probability", "known.npy")
    inside, probability = np.load("map.npy"), np.load("known.npy")
    report = classify(
        "--memory", BUDGET, "--probability", "found.npy", "--margin", "margin.npy",
        "--ambiguity", "ambiguity.npy", "--overwrite",
    )  # fmt: skip
    found = np.load("map.npy")
    assert np.mean(found == inside) > 0.98
    assert (found[10:13, 7:20] == 0).all()
    assert np.isnan(np.load("margin.npy")[11, 10])
    data = found > 0
    np.testing.assert_allclose(np.load("found.npy")[data].sum(axis=-1), 1, atol=1e-4)
    assert np.abs(np.load("found.npy")[data] - probability[data]).mean() < 0.05
    assert report["n_without_data"] == known["n_without_data"] == 39
    assert report["neighbor_recall"] > 0.95
    assert report["crossing_recall"] > report["crossing_bound"] > 0.9
    assert known["crossing_recall"] is None
    assert report["memory"]["scratch_forecast_bytes"] > 0
    assert report["memory"]["forecast_seconds"]["neighbors"] > 0
    assert "cells" in report["seconds"]
    assert not {"engine", "scratch"} & report["parameters"].keys()
    assert folders() == []


def test_edges_lost_between_blocks_miss_a_bound(truth, monkeypatch, capsys):
    monkeypatch.setattr(partition, "MOST_OVERLAP", 0.0)
    assert run([*LABELLED, "--memory", BUDGET, "--verbose", "--report", "report.json"]) == 4
    said = capsys.readouterr()
    assert "0.0% of the edges between blocks were found" in said.err
    assert "0.0% of the edges between blocks (at least" in said.out
    report = json.loads(Path("report.json").read_text())
    assert report["crossing_recall"] == 0
    assert Path("map.npy").exists()


@pytest.mark.parametrize("features", ["spectral", "spatial"])
def test_labels_held_out_are_scored(classify, features):
    report = classify(
        "--memory", BUDGET, "--features", features, "--holdout", "random", "--labels-per-class", "4"
    )
    assert report["holdout"]["overall_accuracy"] > 0.8
    assert folders() == []


def test_the_time_is_estimated_before_the_start(truth, monkeypatch, capsys):
    monkeypatch.setattr("diffclass.system.costs._WORTH_TELLING", 0)
    monkeypatch.setattr(block_runs._PixelsOnFiles, "make", None)
    assert run([*LABELLED, "--memory", BUDGET]) == 1
    said = capsys.readouterr().err
    assert re.search(ESTIMATE, said)


@pytest.mark.parametrize("kernel", ["shared", "gaussian"])
@pytest.mark.parametrize("least", [0, 60])
def test_the_time_in_memory_is_estimated_where_it_is_known_and_long(
    truth, monkeypatch, capsys, least, kernel
):
    monkeypatch.setattr("diffclass.system.costs._WORTH_TELLING", least)
    monkeypatch.setattr(Pixels, "make", None)
    assert run([*LABELLED, "--kernel", kernel]) == 1
    said = capsys.readouterr().err
    is_said = least == 0 and kernel == "shared"
    assert bool(re.search(ESTIMATE, said)) == ("time:" in said) == is_said


def test_two_ways_of_holding_out_take_longer(truth, monkeypatch):
    monkeypatch.setattr(Pixels, "make", None)
    scene, labels, said = open_scene("scene.npy"), read_labels("labels.npy"), []
    for holdout in ("random", "both"):
        with pytest.raises(TypeError):
            classify_scene(scene, labels, holdout=Holdout(holdout), before=said.append)
    one, two = (forecast.seconds for forecast in said)
    assert two["diffusion"] == pytest.approx(2 * one["diffusion"])
    for stage in ("features", "neighbors", "affinities"):
        assert two[stage] == one[stage]


@pytest.mark.filterwarnings("ignore:.*labelled pixels have no data")
def test_two_ways_of_holding_out_share_one_graph(truth, monkeypatch):
    searches = []

    def counted(*given, **named):
        searches.append(find_neighbors(*given, **named))
        return searches[-1]

    monkeypatch.setattr("diffclass.classifier.find_neighbors", counted)
    scene, labels = open_scene("scene.npy"), read_labels("labels.npy")
    both = classify_scene(scene, labels, holdout=Holdout("both", 4))
    assert len(searches) == 1
    alone = classify_scene(scene, labels, holdout=Holdout("blocks", 4))
    np.testing.assert_array_equal(both.result.posteriors, alone.result.posteriors)


STAGES = (
    "reading", "features: projection", "features: bandwidth", "features: scale 2",
    "features: weights", "cells: sorting", "neighbors: searching", "graph: uniting",
    "affinities: sharing", "operator: rows", "diffusion: steps", "maps", "calibration: folds",
)  # fmt: skip


def test_every_stage_says_how_long_the_rest_will_take(classify, monkeypatch):
    heard, hear = {}, Console.advances

    def advances(self, name, done, parts):
        hear(self, name, done, parts)
        heard.setdefault(name, []).append((done, parts))

    monkeypatch.setattr(Console, "advances", advances)
    monkeypatch.setattr("diffclass_hyperspectral.io.rasters.BLOCK_VALUES", 10_000)
    report = classify("--memory", BUDGET, "--features", "spatial", "--probability", "found.npy")
    for name in STAGES:
        assert name in heard, name
        assert name in report["seconds"]
        assert any(done == parts for done, parts in heard[name]), name
        assert all(1 <= done <= parts for done, parts in heard[name])
    assert heard["features: projection"][-1] == (6, 6)


def test_what_fits_stays_in_memory(classify, monkeypatch):
    monkeypatch.setattr(build, "make_blocks", None)
    assert "cells" not in classify("--memory", "900GB")["seconds"]


def test_a_run_that_failed_goes_on(classify, fails, monkeypatch):
    diffuse = block_classifier.diffuse_in_blocks

    def full(*arguments, **options):
        raise OSError(errno.EIO, "the disk is gone")

    monkeypatch.setattr(block_classifier, "diffuse_in_blocks", full)
    fails("--memory", BUDGET, code=3, says="the disk is gone")
    assert folders() == [".map.npy.scratch"]
    assert "operator" in Scratch(Path(".map.npy.scratch")).completed_stages
    fails("--memory", BUDGET, code=3, says="pass --resume")
    fails("--memory", BUDGET, "--resume", "--neighbors", "9", code=3, says="other inputs")
    monkeypatch.setattr(block_classifier, "diffuse_in_blocks", diffuse)
    monkeypatch.setattr(build, "make_blocks", None)  # it is not made again
    resumed = classify("--memory", BUDGET, "--resume")
    again = np.load("map.npy")
    assert "neighbors" not in resumed["seconds"]
    assert folders() == []
    assert set(np.unique(again)) == {0, 1, 2, 3, 4}


def test_a_killed_run_in_memory_goes_on_in_memory(classify, monkeypatch):
    monkeypatch.setattr(build, "make_blocks", None)
    known = classify("--memory", "900GB")
    inside = np.load("map.npy")
    again = classify(
        "--memory", "900GB", "--resume", "--overwrite"
    )  # nothing is there to go on with
    assert "cells" not in again["seconds"]
    assert again["memory"]["forecast_bytes"].keys() == known["memory"]["forecast_bytes"].keys()
    np.testing.assert_array_equal(np.load("map.npy"), inside)


def test_a_killed_run_in_blocks_goes_on_in_blocks(classify, fails, monkeypatch):
    diffuse = block_classifier.diffuse_in_blocks
    classify("--memory", BUDGET)
    known = np.load("map.npy")
    Path("map.npy").unlink()
    monkeypatch.setattr(block_classifier, "diffuse_in_blocks", None)
    fails("--memory", BUDGET, code=1, says="TypeError")
    monkeypatch.setattr(block_classifier, "diffuse_in_blocks", diffuse)
    monkeypatch.setattr(build, "make_blocks", None)
    classify("--memory", "900GB", "--resume")  # in which the whole graph would fit
    np.testing.assert_array_equal(np.load("map.npy"), known)


def test_without_an_unfinished_run_resuming_begins_anew(truth, capsys):
    assert run([*LABELLED, "--memory", BUDGET, "--resume"]) == 0
    says = "no unfinished run lies in .map.npy.scratch: this one begins anew"
    assert says in capsys.readouterr().err


def test_an_interrupt_leaves_nothing(fails, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(block_classifier, "diffuse_in_blocks", interrupted)
    fails("--memory", BUDGET, code=130, says="")
    assert folders() == []


@pytest.mark.parametrize(
    ("size", "says"),
    [
        ("100k", "GB there (No space left on device)"),
        ("300k", "no space is left for scratch files"),
    ],
    ids=["features", "graph"],
)
def test_a_full_scratch_disk_is_named(fails, disk_of, size, says):
    scratch = disk_of(size) / "scratch"
    fails("--memory", BUDGET, "--scratch", str(scratch), code=3, says=says)
    assert not list(scratch.glob("**/.*"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda path: os.utime(path, ns=(0, 0)), "scene.npy: was changed while it was read"),
        (lambda path: os.truncate(path, 5000), "scene.npy: was cut from"),
        (os.unlink, "scene.npy: cannot be found any more"),
    ],
    ids=["written", "cut", "removed"],
)
@pytest.mark.parametrize("features", ["spectral", "spatial"])
def test_a_scene_that_changes_while_it_is_read(fails, monkeypatch, features, change, says):
    find = components.signal_and_noise

    def find_and_change(scene, bands):
        found = find(scene, bands)
        change("scene.npy")
        return found

    monkeypatch.setattr(components, "signal_and_noise", find_and_change)
    fails("--memory", BUDGET, "--features", features, code=3, says=says)
    assert Scratch(Path(".map.npy.scratch")).completed_stages == []


def test_windows_without_data_are_left_out(classify, monkeypatch, rng):
    cube = np.tile(np.load("scene.npy"), (4, 1, 1))
    cube += rng.normal(scale=1e-3, size=cube.shape).astype(np.float32)
    cube[70:110] = np.nan
    np.save("scene.npy", cube)
    np.save("labels.npy", np.tile(np.load("labels.npy"), (4, 1)))
    asked = "--features", "spatial", "--tau", "16"  # no time is searched for
    known = classify(*asked)
    inside = np.load("map.npy")
    windows, smooth = [], GridDiffusion.smooth

    def smoothed(self, image, valid):
        windows.append(len(valid))
        return smooth(self, image, valid)

    # windows of 16 rows, beside those that smoothing reaches; one has no data
    monkeypatch.setattr(GridDiffusion, "smooth", smoothed)
    row_bytes = 40 * (30 * 20 + 150)
    share = (16 + 2 * GridDiffusion().reach) * row_bytes / BYTES.convert(BUDGET, None, None)
    monkeypatch.setattr(block_runs, "_WINDOW_SHARE", share * 1.001)
    within = classify("--memory", BUDGET, *asked, "--overwrite")
    found, missing = np.load("map.npy"), np.isnan(cube[..., 0])
    assert len(windows) == 192 // 16 - 1
    assert within["n_without_data"] == known["n_without_data"] == missing.sum()
    assert (found[missing] == 0).all()
    assert np.mean(found == inside) > 0.98


def test_a_scene_without_data_is_named(fails):
    np.save("scene.npy", np.full((48, 40, 30), np.nan, dtype=np.float32))
    fails("--memory", BUDGET, code=3, says="scene.npy: no pixel has data")


def test_a_cluster_of_other_versions_is_named(fails, monkeypatch):
    get_versions = distributed.Client.get_versions

    def other_versions(self, *arguments, **options):
        versions = get_versions(self, *arguments, **options)
        for worker in versions["workers"].values():
            worker["packages"]["numpy"] = "1.0"
        return versions

    monkeypatch.setattr(distributed.Client, "get_versions", other_versions)
    says = "the cluster has other versions of libraries: numpy 1.0 on workers"
    with distributed.LocalCluster(
        n_workers=1, processes=False, protocol="tcp", dashboard_address=":0"
    ) as cluster:
        address = cluster.scheduler_address
        fails("--memory", "1GB", "--workers", address, code=2, says=says)
    assert folders() == []


@pytest.fixture
def too_large(monkeypatch):
    """Scenes do not fit into any memory."""
    monkeypatch.setattr("diffclass_hyperspectral.commands._blocks.needed_memory", lambda *_: 2**60)


def test_workers_are_not_started_for_a_graph_that_fits_into_memory(truth, monkeypatch, capsys):
    monkeypatch.setattr(block_classifier, "local_cluster", None)
    assert run([*LABELLED, "--workers", "2"]) == 0
    assert "no other is started" in capsys.readouterr().err


def test_workers_need_the_extra_before_anything_is_made(fails, monkeypatch, too_large):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setattr(block_runs._PixelsOnFiles, "make", None)
    fails("--memory", "2GB", "--workers", "2", code=2, says="diffclass[distributed]")
    assert folders() == []


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--scratch", "there"], 2, "need --memory"),
        (["--resume"], 2, "need --memory"),
        (["--workers", "no"], 2, "neither a number nor an address"),
        (["--memory", "many"], 2, "8GB, 500MB or 2GiB"),
        (["--memory", BUDGET, "--save", "m.model"], 2, "leave it out"),
        (["--memory", BUDGET, "--kernel", "covariance"], 2, "kernel"),
        (["--memory", BUDGET, "--rounds", "1"], 2, "needs the whole graph in memory"),
        (["--memory", BUDGET, "--label-mode", "summed"], 2, "in blocks labels are absorbing"),
        (["--memory", "1MB"], 2, "too little for a block"),
    ],
)
def test_what_cannot_work_is_said(fails, arguments, code, says):
    fails(*arguments, code=code, says=says)
    assert folders() == []


def test_nobody_at_the_address(fails, monkeypatch):
    monkeypatch.setattr("diffclass.blocks.dask_engine._ANSWER", 0.5)
    address = ["--workers", "tcp://127.0.0.1:9", "--memory", "1GB"]
    fails(*address, code=3, says="no dask scheduler answers")
    assert folders() == []


def test_workers_make_the_same_map(classify, fails, monkeypatch, too_large):
    monkeypatch.setattr("diffclass.blocks.plan._MOST_POINTS", 300)  # the same blocks
    quick = "--tau", "16"  # no time is searched for
    classify("--memory", BUDGET, "--probability", "known.npy", *quick)
    alone, probability = np.load("map.npy"), np.load("known.npy")
    Path("map.npy").unlink()
    with monkeypatch.context() as patched:
        patched.setattr(block_classifier, "diffuse_in_blocks", None)
        fails("--memory", "2GB", "--workers", "2", *quick, code=1, says="TypeError")
    monkeypatch.setattr(block_classifier, "local_cluster", None)  # it is not started again
    resumed = "--memory", "2GB", "--workers", "2", "--resume", *quick
    report = classify(*resumed, "--probability", "found.npy")
    np.testing.assert_array_equal(np.load("map.npy"), alone)
    np.testing.assert_array_equal(np.load("found.npy"), probability)
    assert report["neighbor_recall"] > 0.95
    assert "n_workers" not in report["parameters"]
    assert folders() == []


def test_an_interrupt_while_workers_build_leaves_nothing(fails, monkeypatch, too_large):
    workers = []

    def interrupted(arrays, engine, **options):
        workers.extend(engine.client.run(os.getpid).values())
        raise KeyboardInterrupt

    monkeypatch.setattr(build, "find_neighbors", interrupted)
    fails("--memory", "2GB", "--workers", "2", code=130, says="")
    assert len(workers) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert folders() == []


def test_sizes():
    for text, size in (
        ("8GB", 8e9), ("500 mb", 5e8), ("2GiB", 2**31), ("1.5k", 1500), ("7000000", 7e6),
    ):  # fmt: skip
        assert BYTES.convert(text, None, None) == size
    with pytest.raises(click.BadParameter, match="'8' is not a size; write 8GB"):
        BYTES.convert("8", None, None)
