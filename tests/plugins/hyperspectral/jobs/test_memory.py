"""What a run will need is said before it starts, and scenes are never read whole."""

from __future__ import annotations

import json
import mmap
from functools import partial

import numpy as np
import pytest

from diffclass import DiffusionClassifier, DiffusionMap
from diffclass.blocks import BlockPlan
from diffclass.command_line.main import run
from diffclass.jobs import embed, forecast_classification, forecast_suggestions
from diffclass.jobs.classification.forecasts import forecast_blocks
from diffclass.jobs.embedding import forecast_embedding
from diffclass.system import costs, memory
from diffclass.system.costs import Forecast
from diffclass.system.mapped_files import release_pages
from diffclass.system.memory import available_memory_bytes
from diffclass_hyperspectral import LabelImage, Pixels, Scene, SceneFeatures, open_scene
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.jobs.classification import classify_scene
from diffclass_hyperspectral.jobs.classification.classifying import apply_model

from ..commands.test_classify import in_a_process

GIB = 2**30


class Reader:
    """A cube that is made where it is read, and remembers the largest block asked for."""

    def __init__(self, rows, columns, bands, path):
        self.shape = rows, columns, bands
        self.path = path
        self.largest = self.n_reads = 0

    def rows(self, start, stop):
        block = np.empty((stop - start, *self.shape[1:]), dtype=np.float32)
        for i in range(start, stop):
            rng = np.random.default_rng(i)
            level = np.linspace(0, 1, self.shape[2]) * (1 + (np.arange(self.shape[1]) > 9))[:, None]
            block[i - start] = level + rng.normal(scale=0.1, size=self.shape[1:])
        self.largest = max(self.largest, block.size)
        self.n_reads += 1
        return block

    @property
    def scene(self):
        data = BlockArray(self.shape, np.float32, read_rows=self.rows, path=self.path)
        return Scene.from_array(data, path=self.path)


@pytest.fixture
def reader(tmp_path):
    return Reader(120, 20, 16, tmp_path / "scene")


@pytest.fixture
def labels():
    ids = np.zeros((120, 20), dtype=np.int32)
    ids[5:9, 2], ids[100:103, 15] = 1, 2
    return LabelImage.from_array(ids)


def forecast(
    rows=1000, columns=1000, bands=100, n_classes=16, *, k=12, suggesting=False, **options
):
    data = BlockArray((rows, columns, bands), np.int16, read_rows=None, path="scene")
    features = SceneFeatures(options.pop("n_components", None), **options)
    classifier = DiffusionClassifier(n_neighbors=k)
    pixels = Pixels(Scene.from_array(data), features)
    forecast_of = forecast_suggestions if suggesting else forecast_classification
    return forecast_of(pixels, classifier, n_classes)


# What is forecast


def test_nothing_is_read_for_it(reader):
    pixels = Pixels(reader.scene, SceneFeatures(spatial=True))
    forecast_classification(pixels, DiffusionClassifier(), 2)
    forecast_suggestions(pixels, DiffusionClassifier(), 2)
    forecast_embedding(pixels, DiffusionMap())
    assert reader.n_reads == 0


@pytest.mark.parametrize("spatial", [False, True])
def test_it_grows_with_the_pixels_and_not_with_the_scene(spatial):
    base = costs.base_bytes()
    small, large = (forecast(rows, spatial=spatial).stages for rows in (1000, 4000))
    for name in ("neighbors", "affinities", "diffusion", "writing"):
        assert large[name] - base == pytest.approx(4 * (small[name] - base), rel=0.1)
    more_bands = forecast(1000, bands=300, spatial=spatial)
    assert more_bands.peak == pytest.approx(forecast(1000, spatial=spatial).peak, rel=0.01)
    assert more_bands.peak - base < 1000 * 1000 * 300 * 4 * 4  # base: whatever ran here before


def test_every_fit_takes_its_time_and_the_graph_is_made_once():
    data = BlockArray((1000, 1000, 100), np.int16, read_rows=None, path="scene")
    pixels, classifier = Pixels(Scene.from_array(data)), DiffusionClassifier()
    plan = BlockPlan.within(16 * GIB, pixels.size(12, 16), n_workers=2)
    assert plan.scheduler_seconds["diffusion"] > 0
    for said in (forecast_classification, partial(forecast_blocks, plan=plan, n_machines=2)):
        one, three = (said(pixels, classifier, 16, n_fits=n).seconds for n in (1, 3))
        assert min(one["features"], one["neighbors"], one["diffusion"]) > 0
        for name, seconds in one.items():
            times = 1 if name in ("features", "cells", "neighbors", "affinities") else 3
            assert three[name] == pytest.approx(times * seconds)


def test_pieces_that_are_decompressed_together_count():
    def said(step, rows=4000):
        data = BlockArray((rows, 500, 100), np.int16, read_rows=None, path="scene", step=step)
        pixels = Pixels(Scene.from_array(data))
        return forecast_classification(pixels, DiffusionClassifier(), 2).stages

    kept = said(512)["features"] - said(1)["features"]
    assert kept == pytest.approx(512 * 500 * 100 * 2, rel=0.05)


def test_it_grows_with_what_each_stage_works_on():
    def added(stage, **options):
        return forecast(**options).stages[stage] - forecast().stages[stage]

    million = 10**6
    assert added("diffusion", n_classes=160) >= 144 * 4 * 8 * million
    assert added("affinities", k=24) > 12 * 50 * million
    assert added("neighbors", n_components=80) > 2 * 60 * 4 * million
    assert added("features", spatial=True) > 60 * 4 * million
    assert forecast(suggesting=True).stages["suggestions"] > 16 * 8 * million
    # as many components as bands: the most that are possible
    whole = forecast(metric="angle").stages
    assert whole["neighbors"] == forecast(n_components=100).stages["neighbors"]


def test_a_million_pixels_are_forecast_to_fit(monkeypatch):
    monkeypatch.setattr(costs, "peak_memory_bytes", lambda: 150 * 2**20)
    assert 1 * GIB < forecast().peak < 2.5 * GIB  # measured: README


def test_forecast_and_measured_peak_agree(tmp_path):
    rng = np.random.default_rng(0)
    truth = np.kron(rng.integers(1, 5, (8, 8)), np.ones((15, 15), dtype=int)).astype(np.uint8)
    for n_bands in (30, 300):
        ends = rng.random((5, n_bands)).astype(np.float32)
        cube = ends[truth] + rng.normal(scale=0.2, size=(120, 120, n_bands))
        np.save(tmp_path / f"{n_bands}.npy", cube)
    np.save(tmp_path / "truth.npy", truth)
    words = ["--labels", "truth.npy", "-o", "map.npy", "--json", "--overwrite", "--features"]
    for n_bands, features in ((30, "spectral"), (300, "spectral"), (300, "spatial")):
        call = ["classify", f"{n_bands}.npy", *words, features]
        done = in_a_process(*call, folder=tmp_path)
        if "compiling loops" in done.stderr:  # which takes memory of its own
            done = in_a_process(*call, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        said = report["memory"]
        assert said["peak_forecast_bytes"] == max(said["forecast_bytes"].values())
        assert [line for line in done.stderr.splitlines() if line.startswith("memory: about")]
        assert 0.75 < said["peak_forecast_bytes"] / report["peak_memory_bytes"] < 1.35


# What a run says


def test_line_and_warning():
    there = Forecast({"features": GIB, "neighbors": 3 * GIB}, held=GIB, available=2 * GIB)
    assert there.line() == (
        "memory: about 3.0 GiB will be needed (features 1.0 GiB, neighbors 3.0 GiB); "
        "2.0 GiB are free"
    )
    assert there.to_dict()["peak_forecast_bytes"] == 3 * GIB
    there.warn("nothing to warn of")
    short = Forecast(there.stages, held=GIB, available=2 * GIB - 1)
    with pytest.warns(UserWarning, match="most of it for neighbors, .* take less") as found:
        short.warn("take less")
    assert len(found) == 1
    unknown = Forecast(there.stages)
    unknown.warn("nothing is known")
    assert "free" not in unknown.line()


@pytest.mark.parametrize("command", ["classify", "suggest", "embed", "cluster"])
def test_one_warning_before_the_start(tmp_path, monkeypatch, capsys, command):
    def refuse(*_, **__):
        raise KeyboardInterrupt

    np.save(tmp_path / "scene.npy", np.random.default_rng(0).random((30, 30, 5)))
    np.save(tmp_path / "ids.npy", np.arange(900).reshape(30, 30) % 3)
    monkeypatch.setattr(costs, "available_memory_bytes", lambda: 10**6)
    monkeypatch.setattr(Scene, "usable_bands", refuse)
    words = [command, str(tmp_path / "scene.npy")]
    labelled = command in ("classify", "suggest")
    words += ["--labels", str(tmp_path / "ids.npy")] if labelled else []
    suffix = ".csv" if command == "suggest" else ".npy"
    assert run([*words, "-o", str(tmp_path / f"out{suffix}"), "--force"]) == 130
    said = capsys.readouterr().err.splitlines()
    warned = [line for line in said if line.startswith("warning: ")]
    assert len(warned) == 1
    assert "--components" in warned[0]
    assert ("--neighbors" in warned[0]) == (command != "cluster")
    assert ("--save" in warned[0]) == labelled
    assert sum(line.startswith("memory: about") for line in said) == 1


# What is available


def system(root, cgroup, **limits):
    """Write what Linux says of memory into a folder: of the machine, and of groups of processes."""
    files = {"proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 8000 kB\n"}
    if cgroup:
        files["proc/self/cgroup"] = cgroup
    for folder, facts in limits.items():
        place = "sys/fs/cgroup" + "".join(f"/{name}" for name in folder.split("_")[1:] if name)
        files |= {f"{place}/memory.{name}": f"{value}\n" for name, value in facts.items()}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def limit(most, now, **more):
    return {"max": most, "current": now, **more}


OF_ALL = {"limit_in_bytes": 9223372036854771712, "usage_in_bytes": 1}
OF_BOX = {"limit_in_bytes": 3_000_000, "usage_in_bytes": 2_900_000}


@pytest.mark.parametrize(
    ("cgroup", "limits", "expected"),
    [
        (None, {}, 8000 * 1024),
        (
            "0::/batch/job\n",
            {"_batch_job": limit("max", 500_000),
             "_batch": limit(4_000_000, 1_000_000, stat="anon 5\ninactive_file 250000")},
            3_250_000,
        ),
        # in a container the path lies outside of what is mounted
        ("0::/../elsewhere\n", {"_": limit(2_000_000, 500_000)}, 1_500_000),
        ("5:cpu,cpuacct:/x\n4:memory:/box\n", {"_memory_box": OF_BOX, "_memory": OF_ALL}, 100_000),
        ("0::/full\n", {"_full": limit(5, 9)}, 0),
    ],
)  # fmt: skip
def test_available_memory(tmp_path, cgroup, limits, expected):
    assert available_memory_bytes(system(tmp_path, cgroup, **limits)) == expected


def test_available_memory_here():
    assert available_memory_bytes() > 10**7


def test_a_system_that_does_not_say(tmp_path, monkeypatch):
    assert available_memory_bytes(tmp_path) > 10**7  # by sysconf
    monkeypatch.setattr(memory.os, "sysconf", lambda name: (_ for _ in ()).throw(ValueError(name)))
    assert available_memory_bytes(tmp_path) is None


# Never the whole scene


@pytest.mark.filterwarnings("ignore::diffclass.exceptions.UnreachedWarning")
@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("metric", ["euclidean", "angle"])
def test_a_scene_opened_lazily_is_never_read_whole(reader, labels, monkeypatch, spatial, metric):
    rows_at_once = 6
    values = rows_at_once * 20 * 16
    monkeypatch.setattr("diffclass_hyperspectral.io.rasters.BLOCK_VALUES", values)
    features = SceneFeatures(5, metric=metric, spatial=spatial)
    result = classify_scene(reader.scene, labels, features=features).result
    assert reader.n_reads > 120 / rows_at_once
    assert reader.largest <= values
    assert (result.class_map[:, 0] == 1).mean() > 0.9 or spatial or metric == "angle"
    again = apply_model(reader.scene, result.model)
    assert again.class_map.shape == (120, 20)
    assert reader.largest <= values
    said = result.model.forecast(reader.scene)
    assert set(said.stages) == {"features", "prediction", "writing"}


def test_pages_that_were_read_are_let_go(tmp_path, monkeypatch):
    cube = np.random.default_rng(0).random((40, 30, 8)).astype(np.float32)
    np.save(tmp_path / "scene.npy", cube)
    mapped = np.load(tmp_path / "scene.npy", mmap_mode="r")
    view = np.asarray(mapped)[3:9]
    before = view.copy()
    release_pages(view)
    np.testing.assert_array_equal(view, before)
    for other in (cube, None, np.load(tmp_path / "scene.npy", mmap_mode="c")):
        release_pages(other)
    changed = np.load(tmp_path / "scene.npy", mmap_mode="c")
    changed[0] = 5
    release_pages(changed[:])
    assert (changed[0] == 5).all()
    monkeypatch.delattr(mmap, "MADV_DONTNEED", raising=False)
    release_pages(view)


def test_embedding_hears_of_it_before(tmp_path):
    np.save(tmp_path / "scene.npy", np.random.default_rng(0).random((20, 20, 6)))
    heard = []
    model = DiffusionMap(2, n_neighbors=16, bandwidth="self-tuning")
    embed(Pixels(open_scene(tmp_path / "scene.npy")), model, before=heard.append)
    assert set(heard[0].stages) == {"features", "neighbors", "affinities", "eigenpairs", "writing"}
