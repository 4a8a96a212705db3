"""Scores of a map: their values, and what kernels shaped by them do to the labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from diffclass import DiffusionClassifier, MarkovOperator, diffuse_labels, markov_operator
from diffclass.evaluation import draw_per_class
from diffclass.kernels import Directed, LocalDiscriminant, SharedNeighbors
from diffclass.label_diffusion import map_scores

SHAPED = {
    "directed": SharedNeighbors(Directed()),
    "discriminant": SharedNeighbors(LocalDiscriminant()),
    "directed and discriminant": SharedNeighbors(LocalDiscriminant(Directed())),
}


@pytest.fixture
def chain(rng):
    """A walk on 30 points of a line, and a map of three classes with a point in none."""
    codes = np.repeat([0, 1, 2], 10)
    codes[4] = -1
    return markov_operator(np.sort(rng.normal(size=(30, 1)), axis=0), n_neighbors=4), codes


def digits(n_per_class, seed):
    """Digits with some labels per class at random places, and the truth."""
    X, truth = load_digits(return_X_y=True)
    chosen = draw_per_class(truth, n_per_class, random_state=seed)
    y = np.full(len(X), -1)
    y[chosen] = truth[chosen]
    return X, y, truth


def step_into(operator, labelled):
    """Probability of a step from elsewhere into a label, over the labels' share of the points."""
    flow = operator.affinity.toarray()[~labelled]
    return flow[:, labelled].sum() / flow.sum() / labelled.mean()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_is_the_map_after_three_steps(chain, dtype):
    operator, codes = chain
    A = operator.affinity.toarray() / operator.degrees[:, None]
    H = np.where(codes[:, None] < 0, 1 / 3, codes[:, None] == np.arange(3))
    single = MarkovOperator.from_affinity(operator.affinity.astype(dtype))
    scores = map_scores(single, codes, 3)
    np.testing.assert_allclose(scores, A @ A @ A @ H, atol=1e-6 if dtype == "f4" else 1e-12)
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores.sum(axis=1), 1, rtol=1e-15)


def test_a_component_without_a_class_is_level():
    operator = MarkovOperator.from_affinity(np.kron(np.eye(2), np.ones((3, 3))))
    scores = map_scores(operator, np.array([1, 1, 1, -1, -1, -1]), 2)
    np.testing.assert_allclose(scores, np.repeat([[0, 1], [0.5, 0.5]], 3, axis=0))


@pytest.mark.parametrize("n_per_class", [1, 5])
@pytest.mark.parametrize("label_mode", ["absorbing", "summed", "free"])
def test_a_shaped_walk_still_meets_the_labels(n_per_class, label_mode):
    # Shaped by the posteriors of absorbing labels, one step in twelve was left of those into the
    # labels with one per class, and less than half with five.
    X, y, _ = digits(n_per_class, seed=0)
    plain = DiffusionClassifier(label_mode=label_mode).fit(X, y)
    shaped = DiffusionClassifier(kernel=SHAPED["directed"], label_mode=label_mode).fit(X, y)
    own, directed = (step_into(clf.operator_, y >= 0) for clf in (plain, shaped))
    assert directed > 0.85 * own


@pytest.mark.parametrize("name", SHAPED)
def test_shaped_kernels_keep_the_accuracy_where_classes_overlap(name):
    # Six Gaussians in ten dimensions, five labels each: 85 % by the plain kernel. By the posteriors
    # of absorbing labels the directed kernels had 33 %.
    rng = np.random.default_rng(0)
    truth = np.arange(1500) % 6
    X = rng.normal(size=(1500, 10)) + rng.normal(size=(6, 10))[truth]
    y = np.full(1500, -1)
    chosen = draw_per_class(truth, 5, random_state=0)
    y[chosen] = truth[chosen]
    plain = DiffusionClassifier().fit(X, y)
    shaped = DiffusionClassifier(kernel=SHAPED[name]).fit(X, y)
    own, other = (np.mean((clf.transduction_ == truth)[y < 0]) for clf in (plain, shaped))
    assert own > 0.8
    assert other > own - 0.02


def test_the_classifier_shapes_kernels_by_its_first_map(rng):
    X = rng.normal(size=(90, 2)) + np.repeat([[0, 0], [3, 0], [0, 3]], 30, axis=0)
    y = np.full(90, -1)
    y[::10] = np.repeat([0, 1, 2], 3)
    first = DiffusionClassifier().fit(X, y)
    map_ = diffuse_labels(first.operator_, y).codes
    scores = map_scores(first.operator_, map_, 3)
    alone = markov_operator(X, kernel=SHAPED["directed"], y=y, scores=scores)
    shaped = DiffusionClassifier(kernel=SHAPED["directed"]).fit(X, y)
    np.testing.assert_allclose(
        shaped.operator_.affinity.toarray(), alone.affinity.toarray(), rtol=1e-6
    )
