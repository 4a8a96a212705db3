"""`--stability`: which pixels a second seed of the neighbour search changes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import check_random_state

from diffclass import DiffusionClassifier
from diffclass.blocks import Scratch, block_classifier, build
from diffclass.command_line.main import run
from diffclass.exceptions import ParameterError
from diffclass.jobs import MEMORY, Holdout, forecast_classification
from diffclass.neighbors import ExactSearch, NNDescentSearch
from diffclass_hyperspectral import (
    Cleanup,
    Pixels,
    SceneFeatures,
    classify_scene,
    open_scene,
    read_labels,
    write_maps,
)
from diffclass_hyperspectral.jobs.classification import BlockRun, outputs
from diffclass_hyperspectral.jobs.classification.stability import reseeded
from experiments.datasets import make_hyperspectral_scene

WITHIN = ["--memory", "580MB", "--tau", "16"]
LABELLED = ["classify", "scene.npy", "--labels", "labels.npy", "-o", "map.npy"]
STABLE = [*LABELLED, "--stability", "stability.npy"]


class HalfOfTwice(ExactSearch):
    """A search that misses half of the neighbours, by its seed."""

    def __init__(self, n_neighbors: int = 12, *, random_state: int | None = None):
        super().__init__(n_neighbors)
        self.random_state = random_state

    def _others(self, X, rows, k):
        if rows is not None:  # tied ones, searched once more
            return super()._others(X, rows, k)
        found = super()._others(X, rows, 2 * k)
        drawn = check_random_state(self.random_state).random(found.shape).argsort(axis=1)
        return np.take_along_axis(found, drawn[:, :k], axis=1)


@pytest.fixture
def truth(folder):
    """Four noisy fields with a hole, and some labels of each."""
    rows, columns = np.indices((48, 40))
    truth = (1 + (rows // 24) * 2 + columns // 20).astype(np.uint8)
    cube = make_hyperspectral_scene(truth, n_bands=20)
    noise = np.random.default_rng(0).normal(scale=cube.std(), size=cube.shape)
    cube = (cube + noise).astype(np.float32)
    cube[10:13, 7:20] = np.nan
    np.save("scene.npy", cube)
    labelled = ((rows + 3 * columns) % 41 == 0) & np.isfinite(cube[..., 0])
    np.save("labels.npy", np.where(labelled, truth, 0).astype(np.uint8))
    return truth


@pytest.fixture
def seeded(truth, monkeypatch):
    """Let the seed matter, however good the searches are."""

    def search(X, n_neighbors, *, random_state=None):
        return HalfOfTwice(n_neighbors, random_state=random_state)

    for place in ("diffclass.kernels._kernel", "diffclass.blocks.neighbors"):
        monkeypatch.setattr(f"{place}.default_search", search)


@pytest.fixture
def in_blocks(truth, seeded, monkeypatch):
    """Blocks of a few hundred pixels, into which every scene has to go."""
    monkeypatch.setattr("diffclass.blocks.plan._MOST_POINTS", 700)
    monkeypatch.setattr("diffclass.blocks.plan.LEAST_BLOCK", 300)
    monkeypatch.setattr("diffclass.system.costs._TO_LOAD", 10**9)


def by_hand(seed, blocks=None, tau="auto", kind=None, per_class=None, **options):
    """Return the map, not cleaned, of a classifier with this seed; labels are drawn by seed 4."""
    return classify_scene(
        open_scene("scene.npy"),
        read_labels("labels.npy"),
        classifier=DiffusionClassifier(random_state=seed, tau=tau),
        holdout=Holdout(kind, per_class, 4),
        place=MEMORY if blocks is None else blocks,
        **options,
    ).result


# The map


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--labels-per-class", "4"], {"per_class": 4}),
        (["--holdout", "blocks"], {"kind": "blocks"}),
    ],
    ids=["all labels", "at random", "blocks"],
)
def test_it_marks_the_pixels_that_differ(works, seeded, words, options):
    report = works(*STABLE, "--seed", "4", "--majority", "3", *words)
    first, second = by_hand(4, **options), by_hand(5, **options)
    differ = first.class_map != second.class_map
    stability = np.load("stability.npy")
    np.testing.assert_array_equal(np.isnan(stability), np.isnan(first.margin))
    np.testing.assert_array_equal(stability == 0, differ)
    np.testing.assert_array_equal(stability == 1, ~differ & np.isfinite(first.margin))
    np.testing.assert_array_equal(
        np.load("map.npy"), first.cleaned(Cleanup(majority=3))[0].class_map
    )
    assert report["stability"] == {
        "seed": 5,
        "changed": pytest.approx(differ.sum() / np.isfinite(first.margin).sum()),
        "changed_pixels": differ.sum(),
        "exact_neighbors": False,
    }
    assert 0.005 < report["stability"]["changed"] < 0.5


def test_without_it_nothing_is_said(works, seeded):
    assert "stability" not in works(*LABELLED)
    assert by_hand(4).stability is None


def test_exact_neighbours_have_no_seed(works, truth, capsys):
    report = works(*STABLE)
    stability = np.load("stability.npy")
    assert (stability[np.isfinite(stability)] == 1).all()
    assert report["stability"]["changed"] == report["stability"]["changed_pixels"] == 0
    assert report["stability"]["exact_neighbors"]
    for more in ([], ["--verbose"]):
        assert run([*STABLE, "--overwrite", *more]) == 0
        assert "no seed changes the map: all neighbours are exact" in capsys.readouterr().out


def test_it_is_read_in_the_summary_of_one_screen(seeded, truth, capsys):
    ids = np.load("labels.npy").astype(int)
    ids[20:] += 4 * (ids[20:] > 0)
    ids[:, 30:] += 8 * (ids[:, 30:] > 0)
    np.save("labels.npy", ids)
    words = [*STABLE, "--ambiguity", "a.npy", "--features", "spatial", "--labels-per-class", "2"]
    assert run([*words, "--class-sizes", "uniform"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24  # with a line for each class whose size was asked for
    assert sum(" smaller classes " in line for line in lines) == 1
    share = 1 - np.nanmean(np.load("stability.npy"))
    assert f"stability     a second seed changes {share:.1%} of the pixels" in lines


def test_warnings_are_said_once(truth, seeded, capsys):
    cube = np.load("scene.npy")
    cube[40:] += 1000
    np.save("scene.npy", cube)
    labels = np.load("labels.npy")
    labels[40:] = 0
    np.save("labels.npy", labels)
    assert run(STABLE) == 0
    assert capsys.readouterr().err.count("no label reaches") == 1


def test_a_part_has_its_own(seeded, truth):
    whole = by_hand(4, stability=True)
    rows, columns = slice(5, 20), slice(10, 30)
    part = whole.part(rows, columns)
    np.testing.assert_array_equal(part.stability, whole.stability[rows, columns])


# In blocks


def test_in_blocks_too(works, in_blocks):
    report = works(*STABLE, *WITHIN, "--seed", "4")
    maps = []
    for seed in (4, 5):
        scene, features = open_scene("scene.npy"), SceneFeatures()
        model = DiffusionClassifier(random_state=seed, tau=16)
        with BlockRun.opened(scene, features, model, folder="folder", memory=5.8e8) as blocks:
            maps.append(np.array(by_hand(seed, blocks, tau=16).class_map))
    differ = maps[0] != maps[1]
    np.testing.assert_array_equal(np.load("stability.npy") == 0, differ)
    np.testing.assert_array_equal(np.load("map.npy"), maps[0])
    assert report["stability"]["changed_pixels"] == differ.sum() > 0
    assert not report["stability"]["exact_neighbors"]
    assert not [path for path in Path().iterdir() if path.is_dir()]


def test_a_second_graph_that_is_complete_is_taken_over(works, in_blocks, monkeypatch, capsys):
    known = works(*STABLE, *WITHIN)["stability"]
    stability, diffuse, n_runs = np.load("stability.npy"), block_classifier.diffuse_in_blocks, []

    def failing(*arguments, **options):
        n_runs.append(1)
        if len(n_runs) == 2:  # that of the map itself
            raise OSError("the disk is gone")
        return diffuse(*arguments, **options)

    monkeypatch.setattr(block_classifier, "diffuse_in_blocks", failing)
    again = [*STABLE, *WITHIN, "--overwrite"]
    assert run(again) == 3
    assert "the disk is gone" in capsys.readouterr().err
    folder = Scratch(Path(".map.npy.scratch"))
    for scratch in (folder, Scratch(folder.folder / "second_seed")):
        assert "operator" in scratch.completed_stages
    monkeypatch.setattr(build, "make_blocks", None)  # neither is made again
    assert works(*again, "--resume")["stability"] == known
    assert n_runs == [1, 1, 1]
    np.testing.assert_array_equal(np.load("stability.npy"), stability)


# What it takes


def test_the_forecast_counts_it(truth):
    pixels, model = Pixels(open_scene("scene.npy")), DiffusionClassifier()
    one, two = (
        forecast_classification(pixels, model, 4, second_seed=second) for second in (False, True)
    )
    assert two.peak - one.peak == pytest.approx(4 * truth.size, abs=2)
    for name, seconds in one.seconds.items():
        times = 1 if name in ("features", "calibration") else 2
        assert two.seconds[name] == pytest.approx(times * seconds)


def test_another_seed_and_nothing_else():
    given = DiffusionClassifier(n_neighbors=9, random_state=2**32 - 1)
    assert reseeded(given).get_params() == given.get_params() | {"random_state": 0}
    for unsaid in (None, np.random.RandomState(0)):
        assert isinstance(reseeded(DiffusionClassifier(random_state=unsaid)).random_state, int)
    search = NNDescentSearch(random_state=7)
    again = reseeded(DiffusionClassifier(search=search, random_state=6))
    assert (again.random_state, again.search.random_state, search.random_state) == (7, 8, 7)
    assert reseeded(DiffusionClassifier(search=NNDescentSearch())).search.random_state is None


# Its file


def test_a_run_again_writes_it_again(works, seeded):
    report = works(*STABLE, "--seed", "4", "--report", "r.json")
    assert works("rerun", "r.json", "--into", "again")["same_result"]
    np.testing.assert_array_equal(np.load("again/stability.npy"), np.load("stability.npy"))
    again = json.loads(Path("again/r.json").read_text())
    assert again["stability"] == report["stability"]


def test_as_a_picture_and_as_a_raster(works, seeded):
    for name in ("s.png", "s.img", "s.tif"):
        works(*LABELLED, "--stability", name, "--overwrite")
    raster = open_scene("s.img")
    assert raster.band_names == ("stability",)
    assert set(np.unique(raster.data[np.isfinite(raster.data)])) == {0, 1}


def test_what_cannot_be_written(truth, works, fails):
    Path("kept.npy").write_text("kept")
    for words, says in (
        ("--stability map.npy", "two outputs"),
        ("--stability labels.npy --overwrite", "read from"),
        ("--stability kept.npy", "exists"),
        ("--stability s.mat", ".mat"),
    ):
        fails(*LABELLED, *words.split(), code=2, says=says)
    works(*LABELLED, "--save", "m.model")
    words = ["classify", "scene.npy", "--model", "m.model", "-o", "other.npy"]
    says = "--stability has no effect with --model, which was fitted before"
    fails(*words, "--stability", "s.npy", code=2, says=says)


def test_an_interrupt_leaves_nothing_half_written(truth, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(outputs, "write_raster", interrupted)
    before = set(Path().iterdir())
    assert run([*STABLE, "-q"]) == 130
    assert set(Path().iterdir()) - before == {Path("map.npy")}  # whole, as it was written before


def test_a_result_without_it(truth):
    result = by_hand(0)
    with pytest.raises(ParameterError, match="stability=True"):
        write_maps("map.npy", result, open_scene("scene.npy"), stability="s.npy")
    assert not Path("map.npy").exists()
