"""The local discriminant kernel: geometry, scikit-learn's analyses, a naive twin, bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

from diffclass import DiffusionClassifier, diffuse_labels, markov_operator, neighbors_graph
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import Gaussian, LocalDiscriminant, SharedNeighbors, local_discriminant
from diffclass.neighbors import ExactSearch

NORMAL = np.array([3.0, 4.0]) / 5  # of the slanted plane
ALONG = np.array([-4.0, 3.0]) / 5


@pytest.fixture
def cloud(rng):
    """A cloud elongated along the boundary between two classes, every third point labelled."""
    X = rng.normal(size=(400, 1)) * NORMAL + 4 * rng.normal(size=(400, 1)) * ALONG
    truth = (X @ NORMAL > 0).astype(int)
    return X, truth, np.where(np.arange(400) % 3 == 0, truth, -1)


@pytest.fixture
def n_anchors(monkeypatch):
    """Sets the number of points per anchor, and so the number of anchors."""

    def set_them(number, n_points):
        monkeypatch.setattr(local_discriminant, "_POINTS_PER_ANCHOR", n_points // number)

    return set_them


def posteriors_of(codes, n_classes, sure=0.9):
    scores = np.full((len(codes), n_classes), (1 - sure) / (n_classes - 1))
    scores[np.arange(len(codes)), codes] = sure
    return scores


def sureness(total, away):
    """How much an anchor counts that is so far from the middle of so much evidence."""
    return total / (total + 1) * (1 - min(away / 3, 1) ** 3) ** 3


def both(kernel, X, *, y=None, scores=None, n_neighbors=8, inner=None):
    """The kernel's affinities and those of the kernel inside, on one graph."""
    K, inside, _ = fitted_both(kernel, X, y=y, scores=scores, n_neighbors=n_neighbors, inner=inner)
    return K, inside


def fitted_both(kernel, X, *, y=None, scores=None, n_neighbors=8, inner=None):
    """The same, and the fitted kernel."""
    graph = neighbors_graph(X, n_neighbors)
    K, fitted = kernel.fit(graph, X, y=y, scores=scores)
    return K, (inner or Gaussian()).affinity(graph, X), fitted


def one_anchor(X, codes, weights, anchor, discriminant="fisher"):
    """D^2 between all pairs by one anchor that sees everything; loops and inverses."""
    total, d = weights.sum(), X.shape[1]
    classes = np.unique(codes)
    pi = np.array([weights[codes == c].sum() for c in classes]) / total
    means = [weights[codes == c] @ X[codes == c] / weights[codes == c].sum() for c in classes]
    off = X - np.array(means)[np.searchsorted(classes, codes)]
    S = (off.T * weights) @ off / total
    seen = weights > 0
    even = off[seen] * np.sqrt(weights[seen] * seen.sum() / total)[:, None]
    shrinkage = ledoit_wolf_shrinkage(even, assume_centered=True)
    W = (1 - shrinkage) * S + (shrinkage + 1e-6) * np.trace(S) / d * np.eye(d)
    middle = sum(p * m for p, m in zip(pi, means, strict=True))
    spread = weights @ np.square(X - middle).sum(axis=1) / total
    c = sureness(total, np.linalg.norm(anchor - middle) / np.sqrt(spread))
    B = sum(p * np.outer(m - middle, m - middle) for p, m in zip(pi, means, strict=True))
    form, delta = np.linalg.inv(W) @ B @ np.linalg.inv(W + B), X[:, None] - X[None]
    if discriminant == "linear":
        form = np.linalg.inv(W) @ B @ np.linalg.inv(W)
    return c * np.einsum("xyi,ij,xyj->xy", delta, form, delta)


@pytest.mark.parametrize("discriminant", ["fisher", "linear"])
def test_one_anchor_is_the_naive_twin(rng, n_anchors, discriminant):
    X = rng.normal(size=(60, 3)) + 5
    codes = rng.integers(0, 3, size=60)
    X += codes[:, None] * [1.0, 0.5, 0]
    scores = rng.dirichlet(np.ones(3), size=60)
    codes = scores.argmax(axis=1)
    top = np.sort(scores, axis=1)
    n_anchors(1, 60)
    kernel = LocalDiscriminant(strength=0.7, neighborhood=60, discriminant=discriminant)
    K, inner, fitted = fitted_both(kernel, X, scores=scores)
    D = one_anchor(X, codes, top[:, -1] - top[:, -2], fitted.anchors[0], discriminant)
    expected = inner.toarray() * np.exp(-0.7 * D)
    np.testing.assert_allclose(K.toarray(), expected, rtol=1e-8, atol=1e-24)


def test_several_anchors_blend_continuously(rng, n_anchors):
    X = rng.normal(size=(80, 2))
    codes = (X[:, 0] + X[:, 1] ** 2 > 0).astype(int)
    n_anchors(8, 80)
    K, inner, fitted = fitted_both(LocalDiscriminant(neighborhood=30), X, y=codes)
    D = np.zeros((80, 80))
    off = np.linalg.norm(X[:, None] - fitted.anchors, axis=2)
    assert off.shape[1] == 8
    for a, anchor in enumerate(fitted.anchors):
        near = np.argsort(np.linalg.norm(X - anchor, axis=1))[:30]
        if len(np.unique(codes[near])) < 2:
            continue
        full = np.concatenate([X[near], X])  # weight 0 for all but the neighbourhood
        weights = np.repeat([1.0, 0.0], [30, 80])
        local = one_anchor(full, np.concatenate([codes[near], codes]), weights, anchor)
        h = np.sort(off, axis=1)[:, 3]
        blend = np.maximum(h - off[:, a], 0) / np.maximum(h[:, None] - off, 0).sum(axis=1)
        D += blend[:, None] * local[30:, 30:]
    expected = inner.toarray() * np.exp(-0.3 * (D + D.T) / 2)
    np.testing.assert_allclose(K.toarray(), expected, rtol=1e-9)


def test_directions_are_scikit_learns(rng, n_anchors):
    X = rng.normal(size=(9000, 4)) @ rng.normal(size=(4, 4))
    y = np.arange(9000) % 3
    X += np.eye(4)[y]
    projected = X @ LinearDiscriminantAnalysis(solver="eigen").fit(X, y).scalings_[:, :2]
    n_anchors(1, 9000)
    _, fitted = LocalDiscriminant(neighborhood=9000).fit(neighbors_graph(X, 6), X, y=y)
    away = np.linalg.norm(fitted.anchors[0] - X.mean(axis=0)) / np.sqrt(X.var(axis=0).sum())
    sure = sureness(9000, away)
    # scikit-learn's columns solve B v = l W v with v' W v = 1
    values = projected.var(axis=0) - 1  # total less within
    step = (projected[1:] - projected[:-1]) ** 2
    found = np.square((X[1:] - X[:-1]) @ fitted.directions[0]).sum(axis=1)
    np.testing.assert_allclose(found, sure * step @ (values / (1 + values)), rtol=0.05, atol=1e-3)


@pytest.mark.parametrize(
    ("discriminant", "analysis"),
    [
        ("linear", LinearDiscriminantAnalysis(solver="lsqr")),
        ("quadratic", QuadraticDiscriminantAnalysis()),
    ],
)
def test_discriminants_change_as_scikit_learns(rng, n_anchors, monkeypatch, discriminant, analysis):
    """The mean square change of the discriminant functions, about their mean, at the anchor."""
    monkeypatch.setattr("sklearn.covariance.ledoit_wolf_shrinkage", lambda *_, **__: 0.0)
    y = np.arange(9000) % 3
    X = rng.normal(size=(9000, 3)) + np.eye(3)[y]
    X *= np.array([[1.0, 1, 1], [0.5, 1, 1], [1, 1.4, 0.7]])[y]
    n_anchors(1, 9000)
    kernel = LocalDiscriminant(neighborhood=9000, discriminant=discriminant)
    _, fitted = kernel.fit(neighbors_graph(X, 6), X, y=y)
    a = fitted.anchors[0]
    away = np.linalg.norm(a - X.mean(axis=0)) / np.sqrt(X.var(axis=0).sum())
    sure = sureness(9000, away)
    steps = 1e-4 * rng.normal(size=(50, 3))
    analysis.fit(X, y)
    changes = analysis.decision_function(a + steps) - analysis.decision_function(a - steps)
    changes = (changes - changes.mean(axis=1, keepdims=True)) / 2
    found = np.square(steps @ fitted.directions[0]).sum(axis=1)
    np.testing.assert_allclose(found, sure * (changes**2).mean(axis=1), rtol=3e-3)


@pytest.mark.parametrize("discriminant", ["fisher", "linear", "quadratic"])
@pytest.mark.parametrize("per_class", [1, 2, 30])
def test_every_discriminant_is_slow_across(cloud, discriminant, per_class):
    X, truth, _ = cloud
    y = np.full(400, -1)
    for k in (0, 1):
        y[np.flatnonzero(truth == k)[:per_class]] = k
    kernel = LocalDiscriminant(strength=0.3, discriminant=discriminant)
    K, inner = both(kernel, X, y=y)
    assert (K != K.T).nnz == 0
    assert ((K.data > 0) & (K.data <= inner.data)).all()
    if per_class == 30:
        rows = np.repeat(np.arange(400), np.diff(K.indptr))
        step, ratio = X[rows] - X[K.indices], np.log(K.data / inner.data)
        across, along = np.abs(step @ NORMAL), np.abs(step @ ALONG)
        slowed = [ratio[a > 3 * b].mean() / (a[a > 3 * b] ** 2).mean() for a, b in
                  ((across, along), (along, across))]  # fmt: skip
        assert slowed[0] < 5 * slowed[1] < 0


@pytest.mark.parametrize("evidence", ["labels", "scores"])
def test_slow_across_the_plane_and_fast_along_it(cloud, evidence):
    X, truth, y = cloud
    scores = posteriors_of(truth, 2) if evidence == "scores" else None
    kernel = LocalDiscriminant(strength=1.0, neighborhood=60)
    K, inner = both(kernel, X, y=y, scores=scores)
    rows = np.repeat(np.arange(400), np.diff(K.indptr))
    step = X[rows] - X[K.indices]
    across, along = np.abs(step @ NORMAL), np.abs(step @ ALONG)
    central = (np.abs(X[rows] @ ALONG) < 4) & (rows != K.indices)
    long = np.hypot(across, along) > 0.2
    ratio = K.data / inner.data
    walks_along = central & long & (across < 0.1 * along)
    walks_across = central & long & (along < 0.4 * across)
    assert walks_along.sum() > 20 < walks_across.sum()
    assert np.median(ratio[walks_along]) > 0.9
    assert np.median(ratio[walks_across]) < 0.8 * np.median(ratio[walks_along])
    assert (K != K.T).nnz == 0
    assert (ratio <= 1).all()


@pytest.mark.parametrize(
    ("changed", "given"),
    [
        ({"strength": 0.0}, "both"),
        ({}, "none"),
        ({}, "unlabelled"),
        ({}, "one class"),
        ({}, "unsure"),
    ],
)
def test_without_evidence_it_is_the_inner_kernel(cloud, changed, given):
    X, truth, y = cloud
    y, scores = {
        "both": (y, posteriors_of(truth, 2)),
        "none": (None, None),
        "unlabelled": (np.full(400, -1), None),
        "one class": (np.where(y == 1, 1, -1), None),
        "unsure": (None, np.full((400, 2), 0.5)),
    }[given]
    K, inner = both(LocalDiscriminant(**changed), X, y=y, scores=scores)
    np.testing.assert_array_equal(K.toarray(), inner.toarray())


def test_far_from_the_labels_it_is_the_inner_kernel(cloud, rng):
    X, _, y = cloud
    far = rng.normal(size=(150, 2)) + 40 * ALONG  # its nearest labels are of both classes
    pure = rng.normal(size=(150, 2)) - 60 * ALONG  # its nearest labels are of one class
    everything = np.concatenate([X, far, pure])
    labels = np.concatenate([y, np.full(150, -1), np.ones(150, dtype=int)])
    kernel = LocalDiscriminant(strength=1.0, neighborhood=50)
    K, inner = both(kernel, everything, y=labels)
    # points whose four nearest anchors are of their own cluster
    np.testing.assert_array_equal(K.toarray()[400:, 400:], inner.toarray()[400:, 400:])
    assert (K.toarray()[:400, :400] != inner.toarray()[:400, :400]).any()


def test_evidence_fades_smoothly(cloud):
    X, truth, _ = cloud
    slowed = []
    for sure in (0.5, 0.5005, 0.51, 0.6, 0.99):
        K, inner = both(LocalDiscriminant(strength=1.0), X, scores=posteriors_of(truth, 2, sure))
        slowed.append(-np.log(K.data / inner.data).mean())
    assert slowed[0] == 0
    assert 0 < slowed[1] < 0.2 * slowed[2]
    assert (np.diff(slowed) > 0).all()


def test_labels_override_posteriors(cloud):
    X, truth, _ = cloud
    graph = neighbors_graph(X, 8)
    wrong = posteriors_of(1 - truth, 2)
    kernel = LocalDiscriminant()
    overridden = kernel.affinity(graph, X, y=truth, scores=wrong)
    labels = LocalDiscriminant().affinity(graph, X, y=truth)
    np.testing.assert_array_equal(overridden.toarray(), labels.toarray())
    alone = kernel.affinity(graph, X, scores=wrong)
    assert (alone != overridden).nnz


def test_few_flat_and_coinciding_labels(rng):
    X = rng.normal(size=(120, 6))
    X[:, 5] = 0  # a singular covariance
    y = np.full(120, -1)
    kernel = LocalDiscriminant(strength=1.0)

    def slowed(labels):
        K, inner = both(kernel, X, y=labels)
        assert np.isfinite(K.data).all()
        assert (K.data > 0).all()
        return (K.data < inner.data).any()

    y[[0, 1]] = 0, 1  # one label a class
    assert slowed(y)
    y[2] = 1  # one class of a single label
    assert slowed(y)
    X[1:10] = X[0]  # labels of both classes at one place: nothing tells the classes apart
    assert not slowed(y)


def test_one_label_a_class_is_measured_by_their_spread():
    X = np.column_stack([np.arange(9.0), np.zeros(9)])
    y = np.where(np.arange(9) == 2, 0, np.where(np.arange(9) == 6, 1, -1))
    K, inner, fitted = fitted_both(LocalDiscriminant(strength=1.0), X, y=y, n_neighbors=2)
    sure = sureness(2, abs(fitted.anchors[0, 0] - 4) / 2)
    # W = 2 I: half the mean square 4 of the labels, and B = 4 along the line
    assert -np.log(K[3, 4] / inner[3, 4]) == pytest.approx(sure * (1 / 2) * 2 / (1 + 2))


def test_fitted_points_as_new_ones(cloud):
    X, truth, y = cloud
    kernel = LocalDiscriminant(Gaussian(bandwidth=1.0))
    search = ExactSearch(400)
    K, fitted = kernel.fit(neighbors_graph(X, 399), X, y=y, scores=posteriors_of(truth, 2))
    graph = search.fit(X).transform(X[:50])
    graph.data **= 2
    extended = fitted.extend(graph, X[:50])
    np.testing.assert_allclose(extended.toarray(), K.toarray()[:50], rtol=1e-8, atol=1e-15)


def test_new_points_without_evidence(cloud):
    X, _, _ = cloud
    kernel, inner = LocalDiscriminant(Gaussian(bandwidth=1.0)), Gaussian(bandwidth=1.0)
    graph = ExactSearch(5).fit(X).transform(X[:20] + 0.1)
    extended, expected = (
        k.fit(neighbors_graph(X, 5), X)[1].extend(graph, X[:20] + 0.1) for k in (kernel, inner)
    )
    np.testing.assert_array_equal(extended.toarray(), expected.toarray())


def test_no_edge_vanishes(cloud):
    X, _, y = cloud
    K = LocalDiscriminant(strength=1e9).affinity(neighbors_graph(X.astype("f4"), 8), X, y=y)
    assert (K.data > 0).all()


def test_in_the_classifier(cloud):
    X, truth, y = cloud
    kernel = SharedNeighbors(LocalDiscriminant())
    clf = DiffusionClassifier(kernel=kernel).set_params(kernel__kernel__strength=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.fit(X, np.array(["left", "right", "-1"])[y])
    assert (clf.transduction_ == np.array(["left", "right"])[truth]).mean() > 0.9


def test_a_second_round_on_the_firsts_posteriors(cloud):
    X, truth, y = cloud
    X = X + 0.7 * np.sign(X @ NORMAL)[:, None] * NORMAL  # a gap between the classes
    y = np.where(np.arange(400) % 20 == 0, truth, -1)
    first = diffuse_labels(markov_operator(X, kernel=SharedNeighbors()), y)
    kernel = SharedNeighbors(LocalDiscriminant())
    operator = markov_operator(X, kernel=kernel, y=y, scores=first.posteriors)
    second = diffuse_labels(operator, y)
    assert (second.codes == truth).mean() >= max(0.95, (first.codes == truth).mean() - 0.01)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strength": -1}, "strength"),
        ({"neighborhood": 0}, "neighborhood"),
        ({"discriminant": "logistic"}, "discriminant"),
    ],
)
def test_parameters_out_of_range(cloud, parameters, message):
    X, _, y = cloud
    with pytest.raises(ParameterError, match=message):
        LocalDiscriminant(**parameters).affinity(neighbors_graph(X, 5), X, y=y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scores": np.full((400, 2), 0.4)}, "sum 0.8"),
        ({"scores": np.full((399, 2), 0.5)}, "399 rows; there are 400"),
        ({"scores": np.full(400, 0.5)}, "shape"),
        ({"scores": np.full((400, 3), 1 / 3)}, "2 classes and scores has 3 columns"),
        ({"scores": np.tile([1.5, -0.5], (400, 1))}, "negative"),
        ({"scores": np.full((400, 2), np.nan)}, "NaN"),
        ({"y": np.zeros(399)}, "399 entries"),
    ],
)
def test_bad_labels_and_posteriors(cloud, given, message):
    X, _, y = cloud
    with pytest.raises(DataError, match=message):
        LocalDiscriminant().affinity(neighbors_graph(X, 5), X, **{"y": y} | given)
