"""Labels diffuse in blocks as they do in memory."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning

from diffclass import MarkovOperator, StoppingRule, diffuse_labels, markov_operator
from diffclass.blocks import (
    BlockDiffusion,
    BlockOperator,
    Scratch,
    SerialEngine,
    diffuse_in_blocks,
)
from diffclass.blocks.block_diffusion import calibrate_in_blocks
from diffclass.blocks.block_walk import BlockWalk
from diffclass.blocks.engine import WorkLost
from diffclass.blocks.halo import ghost_layers, halo_shares
from diffclass.blocks.operator import OperatorBlock
from diffclass.exceptions import ClusterError, DataError, ParameterError
from diffclass.label_diffusion import DiffusionRules, Labels, calibrate, held_out_labels
from diffclass.label_diffusion.diffusion import diffuse
from diffclass.label_diffusion.walk import HEIGHT


def blobs(seed=0, n=300, dtype=np.float32):
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), n // 3)
    X = rng.normal(size=(n, 2)) + 3.5 * np.array([[0, 0], [1, 0], [0.3, 1]])[truth]
    y = np.where(rng.random(n) < 0.05, truth, -1)
    y[[0, n // 3, n - 1]] = 0, 1, 2
    return markov_operator(X.astype(dtype), n_neighbors=8), y


def moons():
    X, truth = make_moons(400, noise=0.06, random_state=1)
    y = np.full(400, -1)
    for c in (0, 1):
        y[np.flatnonzero(truth == c)[:2]] = c
    return markov_operator(X, n_neighbors=8), y


def with_a_component_without_labels():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(240, 2)) + np.repeat([[0, 0], [3, 0], [50, 50]], 80, axis=0)
    y = np.full(240, -1)
    y[[1, 5, 90, 100]] = 0, 0, 1, 1
    return markov_operator(X.astype(np.float32), n_neighbors=6), y


def with_isolated_points():
    operator, y = blobs(4)
    K = sp.lil_array(operator.affinity)
    alone = [17, 150]
    K[alone, :] = 0
    K[:, alone] = 0
    y[alone] = -1, 1
    return MarkovOperator.from_affinity(sp.csr_array(K)), y


def chain(n=700):
    """So long that what arrives at the end underflows in single precision."""
    K = sp.diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1])
    y = np.full(n, -1)
    y[[0, 40]] = 0, 1
    return MarkovOperator.from_affinity(sp.csr_array(K).astype(np.float32)), y


def digits():
    X, truth = load_digits(return_X_y=True)
    known = np.random.default_rng(0).random(len(X)) < 0.03
    return markov_operator(X.astype(np.float32), n_neighbors=12), np.where(known, truth, -1)


GRAPHS = {
    "blobs": blobs,
    "moons": moons,
    "component without labels": with_a_component_without_labels,
    "isolated points": with_isolated_points,
    "digits": digits,
}


def cut_into(operator, n_blocks, folder):
    starts = np.linspace(0, len(operator), n_blocks + 1).astype(int)
    return BlockOperator.from_operator(operator, starts, Scratch(Path(folder)))


def diffused(cut, y, *, engine=None, depth=None, label_weight=None, groups=None, **rules):
    labels = Labels.of(y, label_weight, groups)
    return diffuse_in_blocks(
        cut, labels, DiffusionRules.of(labels, **rules), engine=engine, depth=depth
    )


def whole(found, part):
    return found.operator.all(f"{found.name}/{part}")


def assert_same(found, expected):
    assert (found.tau, found.weighting) == (expected.tau, expected.weighting)
    np.testing.assert_allclose(found.class_weight, expected.class_weight, rtol=1e-12)
    np.testing.assert_array_equal(found.curve.times, expected.curve.times)
    for name in ("margin", "coverage", "cut"):
        ours, theirs = getattr(found.curve, name), getattr(expected.curve, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    clear = (expected.margin > 1e-4) | (expected.codes < 0)
    np.testing.assert_array_equal(whole(found, "codes")[clear], expected.codes[clear])
    for name in ("margin", "probability", "posteriors"):
        np.testing.assert_allclose(whole(found, name), getattr(expected, name), atol=1e-6)


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_map_is_that_of_the_whole_graph(graph, tmp_path):
    operator, y = GRAPHS[graph]()
    expected = diffuse_labels(operator, y, label_mode="absorbing")
    for n_blocks, depth in ((1, 1), (2, 1), (2, 3), (5, 1), (5, 3)):
        cut = cut_into(operator, n_blocks, tmp_path / f"{n_blocks}-{depth}")
        assert_same(diffused(cut, y, depth=depth), expected)


@pytest.mark.parametrize(
    "options",
    [
        {"tau": "margin"},
        {"tau": 7},
        {"tau": 300, "class_prior": [0.5, 0.3, 0.2]},
        {"class_prior": "uniform"},
        {"class_prior": [0.9, 0.05, 0.05]},
        {"tau": StoppingRule(max_time=40, kept_share=0.9)},
        {"label_weight": "drawn"},
        {"groups": "halves"},
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_option_counts_as_in_memory(options, dtype, tmp_path):
    operator, y = blobs(1, dtype=dtype)
    rng = np.random.default_rng(1)
    if "label_weight" in options:  # labels of weight 0 are no labels at the end
        weight = rng.random(len(y)) * (rng.random(len(y)) < 0.8)
        weight[[0, 100, 299]] = 1
        options = {"label_weight": weight}
    if "groups" in options:
        options = {"groups": np.arange(len(y)) // 50}
    found = diffused(cut_into(operator, 3, tmp_path), y, **options)
    assert_same(found, diffuse_labels(operator, y, label_mode="absorbing", **options))


@pytest.mark.filterwarnings("ignore:by max_time")
@pytest.mark.parametrize(
    "tau", [StoppingRule("auto", 200), StoppingRule("margin", 200), 250], ids=str
)
def test_points_that_underflow_are_filled(tau, tmp_path):
    operator, y = chain()
    found = diffused(cut_into(operator, 4, tmp_path), y, tau=tau)
    expected = diffuse_labels(operator, y, label_mode="absorbing", tau=tau)
    assert (expected.values == 0).all(axis=1).any() == (tau == 250)
    assert_same(found, expected)


@pytest.mark.parametrize(
    ("name", "prior"), [("moons", None), ("digits", None), ("blobs", ([0.36, 0, 0], [0.4, 1, 1]))]
)
def test_labels_held_out_by_folds_say_what_they_say_in_memory(name, prior, tmp_path, monkeypatch):
    """In memory, too many labels for a column each are held out by folds too."""
    monkeypatch.setattr(held_out_labels, "_MOST_COLUMNS", 0)
    operator, y = GRAPHS[name]()
    labels = Labels.of(y)
    pairs = np.repeat(np.arange(len(labels.points)), 2)[: len(labels.points)]
    groups = np.full(len(y), -1)
    groups[labels.points[np.argsort(labels.codes, kind="stable")]] = pairs
    labels = Labels.of(y, groups=groups)
    rules = DiffusionRules.of(labels, label_mode="absorbing", tau=32, class_prior=prior)
    found = diffuse_in_blocks(cut_into(operator, 3, tmp_path), labels, rules)
    assert (np.ptp(found.class_weight) > 0) == (prior is not None)
    calibration = calibrate_in_blocks(found, labels, SerialEngine())
    expected = calibrate(operator, labels, diffuse(operator, labels, rules))
    assert calibration.n_held_out == expected.n_held_out
    np.testing.assert_allclose(calibration.conformity, expected.conformity, rtol=1e-3)
    for value in ("temperature", "log_loss_before", "log_loss_after"):
        assert getattr(calibration, value) == pytest.approx(
            getattr(expected, value), rel=1e-3, nan_ok=True
        )


def test_labels_that_do_not_cover_the_graph_are_told(tmp_path):
    operator, y = chain(60)
    y[:] = -1
    y[0] = 0
    with pytest.warns(ConvergenceWarning, match="by max_time = 20 the labels reach"):
        diffused(cut_into(operator, 2, tmp_path), y, tau=StoppingRule(max_time=20))


def test_large_graphs_are_looked_at_once_they_are_covered(monkeypatch, tmp_path):
    operator, y = blobs(3)
    rule = StoppingRule(kept_share=1, max_time=4000)
    long = diffused(cut_into(operator, 2, tmp_path), y, tau=rule)
    monkeypatch.setattr("diffclass.label_diffusion.stopping.LONG_WALK_POINTS", 10)
    short = diffused(cut_into(operator, 2, tmp_path), y, tau=rule)
    assert len(short.curve.times) < len(long.curve.times)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), n_blocks=st.integers(1, 7), depth=st.integers(1, 4))
def test_values_are_probabilities(seed, n_blocks, depth):
    """The maximum principle: 0 <= N_i, and their sum is at most 1 and never falls."""
    operator, y = blobs(seed, n=120, dtype=np.float64)
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        starts = np.unique(np.concatenate([[0, 120], rng.integers(1, 120, n_blocks - 1)]))
        cut = BlockOperator.from_operator(operator, starts, Scratch(Path(folder)))
        walk = BlockWalk(cut, Labels.of(y), SerialEngine(), name="diffusion", depth=depth)
        before = 0
        for time in (1, 2, 5, 9, 64, 300):
            walk.advance(time)
            N = np.concatenate(walk.graph.gather(walk.state)) / HEIGHT
            arrived = N.sum(axis=1)
            assert N.min() >= 0
            assert (arrived <= 1 + 1e-12).all()
            assert (arrived >= before - 1e-12).all()
            assert (N[y >= 0] == np.eye(3)[y[y >= 0]]).all()
            before = arrived


def test_halos_are_the_points_within_some_edges(tmp_path):
    operator, _ = blobs(2)
    cut = cut_into(operator, 3, tmp_path)
    group = np.where((np.arange(300) >= 100) & (np.arange(300) < 200), 0, -1)
    hops = operator.hops(group)[:, 0]
    for k, layer in enumerate(ghost_layers(cut, 1, 4), start=1):
        np.testing.assert_array_equal(layer, np.flatnonzero(hops == k))
    rows = np.diff(operator.affinity.indptr)
    shares = halo_shares(cut, 1, 1.0)
    expected = [rows[(hops > 0) & (hops < k)].sum() / rows[hops == 0].sum() for k in range(1, 9)]
    np.testing.assert_allclose(shares, expected[: len(shares)])
    assert len(shares) == 8 or expected[len(shares)] > 1


class LosesWork(SerialEngine):
    """Loses all that was not kept, at random."""

    n_workers = 2

    def __init__(self, share, seed=0):
        super().__init__()
        self.share, self.rng, self.n_lost = share, np.random.default_rng(seed), 0

    def gather(self, handles):
        if self.rng.random() < self.share:
            self.n_lost += 1
            raise WorkLost("workers are lost again and again")
        return super().gather(handles)


@pytest.fixture
def nothing_to_collect(monkeypatch):
    """What keeps results on workers need not be looked for among all objects of this process."""
    monkeypatch.setattr("diffclass.blocks.engine.gc.collect", lambda: None)


@pytest.mark.parametrize("options", [{}, {"class_prior": "uniform"}, {"tau": 400}], ids=str)
def test_lost_work_is_done_again(options, tmp_path, nothing_to_collect):
    operator, y = blobs(5)
    # sizes are met, or not, in one piece of work, which has to end between two losses
    engine = LosesWork(0.03 if "class_prior" in options else 0.08)
    found = diffused(cut_into(operator, 3, tmp_path), y, engine=engine, **options)
    assert engine.n_lost > 1
    assert_same(found, diffuse_labels(operator, y, label_mode="absorbing", **options))


@pytest.mark.parametrize("n_joined", [1, 2, 3, 5])
@pytest.mark.parametrize("depth", [1, 3])
def test_joined_blocks_give_the_same_map(n_joined, depth, tmp_path):
    operator, y = with_a_component_without_labels()
    cut = cut_into(operator, 5, tmp_path)
    joined = cut.joined(n_joined)
    assert joined.n_blocks == n_joined
    assert joined.joined(5).starts == cut.starts
    rows = [OperatorBlock.load(joined, b) for b in range(n_joined)]
    assert sum(block.affinity.nnz for block in rows) == operator.affinity.nnz
    np.testing.assert_array_equal(np.concatenate([b.degrees for b in rows]), operator.degrees)
    apart = diffused(cut, y, depth=depth)
    expected = {part: whole(apart, part) for part in ("codes", "posteriors")}  # files of that name
    found = diffused(joined, y, depth=depth)
    for part, values in expected.items():
        np.testing.assert_array_equal(whole(found, part), values)
    again = BlockDiffusion.from_facts(cut, json.loads(json.dumps(found.facts)))
    np.testing.assert_array_equal(whole(again, "codes"), whole(found, "codes"))


def test_work_that_is_always_lost_is_given_up(tmp_path, nothing_to_collect):
    operator, y = blobs(5)
    with pytest.raises(ClusterError, match="again and again"):
        diffused(cut_into(operator, 2, tmp_path), y, engine=LosesWork(1))


def test_blocks_that_do_not_fit_are_read_again(tmp_path):
    operator, y = blobs(6)
    cut = cut_into(operator, 3, tmp_path)
    little = diffused(cut, y, engine=SerialEngine(memory=0), tau=20)
    assert_same(little, diffuse_labels(operator, y, label_mode="absorbing", tau=20))


def test_results_come_in_the_order_of_the_points(tmp_path):
    operator, y = blobs(7)
    order = np.random.default_rng(0).permutation(len(y))  # place -> point
    K = operator.affinity[order][:, order]
    K.sort_indices()
    moved = MarkovOperator.from_affinity(K, check=False)
    found = diffused(cut_into(moved, 4, tmp_path), y[order], tau=30)
    expected = diffuse_labels(operator, y, label_mode="absorbing", tau=30)
    sorted_map = found.in_order(order, n_rows=64)
    np.testing.assert_array_equal(sorted_map.codes, expected.codes)
    np.testing.assert_allclose(sorted_map.posteriors, expected.posteriors, atol=1e-5)


def test_facts_outlive_the_process(tmp_path):
    operator, y = blobs(8)
    cut = cut_into(operator, 2, tmp_path)
    found = diffused(cut, y)
    states = list(tmp_path.glob("diffusion/state*"))
    assert {path.name for path in states} == {f"state{found.tau}.{b}.npy" for b in (0, 1)}
    again = BlockDiffusion.from_facts(cut, json.loads(json.dumps(found.facts)))
    assert_same(again, diffuse_labels(operator, y, label_mode="absorbing"))
    assert again.traffic == found.traffic


def test_bad_input_gets_one_clear_error(tmp_path):
    operator, y = blobs(9)
    cut = cut_into(operator, 2, tmp_path)
    with pytest.raises(ParameterError, match="needs the whole graph in memory"):
        diffused(cut, y, label_mode="summed")
    with pytest.raises(ParameterError, match="tau"):
        diffused(cut, y, tau="cut")
    with pytest.raises(DataError, match="groups has 3 entries"):
        diffused(cut, y, groups=[1, 2, 3])
    with pytest.raises(DataError, match="no label"):
        diffused(cut, np.full(300, -1))
    with pytest.raises(DataError, match="y has 7 entries; the operator has 300"):
        diffused(cut, y[:7])
