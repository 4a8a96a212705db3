"""The features beside the graph: left out in closed form, joined where labels speak for it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from diffclass import DiffusionClassifier, UnreachedWarning, Warp, diffuse_labels, markov_operator
from diffclass.label_diffusion import Labels, calibrate, feature_opinion, join_features
from diffclass.label_diffusion.feature_opinion import _opinion
from diffclass.label_diffusion.held_out_labels import hold_out_labels


@pytest.fixture
def cube():
    """Ten dimensions halved by a plane, no gap: points, codes of 40 labels, truth."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(600, 10))
    truth = (X[:, 0] > 0).astype(int)
    return X, np.where(np.arange(600) < 40, truth, -1), truth


@pytest.fixture
def rings():
    """Two rings in ten dimensions, the graph's own case."""
    random = np.random.default_rng(0)
    truth = np.repeat([0, 1], 300)
    angles = random.uniform(0, 2 * np.pi, 600)
    X = np.zeros((600, 10))
    X[:, :2] = ((1 + 0.5 * truth) * [np.cos(angles), np.sin(angles)]).T
    X += 0.02 * random.normal(size=X.shape)
    codes = np.full(600, -1)
    chosen = np.concatenate([random.choice(np.flatnonzero(truth == c), 10, False) for c in (0, 1)])
    codes[chosen] = truth[chosen]
    return X, codes, truth


def opinion_of(X, codes, weight=None, groups=None):
    operator = markov_operator(X, n_neighbors=12)
    found = diffuse_labels(operator, codes, label_weight=weight, groups=groups)
    left = hold_out_labels(operator, Labels.of(codes, weight, groups), found)
    calibration = calibrate(operator, Labels.of(codes, groups=groups), found)
    return *_opinion(X, Labels.of(codes, weight, groups), left, calibration), left


def gaussian_process(X, y, weight, width):
    model = GaussianProcessRegressor(RBF(width, "fixed"), alpha=0.1 / weight, optimizer=None)
    return model.fit(X, np.eye(2)[y] - 0.5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_is_scikit_learns_gaussian_process(cube, rng, weighted, grouped):
    X, codes, _ = cube
    weight = rng.uniform(0.2, 1, len(X)) if weighted else None
    group = np.arange(len(X)) // 4 if grouped else np.arange(len(X))
    opinion, without, left = opinion_of(X, codes, weight, group)
    of_label = np.ones(40) if weight is None else weight[:40]
    assert opinion.width == pytest.approx(
        np.sqrt(((X[:40, None] - X[None, :40]) ** 2).sum(axis=-1).mean())
    )
    expected = gaussian_process(X[:40], codes[:40], of_label, opinion.width).predict(X) + 0.5
    np.testing.assert_allclose(opinion.values(X), expected, atol=1e-9)
    for place in (0, len(left.points) // 2, -1):
        point = left.points[place]
        rest = np.flatnonzero((group[:40] != group[point]) | (codes[:40] != codes[point]))
        model = gaussian_process(X[rest], codes[rest], of_label[rest], opinion.width)
        np.testing.assert_allclose(without[place], model.predict(X[[point]])[0] + 0.5, atol=1e-9)


def test_counts_where_the_features_say_more(cube):
    X, codes, truth = cube
    operator = markov_operator(X, n_neighbors=12)
    found = diffuse_labels(operator, codes)
    opinion, joined, calibration = join_features(operator, X, Labels.of(codes), found)
    assert opinion.counts
    assert opinion.gain > opinion.error > 0
    assert calibration.n_held_out == opinion.n_held_out == 40
    unlabelled = codes < 0
    before, after = ((d.codes == truth)[unlabelled].mean() for d in (found, joined))
    assert after > before + 0.05
    assert (joined.codes[~unlabelled] == truth[~unlabelled]).all()
    p = calibrate(operator, Labels.of(codes), found).apply(found.posteriors)
    p = p * np.exp(8 * opinion.values(X))
    np.testing.assert_allclose(joined.posteriors, p / p.sum(axis=1, keepdims=True), atol=1e-9)
    sure = calibration.apply(joined.posteriors).max(axis=1)
    assert abs(sure[unlabelled].mean() - after) < 0.06


def test_the_graph_is_preferred(rings):
    X, codes, _ = rings
    operator = markov_operator(X, n_neighbors=12)
    found = diffuse_labels(operator, codes)
    opinion, joined, calibration = join_features(operator, X, Labels.of(codes), found)
    assert not opinion.counts
    assert joined is found
    assert calibration.to_dict() == calibrate(operator, Labels.of(codes), found).to_dict()


def test_one_label_per_class_says_nothing(cube):
    X, _, truth = cube
    codes = np.full(600, -1)
    codes[[0, np.flatnonzero(truth != truth[0])[0]]] = [truth[0], 1 - truth[0]]
    clf = DiffusionClassifier(join_features=True).fit(X, codes)
    assert np.isnan(clf.feature_opinion_.gain)
    assert not clf.feature_opinion_.counts
    assert (clf.transduction_ == DiffusionClassifier().fit(X, codes).transduction_).all()


def test_more_labels_than_the_matrix_holds(cube, monkeypatch):
    X, _, truth = cube
    codes = np.where(np.arange(600) < 300, truth, -1)
    monkeypatch.setattr(feature_opinion, "_MOST_LABELS", 150)
    opinion, without, left = opinion_of(X, codes)
    assert len(opinion.labelled) == 150
    assert len(without) == len(left.points) == 100


def test_values_in_blocks_are_the_same(cube, monkeypatch):
    X, codes, _ = cube
    opinion, _, _ = opinion_of(X, codes)
    whole = opinion.values(X)
    monkeypatch.setattr(feature_opinion, "_MOST_VALUES", 40 * 7)
    np.testing.assert_allclose(opinion.values(X), whole, atol=1e-14)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_classifier_joins_at_new_points_too(cube, dtype):
    X, codes, _ = cube
    X = X.astype(dtype)
    clf = DiffusionClassifier(join_features=True).fit(X, codes)
    alone = DiffusionClassifier().fit(X, codes)
    assert clf.feature_opinion_.counts
    assert alone.feature_opinion_ is None
    assert clf.label_distributions_.dtype == dtype
    np.testing.assert_allclose(clf.label_distributions_.sum(axis=1), 1, atol=1e-5)
    assert (clf.raw_label_distributions_.argmax(axis=1) == clf.transduction_).all()
    new = np.random.default_rng(1).uniform(-1, 1, size=(400, 10)).astype(dtype)
    right = new[:, 0] > 0
    joined, by_graph = ((c.predict(new) == right).mean() for c in (clf, alone))
    assert joined > by_graph + 0.03
    np.testing.assert_allclose(clf.predict_proba(new).sum(axis=1), 1, atol=1e-5)
    assert clf.calibration_.n_held_out == 40


@pytest.mark.parametrize("scale", [1e-30, 1e30, 1e180])
def test_units_do_not_matter(cube, scale):
    X, codes, _ = cube
    opinion, _, _ = opinion_of(X, codes)
    points, values = X[:50], opinion.values(X[:50])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        left = opinion_of(X, codes)[2]
        calibration = calibrate_for(X, codes)
        scaled, _ = _opinion(scale * X, Labels.of(codes), left, calibration)
        np.testing.assert_allclose(scaled.values(scale * points), values, atol=1e-9)


def calibrate_for(X, codes):
    operator = markov_operator(X, n_neighbors=12)
    return calibrate(operator, Labels.of(codes), diffuse_labels(operator, codes))


def test_points_that_no_label_reaches_stay_so(cube):
    X, codes, _ = cube
    X = np.concatenate([X, 50 + X[:30] / 100])
    with pytest.warns(UnreachedWarning):
        clf = DiffusionClassifier(join_features=True).fit(X, np.append(codes, np.full(30, -1)))
    assert clf.feature_opinion_.counts
    assert (clf.transduction_[-30:] == -1).all()
    assert (clf.margin_[-30:] == 0).all()
    np.testing.assert_allclose(clf.label_distributions_[-30:], 0.5, atol=1e-6)


def test_warped_walks_decide_alone(cube):
    X, codes, _ = cube
    clf = DiffusionClassifier(join_features=True, warp=Warp()).fit(X, codes)
    assert not clf.feature_opinion_.counts


def test_all_points_equal_or_none_of_them(cube):
    X, codes = np.full((60, 3), 7.0), np.where(np.arange(60) < 4, [0, 0, 1, 1] * 15, -1)
    for points in (X, 0 * X):
        with pytest.warns(UserWarning, match="no point of the map is of the class 1"):
            clf = DiffusionClassifier(join_features=True).fit(points, codes)
        assert np.isfinite(clf.label_distributions_).all()
