"""The classifier beyond memory: the same map as in memory, within what it is given."""

from __future__ import annotations

import gc
import pickle
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, make_blobs

from diffclass import DiffusionClassifier
from diffclass.blocks import BlockClassifier, BlockOperator, SerialEngine
from diffclass.blocks.engine import SpillFiles, release
from diffclass.blocks.halo import WalkBlock
from diffclass.blocks.plan import BlockPlan
from diffclass.exceptions import DataError, ParameterError, UnreachedWarning
from diffclass.system.costs import Size
from diffclass.system.mapped_files import map_under


@pytest.fixture(scope="module")
def digits():
    X, truth = load_digits(return_X_y=True)
    y = np.where(np.random.default_rng(0).random(len(X)) < 0.05, truth, -1)
    return X.astype(np.float32), y, truth


@pytest.fixture
def small_blocks(monkeypatch, request):
    """Several blocks, in which labels diffuse too unless the test asks for them to be joined."""
    monkeypatch.setattr("diffclass.blocks.plan._MOST_POINTS", 600)
    monkeypatch.setattr("diffclass.blocks.plan.LEAST_BLOCK", 300)
    if not getattr(request, "param", False):
        monkeypatch.setattr(BlockOperator, "joined", lambda operator, n_blocks: operator)


@pytest.mark.parametrize("small_blocks", [False, True], indirect=True, ids=["apart", "joined"])
def test_map_and_calibration_are_those_of_the_classifier_in_memory(digits, small_blocks):
    X, y, truth = digits
    known = DiffusionClassifier(tau=64, random_state=0).fit(X, y)
    found = BlockClassifier(tau=64, random_state=0).fit(X, y)
    assert found.facts_["n_blocks"] > 2
    assert found.recall_ > 0.97  # 98 % are aimed at, and estimated on a sample
    assert np.array_equal(found.classes_, known.classes_)
    assert np.mean(found.transduction_ == known.transduction_) > 0.98
    right = [np.mean(model.transduction_ == truth) for model in (known, found)]
    assert abs(right[0] - right[1]) < 0.01
    np.testing.assert_allclose(found.raw_label_distributions_.sum(axis=1), 1, atol=1e-5)
    by_hand, calibration = known.calibration_, found.calibration_
    assert calibration.n_held_out == by_hand.n_held_out
    assert calibration.map_temperature == pytest.approx(by_hand.map_temperature, rel=0.2)
    assert calibration.temperature == pytest.approx(by_hand.temperature, rel=0.3)
    assert calibration.log_loss_after < calibration.log_loss_before
    sure = calibration.apply(found.raw_label_distributions_[:]).max(axis=1).mean()
    assert abs(sure - right[1]) < 0.05


def test_a_file_is_read_where_it_lies_and_scratch_goes_with_the_model(
    digits, small_blocks, tmp_path, monkeypatch
):
    X, y, _ = digits
    # where no other process makes a folder of the same name
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    np.save(tmp_path / "points.npy", X)
    model = BlockClassifier(random_state=0).fit(np.load(tmp_path / "points.npy", mmap_mode="r"), y)
    folder = Path(model.diffusion_.margin.filename).parents[1]
    assert folder.exists()
    assert not (folder / "points").exists()
    again = BlockClassifier(random_state=0).fit(tmp_path / "points.npy", y)
    assert np.array_equal(model.transduction_, again.transduction_)
    del model
    gc.collect()
    assert not folder.exists()


class Counting(SerialEngine):
    n_tasks = 0

    def submit(self, task, *arguments):
        self.n_tasks += 1
        return super().submit(task, *arguments)


def test_other_labels_use_the_graph_again(digits, small_blocks, tmp_path):
    X, y, truth = digits
    np.save(tmp_path / "points.npy", X)
    engine, tasks = Counting(), []
    for labels in (y, y, truth):
        before = engine.n_tasks
        model = BlockClassifier(random_state=0, engine=engine, scratch=tmp_path / "scratch")
        model.fit(tmp_path / "points.npy", labels)
        tasks.append(engine.n_tasks - before)
    assert tasks[1] == 0
    assert 0 < tasks[2] < tasks[0]
    assert (model.transduction_ == truth).all()


def test_without_memory_all_goes_to_disk_and_nothing_changes(digits, small_blocks, tmp_path):
    X, y, _ = digits
    inside = BlockClassifier(tau=8, random_state=0).fit(X, y)
    engine = SerialEngine(memory=0, folder=tmp_path)
    outside = BlockClassifier(tau=8, random_state=0, engine=engine).fit(X, y)
    assert np.array_equal(inside.diffusion_.posteriors, outside.diffusion_.posteriors)
    assert not list(tmp_path.iterdir())


def test_spill_files_keep_account(tmp_path):
    files = SpillFiles(3e6, tmp_path)
    first, count = files.put((np.ones(300_000), 7))
    assert (files.size, count) == (2_400_000, 7)
    assert files.put(first) is first
    second = files.put(np.arange(300_000.0).reshape(-1, 3))
    assert map_under(first) is None
    assert map_under(second) is not None
    release([second])
    assert second.shape == (100_000, 3)
    assert second[-1, -1] == 299_999
    del first
    gc.collect()
    assert files.size == 0
    assert map_under(files.put(np.ones(300_000))) is None


def test_points_beyond_reach_have_no_class(small_blocks):
    X = np.random.default_rng(0).normal(size=(900, 2)).astype(np.float32)
    X[600:] += 100
    y = np.full(900, "", dtype=object)
    y[:] = -1
    y[0], y[1] = "grass", "soil"
    with pytest.warns(UnreachedWarning, match="300 of 900"):
        model = BlockClassifier(random_state=0).fit(X, y)
    assert set(model.transduction_[600:]) == {-1}
    assert set(model.transduction_[:600]) == {"grass", "soil"}


def test_bad_input_is_named(digits, tmp_path):
    X, y, _ = digits
    with pytest.raises(DataError, match="1797 entries; X has 5 points"):
        BlockClassifier().fit(X[:5], y)
    with pytest.raises(ParameterError, match="too little for a block"):
        BlockClassifier(memory=1e6).fit(X, y)
    with pytest.raises(ParameterError, match="in blocks labels are absorbing"):
        BlockClassifier(label_mode="summed").fit(X, y)
    for n_workers in (0, 1.5):
        with pytest.raises(ParameterError, match=f"n_workers = {n_workers}; it has to be a whole"):
            BlockClassifier(n_workers=n_workers).check_parameters()
    with pytest.raises(ParameterError, match="an engine has workers of its own"):
        BlockClassifier(n_workers=2, engine=SerialEngine()).fit(X, y)
    with pytest.raises(DataError, match="points are a table"):
        BlockClassifier().fit(X[:, 0], y)
    with pytest.raises(DataError, match="no label"):
        BlockClassifier().fit(X, np.full(len(X), -1))


def test_a_plan_spends_what_it_is_given():
    small, large = (BlockPlan.within(b, Size(10**7, 20, 12, 16)) for b in (1.2e9, 6e9))
    assert small.block_points <= large.block_points <= 10**6
    assert small.held_bytes < large.held_bytes
    assert small.scratch_bytes > large.scratch_bytes
    assert small.peak_bytes <= 1.2e9
    assert large.peak_bytes <= 6e9
    shared = BlockPlan.within(6e9, Size(10**6, 20, 12, 16), n_workers=4)
    assert shared.block_points == 125_000
    size = Size(10**6, 20, 12, 16)
    alone, beside = (BlockPlan.within(6e9, size, n_builders=n) for n in (None, 2))
    assert beside.held_bytes == alone.held_bytes  # builders have ended
    assert 2 * beside.builder_bytes < alone.builder_bytes == 6e9
    assert alone.peak_bytes < beside.peak_bytes <= 6e9
    assert not small.is_joined
    assert not large.is_joined
    assert alone.is_joined
    assert shared.is_joined
    with pytest.raises(ParameterError, match="too little for 10000000 points of 16 classes"):
        BlockPlan.within(6e8, Size(10**7, 20, 12, 16))


@given(
    memory=st.floats(1e6, 2e9),
    n_points=st.integers(100, 10**8),
    n_features=st.integers(1, 200),
    n_neighbors=st.integers(3, 40),
    n_classes=st.integers(2, 250),
    n_workers=st.integers(1, 8),
    n_builders=st.none() | st.integers(1, 8),
)
def test_the_memory_that_an_error_names_suffices(memory, n_points, **given):
    size = Size(n_points, given["n_features"], given["n_neighbors"], given["n_classes"])

    def plan(memory):
        if given["n_builders"] is not None:
            return BlockPlan.within(memory, size, n_builders=given["n_builders"])
        return BlockPlan.within(memory, size, n_workers=given["n_workers"])

    try:
        assert plan(memory).peak_bytes <= memory
    except ParameterError as error:
        said, named, *_ = re.findall(r"([0-9.]+) GB", str(error))
        assert float(said) < float(named)
        enough = int(float(named) * 1e9)
        assert plan(enough).peak_bytes <= enough
        with pytest.raises(ParameterError):
            plan(float(named) * 1e9 - 1.1e6)


def test_walks_without_some_labels_find_the_room_of_those_before(digits, small_blocks, monkeypatch):
    X, y, _ = digits
    load = WalkBlock.load

    def sizes_of_loads(memory: float) -> list[int]:
        engine = SerialEngine(memory=memory)
        model = BlockClassifier(tau=8, random_state=0, engine=engine).fit(X, y)
        sizes = []

        def counted(*given):
            sizes.append(sys.getsizeof(block := load(*given)))
            return block

        with monkeypatch.context() as patched:
            patched.setattr(WalkBlock, "load", counted)
            assert model.calibration_.n_held_out
        return sizes

    at_will = sizes_of_loads(2.0**31)
    of_one_walk = sum(at_will) / 6  # five folds and the walk around the map
    assert len(sizes_of_loads(2 * 1.5 * of_one_walk)) == len(at_will)


@pytest.mark.parametrize("class_prior", [None, [0.2, 0.2, 0.6]])
def test_a_fitted_classifier_can_be_pickled(class_prior):
    X, truth = make_blobs([60, 60, 60], centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    y = np.where(np.arange(180) % 10, -1, truth)
    model = BlockClassifier(class_prior=class_prior).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transduction_, model.transduction_)
    temperature, n_held_out = model.calibration_.temperature, model.calibration_.n_held_out
    del model
    assert (again.calibration_.temperature, again.calibration_.n_held_out) == (
        temperature,
        n_held_out,
    )
    assert n_held_out == len(y[y >= 0])
