"""What to label next: scores against dense twins, and the choice of points well apart."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from diffclass import (
    DiffusionClassifier,
    Eigenpairs,
    Warp,
    diffuse_labels,
    leading_eigenpairs,
    markov_operator,
    suggest,
    warped_operator,
)
from diffclass.acquisition import (
    RULES,
    Hybrid,
    LabelledGraph,
    Process,
    Rule,
    VOpt,
    gaussian_process,
    growing_eigenpairs,
    process_eigenpairs,
)
from diffclass.acquisition.gaussian_process import NOISE, OFFSET
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import SharedNeighbors
from diffclass.spectral.distances import diffusion_distances
from experiments.few_labels.acquisition import Run, table
from experiments.problems import Problem

N, LABELLED = 60, np.array([3, 20, 41])


class ByNumber(Rule):
    """A rule whose scores are given."""

    def __init__(self, values):
        self.values = np.asarray(values, dtype=float)
        self.seen = []

    def start(self, graph):
        self.labelled = graph.labelled

    def scores(self):
        return self.values

    def observe(self, point):
        self.seen.append(point)


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(3).normal(size=(N, 2))


@pytest.fixture(scope="module")
def operator(points):
    return markov_operator(points, n_neighbors=8)


@pytest.fixture(scope="module")
def y():
    labels = np.full(N, -1)
    labels[LABELLED] = [0, 1, 0]
    return labels


@pytest.fixture(scope="module")
def diffusion(operator, y):
    return diffuse_labels(operator, y, tau=3)


@pytest.fixture(scope="module")
def eigenpairs(operator):
    return leading_eigenpairs(operator, 12, which="algebraic")


def dense_covariance(eigenpairs, labels):
    """C of the process after labels, n x n, by the textbook's formula."""
    prior = 1 / (1 - eigenpairs.eigenvalues + OFFSET)
    C = eigenpairs.right @ np.diag(prior / prior.sum()) @ eigenpairs.right.T
    inner = C[np.ix_(labels, labels)] + NOISE * np.eye(len(labels))
    return C - C[:, labels] @ np.linalg.solve(inner, C[labels])


def started(rule, operator, diffusion, eigenpairs):
    rule.start(LabelledGraph(operator, diffusion, LABELLED, eigenpairs))
    return rule


# The process


def test_covariances_are_the_dense_twins(eigenpairs):
    process = Process(eigenpairs)
    pi = eigenpairs.stationary_distribution
    assert process.mean_variance == pytest.approx(1)
    process.observe_all(LABELLED)
    C = dense_covariance(eigenpairs, LABELLED)
    np.testing.assert_allclose(process.variances(), np.diag(C), atol=1e-12)
    np.testing.assert_allclose(process.squares(), pi @ C**2, atol=1e-12)
    assert process.mean_variance == pytest.approx(pi @ np.diag(C))


def test_one_by_one_is_all_at_once(eigenpairs):
    together, single = (Process(eigenpairs) for _ in range(2))
    labels = np.array([5, 9, 9, 33])
    together.observe_all(labels)
    for label in labels:
        single.observe(int(label))
    np.testing.assert_allclose(single.variances(), together.variances(), atol=1e-12)
    np.testing.assert_allclose(single.squares(), together.squares(), atol=1e-12)


def test_what_was_asked_before_a_label_follows_it(eigenpairs):
    followed, fresh = (Process(eigenpairs) for _ in range(2))
    followed.variances()
    for label in (5, 9, 9, 33):
        followed.observe(label)
        fresh.observe(label)
    np.testing.assert_allclose(followed.variances(), fresh.variances(), atol=1e-12)
    np.testing.assert_allclose(followed.squares(), fresh.squares(), atol=1e-12)
    followed.observe_all(np.array([12, 40]))
    fresh.observe_all(np.array([12, 40]))
    np.testing.assert_allclose(followed.squares(), fresh.squares(), atol=1e-12)


def test_scores_are_by_how_much_variance_falls(operator, diffusion, eigenpairs):
    pi = eigenpairs.stationary_distribution
    scores = started(VOpt(), operator, diffusion, eigenpairs).scores()
    before = pi @ np.diag(dense_covariance(eigenpairs, LABELLED))
    after = [pi @ np.diag(dense_covariance(eigenpairs, np.append(LABELLED, x))) for x in range(N)]
    np.testing.assert_allclose(scores, before - np.array(after), atol=1e-12)


def test_model_change_is_how_far_the_process_moves(operator, diffusion, eigenpairs):
    rule = RULES["model-change"]()
    scores = started(rule, operator, diffusion, eigenpairs).scores()
    C, p = dense_covariance(eigenpairs, LABELLED), diffusion.posteriors
    for x in range(N):
        residual = np.eye(2)[p[x].argmax()] - p[x]
        # one process per class; the mean moves by the gain times the residual of the new label
        moves = np.outer(C[:, x] / (NOISE + C[x, x]), residual)
        norm = np.sqrt(eigenpairs.stationary_distribution @ (moves**2).sum(axis=1))
        assert scores[x] == pytest.approx(norm, abs=1e-12)


# The other rules


def test_margin_and_uncertainty(operator, diffusion, eigenpairs):
    margin = started(RULES["margin"](), operator, diffusion, None).scores()
    np.testing.assert_allclose(margin, 1 - diffusion.margin)
    rule = RULES["uncertainty"]()
    scores = started(rule, operator, diffusion, eigenpairs).scores()
    C = dense_covariance(eigenpairs, LABELLED)
    np.testing.assert_allclose(scores, margin * np.sqrt(np.diag(C)), atol=1e-12)


def test_unexplored_is_where_walks_hardly_meet_labels(operator, diffusion):
    rule = started(RULES["unexplored"](), operator, diffusion, None)
    A = operator.affinity.toarray() / operator.degrees[:, None]
    A3 = np.linalg.matrix_power(A, 3)
    np.testing.assert_allclose(rule.scores(), -A3[:, LABELLED].sum(axis=1), atol=1e-12)
    rule.observe(7)
    np.testing.assert_allclose(rule.scores(), -A3[:, [*LABELLED, 7]].sum(axis=1), atol=1e-12)


def test_distance_is_to_the_nearest_label(operator, diffusion):
    eigenpairs = leading_eigenpairs(operator)
    rule = started(RULES["distance"](), operator, diffusion, eigenpairs)
    for labels in ([*LABELLED], [*LABELLED, 11]):
        D = diffusion_distances(eigenpairs, labels, time=3)
        np.testing.assert_allclose(rule.scores(), operator.density * D.min(axis=0), atol=1e-6)
        rule.observe(11)


def test_hybrid_explores_first(operator, diffusion, eigenpairs):
    explore = started(Hybrid(explored=1e-9), operator, diffusion, eigenpairs)
    refine = started(Hybrid(explored=1.0), operator, diffusion, eigenpairs)
    vopt = started(VOpt(), operator, diffusion, eigenpairs)
    np.testing.assert_array_equal(explore.scores(), vopt.scores())
    np.testing.assert_allclose(refine.scores(), 1 - diffusion.margin)
    left = vopt.process_.mean_variance
    turning = started(Hybrid(explored=left - 1e-6), operator, diffusion, eigenpairs)
    np.testing.assert_array_equal(turning.scores(), vopt.scores())
    turning.observe(int(vopt.scores().argmax()))
    np.testing.assert_allclose(turning.scores(), 1 - diffusion.margin)


# The choice


def test_best_first_ties_by_number(operator, diffusion):
    values = np.zeros(N)
    values[[3, 8, 30]] = [9, 2, 5]  # 3 is labelled
    rule = ByNumber(values)
    found = suggest(operator, diffusion, LABELLED, 4, rule=rule)
    assert found.points.tolist() == [30, 8, 0, 1]
    assert found.scores.tolist() == [5, 2, 0, 0]
    assert rule.seen == found.points.tolist()
    assert found.rule == "ByNumber"
    assert len(found) == 4


def test_candidates_only_and_no_more_than_there_are(operator, diffusion):
    candidates = np.zeros(N, dtype=bool)
    candidates[[3, 5, 6]] = True
    found = suggest(operator, diffusion, LABELLED, 9, rule="margin", candidates=candidates)
    assert sorted(found.points.tolist()) == [5, 6]
    assert candidates.sum() == 3  # as it was


@pytest.mark.parametrize("rule", list(RULES))
def test_distances_in_the_plane(rule, operator, diffusion, points, eigenpairs):
    found = suggest(
        operator, diffusion, LABELLED, 6, rule=rule, eigenpairs=eigenpairs,
        coordinates=points, min_distance=0.9,
    )  # fmt: skip
    chosen = points[found.points]
    apart = np.linalg.norm(chosen[:, None] - chosen[None], axis=2)[np.triu_indices(len(found), 1)]
    assert apart.min() >= 0.9
    assert not np.isin(found.points, LABELLED).any()
    assert found.rule == rule


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_distances_in_hops(hops, operator, diffusion):
    found = suggest(operator, diffusion, LABELLED, 5, rule="margin", min_distance=hops)
    for place, point in enumerate(found.points[:-1]):
        group = np.where(np.arange(N) == point, 0, -1)
        assert operator.hops(group)[found.points[place + 1 :], 0].min() >= hops


@pytest.mark.parametrize("rule", list(RULES))
def test_the_order_of_the_points_does_not_matter(rule, operator, points, y):
    order = np.random.default_rng(8).permutation(N)
    permuted = markov_operator(points[order], n_neighbors=8)
    found = suggest(operator, diffuse_labels(operator, y), LABELLED, 5, rule=rule)
    labelled = np.flatnonzero(y[order] >= 0)
    again = suggest(permuted, diffuse_labels(permuted, y[order]), labelled, 5, rule=rule)
    assert order[again.points].tolist() == found.points.tolist()


@pytest.mark.parametrize("rule", [name for name in RULES if name not in ("margin", "uncertainty")])
def test_a_blob_without_labels_is_found(rule):
    centres = np.repeat([[0, 0], [6, 0], [3, 6]], 40, axis=0)
    X = (np.random.default_rng(1).normal(size=(120, 2)) + centres).astype(np.float32)
    labels = np.full(120, -1)
    labels[[0, 1, 40, 41]] = [0, 0, 1, 1]
    walk = markov_operator(X, n_neighbors=10)
    found = suggest(walk, diffuse_labels(walk, labels), [0, 1, 40, 41], 2, rule=rule)
    assert found.points.max() >= 80


@pytest.mark.parametrize("rule", list(RULES))
def test_a_component_without_labels(rule):
    X = np.random.default_rng(2).normal(size=(60, 2)) + np.repeat([[0, 0], [99, 0]], 30, axis=0)
    labels = np.full(60, -1)
    labels[[0, 1]] = [0, 1]
    walk = markov_operator(X, n_neighbors=5)
    assert walk.n_connected_components == 2
    found = suggest(walk, diffuse_labels(walk, labels), [0, 1], 3, rule=rule, min_distance=2)
    assert np.isfinite(found.scores).all()
    assert (found.points >= 30).any()


def test_many_labels_in_one_place_still_explore(operator, eigenpairs):
    few, crowd = Process(eigenpairs), Process(eigenpairs)
    few.observe_all(np.array([4]))
    crowd.observe_all(np.full(200, 4))
    three = Process(eigenpairs)
    three.observe_all(LABELLED)
    assert few.mean_variance > crowd.mean_variance > three.mean_variance


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rule": "luck"}, "rule"),
        ({"n_points": 0}, "n_points"),
        ({"min_distance": -1.0}, "min_distance"),
        ({"candidates": np.ones(3, dtype=bool)}, "candidates"),
        ({"candidates": np.ones(N)}, "candidates"),
        ({"coordinates": np.ones((3, 2))}, "coordinates"),
        ({"labelled": [N]}, "labelled"),
        ({"labelled": [0.5]}, "labelled"),
    ],
)
def test_wrong_parameters(options, says, operator, diffusion):
    given = {"labelled": LABELLED, "n_points": 2} | options
    with pytest.raises(ParameterError, match=says):
        suggest(operator, diffusion, **given)


def test_no_label_and_no_eigenpairs(operator, diffusion):
    with pytest.raises(DataError, match="labelled"):
        suggest(operator, diffusion, np.array([], dtype=int))
    with pytest.raises(ParameterError, match="eigenpairs"):
        VOpt().start(LabelledGraph(operator, diffusion, LABELLED))


# Many classes, precision, and the map that was made


def many_blobs(n_blobs, dtype=np.float64, per_blob=24):
    """Blobs in ten dimensions, and which one each point belongs to."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(n_blobs), per_blob)
    centres = 3 * rng.normal(size=(n_blobs, 10))
    return (centres[truth] + 0.8 * rng.normal(size=(len(truth), 10))).astype(dtype), truth


def labelled_by(rule, X, truth, n_labels, **options):
    """Labels that begin with ten random points and grow by suggestions, ten at a time."""
    walk, y = markov_operator(X, kernel=SharedNeighbors()), np.full(len(X), -1)
    start = np.random.default_rng(1).choice(len(X), 10, replace=False)
    y[start] = truth[start]
    while np.count_nonzero(y >= 0) < n_labels:
        labelled = np.flatnonzero(y >= 0)
        diffusion = diffuse_labels(walk, y, label_mode="free", tau=20)
        found = suggest(walk, diffusion, labelled, 10, rule=rule, min_distance=2, **options)
        y[found.points] = truth[found.points]
    return y


@pytest.mark.parametrize("rule", ["vopt", "hybrid"])
def test_eigenpairs_follow_the_number_of_labels(rule):
    """100 classes: all are found by as few labels as 120, and hybrid finds more than chance."""
    X, truth = many_blobs(100)
    y = labelled_by(rule, X, truth, 120)
    n_found = len(np.unique(y[y >= 0]))
    assert n_found == 100 if rule == "vopt" else n_found > 80  # at random about 70


def test_used_up_eigenpairs_do_not_end_the_search():
    """With 20 pairs for 60 classes, vopt goes on where labels hardly arrive."""
    X, truth = many_blobs(60)
    walk = markov_operator(X, kernel=SharedNeighbors())
    pairs = process_eigenpairs(walk)
    few = Eigenpairs(
        pairs.eigenvalues[:20],
        pairs.right[:, :20],
        pairs.stationary_distribution,
        pairs.residuals[:20],
        pairs.n_connected_components,
    )
    y = labelled_by("vopt", X, truth, 100, eigenpairs=few)
    assert len(np.unique(y[y >= 0])) >= 58


def test_pairs_are_added_only_when_labels_use_them_up(monkeypatch):
    X, _ = many_blobs(60)
    walk = markov_operator(X, kernel=SharedNeighbors())
    pairs = process_eigenpairs(walk, [0, 30], 10)
    assert len(pairs) == 50
    assert process_eigenpairs(walk, np.arange(24), 5, known=pairs) is pairs  # one blob: one stroke
    assert len(process_eigenpairs(walk, np.arange(0, len(X), 24), 10, known=pairs)) == 100
    monkeypatch.setattr("diffclass.acquisition.gaussian_process._MOST_PAIRS", 70)
    assert len(process_eigenpairs(walk, np.arange(0, len(X), 24), 90, known=pairs)) == 70
    tiny = markov_operator(X[:30], n_neighbors=5)
    assert len(process_eigenpairs(tiny, [0], 20)) == 30


def test_more_pairs_begin_with_those_that_are_known(monkeypatch):
    X, _ = many_blobs(60)
    walk = markov_operator(X, kernel=SharedNeighbors())
    labelled = np.arange(0, len(X), 24)
    compute, begun = gaussian_process.leading_eigenpairs, []

    def noting(*args, known, **options):
        begun.append(0 if known is None else len(known))
        return compute(*args, known=known, **options)

    monkeypatch.setattr(gaussian_process, "leading_eigenpairs", noting)
    found = process_eigenpairs(walk, labelled, 90)
    assert (begun, len(found)) == ([0, 50, 100], 200)
    at_once = Process(compute(walk, 200, which="algebraic", tolerance=1e-10))
    in_steps = Process(found)
    for process in (at_once, in_steps):
        process.observe_all(labelled)
    np.testing.assert_allclose(in_steps.mean_variance, at_once.mean_variance, rtol=1e-4)
    np.testing.assert_allclose(in_steps.n_determined, at_once.n_determined, rtol=1e-4)


@pytest.fixture(scope="module")
def many_labels():
    """A walk on a cloud of 1,500 points of two classes, every second one labelled."""
    X = np.random.default_rng(6).normal(size=(1500, 3))
    walk = markov_operator(X, kernel=SharedNeighbors())
    y = np.where(np.arange(len(X)) % 2 == 0, X[:, 0] > 0, -1)
    return walk, y, np.flatnonzero(y >= 0)


def test_pairs_that_labels_have_used_up_stay_rough(many_labels, monkeypatch):
    """They are told to be so in a fraction of the time, and the rules ask for the same points."""
    walk, y, labelled = many_labels
    monkeypatch.setattr("diffclass.acquisition.gaussian_process._MOST_PAIRS", 100)
    diffusion = diffuse_labels(walk, y, tau=20)
    *_, rough = growing_eigenpairs(walk, labelled, 5, used_up_as_well=False)
    *_, fine = growing_eigenpairs(walk, labelled, 5)
    assert len(rough) == len(fine) == 100
    assert fine.meet(gaussian_process.TOLERANCE)
    assert not rough.meet(gaussian_process.TOLERANCE)
    for name, rule in RULES.items():
        if rule.leaves_used_up:
            by_rough, by_fine = (
                suggest(walk, diffusion, labelled, 5, rule=name, eigenpairs=pairs).points
                for pairs in (rough, fine)
            )
            np.testing.assert_array_equal(by_rough, by_fine)


def test_one_thread_of_blas_is_enough(operator, diffusion, eigenpairs):
    """On a busy machine two took three times the processor's time of one."""

    class Noting(VOpt):
        def start(self, graph):
            super().start(graph)
            self.n_threads = {one["num_threads"] for one in threadpool_info() if is_blas(one)}

    def is_blas(one):
        return one["user_api"] == "blas"

    rule = Noting()
    with threadpool_limits(2, user_api="blas"):
        suggest(operator, diffusion, LABELLED, 2, rule=rule, eigenpairs=eigenpairs)
    assert rule.n_threads == {1}


@pytest.mark.parametrize(("n_blobs", "n_pairs"), [(4, 50), (60, 100), (100, 200), (200, 400)])
def test_there_are_as_many_pairs_as_by_doubling(n_blobs, n_pairs):
    X, _ = many_blobs(n_blobs)
    walk = markov_operator(X, kernel=SharedNeighbors())
    labelled = np.arange(0, len(X), len(X) // n_blobs)
    options = {"which": "algebraic", "tolerance": 1e-6}
    for expected in (50, 100, 200, 400):
        process = Process(leading_eigenpairs(walk, expected, **options))
        process.observe_all(labelled)
        if process.n_determined + 5 <= 0.8 * expected:
            break
    assert expected == n_pairs
    found = process_eigenpairs(walk, labelled, 5)
    assert len(found) == expected
    assert found.meet(gaussian_process.TOLERANCE)


def test_where_many_are_used_up_sizes_are_left_out(many_labels, monkeypatch):
    walk, _, labelled = many_labels
    compute, sizes = gaussian_process.leading_eigenpairs, []

    def noting(operator, n_pairs, **options):
        sizes.append(n_pairs)
        return compute(operator, n_pairs, **options)

    monkeypatch.setattr(gaussian_process, "leading_eigenpairs", noting)
    *_, found = growing_eigenpairs(walk, labelled, 5, used_up_as_well=False)
    assert sizes[:2] == [50, 200]
    assert len(found) == max(sizes)


OF_THE_MAP = ("hybrid", "margin", "model-change", "uncertainty")  # the others go by tau alone


@pytest.mark.parametrize(
    ("rule", "label_mode"),
    [(rule, mode) for rule in OF_THE_MAP for mode in ("free", "summed", "absorbing")]
    + [(rule, "free") for rule in RULES if rule not in OF_THE_MAP],
)
def test_single_and_double_precision_ask_for_the_same_points(rule, label_mode):
    """Blobs on a line: at the far ones nearly nothing arrives, in single precision nothing."""
    rng = np.random.default_rng(5)
    X = np.column_stack([np.linspace(0, 90, 900), rng.random(900)])
    y = np.full(900, -1)
    y[[10, 60, 120]] = [0, 1, 0]
    found = []
    for dtype in (np.float32, np.float64):
        walk = markov_operator(X.astype(dtype), n_neighbors=8)
        diffusion = diffuse_labels(walk, y, label_mode=label_mode, tau=200)
        found.append(
            suggest(walk, diffusion, [10, 60, 120], 8, rule=rule, min_distance=3).points.tolist()
        )
    assert found[0] == found[1]


def test_margins_are_those_of_the_map_with_its_prior_and_warping():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(240, 2)) + np.repeat([[0, 0], [3, 0], [0, 3], [3, 3]], 60, axis=0)
    y = np.where(np.arange(240) % 20 == 0, np.arange(240) // 60, -1)
    order = {}
    for name, options in {
        "plain": {},
        "prior": {"class_prior": [1.3, 1, 1, 1]},
        "warped": {"warp": Warp(rounds=2)},
    }.items():
        clf = DiffusionClassifier(label_mode="free", **options).fit(X, y)
        walk = clf.walk_
        labelled = np.flatnonzero(y >= 0)
        found = suggest(walk, clf.diffusion_, labelled, 20, rule="margin").points
        np.testing.assert_allclose(clf.margin_[found], np.sort(clf.margin_[y < 0])[:20], atol=1e-5)
        order[name] = found.tolist()
    assert order["plain"] != order["prior"]
    assert order["plain"] != order["warped"]


def test_a_warped_walk_is_merged(operator, y):
    scores = np.random.default_rng(0).random((N, 2))
    scores /= scores.sum(axis=1, keepdims=True)
    warped = warped_operator(operator, scores, y=y)
    K, s = operator.affinity.toarray(), warped.scores
    np.testing.assert_allclose(warped.merged().affinity.toarray(), K * (s @ s.T), rtol=1e-12)
    diffusion = diffuse_labels(warped, y, tau=3)
    found = suggest(warped, diffusion, LABELLED, 4, rule="unexplored").points
    again = suggest(warped.merged(), diffusion, LABELLED, 4, rule="unexplored").points
    np.testing.assert_array_equal(found, again)


# The experiment


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("rule", ["random", "vopt"])
def test_a_run_asks_for_known_points_up_to_each_budget(rule, held_out):
    centres = np.repeat([[0, 0], [9, 0], [0, 9]], 60, axis=0)
    X = np.random.default_rng(4).normal(size=(180, 2)) + centres
    truth = np.repeat([1, 2, 3], 60)
    truth[::5] = 0
    walk = markov_operator(X, n_neighbors=8)
    pairs = leading_eigenpairs(walk, 10, which="algebraic")
    run = Run(Problem("blobs", X, truth), walk, pairs, seed=1, held_out=held_out)
    found = []
    for n_labels, accuracy in run.label(rule, [3, 10, 25]):
        labelled = run.y >= 0
        assert labelled.sum() == n_labels
        np.testing.assert_array_equal(run.y[labelled], truth[labelled])
        assert (truth[labelled] > 0).all()
        assert not (held_out and (labelled & run.scored).any())
        found.append((n_labels, accuracy))
    assert [n_labels for n_labels, _ in found] == [3, 10, 25]
    assert found[-1][1] > 0.95


def test_the_table_compares_40_with_100():
    rows = [
        {"problem": "p", "rule": rule, "seed": seed, "n_labels": n, "accuracy": value + seed / 100}
        for rule, n, value in [
            ("random", 40, 0.5),
            ("random", 100, 0.7),
            ("vopt", 40, 0.8),
            ("vopt", 100, 0.9),
        ]
        for seed in (0, 1)
    ]
    lines = table(rows)
    assert lines[2] == "| p | random | 50.5 ± 0.7 | 70.5 ± 0.7 | -20.0 |"
    assert lines[3] == "| p | vopt | 80.5 ± 0.7 | 90.5 ± 0.7 | +10.0 |"
