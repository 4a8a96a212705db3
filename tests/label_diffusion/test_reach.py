"""No reachable point is lost: values that underflow, walks that end too early, and why."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from diffclass import (
    DiffusionClassifier,
    StoppingRule,
    Warp,
    diffuse_labels,
    markov_operator,
)
from diffclass.exceptions import UnreachedWarning
from diffclass.kernels import SharedNeighbors
from diffclass.label_diffusion import Reach
from diffclass.relabel import RelabelSession

from .chains import chain, marked

MODES = pytest.mark.parametrize("label_mode", ["free", "summed", "absorbing"])
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def strip(n, height, seed=0):
    """A strip of n points, ten to a unit of its length."""
    rng = np.random.default_rng(seed)
    return np.column_stack([np.linspace(0, n / 10, n), height + rng.random(n)])


@MODES
@pytest.mark.parametrize(("n", "dtype"), [(1500, np.float32), (4000, np.float64)])
@pytest.mark.filterwarnings("ignore:by max_time")
def test_two_strips_with_labels_at_opposite_ends(n, label_mode, dtype):
    """Each is its own component: all its points have the class of its one label."""
    X = np.concatenate([strip(n, 0), strip(n, 1000)]).astype(dtype)
    y = marked(2 * n, {0: 3, 2 * n - 1: 7})
    clf = DiffusionClassifier(label_mode=label_mode).fit(X, y)
    assert clf.operator_.n_connected_components == 2
    np.testing.assert_array_equal(clf.transduction_, np.repeat([3, 7], n))
    assert np.isfinite(clf.label_distributions_).all()
    np.testing.assert_array_equal(clf.predict(X[::7]), np.repeat([3, 7], n)[::7])


@DTYPES
@MODES
@pytest.mark.parametrize("prior", [None, "uniform"])
@pytest.mark.filterwarnings("ignore:by max_time")
def test_two_classes_on_one_strip(label_mode, dtype, prior):
    """Between labels at both ends each point has the class of the nearer one."""
    X = strip(4000, 0).astype(dtype)
    y = marked(4000, {0: 3, 3999: 7})
    clf = DiffusionClassifier(
        label_mode=label_mode, class_prior=prior, tau=StoppingRule(max_time=400)
    ).fit(X, y)
    hops = clf.operator_.hops(np.where(y == 3, 0, np.where(y == 7, 1, -1)))
    nearer = np.where(hops[:, 0] < hops[:, 1], 3, 7)
    clear = np.abs(hops[:, 0] - hops[:, 1]) > 40
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(clf.transduction_[clear], nearer[clear])
    assert (clf.transduction_ > 0).all()


@pytest.mark.filterwarnings("ignore:by max_time")
def test_strips_that_are_warped():
    X = np.concatenate([strip(3000, 0), strip(3000, 1000)]).astype(np.float32)
    y = marked(6000, {0: 3, 5999: 7})
    for label_mode in ("free", "absorbing"):
        clf = DiffusionClassifier(
            label_mode=label_mode, warp=Warp(), tau=StoppingRule(max_time=500)
        ).fit(X, y)
        np.testing.assert_array_equal(clf.transduction_, np.repeat([3, 7], 3000))


@DTYPES
@MODES
@pytest.mark.parametrize("tau", [30, 100, 250, 900])
def test_a_given_time_reaches_as_many_edges_as_it_has_steps(label_mode, dtype, tau):
    """Not one more, and not one less because of underflow."""
    A, y = chain(1000, dtype), marked(1000, {0: 3, 999: 7})
    result = diffuse_labels(A, y, label_mode=label_mode, tau=tau)
    steps = 6 * tau if label_mode == "summed" else tau
    nearest = np.minimum(np.arange(1000), np.arange(1000)[::-1])
    np.testing.assert_array_equal(result.reached, nearest <= steps)
    np.testing.assert_array_equal(result.codes[:400][result.reached[:400]], 0)
    np.testing.assert_array_equal(result.codes[600:][result.reached[600:]], 1)


@MODES
def test_single_precision_has_the_classes_of_double(label_mode):
    """Where it underflows, points far from both labels seem surer; no class changes."""
    y = marked(1000, {0: 3, 999: 7})
    single = diffuse_labels(chain(1000, np.float32), y, label_mode=label_mode, tau=250)
    double = diffuse_labels(chain(1000), y, label_mode=label_mode, tau=250)
    np.testing.assert_array_equal(single.codes, double.codes)
    clear = np.abs(np.arange(1000) - 499.5) > 20
    np.testing.assert_allclose(single.margin[clear], double.margin[clear], atol=1e-5)


def test_a_margin_walk_that_ends_early_loses_no_point():
    with pytest.warns(ConvergenceWarning, match=r"by max_time = 20 .* its neighbours"):
        result = diffuse_labels(
            chain(100), marked(100, {0: 0, 99: 1}), tau=StoppingRule(max_time=20)
        )
    np.testing.assert_array_equal(result.codes, np.repeat([0, 1], 50))


@DTYPES
@pytest.mark.parametrize("label_mode", ["free", "summed"])
def test_a_session_has_the_map_of_diffuse_labels(label_mode, dtype):
    """And its preview at another time, on a chain where single precision underflows."""
    A = chain(1000, dtype)
    session = RelabelSession(A, ["a", "b"], label_mode=label_mode, tau=120)
    session.apply({"op": "stroke", "class": 1, "points": [0, 1]})
    session.apply({"op": "stroke", "class": 1, "points": [4]})
    session.apply({"op": "stroke", "class": 2, "points": [999]})
    y = marked(1000, {0: 1, 1: 1, 4: 1, 999: 2})
    for tau in (120, 300):
        session.apply({"op": "tau", "tau": tau})
        preview = session.tau_preview(tau)[0]
        session.update()
        result = diffuse_labels(A, y, label_mode=label_mode, tau=tau)
        expected = np.where(result.reached, result.codes + 1, 0)
        np.testing.assert_array_equal(session.map_ids, expected)
        np.testing.assert_array_equal(preview, expected)
        np.testing.assert_allclose(session.margin, result.margin, atol=1e-5)


def test_only_lost_rows_are_filled():
    A = chain(9)
    values = np.zeros((9, 2))
    values[3] = 1e-300, 3e-300
    lost = Reach(A, np.array([3])).fill(values, ~values.any(axis=1), n_steps=2)
    assert np.flatnonzero(lost).tolist() == [1, 2, 4, 5]
    np.testing.assert_allclose(values[[1, 2, 4, 5]], [[1e-300, 3e-300]] * 4)
    assert not values[[0, 6, 7, 8]].any()


def test_the_warning_names_the_cause():
    X = np.concatenate([strip(300, 0), strip(300, 1000)])
    y = marked(600, {0: 3, 10: 7})
    with pytest.warns(UnreachedWarning) as caught:
        DiffusionClassifier().fit(X, y)
    (text,) = [str(warning.message) for warning in caught]
    assert "300 of 600 points lie in 1 connected component of the graph without a label" in text
    assert "tau" not in text
    with pytest.warns(UnreachedWarning) as caught:
        clf = DiffusionClassifier(tau=2, label_mode="free").fit(X[:300], y[:300])
    (text,) = [str(warning.message) for warning in caught]
    n_far = np.count_nonzero(clf.transduction_ == -1)
    assert f"{n_far} of 300 points have a path to a label that is longer than the walk" in text
    assert "component" not in text


def test_a_label_without_weight_reaches_nothing():
    X = np.concatenate([strip(60, 0), strip(60, 1000)])
    weight = np.ones(120)
    weight[70] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreachedWarning)
        clf = DiffusionClassifier(tau=200).fit(X, marked(120, {0: 3, 9: 7, 70: 3}),
                                               label_weight=weight)  # fmt: skip
    np.testing.assert_array_equal(clf.transduction_ == -1, np.arange(120) >= 60)


def test_threads_do_not_matter(shared_by):
    A = markov_operator(strip(2000, 0).astype(np.float32), kernel=SharedNeighbors())
    y = marked(2000, {0: 0, 1999: 1})
    found = []
    for n_threads in (1, 2):
        with shared_by(n_threads):
            found.append(diffuse_labels(A, y, label_mode="free", tau=300).values.tobytes())
    assert found[0] == found[1]
