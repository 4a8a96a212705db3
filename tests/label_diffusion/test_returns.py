"""Where walks from labels stop next, by Chebyshev moments, against the steps themselves."""

import numpy as np
import pytest

from diffclass import diffuse_labels, markov_operator
from diffclass._compiled.loops import threads
from diffclass.label_diffusion import Labels, held_out_labels
from diffclass.label_diffusion.held_out_labels import hold_out_labels, return_probabilities
from tests import naive


@pytest.mark.parametrize("time", [1, 2, 3, 8, 33, 700, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weight", [1.0, 0.4, None])
def test_returns_are_those_of_the_steps(rng, time, dtype, weight):
    X = rng.normal(size=(90, 3)).astype(dtype)
    operator = markov_operator(X, n_neighbors=7)
    y = np.where(np.arange(90) < 12, np.arange(90) % 3, -1)
    weights = rng.uniform(0.1, 1, 90) if weight is None else np.full(90, weight)
    groups = np.arange(90) % 2  # of two labels in each class
    labels = Labels.of(y, weights, groups)
    chosen = np.array([0, 6, 1, 4, 7, 11])
    found = return_probabilities(operator, labels, chosen, time)
    A = naive.markov_matrix(operator.affinity.toarray())
    stops = np.where(y >= 0, weights, 0)
    same = labels.groups[chosen][:, None] == labels.groups[chosen]
    assert (found[~same] == 0).all()
    for a, b in np.argwhere(same):
        expected = naive.returns(A, stops, time, labels.points[chosen[a]], labels.points[chosen[b]])
        assert found[a, b] == pytest.approx(expected, abs=5e-6 if dtype == np.float32 else 1e-9)


def test_the_number_of_threads_changes_no_bit(rng):
    operator = markov_operator(rng.normal(size=(20_000, 2)).astype(np.float32), n_neighbors=6)
    labels = Labels.of(np.where(np.arange(20_000) < 30, np.arange(20_000) % 3, -1))
    found = [None, None]
    for i in range(2):
        with threads(1 + i):
            found[i] = return_probabilities(operator, labels, np.arange(30), 100)
    np.testing.assert_array_equal(*found)


def test_a_walk_that_always_returns_says_nothing_of_its_label(rng):
    X = np.concatenate([rng.normal(size=(40, 2)), 100 + rng.normal(size=(20, 2))])
    operator = markov_operator(X.astype(np.float32), n_neighbors=6)
    y = np.full(60, -1)
    y[[0, 1, 2, 3, 50]] = [0, 0, 1, 1, 0]  # the last is alone in its component
    found = diffuse_labels(operator, y, tau=400)
    left = hold_out_labels(operator, Labels.of(y), found)
    np.testing.assert_allclose(left.posteriors[left.points == 50], 0.5)


def test_batches_hold_whole_groups_wherever_their_points_lie(rng, monkeypatch):
    """The walk without a group is the same, however many labels are held out at once."""
    operator = markov_operator(rng.normal(size=(90, 3)), n_neighbors=7)
    y = np.where(np.arange(90) < 12, np.arange(90) % 3, -1)
    groups = np.arange(90) % 6  # of two labels, six points apart
    labels = Labels.of(y, groups=groups)
    found = diffuse_labels(operator, y, groups=groups, label_mode="absorbing", tau=30)
    at_once = hold_out_labels(operator, labels, found)
    monkeypatch.setattr(held_out_labels, "_n_columns", lambda n_points: 4)
    assert [len(batch) for batch in held_out_labels.ChosenLabels.of(labels).batches(4)] == [4] * 3
    in_batches = hold_out_labels(operator, labels, found)
    np.testing.assert_array_equal(in_batches.points, at_once.points)
    np.testing.assert_allclose(in_batches.posteriors, at_once.posteriors, atol=1e-9)
