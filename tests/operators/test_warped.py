"""Class-specific walks against dense matrices, their laws, and what they do to wrong scores."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV

from diffclass import (
    DiffusionClassifier,
    MarkovOperator,
    StoppingRule,
    Warp,
    diffuse_labels,
    markov_operator,
    warped_operator,
)
from diffclass.evaluation import PartlyLabelledKFold
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import Directed, Gaussian, LocalCovariance, LocalDiscriminant
from tests import naive

BOTH = pytest.mark.parametrize("labels", ["free", "absorbing"])


def graph_and_scores(seed, n=40, n_classes=3, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).astype(dtype)
    K = naive.gaussian(*naive.neighbors_graph(X, 6), 0.5)
    p = rng.dirichlet(np.full(n_classes, 0.3), size=n)
    return K, MarkovOperator.from_affinity(sp.csr_array(K.astype(dtype))), p, rng


def dense_walks(K, s):
    """A_i = D_i^-1 S_i K S_i for each class i."""
    warped = [np.outer(si, si) * K for si in s.T]
    return [Ki / Ki.sum(axis=1, keepdims=True) for Ki in warped]


def two_blobs(n=60, gap=4.0, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1], n)
    return rng.normal(size=(2 * n, 2)) + gap * truth[:, None] * [1, 0], truth


# --- the operators


@pytest.mark.parametrize("floor", [1e-3, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("t", [0, 1, 2, 7])
def test_both_directions_are_dense_products(floor, t):
    K, operator, p, rng = graph_and_scores(1)
    warped = warped_operator(operator, p, floor=floor)
    f = rng.normal(size=p.shape)
    backward, forward = warped.apply(f, t), warped.forward(f, t)
    for i, A in enumerate(dense_walks(K, floor + (1 - floor) * p)):
        power = np.linalg.matrix_power(A, t)
        np.testing.assert_allclose(backward[:, i], power @ f[:, i], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(forward[:, i], power.T @ f[:, i], rtol=1e-9, atol=1e-11)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-3, 1), st.integers(0, 30))
def test_forward_keeps_mass_and_equilibrium(seed, floor, t):
    _, operator, p, rng = graph_and_scores(seed)
    warped = warped_operator(operator, p, floor=floor)
    mass = rng.random(p.shape)
    np.testing.assert_allclose(warped.forward(mass, t).sum(axis=0), mass.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(warped.forward(warped.degrees, t), warped.degrees, rtol=1e-10)
    np.testing.assert_allclose(warped.apply(np.ones(p.shape), t), 1, rtol=1e-12)


@pytest.mark.parametrize("forward_exponent", [0.0, 0.25, 1.0])
def test_forward_exponent_lies_between_function_and_mass(forward_exponent):
    _, operator, p, rng = graph_and_scores(3)
    warped = warped_operator(operator, p, forward_exponent=forward_exponent)
    f = rng.random(p.shape)
    h = warped.advance(warped.scores * f, 4)
    moved = warped.apply(f, 4)
    expected = (warped.degrees * moved) ** forward_exponent * moved ** (1 - forward_exponent)
    np.testing.assert_allclose(warped.read(h), expected, rtol=1e-9)


def test_labels_override_scores():
    _, operator, p, _ = graph_and_scores(4)
    y = np.full(len(p), -1)
    y[[3, 9, 11]] = [30, 10, 20]
    warped = warped_operator(operator, p, y=y, floor=0.2)
    expected = 0.2 + 0.8 * p
    expected[[3, 9, 11]] = [[0.2, 0.2, 1], [1, 0.2, 0.2], [0.2, 1, 0.2]]
    np.testing.assert_allclose(warped.scores, expected)


def papers_walks(K, s):
    """K_i = s_i K s_i, rows divided by their sums; rows of zeros stay."""
    warped = [np.outer(si, si) * K for si in s.T]
    sums = [Ki.sum(axis=1, keepdims=True) for Ki in warped]
    return [
        np.divide(Ki, total, out=np.zeros_like(Ki), where=total > 0)
        for Ki, total in zip(warped, sums, strict=True)
    ]


def scores_with_zeros(p, rng):
    """Scores of any row sum, many of them 0; at two points all, and around a third one."""
    s = p * rng.random(p.shape) * (rng.random(p.shape) < 0.6)
    s[[2, 17]] = 0
    return s


@pytest.mark.parametrize("t", [0, 1, 2, 7])
def test_without_a_floor_walks_are_those_of_the_papers_kernel(t):
    K, operator, p, rng = graph_and_scores(16)
    s = scores_with_zeros(p, rng)
    s[K[5] > 0, 0], s[5, 0] = 0, 1  # a point that only its neighbours keep out
    warped = warped_operator(operator, s, floor=0)
    f = rng.normal(size=p.shape)
    backward, forward = warped.apply(f, t), warped.forward(f, t)
    for i, A in enumerate(papers_walks(K, s)):
        power = np.linalg.matrix_power(A, t)
        np.testing.assert_allclose(backward[:, i], power @ f[:, i], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(forward[:, i], power.T @ f[:, i], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("labels", ["free", "free-l1", "absorbing"])
@pytest.mark.parametrize("t", [1, 6, 5000])
def test_without_a_floor_labels_go_where_their_scores_are(labels, t):
    K, operator, p, rng = graph_and_scores(17)
    s = scores_with_zeros(p, rng)
    y = np.full(len(p), -1)
    y[[0, 5, 9, 21]] = [0, 1, 2, 0]
    warped = warped_operator(operator, s, y=y, floor=0, forward_exponent=0)
    pinned = s.copy()
    pinned[[0, 5, 9, 21]] = np.eye(3)[[0, 1, 2, 0]]
    np.testing.assert_array_equal(warped.scores, pinned)
    found = diffuse_labels(warped, y, label_mode=labels, tau=t)
    chi, expected = np.eye(4)[y][:, :3], []
    for i, A in enumerate(papers_walks(K, pinned)):
        start = f = chi[:, i]
        if labels != "absorbing":
            measure = pinned[:, i] * (K @ pinned[:, i])
            f = f / f.sum() if labels == "free-l1" else f * measure.sum() / (measure @ f)
            expected.append(np.linalg.matrix_power(A, t) @ f)
            continue
        for _ in range(t):
            f = np.where(y >= 0, start, A @ f)
        expected.append(f)
    expected = np.column_stack(expected)
    reached = expected.any(axis=1)
    np.testing.assert_allclose(found.values[reached], expected[reached], rtol=1e-8, atol=1e-12)
    assert np.isfinite(found.values).all()


def test_new_points_beyond_all_scores_have_nothing():
    K, operator, p, rng = graph_and_scores(18)
    s = np.eye(3)[rng.integers(0, 3, len(p))]
    warped = warped_operator(operator, s, floor=0)
    found = warped.for_new_points(s).at(sp.csr_array(K))
    np.testing.assert_array_equal(found > 0, K @ s > 0)


def test_a_class_that_cannot_walk_from_its_labels_is_told():
    _, operator, p, _ = graph_and_scores(19)
    y = np.full(len(p), "", dtype=object)
    y[:3] = ["oak", "elm", "fir"]
    scores = np.full(p.shape, 0.5)
    scores[0, 2] = 0
    with pytest.raises(DataError, match="walk of class 'oak' is at none of its labels"):
        diffuse_labels(warped_operator(operator, scores, floor=0), y)


def test_single_precision_is_kept_and_close():
    _, operator, p, rng = graph_and_scores(5, dtype=np.float32)
    f = rng.random(p.shape)
    moved = warped_operator(operator, p).apply(f, 6)
    assert moved.dtype == np.float32
    double = warped_operator(graph_and_scores(5)[1], p).apply(f, 6)
    np.testing.assert_allclose(moved, double, rtol=1e-4)


def test_no_point_is_out_of_reach():
    _, operator, p, _ = graph_and_scores(6, dtype=np.float32)
    sure = np.eye(3)[p.argmax(axis=1)]
    warped = warped_operator(operator, sure, floor=1e-3)
    mass = np.zeros(p.shape)
    mass[0] = 1
    moved = warped.forward(mass, 64)
    assert (moved > 0).all()
    assert np.isfinite(moved).all()


# --- labels


@BOTH
def test_a_floor_of_one_does_not_warp(labels):
    _, operator, p, rng = graph_and_scores(7)
    codes = np.full(len(p), -1)
    codes[rng.permutation(len(p))[:6]] = [0, 0, 1, 1, 2, 2]
    trust = rng.random(len(p))
    plain = diffuse_labels(operator, codes, label_mode=labels, tau="margin", label_weight=trust)
    warped = warped_operator(operator, p, floor=1.0, forward_exponent=0.0)
    result = diffuse_labels(warped, codes, label_mode=labels, label_weight=trust)
    assert result.tau == plain.tau
    np.testing.assert_allclose(result.posteriors, plain.posteriors, rtol=1e-9)
    np.testing.assert_allclose(result.margin, plain.margin, atol=1e-9)


@pytest.mark.parametrize("t", [1, 3, 20])
def test_free_labels_of_each_class_have_the_same_mass(t):
    _, operator, p, _ = graph_and_scores(8)
    codes = np.full(len(p), -1)
    codes[:9] = [0, 0, 0, 0, 0, 0, 0, 1, 2]
    warped = warped_operator(operator, p, y=codes, forward_exponent=1.0)
    values = diffuse_labels(warped, codes, label_mode="free", tau=t).values  # N = m
    shares = values.sum(axis=0) / warped.degrees.sum(axis=0)
    np.testing.assert_allclose(shares, shares[0], rtol=1e-10)


def test_absorbing_labels_stay():
    K, operator, p, _ = graph_and_scores(9)
    codes = np.full(len(p), -1)
    codes[[0, 5, 9]] = [0, 1, 2]
    warped = warped_operator(operator, p, y=codes, forward_exponent=0.0)
    result = diffuse_labels(warped, codes, label_mode="absorbing", tau=3)
    expected = np.zeros(p.shape)
    one_hot = np.eye(3)[codes[[0, 5, 9]]]
    expected[[0, 5, 9]] = one_hot
    for _ in range(3):
        walks = dense_walks(K, warped.scores)
        expected = np.column_stack([A @ f for A, f in zip(walks, expected.T, strict=True)])
        expected[[0, 5, 9]] = one_hot
    np.testing.assert_allclose(result.values, expected, rtol=1e-9, atol=1e-12)


def test_warping_keeps_the_walk_in_its_class():
    X, truth = two_blobs(gap=2.5)
    operator = markov_operator(X, n_neighbors=8)
    members = np.eye(2)[truth]
    warped = warped_operator(operator, 0.8 * members + 0.1)
    left = []
    for walk in (operator, warped):
        degrees = np.asarray(walk.degrees).reshape(len(X), -1)
        moved = walk.forward(members * degrees)
        left.append((moved * (1 - members)).sum() / moved.sum())
    assert left[1] < 0.7 * left[0]


@BOTH
def test_new_labels_overturn_wrong_scores(labels):
    """A third of a blob is surely wrong; one label there puts it right, but not read forward."""
    X, truth = two_blobs()
    operator = markov_operator(X, n_neighbors=8)
    wrong = np.flatnonzero(truth == 1)[X[truth == 1][:, 1].argsort()[-20:]]
    scores = np.eye(2)[truth] * 0.9 + 0.05
    scores[wrong] = [1, 0]
    y = np.full(len(X), -1)
    y[[0, wrong[0], wrong[10], 110]] = truth[[0, wrong[0], wrong[10], 110]]

    def share_right(**options):
        warped = warped_operator(operator, scores, y=y, **options)
        return (diffuse_labels(warped, y, label_mode=labels).codes == truth)[wrong].mean()

    assert share_right() >= 0.9
    assert share_right(forward_exponent=1.0, floor=0.01) < 0.5


def test_permuting_the_points_permutes_the_result():
    _, operator, p, rng = graph_and_scores(10)
    codes = np.full(len(p), -1)
    codes[:3] = [0, 1, 2]
    order = rng.permutation(len(p))
    K = operator.affinity.toarray()[order][:, order]
    shuffled = warped_operator(MarkovOperator.from_affinity(K), p[order], y=codes[order])
    warped = diffuse_labels(warped_operator(operator, p, y=codes), codes)
    result = diffuse_labels(shuffled, codes[order])
    assert result.tau == warped.tau
    np.testing.assert_allclose(result.posteriors, warped.posteriors[order], rtol=1e-9)


# --- bad input


@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (lambda p: p[:-1], "39 rows; there are 40"),
        (lambda p: 2 * p, "above 1"),
        (lambda p: p - [1, 0, -1], "negative"),
        (lambda p: np.where(np.arange(40)[:, None] == 7, np.nan, p), "row 7"),
        (lambda p: p[:, 0], "shape"),
    ],
)
def test_bad_scores(spoil, match):
    _, operator, p, _ = graph_and_scores(11)
    with pytest.raises(DataError, match=match):
        warped_operator(operator, spoil(p))


@pytest.mark.parametrize(
    "options", [{"floor": value} for value in (-0.1, 1.5, "a")] + [{"forward_exponent": -1}]
)
def test_bad_parameters(options):
    _, operator, p, _ = graph_and_scores(12)
    with pytest.raises(ParameterError, match="it has to be"):
        warped_operator(operator, p, **options)


def test_labels_and_scores_have_to_agree():
    _, operator, p, _ = graph_and_scores(13)
    y = np.full(40, -1)
    y[:2] = [0, 1]
    with pytest.raises(DataError, match="2 classes; the scores have 3"):
        warped_operator(operator, p, y=y)
    with pytest.raises(DataError, match="2 classes; the operator is warped for 3"):
        diffuse_labels(warped_operator(operator, p), y)
    with pytest.raises(DataError, match="39 entries"):
        warped_operator(operator, p, y=y[1:])
    with pytest.raises(ParameterError, match="shape"):
        warped_operator(operator, p).apply(p[:, :2])
    with pytest.raises(ParameterError, match="n_steps"):
        warped_operator(operator, p).forward(p, -1)


# --- in the classifier


@pytest.fixture(scope="module")
def digits():
    X, truth = load_digits(return_X_y=True)
    y = np.full(len(X), -1)
    for digit in range(10):
        y[np.flatnonzero(truth == digit)[:8]] = digit
    return X, truth, y


@BOTH
def test_rounds_in_the_classifier(digits, labels):
    X, truth, y = digits
    clf = DiffusionClassifier(warp=Warp(rounds=6), label_mode=labels).fit(X, y)
    assert 1 <= clf.n_rounds_ < 6  # few points change after a round or two
    assert clf.walk_.unwarped is clf.operator_
    assert (clf.transduction_ == truth)[y < 0].mean() > 0.88
    again = clf.predict(X)
    assert (again == clf.transduction_).mean() > 0.97
    np.testing.assert_allclose(clf.predict_proba(X[:50]).sum(axis=1), 1)


def test_without_rounds_nothing_is_warped(digits):
    X, _, y = digits
    clf = DiffusionClassifier().fit(X, y)
    assert clf.walk_ is clf.operator_
    assert clf.n_rounds_ == 0


def test_new_points_step_by_the_walks_of_their_classes():
    """At new points that are the fitted ones, N_i is one more step, read in the same way."""
    K, operator, p, _ = graph_and_scores(14)
    warped = warped_operator(operator, p)
    codes = np.full(len(p), -1)
    codes[:3] = [0, 1, 2]
    values = diffuse_labels(warped, codes, tau=4).values
    found = warped.for_new_points(values).at(sp.csr_array(K))
    f = values / warped.degrees**warped.forward_exponent
    s = (K @ warped.scores) / K.sum(axis=1, keepdims=True)
    degrees = s * (K @ warped.scores)
    expected = degrees**warped.forward_exponent * warped.apply(f)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_new_points_without_neighbours_have_nothing():
    _, operator, p, _ = graph_and_scores(15)
    nothing = sp.csr_array((2, len(p)))
    assert (warped_operator(operator, p).for_new_points(p).at(nothing) == 0).all()


@pytest.mark.parametrize(
    "kernel",
    [Directed(), LocalCovariance(), LocalDiscriminant(), LocalDiscriminant(Directed())],
    ids=["directed", "covariance", "discriminant", "both"],
)
def test_every_kernel_classifies_old_and_new_points(digits, kernel):
    X, truth, y = digits
    held_out = np.arange(len(X)) % 3 == 2
    clf = DiffusionClassifier(kernel=kernel, warp=Warp()).fit(X[~held_out], y[~held_out])
    unknown = y[~held_out] < 0
    assert (clf.transduction_ == truth[~held_out])[unknown].mean() > 0.87
    assert (clf.predict(X[held_out]) == truth[held_out]).mean() > 0.85


def test_grid_search_reaches_every_parameter(digits):
    X, _, y = digits
    few = np.r_[np.flatnonzero(y >= 0), np.flatnonzero(y < 0)[:200]]
    grid = {
        "kernel__epsilon": [0.1, 1.0],
        "kernel__bandwidth": ["self-tuning"],
        "warp": [None, Warp(forward_exponent=0.0)],
    }
    search = GridSearchCV(
        DiffusionClassifier(kernel=Directed()), grid, cv=PartlyLabelledKFold(2), error_score="raise"
    )
    search.fit(X[few], y[few])
    assert search.best_score_ > 0.7
    for kernel in (LocalCovariance(), LocalDiscriminant(Gaussian())):
        names = DiffusionClassifier(kernel=kernel).get_params()
        assert {"kernel__bandwidth", "kernel__kernel__bandwidth"} & set(names)
        clone(DiffusionClassifier(kernel=kernel))


@pytest.mark.parametrize(
    ("warp", "says"),
    [
        (Warp(rounds=0), r"warp\.rounds = 0; it has to be a whole number above 0"),
        (Warp(rounds=1.5), r"warp\.rounds = 1\.5"),
        (Warp(floor=-0.1), r"warp\.floor = -0\.1; it has to be from 0 to 1"),
        (Warp(forward_exponent=-1), r"warp\.forward_exponent = -1"),
        (1, r"warp = 1; it has to be an object such as Warp\(rounds=1\)"),
    ],
)
def test_bad_parameters_of_the_classifier(warp, says):
    X, truth = two_blobs(20)
    y = np.where(np.arange(40) % 20 == 0, truth, -1)
    with pytest.raises(ParameterError, match=says):
        DiffusionClassifier(warp=warp).fit(X, y)


def test_a_warp_is_a_value():
    """Two of the same fields are one parameter to clones, searches and models."""
    clf = DiffusionClassifier(warp=Warp(rounds=2), tau=StoppingRule(max_time=9))
    again = clone(clf)
    assert again.get_params() == clf.get_params()
    assert again.set_params(warp=Warp(2)).warp == clf.warp != Warp()
    assert hash(Warp(2)) == hash(clf.warp)
