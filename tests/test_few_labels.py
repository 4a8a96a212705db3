"""The benchmark with few labels: its draws, its methods, a quick run and its table."""

from __future__ import annotations

import csv
import subprocess
import sys

import numpy as np
import pytest
from scipy import ndimage
from scipy.stats import ttest_rel
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from diffclass import markov_operator
from experiments.few_labels import accumulated, benchmark, unequal
from experiments.few_labels.draws import WAYS, proportional_shares, renamed
from experiments.few_labels.methods import METHODS, Setting, support_vectors
from experiments.few_labels.paired_table import paired, table
from experiments.problems import Problem
from experiments.scaling.million import N_CLASSES, fields

SHAPE = (40, 50)


@pytest.fixture(scope="module")
def truth() -> np.ndarray:
    """Three fields, the last a single small one, and unknown ground between them."""
    picture = np.zeros(SHAPE, dtype=int)
    picture[:, :25][:36] = 1
    picture[:20, 26:] = 2
    picture[:, 45:][:20] = 0
    picture[22:26, 26:44] = 2
    picture[30:39, 30:40] = 3
    return picture.ravel()


@pytest.fixture(scope="module")
def problem(truth) -> Problem:
    random = np.random.default_rng(3)
    points = np.eye(4)[truth] + 0.3 * random.normal(size=(len(truth), 4))
    return Problem("fields", points, truth)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("budget", [1, 3, 10])
def test_draws_are_seeded_and_scored_away_from_their_labels(truth, way, budget):
    y, scored = WAYS[way](truth, SHAPE, budget, 5)
    again, _ = WAYS[way](truth, SHAPE, budget, 5)
    other, _ = WAYS[way](truth, SHAPE, budget, 6)
    np.testing.assert_array_equal(y, again)
    assert (y != other).any()
    assert not (scored & (y > 0)).any()
    assert (truth[scored] > 0).all()
    assert set(np.unique(y)) == {-1, 1, 2, 3}
    assert np.count_nonzero(y > 0) == 3 * budget
    if way != "wrong":
        assert (y == truth)[y > 0].all()
    if way != "proportional":
        assert (y == truth).sum() >= 0.9 * 3 * budget
    if way != "blocks":
        np.testing.assert_array_equal(scored, (truth > 0) & (y < 0))


def test_proportional_labels_follow_the_sizes(truth):
    y, _ = WAYS["proportional"](truth, SHAPE, 10, 0)
    sizes = np.bincount(truth)[1:]
    counts = np.bincount(y[y > 0])[1:]
    assert (np.abs(counts - 30 * sizes / sizes.sum()) < 1).all()


def test_shares_are_whole_at_least_one_and_leave_half_of_a_class():
    np.testing.assert_array_equal(proportional_shares(np.array([50, 30, 20]), 10), [5, 3, 2])
    np.testing.assert_array_equal(proportional_shares(np.array([10, 990]), 10), [1, 9])
    tiny = proportional_shares(np.array([2, 3, 5000, 4000]), 4)
    np.testing.assert_array_equal(tiny, [1, 1, 1, 1])
    np.testing.assert_array_equal(proportional_shares(np.array([6, 6]), 10), [3, 3])


def test_strokes_hang_together(truth):
    for seed in range(5):
        y, _ = WAYS["strokes"](truth, SHAPE, 10, seed)
        picture = y.reshape(SHAPE)
        for value in (1, 2, 3):
            _, n = ndimage.label(picture == value, structure=np.ones((3, 3)))
            assert n == 1
            places = np.argwhere(picture == value)
            assert np.ptp(places, axis=0).max() >= 4  # a stroke, not a clump


def test_strokes_of_a_scattered_class_are_several():
    picture = np.indices((12, 12)).sum(axis=0) % 2 + 1
    picture[::2] = 1  # class 2 on lone pixels
    y, _ = WAYS["strokes"](picture.ravel(), picture.shape, 5, 0)
    np.testing.assert_array_equal(np.bincount(y[y > 0])[1:], [5, 5])


def test_a_tenth_of_equal_labels_is_renamed(truth):
    y, _ = WAYS["wrong"](truth, SHAPE, 10, 2)
    clean, _ = WAYS["equal"](truth, SHAPE, 10, 2)
    np.testing.assert_array_equal(y > 0, clean > 0)
    assert (y != clean).sum() == 3
    np.testing.assert_array_equal(renamed(clean, 0.0, np.random.default_rng(0)), clean)


def test_blocks_are_scored_apart(truth):
    y, scored = WAYS["blocks"](truth, SHAPE, 10, 1)
    distance = ndimage.distance_transform_cdt((y < 0).reshape(SHAPE), metric="chessboard")
    assert distance.ravel()[scored].min() >= 6


@pytest.mark.parametrize("way", WAYS)
def test_truth_without_a_sign_makes_no_difference(truth, way):
    for drawn, expected in zip(
        WAYS[way](truth.astype(np.uint8), SHAPE, 3, 1), WAYS[way](truth, SHAPE, 3, 1), strict=True
    ):
        np.testing.assert_array_equal(drawn, expected)


@pytest.mark.filterwarnings("ignore:max_iter")
@pytest.mark.parametrize("name", METHODS)
def test_methods_find_the_fields(problem, name):
    y, scored = WAYS["equal"](problem.truth, SHAPE, 10, 0)
    at = np.flatnonzero(scored)
    found = METHODS[name](Setting(problem), y, at)
    assert found.shape == at.shape
    assert (found == problem.truth[at]).mean() > 0.8


@pytest.mark.filterwarnings("ignore:max_iter")
@pytest.mark.parametrize("model", [LabelSpreading, LabelPropagation])
def test_spreading_on_the_graph_made_once_is_scikit_learns(problem, model):
    y, _ = WAYS["equal"](problem.truth, SHAPE, 3, 0)
    everywhere = np.arange(len(y))
    setting = Setting(problem)
    expected = model(kernel="knn").fit(problem.points, y).transduction_
    for _ in range(2):  # the first fit leaves the graph as it was
        found = METHODS[model.__name__](setting, y, everywhere)
        np.testing.assert_array_equal(found, expected)


def test_cost_is_cross_validated_from_five_labels_on():
    assert support_vectors(np.repeat([1, 2, 3], 4)).C == 100
    assert support_vectors(np.repeat([1, 2, 3], 5)).param_grid["C"] == (1, 10, 100, 1000)


def test_paired_interval_is_students():
    random = np.random.default_rng(4)
    a, b = random.normal(size=(2, 10))
    mean, half = paired(list(a), list(b))
    expected = ttest_rel(a, b).confidence_interval()
    np.testing.assert_allclose([mean - half, mean + half], [expected.low, expected.high])


def test_table_names_the_best_other_and_pairs_by_draw():
    rows = {}
    for seed, (ours, near, forest) in enumerate([(0.9, 0.8, 0.7), (0.8, 0.6, 0.7)]):
        for method, accuracy in (("summed", ours), ("1-NN", near), ("random forest", forest)):
            rows["fields", "equal", 1, seed, method] = accuracy
    rows["fields", "equal", 1, 2, "summed"] = 0.1  # a draw the others have not seen
    cells = [cell.strip() for cell in table(rows)[-1].split("|")[1:-1]]
    assert cells[:4] == ["equal", "fields", "1", "3"]
    assert cells[4:8] == ["60.0 ± 43.6", "-", "-", "1-NN 70.0 ± 14.1"]
    assert cells[8:10] == ["70.0", "70.0"]
    assert cells[10:] == ["+15.0 ± 63.5", "-", "-"]


def test_quick_run_on_digits_can_be_taken_up_again(tmp_path, capsys):
    command = ["--quick", "--problems", "digits", "-o", str(tmp_path), "--methods"]
    benchmark.main([*command, "free", "1-NN"])
    printed = capsys.readouterr().out
    assert "| equal | digits | 1 | 2 |" in printed
    file = tmp_path / "benchmark.csv"
    whole = file.read_text().splitlines()
    # 2 methods and draws; equal with 1 and 10 labels, proportional and wrong with 10
    assert len(whole) == 1 + 2 * 2 * 4
    file.write_text("\n".join(whole[:6]) + "\n")
    benchmark.main([*command, "free", "1-NN"])
    assert sorted(file.read_text().splitlines()) == sorted(whole)
    assert capsys.readouterr().out == printed
    benchmark.main([*command, "free", "1-NN", "GL Poisson, own graph"])
    assert "left out" in capsys.readouterr().err
    with file.open(newline="") as stream:
        free = [float(r["accuracy"]) for r in csv.DictReader(stream) if r["method"] == "free"]
    assert min(free) > 0.8


PEER = """
import numpy as np

class Model:
    def __init__(self, W):
        self.W = W
    def fit_predict(self, labelled, codes):
        onehot = np.zeros((self.W.shape[0], codes.max() + 1))
        onehot[labelled, codes] = 1
        for _ in range(10):
            onehot += self.W @ onehot
        return onehot.argmax(axis=1)

class ssl:
    laplace = poisson = Model

class weightmatrix:
    def knn(points, k):
        from sklearn.neighbors import kneighbors_graph
        return kneighbors_graph(points, k)
"""


def test_peer_answers_from_its_own_process(tmp_path, monkeypatch, problem):
    (tmp_path / "graphlearning.py").write_text(PEER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    results = benchmark.Results(tmp_path / "benchmark.csv")
    methods = ("1-NN", *benchmark.PEERS)
    results.add(("fields", "equal", 1, 0, "GL Laplace, our graph"), 0.25)  # known: not run again
    draws = list(benchmark.pending_draws(problem, SHAPE, methods, results, quick=True))
    benchmark.run_problem(Setting(problem), draws, results, peer=sys.executable)
    assert len(results.rows) == len(draws) * len(methods)
    assert results.rows["fields", "equal", 1, 0, "GL Laplace, our graph"] == 0.25
    assert results.rows["fields", "equal", 10, 1, "GL Laplace, our graph"] > 0.9
    assert benchmark.Results(tmp_path / "benchmark.csv").rows.keys() == results.rows.keys()
    assert not list(benchmark.pending_draws(problem, SHAPE, methods, results, quick=True))


def test_peer_that_fails_is_said_to(tmp_path, monkeypatch, problem):
    (tmp_path / "graphlearning.py").write_text("raise SystemExit(3)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    results = benchmark.Results(tmp_path / "benchmark.csv")
    draws = list(benchmark.pending_draws(problem, None, ["1-NN", *benchmark.PEERS], results))[:2]
    with pytest.raises(subprocess.CalledProcessError, match="status 3"):
        benchmark.run_problem(Setting(problem), draws, results, peer=sys.executable)
    assert len(results.rows) == 2  # what was found here is kept


def test_fifty_draws_with_one_label():
    assert benchmark.n_draws("equal", 1) == 50
    assert benchmark.n_draws("equal", 3) == 10
    assert set(benchmark.BUDGETS) == set(WAYS)
    assert set(benchmark.SHAPES) == set(benchmark.PROBLEMS)


def test_accumulated_labels_are_sums_of_dense_powers(monkeypatch):
    monkeypatch.setattr(accumulated, "TIMES", np.array([2, 5]))
    rng = np.random.default_rng(0)
    operator = markov_operator(rng.normal(size=(40, 2)), n_neighbors=6)
    codes = np.full(40, -1)
    codes[:5] = [0, 0, 1, 2, 2]
    A = operator.apply(np.eye(40))
    chi = (codes[:, None] == np.arange(3)) / 1.0
    chi /= operator.stationary_distribution @ chi
    powers = [np.linalg.matrix_power(A, t) @ chi for t in range(6)]
    found = list(accumulated.codes_by_time(operator, codes))
    for t, (at, up_to) in zip((2, 5), found, strict=True):
        np.testing.assert_array_equal(at, powers[t].argmax(axis=1))
        np.testing.assert_array_equal(up_to, sum(powers[: t + 1]).argmax(axis=1))


def test_random_fields_have_every_class():
    assert set(np.unique(fields(64))) == set(range(1, N_CLASSES + 1))


def test_unequal_labels_become_rows_and_a_table(rng, monkeypatch):
    truth = np.repeat([1, 2], [620, 300])
    points = rng.normal(size=(len(truth), 2)) + 8 * truth[:, None]
    monkeypatch.setattr(unequal, "salinas_a", lambda *, spatial: Problem("blobs", points, truth))
    rows = list(unequal.compute(2))
    assert [list(row) for row in rows] == [list(rows[0])] * 18
    assert {row["accuracy"] for row in rows if row["drawn"] == "equal"} == {"100.00"}
    lines = unequal.table([{name: str(cell) for name, cell in row.items()} for row in rows[:9]])
    assert lines[2].startswith("| blobs | summed | 100.00 ± 0.00 | ")
    assert len(lines) == 5
