"""Probabilities: held-out labels, the temperature, and prediction sets."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_digits

from diffclass import DiffusionClassifier, diffuse_labels, markov_operator
from diffclass._compiled.loops import threads
from diffclass.evaluation import draw_per_class, reliability_curve
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion import Labels, calibrate
from diffclass.label_diffusion.calibration import Calibration, sets_at, sharpened
from diffclass.label_diffusion.held_out_labels import hold_out_labels
from diffclass.operators.warped import warped_operator
from tests import naive

ALL = pytest.mark.parametrize("labels", ["absorbing", "summed", "free"])


@pytest.fixture(scope="module")
def digits():
    X, truth = load_digits(return_X_y=True)
    return markov_operator(X, n_neighbors=12), truth


@pytest.fixture
def blobs(rng):
    truth = np.repeat([0, 1, 2], 50)
    X = rng.normal(size=(150, 4)) + np.repeat(3 * np.eye(3, 4), 50, axis=0)
    return X, truth


def labelled(truth, n_per_class, seed):
    y = np.full(len(truth), -1)
    chosen = draw_per_class(truth, n_per_class, random_state=seed)
    y[chosen] = truth[chosen]
    return y


def error_of(probabilities, truth, scored):
    right = probabilities.argmax(axis=1) == truth
    curve = reliability_curve(right[scored], probabilities.max(axis=1)[scored])
    return curve.expected_calibration_error


# --- held-out labels


@pytest.mark.parametrize("weighted", [False, True])
def test_left_out_labels_are_those_of_another_diffusion(blobs, rng, weighted):
    X, truth = blobs
    operator = markov_operator(X, n_neighbors=9)
    y = labelled(truth, 4, 0)
    weight = rng.uniform(0.2, 1, size=len(y)) if weighted else np.ones(len(y))
    tau = 5000  # long enough for every walk to end
    diffusion = diffuse_labels(operator, y, tau=tau, label_weight=weight)
    left = hold_out_labels(operator, Labels.of(y, weight), diffusion)
    assert sorted(left.points) == np.flatnonzero(y >= 0).tolist()
    np.testing.assert_array_equal(left.codes, y[left.points])
    A = naive.markov_matrix(operator.affinity.toarray())
    for point, found in zip(left.points, left.posteriors, strict=True):
        values = naive.without_label(A, y, 3, tau, point, weight=weight)
        expected = naive.posteriors(values[None], diffusion.class_weight)[0]
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("labels", ["summed", "free"])
def test_folds_leave_every_label_out_once(blobs, labels):
    X, truth = blobs
    operator = markov_operator(X, n_neighbors=9)
    y = labelled(truth, 3, 0)
    diffusion = diffuse_labels(operator, y, label_mode=labels)
    left = hold_out_labels(operator, Labels.of(y), diffusion)
    assert sorted(left.points) == np.flatnonzero(y >= 0).tolist()
    np.testing.assert_allclose(left.posteriors.sum(axis=1), 1)
    with_label = diffusion.posteriors[left.points, left.codes]
    assert left.posteriors[np.arange(9), left.codes].mean() < with_label.mean()


def test_the_only_label_of_a_class_and_unused_ones_stay(blobs):
    X, truth = blobs
    operator = markov_operator(X, n_neighbors=9)
    y = labelled(truth, 3, 0)
    y[np.flatnonzero(y == 1)[1:]] = -1
    unused = np.flatnonzero(y == 2)[0]
    weight = np.where(np.arange(len(y)) == unused, 0.0, 1.0)
    diffusion = diffuse_labels(operator, y, label_weight=weight)
    left = hold_out_labels(operator, Labels.of(y, weight), diffusion)
    assert np.bincount(left.codes).tolist() == [3, 0, 2]
    assert unused not in left.points


@pytest.mark.parametrize("labels", ["absorbing", "summed"])
def test_groups_are_left_out_whole(blobs, labels):
    X, truth = blobs
    operator = markov_operator(X, n_neighbors=9)
    y = labelled(truth, 6, 0)
    groups = np.where(truth == 0, np.arange(len(y)) % 2, 0)  # two in the first class
    # labels that absorb are held out as if the walk never ended
    tau = {"absorbing": 2000, "summed": 30}[labels]
    diffusion = diffuse_labels(operator, y, label_mode=labels, groups=groups, tau=tau)
    left = hold_out_labels(operator, Labels.of(y, groups=groups), diffusion)
    with threads(1):
        alone = hold_out_labels(operator, Labels.of(y, groups=groups), diffusion)
    np.testing.assert_array_equal(left.posteriors, alone.posteriors)
    assert left.codes.tolist() == [0, 0]
    assert sorted(groups[left.points]) == [0, 1]
    for point, found in zip(left.points, left.posteriors, strict=True):
        others = np.where((y == 0) & (groups == groups[point]), -1, y)
        again = diffuse_labels(operator, others, label_mode=labels, tau=diffusion.tau)
        expected = naive.posteriors(again.values[[point]], diffusion.class_weight)[0]
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_sets_from_one_stroke_per_class_state_nothing(digits):
    operator, truth = digits
    y, groups = np.full(len(truth), -1), np.zeros(len(truth), int)
    for c in range(10):
        first = np.flatnonzero(truth == c)[0]
        near = np.argsort(-operator.affinity[[first]].toarray()[0])
        y[near[truth[near] == c][:10]] = c
    found = diffuse_labels(operator, y, groups=groups)
    calibration = calibrate(operator, Labels.of(y, groups=groups), found)
    assert calibration.n_held_out == calibration.highest_level == 0
    assert calibration.sets(calibration.apply(found.posteriors), level=0.9).all()


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 40), st.floats(0.01, 0.99))
def test_sets_say_something_up_to_the_highest_level(m, level):
    calibration = Calibration(1.0, 1.0, m, np.nan, np.nan, np.linspace(0.3, 0.9, m), 0.1)
    says = not calibration.sets(np.array([[0.9, 0.1]]), level=level).all()
    assert says == (level <= calibration.highest_level + 1e-9)
    assert 0 <= calibration.highest_level < 1


def test_at_most_so_many_labels_are_left_out(blobs):
    X, truth = blobs
    operator = markov_operator(X, n_neighbors=9)
    left = hold_out_labels(operator, Labels.of(truth), diffuse_labels(operator, truth))
    assert np.bincount(left.codes).tolist() == [34, 33, 33]


# --- temperature


@ALL
def test_probabilities_of_digits_are_right_as_often_as_they_say(digits, labels):
    operator, truth = digits
    before, after = [], []
    for seed in range(3):
        y = labelled(truth, 5, seed)
        found = diffuse_labels(operator, y, label_mode=labels)
        calibration = calibrate(operator, Labels.of(y), found)
        assert calibration.n_held_out == 50
        assert calibration.log_loss_after < calibration.log_loss_before
        before.append(error_of(found.posteriors, truth, y < 0))
        after.append(error_of(calibration.apply(found.posteriors), truth, y < 0))
    assert np.mean(after) < 0.05 < np.mean(before)


def test_without_labels_to_leave_out_the_map_decides(digits):
    operator, truth = digits
    y = labelled(truth, 1, 0)
    found = diffuse_labels(operator, y)
    calibration = calibrate(operator, Labels.of(y), found)
    assert calibration.n_held_out == 0
    assert calibration.temperature == calibration.map_temperature
    assert calibration.to_dict()["log_loss_before"] is None
    calibrated = calibration.apply(found.posteriors)
    assert error_of(calibrated, truth, y < 0) < error_of(found.posteriors, truth, y < 0) / 2


def test_labels_that_are_often_wrong_make_less_sure(digits):
    operator, truth = digits
    y = labelled(truth, 10, 0)
    found = diffuse_labels(operator, y, label_mode="absorbing")
    sure = calibrate(operator, Labels.of(y), found)
    at = np.flatnonzero(y >= 0)
    y[at[::3]] = (y[at[::3]] + 1) % 10
    unsure = calibrate(operator, Labels.of(y), diffuse_labels(operator, y, label_mode="absorbing"))
    assert unsure.temperature > 1.5 * sure.temperature


def test_a_warped_walk_leaves_nothing_out(blobs):
    X, truth = blobs
    operator = markov_operator(X, n_neighbors=9)
    y = labelled(truth, 4, 0)
    warped = warped_operator(operator, diffuse_labels(operator, y).posteriors, y=y)
    assert calibrate(warped, Labels.of(y), diffuse_labels(warped, y)).n_held_out == 0


def test_one_class_alone(blobs):
    X, _ = blobs
    y = np.where(np.arange(150) < 3, 0, -1)
    clf = DiffusionClassifier(n_neighbors=9).fit(X, y)
    assert (clf.predict_proba(X) == 1).all()
    assert clf.predict_set(X).all()


@settings(max_examples=50, deadline=None)
@given(
    arrays(np.float64, st.tuples(st.just(4), st.integers(1, 60)), elements=st.floats(1e-3, 1)),
    st.floats(0.25, 4096),
)
def test_the_order_of_the_classes_is_kept(values, exponent):
    posteriors = values / values.sum(axis=1, keepdims=True)
    found = sharpened(posteriors, exponent)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    order = np.argsort(posteriors, axis=1, kind="stable")
    assert (np.diff(np.take_along_axis(found, order, axis=1), axis=1) >= 0).all()


# --- prediction sets


def test_sets_hold_the_class_as_often_as_they_say(rng):
    n_labels, n_points, held = 60, 200, []
    for _ in range(200):
        p = rng.dirichlet(np.ones(4), size=n_labels + n_points)
        wrong = p**0.3 / (p**0.3).sum(axis=1, keepdims=True)  # not calibrated at all
        codes = np.array([rng.choice(4, p=row) for row in p])
        own = wrong[np.arange(len(p)), codes]
        sets = sets_at(wrong[n_labels:], np.sort(own[:n_labels]), level=0.8)
        held.append(sets[np.arange(n_points), codes[n_labels:]].mean())
    assert 0.79 < np.mean(held) < 0.83


def test_sets_of_digits_hold_the_class(digits):
    operator, truth = digits
    held, sizes = [], []
    for seed in range(5):
        y = labelled(truth, 5, seed)
        found = diffuse_labels(operator, y)
        calibration = calibrate(operator, Labels.of(y), found)
        sets = calibration.sets(calibration.apply(found.posteriors), level=0.9)
        held.append(sets[np.arange(len(y)), truth][y < 0].mean())
        sizes.append(sets.sum(axis=1).mean())
    assert np.mean(held) > 0.9
    assert np.mean(sizes) < 1.5


def test_larger_levels_have_larger_sets(rng):
    p, conformity = rng.dirichlet(np.ones(5), size=100), np.sort(rng.random(40))
    sizes = [sets_at(p, conformity, level=level).sum() for level in (0.01, 0.5, 0.8, 0.95, 0.99)]
    assert sizes == sorted(sizes)
    assert sizes[0] == 100  # no set is empty
    assert sizes[-1] == 500  # forty labels cannot say so much
    assert not sets_at(np.full((1, 5), np.nan), conformity, level=0.9).any()


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, np.nan, "0.9", None])
def test_levels_are_checked(blobs, level):
    X, truth = blobs
    clf = DiffusionClassifier(n_neighbors=9).fit(X, labelled(truth, 4, 0))
    for ask in (lambda: clf.predict_set(X, level=level), lambda: clf.transductive_set(level=level)):
        with pytest.raises(ParameterError, match="share between 0 and 1"):
            ask()


# --- the classifier


@ALL
def test_classifier_is_calibrated_and_keeps_the_walks_own(blobs, rng, labels):
    X, truth = blobs
    y = labelled(truth, 4, 0)
    clf = DiffusionClassifier(n_neighbors=9, label_mode=labels).fit(X, y)
    expected = calibrate(clf.operator_, Labels.of(y), clf.diffusion_)
    assert clf.calibration_.temperature == expected.temperature != 1
    assert (clf.raw_label_distributions_ == clf.diffusion_.posteriors).all()
    np.testing.assert_array_equal(
        clf.label_distributions_, expected.apply(clf.diffusion_.posteriors)
    )
    new = X + 0.1 * rng.normal(size=X.shape)
    np.testing.assert_array_equal(
        clf.predict_proba(new), expected.apply(clf.raw_predict_proba(new))
    )
    probabilities = clf.predict_proba(new)
    assert (clf.classes_[probabilities.argmax(axis=1)] == clf.predict(new)).all()
    sets = clf.predict_set(new, level=0.8)
    np.testing.assert_array_equal(sets, expected.sets(probabilities, level=0.8))
    assert sets[np.arange(len(new)), np.searchsorted(clf.classes_, clf.predict(new))].all()
    assert clf.transductive_set(level=0.8).shape == (150, 3)
    assert clf.calibration_ is clf.calibration_  # found once


def test_each_fit_has_its_own_calibration(blobs):
    X, truth = blobs
    clf = DiffusionClassifier(n_neighbors=9).fit(X, labelled(truth, 4, 0))
    first = clf.calibration_
    clf.fit(X, labelled(truth, 2, 1))
    assert (first.n_held_out, clf.calibration_.n_held_out) == (12, 6)
    copy = pickle.loads(pickle.dumps(clf))
    assert (copy.label_distributions_ == clf.label_distributions_).all()


def test_far_points_stay_uniform(blobs):
    X, truth = blobs
    clf = DiffusionClassifier(n_neighbors=9).fit(X, labelled(truth, 4, 0))
    np.testing.assert_allclose(clf.predict_proba(1e6 * np.eye(3, 4)), 1 / 3, rtol=1e-12)
    assert clf.predict_set(1e6 * np.eye(3, 4), level=0.99).all()


def test_repeated_temperature_one_changes_nothing(blobs):
    X, truth = blobs
    clf = DiffusionClassifier(n_neighbors=9).fit(X, labelled(truth, 4, 0))
    same = replace(clf.calibration_, temperature=1.0)
    np.testing.assert_allclose(same.apply(clf.label_distributions_), clf.label_distributions_)
