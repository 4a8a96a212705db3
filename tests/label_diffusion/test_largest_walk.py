"""Walks of which each point keeps its largest classes: a naive twin, exact limits, and all uses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from diffclass import (
    DiffusionClassifier,
    MarkovOperator,
    StoppingRule,
    Warp,
    diffuse_labels,
    markov_operator,
)
from diffclass._compiled.loops import threads
from diffclass.acquisition import suggest
from diffclass.exceptions import ParameterError, UnreachedWarning
from diffclass.label_diffusion import Labels
from diffclass.label_diffusion.held_out_labels import hold_out_labels
from diffclass.label_diffusion.largest_walk import LargestWalk
from diffclass.model_files import CLASSIFIER, read_model, write_model
from tests import naive


def groups_of_points(n_classes, n_each, *, n_labels=2, spread=0.25, seed=0):
    """Points around centres on a sphere, their classes, and labels of some."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(n_classes, 6))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    truth = np.repeat(np.arange(n_classes), n_each)
    X = centres[truth] + spread * random.normal(size=(len(truth), 6))
    y = np.where(np.arange(len(truth)) % n_each < n_labels, truth, -1)
    return X, truth, y


def random_walk(random, n, dtype=np.float64):
    K = sp.random_array((n, n), density=0.2, rng=random)
    return MarkovOperator.from_affinity(sp.csr_array((K + K.T + sp.eye_array(n)).astype(dtype)))


@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 12),
    kept=st.integers(2, 14),
    steps=st.integers(0, 9),
)
@settings(max_examples=60, deadline=None)
def test_walk_is_that_of_its_naive_twin(seed, n_classes, kept, steps):
    random = np.random.default_rng(seed)
    n = n_classes + int(random.integers(1, 30))
    operator = random_walk(random, n)
    codes = np.full(n, -1)
    codes[random.permutation(n)[:n_classes]] = np.arange(n_classes)
    weight = np.where(random.random(n) < 0.5, 1.0, random.uniform(0.1, 1, n))
    walk = LargestWalk(operator, Labels.of(codes, weight), kept)
    walk.advance(steps)
    A = operator.affinity.toarray() / operator.degrees[:, None]
    twin = naive.largest_absorbing_labels(A, codes, n_classes, steps, kept, weight=weight)
    np.testing.assert_allclose(walk.values().toarray(), twin, rtol=1e-9, atol=1e-15)
    exact = naive.absorbing_labels(A, codes, n_classes, steps, weight=weight)
    total = exact.sum(axis=1)
    share = np.divide(twin.sum(axis=1), total, out=np.ones(n), where=total > 0)
    np.testing.assert_allclose(walk.dropped(), 1 - share, atol=1e-9)
    lacking = exact - twin
    assert (lacking <= (walk.dropped() * total)[:, None] + 1e-12).all()
    assert (lacking >= -1e-12).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("class_prior", [None, "uniform"])
def test_with_all_classes_kept_nothing_differs(dtype, class_prior):
    X, _, y = groups_of_points(15, 30)
    given = {"random_state": 0, "class_prior": class_prior, "join_features": False}
    plain = DiffusionClassifier(**given).fit(X.astype(dtype), y)
    kept = DiffusionClassifier(kept_classes=15, **given)
    kept.fit(X.astype(dtype), y)
    assert kept.tau_ == plain.tau_
    assert kept.diffusion_.weighting == plain.diffusion_.weighting
    np.testing.assert_array_equal(kept.transduction_, plain.transduction_)
    np.testing.assert_allclose(kept.margin_, plain.margin_, atol=1e-5)
    np.testing.assert_allclose(
        kept.raw_label_distributions_.toarray(), plain.raw_label_distributions_, atol=1e-5
    )
    np.testing.assert_allclose(
        kept.label_distributions_.toarray(), plain.label_distributions_, atol=1e-4
    )
    assert kept.diffusion_.dropped.max() < 1e-5
    np.testing.assert_allclose(kept.predict_proba(X[::7]), plain.predict_proba(X[::7]), atol=1e-4)
    sets = plain.transductive_set(level=0.8) & (plain.label_distributions_ > 0)
    np.testing.assert_array_equal(kept.transductive_set(level=0.8).toarray(), sets)


def test_few_of_many_classes_give_the_map_of_all():
    """Tau, accuracy and calibration hardly depend on the number of classes that are kept."""
    X, truth, y = groups_of_points(120, 40, n_labels=3, spread=0.12)
    plain = DiffusionClassifier(random_state=0, join_features=False).fit(X, y)
    kept = DiffusionClassifier(random_state=0, kept_classes=16).fit(X, y, graph=plain.graph_)
    assert kept.tau_ == plain.tau_
    assert (kept.transduction_ == plain.transduction_).mean() > 0.98
    right = [np.where(model.transduction_ == truth, 1, 0) for model in (plain, kept)]
    assert abs(right[0].mean() - right[1].mean()) < 0.01
    best = [plain.label_distributions_.max(axis=1), kept.label_distributions_.max(axis=1).toarray()]
    errors = [abs(sure.mean() - r.mean()) for sure, r in zip(best, right, strict=True)]
    assert errors[1] < errors[0] + 0.05


def test_order_of_points_and_number_of_threads_change_nothing():
    X, _, y = groups_of_points(30, 12)
    operator = markov_operator(X, n_neighbors=8)
    found = diffuse_labels(operator, y, kept_classes=4)
    with threads(1):
        alone = diffuse_labels(operator, y, kept_classes=4)
    np.testing.assert_array_equal(alone.values.toarray(), found.values.toarray())
    order = np.random.default_rng(1).permutation(len(X))
    K = operator.affinity[order][:, order]
    moved = diffuse_labels(MarkovOperator.from_affinity(K), y[order], kept_classes=4)
    assert moved.tau == found.tau
    np.testing.assert_allclose(moved.margin, found.margin[order], atol=1e-9)
    clear = moved.margin > 1e-9
    np.testing.assert_array_equal(moved.codes[clear], found.codes[order][clear])


@pytest.mark.filterwarnings("ignore:by max_time")
def test_points_beyond_the_walk_are_filled_by_fronts():
    """On a chain labels of the two ends do not meet: what is not reached takes the nearer one."""
    n = 400
    ones = np.ones(n - 1)
    K = sp.csr_array(sp.diags_array([ones, np.ones(n), ones], offsets=[-1, 0, 1]))
    y = np.full(n, -1)
    y[[0, 60, n - 1]] = 0, 1, 2
    operator = MarkovOperator.from_affinity(K)
    rule = StoppingRule(max_time=40)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        kept = diffuse_labels(operator, y, label_mode="absorbing", tau=rule, kept_classes=2)
    plain = diffuse_labels(operator, y, label_mode="absorbing", tau=rule)
    assert (kept.codes >= 0).all()
    np.testing.assert_array_equal(kept.codes, plain.codes)
    np.testing.assert_allclose(kept.posteriors.toarray(), plain.posteriors, atol=1e-12)


def test_a_walk_of_given_time_reaches_only_as_far_as_its_steps():
    n, tau = 60, 10
    K = sp.diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1])
    y = np.full(n, -1)
    y[[0, n - 1]] = 0, 1
    operator = MarkovOperator.from_affinity(sp.csr_array(K))
    found = diffuse_labels(operator, y, label_mode="absorbing", tau=tau, kept_classes=2)
    hops = np.minimum(np.arange(n), np.arange(n)[::-1])
    np.testing.assert_array_equal(found.codes >= 0, hops <= tau)


@pytest.mark.parametrize("in_groups", [False, True])
def test_held_out_labels_are_those_of_all_classes(in_groups):
    """One by one by the closed form, and large groups by folds."""
    X, _, y = groups_of_points(8, 40, n_labels=24 if in_groups else 3)
    groups = np.arange(len(X)) % 40 // 12 if in_groups else None
    operator, labels = markov_operator(X, n_neighbors=8), Labels.of(y, groups=groups)
    left = [
        hold_out_labels(
            operator, labels, diffuse_labels(operator, y, groups=groups, kept_classes=kept)
        )
        for kept in (None, 8)
    ]
    np.testing.assert_array_equal(left[0].points, left[1].points)
    np.testing.assert_allclose(left[1].posteriors, left[0].posteriors, atol=1e-6)


def test_points_that_no_label_reaches_have_uniform_rows():
    X, _, y = groups_of_points(6, 20)
    X = np.concatenate([X, X[:20] + 100])
    y = np.append(y, np.full(20, -1))
    with pytest.warns(UnreachedWarning, match="20 of 140"):
        model = DiffusionClassifier(random_state=0, kept_classes=3).fit(X, y)
    assert (model.transduction_[-20:] == -1).all()
    np.testing.assert_allclose(model.label_distributions_[-20:].toarray(), 1 / 6)
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    assert model.predict_proba(X[-3:]).sum(axis=1) == pytest.approx(1)
    assert model.transductive_set()[-20:].toarray().all()


def test_hints_count_as_with_all_classes():
    X, truth, y = groups_of_points(20, 25, n_labels=1)
    scores = np.eye(20)[np.where(np.random.default_rng(2).random(len(X)) < 0.8, truth, 0)]
    found = [
        DiffusionClassifier(random_state=0, kept_classes=kept).fit(X, y, score_prior=scores)
        for kept in (None, 20)
    ]
    assert found[0].hint_weight_ == found[1].hint_weight_
    np.testing.assert_array_equal(found[0].transduction_, found[1].transduction_)


def test_suggestions_go_by_the_margin():
    X, _, y = groups_of_points(10, 20)
    model = DiffusionClassifier(random_state=0, kept_classes=4).fit(X, y)
    labelled = np.flatnonzero(y >= 0)
    found = suggest(model.operator_, model.diffusion_, labelled, 3, rule="margin")
    free = np.setdiff1d(np.arange(len(X)), labelled)
    assert model.margin_[found.points].max() <= np.sort(model.margin_[free])[2] + 1e-6


def test_a_model_file_gives_the_same_answers(tmp_path):
    X, _, y = groups_of_points(10, 20)
    model = DiffusionClassifier(random_state=0, kept_classes=4).fit(X, y)
    path = tmp_path / "model.diffclass"
    write_model(path, model, CLASSIFIER, kind="test", version="1")
    again = read_model(path, CLASSIFIER, kind="test")
    np.testing.assert_array_equal(again.predict_proba(X[::3]), model.predict_proba(X[::3]))
    assert again.kept_classes == 4


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kept_classes": 1}, "keep at least 2"),
        ({"kept_classes": 2.5}, "kept_classes = 2.5"),
        ({"kept_classes": 4, "label_mode": "free"}, "label_mode='free'"),
        ({"kept_classes": 4, "warp": Warp(1)}, "neither warp nor join_features"),
        ({"kept_classes": 4, "join_features": True}, "neither warp nor join_features"),
    ],
)
def test_what_does_not_go_with_few_classes_is_refused(parameters, message):
    X, _, y = groups_of_points(3, 10)
    with pytest.raises(ParameterError, match=message):
        DiffusionClassifier(**parameters).fit(X, y)


@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 9), dtype=st.sampled_from("fd"))
@settings(max_examples=30, deadline=None)
def test_contradicting_labels_of_equal_points_count_as_with_all_classes(seed, n_classes, dtype):
    random = np.random.default_rng(seed)
    X = np.repeat(random.normal(size=(14, 2)), 5, axis=0).astype(dtype)
    y = random.integers(0, n_classes, len(X))  # up to five at a place
    y[:n_classes] = np.arange(n_classes)
    y[n_classes:][random.random(len(X) - n_classes) < 0.4] = -1
    weight = random.uniform(0.2, 1, len(X)) ** random.integers(0, 2)
    how = {"tau": int(random.integers(1, 9)), "label_mode": "absorbing", "label_weight": weight}
    operator = markov_operator(X, n_neighbors=4)
    plain, kept = (diffuse_labels(operator, y, **how, kept_classes=k) for k in (None, n_classes))
    np.testing.assert_allclose(kept.posteriors.toarray(), plain.posteriors, atol=1e-5)
    np.testing.assert_allclose(kept.dropped, 0, atol=1e-5)
    clear = plain.margin > 1e-5
    np.testing.assert_array_equal(kept.codes[clear], plain.codes[clear])
    for few in range(2, n_classes):
        assert (diffuse_labels(operator, y, **how, kept_classes=few).posteriors.data >= 0).all()
