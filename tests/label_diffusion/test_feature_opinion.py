"""The features beside the graph: what is left out, the pool, and joined maps."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

from diffclass import (
    DiffusionClassifier,
    ParameterError,
    StoppingRule,
    UnreachedWarning,
    Warp,
    diffuse_labels,
    markov_operator,
)
from diffclass.label_diffusion import DiffusionRules, Labels, diffuse_joined, feature_opinion
from diffclass.label_diffusion.feature_opinion import (
    _curved,
    _Function,
    _learnt_from,
    _linear,
    _Map,
    _means,
    _nearest_of_class,
    _of_map,
    _standard_units,
)
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


def joined_of(X, codes, weight=None, groups=None):
    """Return the map of the graph, what the features say, the joined map and its calibration."""
    operator, labels = markov_operator(X, n_neighbors=12), Labels.of(codes, weight, groups)
    found = diffuse_joined(operator, X, labels, DiffusionRules.of(labels))
    return found.walked, found.opinion, found.diffusion, found.calibration


def held_out(X, codes, weight=None, groups=None):
    """Return the labels, those held out, and the labels' points in standard units."""
    operator = markov_operator(X, n_neighbors=12)
    labels = Labels.of(codes, weight, groups)
    found = diffuse_labels(operator, codes, label_weight=weight, groups=groups)
    left = hold_out_labels(operator, labels, found)
    mean, scale = _standard_units(X)
    learnt = _learnt_from(labels, left, feature_opinion._MOST_LABELS)
    return found, left, learnt, (X - mean) / scale


KERNELS = {
    "linear": DotProduct(1.0, "fixed"),
    "curved": ConstantKernel(1.0, "fixed") + RBF(1.0, "fixed"),
}


def gaussian_process(kernel, z, y, weight):
    """Return scikit-learn's, whose kernels are 1 + <x, y> and so on, in these units."""
    r = np.sqrt(z[0].var(axis=0).sum())
    model = GaussianProcessRegressor(KERNELS[kernel], alpha=0.1 / weight, optimizer=None)
    return lambda rest, at: (
        model.set_params(alpha=0.1 / weight[rest]).fit(z[0][rest] / r, np.eye(2)[y[rest]] - 0.5)
    ).predict(z[1][at] / r)


def values_of(function, z, centers, spread):
    """Return what a function says at points in standard units, but for 1/c."""
    says = z @ function.coefficients + function.intercept
    if function.bumps is None:
        return says
    squares = ((z[:, None] - centers) ** 2).sum(axis=-1)
    return says + np.exp(-squares / (2 * spread)) @ function.bumps


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_labels_speak_as_scikit_learns_gaussian_process(cube, rng, weighted, grouped, kernel):
    X, codes, _ = cube
    weight = rng.uniform(0.2, 1, len(X)) if weighted else None
    group = np.arange(len(X)) // 4 if grouped else np.arange(len(X))
    _, left, learnt, z = held_out(X, codes, weight, group)
    spread = z[:40].var(axis=0).sum()
    found = {"linear": _linear, "curved": _curved}[kernel](z[:40], learnt, left, spread)
    of_label = np.ones(40) if weight is None else weight[:40]
    process = gaussian_process(kernel, (z[:40], z), codes[:40], of_label)
    every = np.arange(40)
    expected = process(every, np.arange(600))
    np.testing.assert_allclose(values_of(found, z, z[:40], spread), expected, atol=1e-9)
    for place in (0, len(left.points) // 2, -1):
        point = left.points[place]
        rest = np.flatnonzero((group[:40] != group[point]) | (codes[:40] != codes[point]))
        np.testing.assert_allclose(found.without[place], process(rest, [point])[0], atol=1e-9)


def test_map_speaks_as_scikit_learns_discriminants(cube):
    X, codes, _ = cube
    group = np.arange(600) // 2
    found, left, learnt, z = held_out(X, codes, groups=group)
    distances = ((X[:, None] - X[None, :40]) ** 2).sum(axis=-1)
    nearest = np.where(found.codes[:, None] == codes[:40], distances, np.inf).argmin(axis=1)
    np.testing.assert_array_equal(_nearest_of_class(X, found.codes, X[:40], codes[:40]), nearest)
    on_map = _Map(z, found.codes, np.ones(600), nearest)
    of_map = _of_map(on_map, z[:40], learnt, left)
    share = np.bincount(found.codes) / 600

    def twin(kept, at):
        # no shrinkage of scikit-learn's is of the covariance within the classes: here by hand
        model = LinearDiscriminantAnalysis(solver="lsqr", priors=share)
        model.fit(z[kept], found.codes[kept])
        S = sum(
            share_of * np.cov(z[kept][found.codes[kept] == c].T, bias=True)
            for c, share_of in enumerate(np.bincount(found.codes[kept]) / np.count_nonzero(kept))
        )
        S = 0.99 * S + 0.01 * np.trace(S) / 10 * np.eye(10)
        W = np.linalg.solve(S, model.means_.T)
        return z[at] @ W - (model.means_.T * W).sum(axis=0) / 2 + np.log(share), model

    every = np.ones(600, bool)
    ours = z @ of_map.coefficients + of_map.intercept
    theirs, model = twin(every, np.arange(600))
    np.testing.assert_allclose(ours, theirs, atol=1e-9)
    assert np.mean(ours.argmax(axis=1) == model.predict(z)) > 0.99
    for place, point in enumerate(left.points):
        members = np.flatnonzero((group[:40] == group[point]) & (codes[:40] == codes[point]))
        theirs, _ = twin(~np.isin(nearest, members), [point])
        np.testing.assert_allclose(of_map.without[place], theirs[0], atol=1e-9)


def test_pools_are_averaged_by_how_likely_they_are():
    """A naive twin over all pools."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, 20)
    walk, first, second = (np.log(random.dirichlet([1] * 3, 20)) for _ in range(3))
    functions = [
        _Function(np.zeros((1, 3)), np.zeros(3), first, (1.0, 4.0), -1.0, 0.1),
        _Function(np.zeros((1, 3)), np.zeros(3), second, (0.5,), 2.0),
    ]
    trust, sharpness, alone = _means(walk, functions, codes, 3.0)
    pools = []
    for a in (0, 0.5, 1):
        for b in ((0, 0), (1, 0), (4, 0), (0, 0.5)):
            q = np.exp(a * walk + b[0] * first + b[1] * second)
            q = 0.995 * q / q.sum(axis=1, keepdims=True) + 0.005 / 3
            likelihood = np.prod(q[np.arange(20), codes])
            preferred = 3 * a if b == (0, 0) else -1 if b[0] else 2
            prior = np.exp(3 * (a - 1) - 0.1 * b[0] + preferred)
            pools.append((likelihood * prior, a, *b))
    weight, a, b0, b1 = np.transpose(pools)
    weight /= weight.sum()
    np.testing.assert_allclose([trust, *sharpness], [weight @ a, weight @ b0, weight @ b1])
    assert alone == pytest.approx(weight[(b0 == 0) & (b1 == 0)].sum())


def test_counts_where_the_features_say_more(cube):
    X, codes, truth = cube
    found, opinion, joined, calibration = joined_of(X, codes)
    assert opinion.weight > 0.9
    assert calibration.n_held_out == opinion.n_held_out == 40
    unlabelled = codes < 0
    before, after = ((d.codes == truth)[unlabelled].mean() for d in (found, joined))
    assert after > before + 0.05
    assert (joined.codes[~unlabelled] == truth[~unlabelled]).all()
    z = (X - opinion.mean) / opinion.scale
    q = np.maximum(found.posteriors, 1e-30) ** opinion.exponent
    q *= np.exp(values_of(opinion, z, opinion.centers, 0.5 / opinion.rate))
    np.testing.assert_allclose(joined.posteriors, q / q.sum(axis=1, keepdims=True), atol=1e-6)
    sure = calibration.apply(joined.posteriors).max(axis=1)
    assert abs(sure[unlabelled].mean() - after) < 0.06


def test_the_graph_is_preferred(rings):
    X, codes, truth = rings
    found, opinion, joined, _ = joined_of(X, codes)
    assert opinion.weight < 0.5
    assert (joined.codes == truth).mean() >= (found.codes == truth).mean() - 0.005


def test_one_label_per_class_says_nothing(cube):
    X, _, truth = cube
    codes = np.full(600, -1)
    codes[[0, np.flatnonzero(truth != truth[0])[0]]] = [truth[0], 1 - truth[0]]
    clf = DiffusionClassifier().fit(X, codes)
    assert clf.feature_opinion_ is None
    alone = DiffusionClassifier(join_features=False).fit(X, codes)
    assert (clf.label_distributions_ == alone.label_distributions_).all()


def test_more_labels_than_the_matrix_holds(cube, monkeypatch):
    X, _, truth = cube
    codes = np.where(np.arange(600) < 300, truth, -1)
    monkeypatch.setattr(feature_opinion, "_MOST_LABELS", 150)
    _, left, learnt, _ = held_out(X, codes)
    assert len(learnt.points) == 150
    assert np.isin(left.points, learnt.points).all()
    assert joined_of(X, codes)[1].n_held_out == 100


def test_more_features_than_directions(rng):
    """Ninety features, of which ten are not noise."""
    centres = rng.normal(size=(3, 90)) * (np.arange(90) < 10)
    truth = rng.integers(0, 3, 400)
    X = centres[truth] + rng.normal(size=(400, 90))
    codes = np.where(np.arange(400) < 30, truth, -1)
    found, opinion, joined, _ = joined_of(X, codes)
    assert opinion.coefficients.shape == (90, 3)
    right = [(d.codes == truth)[30:].mean() for d in (found, joined)]
    assert right[1] >= right[0]


def test_values_in_blocks_are_the_same(cube, monkeypatch):
    X, codes, _ = cube
    found, opinion, _, _ = joined_of(X, codes)
    whole = opinion.joined(found.posteriors, X)
    monkeypatch.setattr(feature_opinion, "_MOST_VALUES", 10 * 7)
    assert (opinion.joined(found.posteriors, X) == whole).all()
    assert (opinion.joined(found.posteriors[5:6], X[5:6]) == whole[5:6]).all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_classifier_joins_at_new_points_too(cube, dtype):
    X, codes, _ = cube
    X = X.astype(dtype)
    clf = DiffusionClassifier().fit(X, codes)
    alone = DiffusionClassifier(join_features=False).fit(X, codes)
    assert clf.feature_opinion_.weight > 0.9
    assert alone.feature_opinion_ is None
    assert clf.label_distributions_.dtype == dtype
    np.testing.assert_allclose(clf.label_distributions_.sum(axis=1), 1, atol=1e-5)
    assert (clf.raw_label_distributions_.argmax(axis=1) == clf.transduction_).all()
    assert (clf.predict(X) == clf.transduction_).all()
    new = np.random.default_rng(1).uniform(-1, 1, size=(400, 10)).astype(dtype)
    right = new[:, 0] > 0
    joined, by_graph = ((c.predict(new) == right).mean() for c in (clf, alone))
    assert joined > by_graph + 0.03
    np.testing.assert_allclose(clf.predict_proba(new).sum(axis=1), 1, atol=1e-5)
    assert clf.calibration_.n_held_out == 40


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e180, 1e300])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_units_do_not_matter(cube, scale, offset):
    """Those of all features for the whole opinion; those of each for its standard units."""
    X, codes, _ = cube
    _, opinion, joined, _ = joined_of(X, codes)
    operator, labels = markov_operator(X, n_neighbors=12), Labels.of(codes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = scale * (X + offset)
        also = diffuse_joined(operator, scaled, labels, DiffusionRules.of(labels))
    np.testing.assert_allclose(also.opinion.coefficients, opinion.coefficients, atol=1e-6)
    np.testing.assert_allclose(also.diffusion.posteriors, joined.posteriors, atol=1e-6)
    each = np.geomspace(1e-150, 1e150, X.shape[1])
    first, second = (
        (points - mean) / width
        for points in (X, each * X)
        for mean, width in [_standard_units(points)]
    )
    np.testing.assert_allclose(second, first, atol=1e-9)


def test_points_that_no_label_reaches_stay_so(cube):
    X, codes, _ = cube
    X = np.concatenate([X, 50 + X[:30] / 100])
    with pytest.warns(UnreachedWarning):
        clf = DiffusionClassifier().fit(X, np.append(codes, np.full(30, -1)))
    assert clf.feature_opinion_.weight > 0.5
    assert (clf.transduction_[-30:] == -1).all()
    assert (clf.margin_[-30:] == 0).all()
    np.testing.assert_allclose(clf.label_distributions_[-30:], 0.5, atol=1e-6)


def test_equal_points_count_as_often_as_they_are_there(rng):
    """A table of few distinct rows, and the same with each row once more at each of its places."""
    X = rng.integers(0, 3, size=(500, 4)).astype(float)
    truth = (X @ [1.0, -2.0, 1.5, 0.5] > 1).astype(int)
    codes = np.where(np.arange(500) < 30, truth, -1)
    once = DiffusionClassifier().fit(X, codes)
    twice = DiffusionClassifier().fit(np.tile(X, (2, 1)), np.append(codes, np.full(500, -1)))
    assert (once.feature_opinion_ is None) == (twice.feature_opinion_ is None)
    assert (once.transduction_ == twice.transduction_[:500]).mean() > 0.97


@pytest.mark.parametrize(
    "alone",
    [
        {"warp": Warp()},
        {"tau": 12},
        {"tau": "margin"},
        {"label_mode": "absorbing"},
        {"kept_classes": 2},
        {"join_features": False},
    ],
    ids=str,
)
def test_the_walk_decides_alone_where_something_is_asked_of_it(cube, alone):
    X, codes, _ = cube
    clf = DiffusionClassifier(**alone).fit(X, codes)
    assert clf.feature_opinion_ is None
    assert not clf.joins_features


def test_features_can_be_asked_for_wherever_labels_are_held_out(cube):
    X, codes, _ = cube
    given = {"tau": 12, "label_mode": "absorbing"}
    assert DiffusionClassifier(join_features=True, **given).fit(X, codes).feature_opinion_
    assert DiffusionClassifier(tau=StoppingRule(max_time=64)).fit(X, codes).feature_opinion_
    with pytest.raises(ParameterError, match="held-out labels, which a warped walk knows"):
        DiffusionClassifier(join_features=True, warp=Warp()).fit(X, codes)
    with pytest.raises(ParameterError, match="join_features"):
        DiffusionClassifier(join_features="yes").fit(X, codes)


def test_all_points_equal_or_none_of_them():
    X, codes = np.full((60, 3), 7.0), np.where(np.arange(60) < 4, [0, 0, 1, 1] * 15, -1)
    for points in (X, 0 * X):
        with pytest.warns(UserWarning, match="no point of the map is of the class 1"):
            clf = DiffusionClassifier().fit(points, codes)
        assert np.isfinite(clf.label_distributions_).all()


def test_probabilities_stay_calibrated(cube):
    X, codes, truth = cube
    alone = DiffusionClassifier(join_features=False).fit(X, codes)
    clf = DiffusionClassifier().fit(X, codes)
    losses = [
        -np.log(c.label_distributions_[np.arange(600), truth][codes < 0]).mean()
        for c in (clf, alone)
    ]
    assert losses[0] < losses[1]


@pytest.mark.parametrize("decade", [-8, -7, 0, 1, 3])
def test_single_precision_holds_labels_out_as_double_does(decade):
    """Of a long walk along a line, whose returns are nearly 1."""
    X, truth = make_blobs(400, centers=3, random_state=0)
    codes = np.where(np.arange(400) % 20, -1, truth)
    line = (X[:, :1] * 10.0**decade).astype(np.float32)
    single, double = (
        DiffusionClassifier(random_state=0).fit(of, codes)
        for of in (line, line.astype(np.float64) / np.abs(line).max())
    )
    assert single.operator_.dtype == np.float32
    assert single.tau_ > 1000
    temperatures = [clf.calibration_.temperature for clf in (single, double)]
    assert temperatures[0] == pytest.approx(temperatures[1], rel=0.1)
    assert single.feature_opinion_.weight == pytest.approx(double.feature_opinion_.weight, abs=0.05)
    assert (single.transduction_ == double.transduction_).mean() > 0.99


def test_a_curved_border_without_a_gap(rng):
    """A ball within a cloud of the same points: neither a gap nor a plane tells the classes."""
    X = rng.normal(size=(1200, 3))
    truth = ((X**2).sum(axis=1) > 2.4).astype(int)
    codes = np.where(np.arange(1200) < 60, truth, -1)
    found, opinion, joined, _ = joined_of(X, codes)
    assert np.abs(opinion.bumps).max() > 1
    right = [(d.codes == truth)[60:].mean() for d in (found, joined)]
    assert right[1] > right[0] + 0.02


def test_few_labels_have_bumps(cube, monkeypatch):
    X, _, truth = cube
    monkeypatch.setattr(feature_opinion, "_MOST_BUMPS", 120)
    opinion = joined_of(X, np.where(np.arange(600) < 300, truth, -1))[1]
    assert opinion.centers.shape == (120, 10)
    assert opinion.bumps.shape == (120, 2)


@pytest.mark.filterwarnings("ignore:no point of the map is of the class")
@pytest.mark.parametrize("apart", [0, 1e-22, 1e-9, 1e-3])
def test_labels_in_one_place_say_no_more_than_others(rng, apart):
    X = rng.normal(size=(300, 3))
    X[:10] = 1 + apart * rng.normal(size=(10, 3))
    codes = np.where(np.arange(300) < 10, np.arange(300) % 2, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        clf = DiffusionClassifier(join_features=True).fit(X, codes)
    assert (clf.feature_opinion_ is not None) == (apart > 1e-20)  # one point has no label left out
    assert np.isfinite(clf.label_distributions_).all()


def test_borders_that_move_to_sizes_are_joined_like_those_of_the_walk():
    random = np.random.default_rng(2)
    truth = np.repeat([0, 1, 2], [600, 500, 400])
    X = random.normal(size=(1500, 5)) + 2.8 * np.eye(5)[:3][truth]
    codes = np.full(1500, -1)
    for c in range(3):
        codes[random.choice(np.flatnonzero(truth == c), 5, replace=False)] = c
    labels, operator = Labels.of(codes), markov_operator(X, n_neighbors=12)
    rules = DiffusionRules.of(labels, class_prior=[6, 5, 4])
    found = diffuse_joined(operator, X, labels, rules)
    assert (found.walked.weighting, found.diffusion.weighting) == ("moved", "matched")
    joined = found.opinion.joined(found.walked.posteriors, X)
    np.testing.assert_allclose(joined, found.diffusion.posteriors, atol=1e-9)
    shares = [np.bincount(one.codes) / 1500 for one in (found.walked, found.diffusion)]
    np.testing.assert_allclose(shares, [rules.sizes.least] * 2, atol=0.01)
    assert found.calibration.n_held_out == 15
