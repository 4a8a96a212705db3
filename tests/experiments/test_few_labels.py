"""The benchmark with few labels: its draws, its methods, a quick run and its table."""

from __future__ import annotations

import csv
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import ndimage
from scipy.stats import ttest_rel
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from diffclass import markov_operator
from experiments import problems
from experiments.few_labels import (
    accumulated,
    benchmark,
    calibration,
    graph_peers,
    scores,
    tau,
    unequal,
)
from experiments.few_labels.draws import WAYS, drawn, proportional_shares, renamed
from experiments.few_labels.families import FAMILIES, Family
from experiments.few_labels.graph_peers import METHODS as PEERS
from experiments.few_labels.methods import METHODS, OF_POINTS, Setting, support_vectors
from experiments.few_labels.paired_table import (
    joined_table,
    leads,
    paired,
    shortfalls,
    sized_table,
    table,
)
from experiments.problems import (
    CHOOSING,
    DATA,
    HALVES,
    PROBLEMS,
    REAL,
    REPORTING,
    TITLES,
    Problem,
    problem_of,
)
from experiments.scaling.million import N_CLASSES, fields

SHAPE = (40, 50)
NOT_EVEN = ("proportional", "one-sided")  # ways in which classes have labels unlike in number


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
    return Problem("fields", points, truth, shape=SHAPE)


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
    assert (np.count_nonzero(y > 0) == 3 * budget) == (way != "one-sided")
    if way != "wrong":
        assert (y == truth)[y > 0].all()
    if way not in NOT_EVEN:
        assert (y == truth).sum() >= 0.9 * 3 * budget
    if way != "blocks":
        np.testing.assert_array_equal(scored, (truth > 0) & (y < 0))


def test_proportional_labels_follow_the_sizes(truth):
    y, _ = WAYS["proportional"](truth, SHAPE, 10, 0)
    sizes = np.bincount(truth)[1:]
    counts = np.bincount(y[y > 0])[1:]
    assert (np.abs(counts - 30 * sizes / sizes.sum()) < 1).all()


def test_one_sided_labels_take_turns(truth):
    for seed in range(4):
        y, _ = WAYS["one-sided"](truth, SHAPE, 1, seed)
        expected = np.ones(3)
        expected[seed % 3] = min(100, np.count_nonzero(truth == seed % 3 + 1) // 2)
        np.testing.assert_array_equal(np.bincount(y[y > 0])[1:], expected)


@pytest.mark.parametrize("way", WAYS)
def test_a_part_of_a_picture_is_drawn_where_it_lies(truth, way):
    pixels = np.flatnonzero(np.arange(len(truth)) % 50 < 46)  # a margin without data
    part = Problem("part", None, truth[pixels], shape=SHAPE, pixels=pixels)
    y, scored = drawn(part, way, 3, 1)
    whole = np.zeros(len(truth), dtype=int)
    whole[pixels] = truth[pixels]
    expected = WAYS[way](whole, SHAPE, 3, 1)
    np.testing.assert_array_equal(y, expected[0][pixels])
    np.testing.assert_array_equal(scored, expected[1][pixels])


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
    for found, expected in zip(
        WAYS[way](truth.astype(np.uint8), SHAPE, 3, 1), WAYS[way](truth, SHAPE, 3, 1), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


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


@pytest.mark.filterwarnings("ignore:max_iter")
@pytest.mark.parametrize("name", sorted(METHODS.keys() - OF_POINTS.keys()))
def test_graph_methods_take_a_graph_without_points(problem, name):
    affinity = Setting(problem).operator.affinity
    given = Problem("graph", None, problem.truth, affinity=affinity)
    assert benchmark.can_run(name, given)
    y, scored = WAYS["equal"](given.truth, None, 10, 0)
    at = np.flatnonzero(scored)
    assert (METHODS[name](Setting(given), y, at) == given.truth[at]).mean() > 0.8


def test_true_shares_are_those_of_the_labelled_classes(problem):
    y = np.where(problem.truth == 2, -1, problem.truth)
    sizes = np.bincount(problem.truth)
    np.testing.assert_allclose(Setting(problem).shares_of(y), sizes[[1, 3]] / sizes[[1, 3]].sum())


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
        for method, accuracy in (("default", ours), ("1-NN", near), ("random forest", forest)):
            rows["fields", "equal", 1, seed, method] = accuracy
    rows["fields", "equal", 1, 2, "default"] = 0.1  # a draw the others have not seen
    cells = [cell.strip() for cell in table(rows)[-1].split("|")[1:-1]]
    assert cells[:4] == ["equal", "fields", "1", "3"]
    assert cells[4:9] == ["60.0 ± 43.6", "-", "-", "-", "-"]
    assert cells[9:12] == ["1-NN 70.0 ± 14.1", "70.0", "70.0"]
    assert cells[12:] == ["+15.0 ± 63.5", "-", "-", "-", "-"]


def test_methods_with_class_sizes_stand_apart():
    sized = "GL PoissonMBO, our graph"
    rows = {("fields", "equal", 1, seed, "graph alone"): 0.5 + seed / 10 for seed in range(4)}
    rows |= {("fields", "equal", 1, seed, "1-NN"): 0.5 for seed in range(4)}
    rows |= {("fields", "equal", 1, seed, sized): 0.9 for seed in range(2)}
    rows["fields", "equal", 3, 0, "graph alone"] = 0.5
    (line,) = table(rows, each_other=False)[2:3]
    assert "1-NN 50.0" in line
    assert sized not in line
    (line,) = sized_table(rows)[2:]
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells[:5] == ["equal", "fields", "1", "2", "55.0 ± 7.1"]  # of the draws of both
    assert f"{sized} 90.0 ± 0.0" in cells


def test_leads_count_rows_by_half_and_way_of_drawing():
    rows = {}
    for problem, budget, differences in (
        ("digits", 1, (0.1, 0.11, 0.12)),
        ("digits", 3, (0.1, -0.1, 0.01)),
        ("moons", 1, (-0.2, -0.21, -0.19)),
        ("Cora", 1, (0.0, 0.0, 0.0)),
    ):
        for seed, difference in enumerate(differences):
            rows[problem, "equal", budget, seed, "default"] = 0.5 + difference
            rows[problem, "equal", budget, seed, "1-NN"] = 0.5
    rows["Cora", "equal", 3, 0, "1-NN"] = 0.5  # ours was not run there
    assert [[cell.strip() for cell in line.split("|")[1:-1]] for line in leads(rows)[2:]] == [
        ["choosing", "families", "equal", "1", "0", "0", "1", "moons, 1 per class: -20.0"],
        ["choosing", "real", "equal", "2", "1", "1", "0", "-"],
        ["reporting", "real", "equal", "1", "0", "1", "0", "-"],
    ]


def test_shortfalls_are_those_of_each_method_behind_the_best_of_the_others():
    rows = {}
    for problem, budget, means in (
        ("digits", 5, {"default": 0.9, "SVM": 0.8, "1-NN": 0.895}),
        ("moons", 10, {"default": 0.7, "SVM": 0.8}),
        ("moons", 3, {"default": 0.2, "SVM": 0.8}),  # too few labels
        ("Cora", 5, {"default": 0.5, "GL Poisson, own graph": 0.9}),  # a graph alone
    ):
        for seed, by in enumerate((-0.1, 0.1)):
            rows |= {
                (problem, "equal", budget, seed, name): one + by for name, one in means.items()
            }
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in shortfalls(rows)[2:]]
    assert lines == [
        ["default", "2", "1", "5.0", "10.0"],
        ["SVM", "2", "1", "5.0", "10.0"],
        ["1-NN", "1", "0", "0.5", "0.5"],
    ]


def test_quick_run_on_digits_can_be_taken_up_again(tmp_path, capsys):
    command = ["--quick", "--problems", "digits", "-o", str(tmp_path), "--methods"]
    benchmark.main([*command, "free", "1-NN"])
    printed = capsys.readouterr().out
    assert "| equal | digits | 1 | 2 |" in printed
    file = tmp_path / "benchmark.csv"
    whole = file.read_text().splitlines()
    # 2 draws; equal with 1 and 10 labels, proportional and wrong with 10
    assert len(whole) == 1 + 2 * 4
    assert whole[0] == "problem,drawn,labels_per_class,seed,free,1-NN"
    broken_off = whole[2].rpartition(",")[0] + ","  # the second method was not run there
    file.write_text("\n".join([*whole[:2], broken_off]) + "\n")
    benchmark.main([*command, "free", "1-NN"])
    assert file.read_text().splitlines() == whole
    assert capsys.readouterr().out == printed
    benchmark.main([*command, "free", "1-NN", "GL Poisson, own graph"])
    assert "left out" in capsys.readouterr().err
    with file.open(newline="") as stream:
        free = [float(row["free"]) for row in csv.DictReader(stream)]
    assert min(free) > 0.8


def as_text(rows):
    """Return rows as a CSV file gives them back."""
    return [{name: str(cell) for name, cell in row.items()} for row in rows]


PEER = """
import numpy as np

class Model:
    def __init__(self, W, class_priors=None, X=None, reweighting=None, mean_shift=False):
        assert (X is not None) == (reweighting == "properly")
        assert class_priors is None or abs(sum(class_priors) - 1) < 1e-9
        self.W = W
    def fit_predict(self, labelled, codes):
        onehot = np.zeros((self.W.shape[0], codes.max() + 1))
        onehot[labelled, codes] = 1
        for _ in range(10):
            onehot += self.W @ onehot
        return onehot.argmax(axis=1)

class ssl:
    laplace = poisson = poisson_mbo = volume_mbo = Model

class weightmatrix:
    def knn(points, k):
        from sklearn.neighbors import kneighbors_graph
        return kneighbors_graph(points, k)
"""


DIFFUSION = """
import graphlearning

class DiffusionClassifier:
    def __init__(self, centering):
        assert centering
    def fit_predict(self, graph, y):
        labelled = (y >= 0).nonzero()[0]
        return graphlearning.Model(graph).fit_predict(labelled, y[labelled])
"""


@pytest.fixture
def peer_python(tmp_path, monkeypatch):
    """The Python of an environment with stand-ins for the peers."""
    (tmp_path / "graphlearning.py").write_text(PEER)
    (tmp_path / "sknetwork").mkdir()
    (tmp_path / "sknetwork" / "__init__.py").touch()
    (tmp_path / "sknetwork" / "classification.py").write_text(DIFFUSION)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return sys.executable


def test_peer_answers_from_its_own_process(tmp_path, peer_python, problem):
    results = benchmark.Results(tmp_path / "benchmark.csv")
    methods = ("1-NN", *PEERS)
    results.add(("fields", "equal", 1, 0, "GL Laplace, our graph"), 0.25)  # known: not run again
    draws = list(benchmark.pending_draws(problem, methods, results, quick=True))
    given = Problem("graph", None, problem.truth, affinity=Setting(problem).operator.affinity)
    on_graph = list(benchmark.pending_draws(given, methods, results, quick=True))[:1]
    with benchmark.Peer(peer_python) as peer:
        benchmark.run_problem(Setting(problem), draws, results, peer)
        assert len(results.runs) == len(draws) * len(methods)
        benchmark.run_problem(Setting(given), on_graph, results, peer)
    assert results.runs["fields", "equal", 1, 0, "GL Laplace, our graph"] == 0.25
    assert results.runs["fields", "equal", 10, 1, "GL Laplace, our graph"] > 0.9
    assert benchmark.Results(tmp_path / "benchmark.csv").runs.keys() == results.runs.keys()
    assert not list(benchmark.pending_draws(problem, methods, results, quick=True))
    named = {method for name, *_, method in results.runs if name == "graph"}
    assert named == {name for name, peer in PEERS.items() if not peer.needs_points}
    assert "GL PoissonMBO, our graph" in named
    assert "GL properly weighted Laplace, our graph" not in named


def test_peer_that_fails_is_said_to(tmp_path, peer_python, problem):
    (tmp_path / "graphlearning.py").write_text("raise SystemExit(3)")
    results = benchmark.Results(tmp_path / "benchmark.csv")
    draws = list(benchmark.pending_draws(problem, ["1-NN", *PEERS], results))[:2]
    with (
        benchmark.Peer(peer_python) as peer,
        pytest.raises(subprocess.CalledProcessError, match="status 3"),
    ):
        benchmark.run_problem(Setting(problem), draws, results, peer)
    assert len(results.runs) == 2  # what was found here is kept


def test_peer_gives_up_after_the_limit(monkeypatch):
    class Endless:
        def found(self, method, y):
            while True:
                pass

    monkeypatch.setattr(graph_peers, "LIMIT", 0.02)
    found = graph_peers.found_in_time(Endless(), PEERS["GL Poisson, our graph"], np.zeros(3))
    np.testing.assert_array_equal(found, [-1, -1, -1])


def test_fifty_draws_with_one_label(problem):
    assert benchmark.n_draws(problem, "equal", 1) == 50
    assert benchmark.n_draws(problem, "equal", 3) == 10
    assert set(benchmark.BUDGETS) | {"one-sided"} == set(WAYS)
    seeds = {"default": 50, "graph alone with sizes": 10, "CutSSL, our graph": 10}
    seeds |= {"GL VolumeMBO, our graph": 10}
    for method, n in seeds.items():
        assert min(50, benchmark.most_draws(method, problem)) == n
    flat = Problem("flat", problem.points, problem.truth)
    assert set(benchmark.ways_of(flat)) == {"equal", "proportional", "wrong"}
    for method, names in benchmark.TOO_SLOW.items():
        assert method in {*METHODS, *PEERS}
        assert names <= {*TITLES.values(), *FAMILIES}


@pytest.mark.parametrize("name", FAMILIES)
def test_families_are_seeded_and_have_enough_of_each_class(name):
    problem, again, other = (problem_of(name, draw) for draw in (0, 0, 1))
    np.testing.assert_array_equal(problem.points, again.points)
    fixed = name in ("unbalanced-blobs", "touching-blobs")
    assert problem.points.shape == other.points.shape
    assert (problem.points == other.points).all() == fixed
    assert problem.name == name
    assert 200 <= len(problem.truth) <= 20_000
    assert len(problem.points) == len(problem.truth)
    assert np.isfinite(problem.points).all()
    assert np.bincount(problem.truth)[0] == 0
    assert np.bincount(problem.truth)[1:].min() >= 10
    for way, budgets in FAMILIES[name].ways.items():
        for budget in budgets:
            y, scored = drawn(problem, way, budget, 0)
            assert set(y[y > 0]) == set(problem.truth)
            assert scored.any()


def test_no_two_families_share_their_draws():
    made = [problem_of(name).points for name in FAMILIES]
    first = {tuple(points[0]) for points in made}
    assert len(first) == len(made) >= 15


def test_problems_are_in_two_halves():
    assert not CHOOSING.keys() & REPORTING.keys()
    assert set(PROBLEMS) == {*CHOOSING, *REPORTING} == {*REAL, *FAMILIES}
    assert {"digits", "tissue", "jasper", "mnist", "unbalanced-blobs", "touching-blobs"} <= set(
        CHOOSING
    )
    assert {"salinas-spatial", "pines-spectral", "potsdam-spatial", "cora"} <= set(REPORTING)
    assert len(FAMILIES) == 2 * len(FAMILIES.keys() & CHOOSING.keys())
    assert not HALVES["choosing"] & HALVES["reporting"]


@pytest.mark.parametrize("name", REAL)
def test_real_problems_are_whole(name):
    if name not in ("digits", "tissue") and not DATA.is_dir():
        pytest.skip(f"{DATA} is missing")
    problem = problem_of(name)
    assert problem.name == TITLES.get(name, name)
    n = len(problem.truth)
    if problem.points is not None:
        assert problem.points.shape[0] == n
        assert np.isfinite(problem.points).all()
    else:
        assert problem.affinity.shape == (n, n)
    if problem.shape is not None:
        pixels = np.arange(n) if problem.pixels is None else problem.pixels
        assert len(pixels) == n
        assert pixels.max() == np.prod(problem.shape) - 1
    sizes = {
        "mnist": (10_000, 10_000),
        "cora": (2485, 2485),
        "potsdam-spectral": (18_432, 5672),
        "pines-spectral": (21_025, 10_249),
    }
    if name in sizes:
        assert (n, np.count_nonzero(problem.truth)) == sizes[name]


def test_pickles_hold_arrays_only(tmp_path, monkeypatch):
    monkeypatch.setattr(problems, "DATA", tmp_path)
    (tmp_path / "cora").mkdir()
    (tmp_path / "cora" / "ind.cora.graph").write_bytes(pickle.dumps(subprocess.Popen))
    with pytest.raises(pickle.UnpicklingError, match=r"subprocess\.Popen is not allowed"):
        problems.cora()


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


def test_time_is_chosen_on_families_as_they_say(monkeypatch):
    small = Family(FAMILIES["moons"].make, {"equal": (2, 3), "proportional": (4,)}, n_draws=2)
    monkeypatch.setitem(FAMILIES, "moons", small)
    rows = list(tau.compute(["moons"]))
    assert [(row["drawn"], row["labels_per_class"], row["rule"]) for row in rows] == [
        (way, budget, rule)
        for way, budget in (("equal", 2), ("equal", 3), ("proportional", 4))
        for rule in tau.RULES
    ]
    for row in rows:
        assert row["best"] >= max(row[f"t{time}"] for time in (1, 8, 64))
        assert row["loss"] == pytest.approx(row["best"] - row["chosen"])
    lines = tau.losses(as_text(rows))
    assert lines[2].startswith("| moons | equal | 2 / 3 | ")
    assert lines[3].startswith("| moons | proportional | 4 | ")


def test_random_fields_have_every_class():
    assert set(np.unique(fields(64))) == set(range(1, N_CLASSES + 1))


def test_unequal_labels_become_rows_and_a_table(rng, monkeypatch):
    truth = np.repeat([1, 2], [620, 300])
    points = rng.normal(size=(len(truth), 2)) + 8 * truth[:, None]
    monkeypatch.setattr(unequal, "salinas_a", lambda *, spatial: Problem("blobs", points, truth))
    rows = list(unequal.compute(2))
    assert [list(row) for row in rows] == [list(rows[0])] * 18
    assert {row["accuracy"] for row in rows if row["drawn"] == "equal"} == {"100.00"}
    lines = unequal.table(as_text(rows[:9]))
    assert lines[2].startswith("| blobs | summed | 100.00 ± 0.00 | ")
    assert len(lines) == 5


def test_calibration_rows_and_tables():
    rows, bins = calibration.compute("three-blobs", 2)
    assert [(row["drawn"], row["labels_per_class"]) for row in rows] == [
        ("equal", budget) for budget in calibration.BUDGETS
    ]
    for row in rows:
        assert row["half"] == "reporting"
        assert row["draws"] == 2
        assert 0 <= row["ece_after"] < 0.4
        assert 1 <= row["set_size"] <= 3
    assert len(bins) == 2 * len(rows) * calibration.N_BINS
    for when in ("before", "after"):
        shares = sum(row["share"] for row in bins if row["when"] == when)
        assert shares == pytest.approx(len(rows))
    lines = calibration.table(rows)
    assert len(lines) == 2 + len(rows)
    assert "at most 0.05" in lines[-1]
    assert len(calibration.each_table(rows)) == 2 + len(rows)


def test_features_beside_the_graph_become_a_table(tmp_path):
    results = benchmark.Results(tmp_path / "runs.csv")
    benchmark.run(["iris"], ["default", "graph alone", "1-NN"], results, quick=True)
    lines = joined_table(results.runs)
    assert len(lines) == 5  # with one label per class nothing is held out
    assert lines[2].startswith("| choosing | equal | iris | 10 | ")
    gain, worst = (cell.split()[0] for cell in lines[2].split("|")[7:9])
    assert float(worst) <= float(gain)
    of_one = "iris", "equal", 1, 0
    assert results.runs[(*of_one, "default")] == results.runs[(*of_one, "graph alone")]


def test_scores_beside_labels_become_rows_and_a_table(monkeypatch):
    monkeypatch.setattr(scores, "BUDGETS", (0, 3))
    rows = scores.compute("three-blobs", 2)
    assert {(row["scores"], row["labels_per_class"]) for row in rows} == {
        (source, budget) for source in ("two labels", "ten labels", "misnamed") for budget in (0, 3)
    }
    for row in rows:
        assert (row["half"], row["draws"]) == ("reporting", 2)
        if row["labels_per_class"] == 0:
            assert row["gain"] == pytest.approx(row["both"] - row["highest"])
        else:
            better = max(row["hints"], row["labels"])
            assert row["gain"] == pytest.approx(row["both"] - better)
    right = next(row for row in rows if row["scores"] == "ten labels")
    wrong = next(row for row in rows if row["scores"] == "misnamed")
    assert right["highest"] > 80 > 60 > wrong["highest"]
    lines = scores.table(as_text(rows))
    assert len(lines) == 2 + len(rows)
    assert " | - | " in lines[2]
