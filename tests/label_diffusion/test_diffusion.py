"""Diffused labels against dense products, limits and the documented choice of time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from diffclass import MarkovOperator, StoppingRule, diffuse_labels, markov_operator
from diffclass.evaluation import draw_per_class
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import SharedNeighbors
from diffclass.label_diffusion import Labels
from diffclass.label_diffusion.diffusion import start_walk
from diffclass.label_diffusion.maps import Cut, balanced_weights, cut_of
from diffclass.label_diffusion.stopping import BestTime, last_time
from diffclass.label_diffusion.walk import coverage_of, curve_times, cut_times
from diffclass.targets import encode_labels
from tests import naive

from .chains import chain, marked

ALL = pytest.mark.parametrize("labels", ["summed", "free", "free-l1", "absorbing"])


@pytest.fixture
def problem(rng):
    """A connected graph of 60 points, dense and as operator, and three classes of labels."""
    K = naive.gaussian(*naive.neighbors_graph(rng.normal(size=(60, 2)), 6), 0.5)
    A = MarkovOperator.from_affinity(K)
    assert A.n_connected_components == 1
    codes = np.full(60, -1)
    codes[rng.permutation(60)[:8]] = [0, 0, 0, 0, 1, 1, 2, 2]
    return A, naive.markov_matrix(K), codes


# --- values, posteriors, margins


def twin(labels, dense, pi, codes, n_classes, t, weight=None):
    """N of labels that count in one of four ways, by dense products."""
    if labels == "absorbing":
        return naive.absorbing_labels(dense, codes, n_classes, t, weight=weight)
    values = naive.summed_labels if labels == "summed" else naive.free_labels
    pi = np.ones_like(pi) if labels == "free-l1" else pi
    return values(dense, pi, codes, n_classes, t, weight=weight)


@pytest.mark.parametrize(
    ("labels", "error", "error_of_posteriors"),
    [
        ("free", {"rtol": 1e-11, "atol": 1e-12}, {"rtol": 1e-10}),
        ("free-l1", {"rtol": 1e-11, "atol": 1e-12}, {"rtol": 1e-10}),
        ("summed", {"rtol": 1e-10}, {"rtol": 1e-9}),
        ("absorbing", {"rtol": 0, "atol": 1e-12}, {"rtol": 1e-7}),
    ],
)
@pytest.mark.parametrize("t", [1, 2, 5, 17, 64, 256])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_posteriors_and_margins(
    problem, rng, t, weighted, labels, error, error_of_posteriors
):
    A, dense, codes = problem
    weight = rng.random(60) if weighted else None
    result = diffuse_labels(A, codes, label_mode=labels, tau=t, label_weight=weight)
    N = twin(labels, dense, A.stationary_distribution, codes, 3, t, weight)
    np.testing.assert_allclose(result.values, N, **error)
    p = naive.posteriors(N, np.ones(3) / 3)
    np.testing.assert_allclose(result.posteriors, p, **error_of_posteriors)
    np.testing.assert_allclose(result.margin, naive.margins(p), atol=1e-11)
    assert (result.codes == np.where(N.sum(axis=1) > 0, p.argmax(axis=1), -1)).all()
    assert result.tau == t
    assert result.classes.tolist() == [0, 1, 2]
    assert labels != "absorbing" or (result.values.sum(axis=1) <= 1 + 1e-12).all()


def test_summed_labels_tend_to_the_solution_of_poissons_equation(problem):
    A, dense, codes = problem
    pi = A.stationary_distribution
    values = diffuse_labels(A, codes, label_mode="summed", tau=20000).values
    chi = naive.indicators(codes, 3)
    chi /= pi @ chi
    solution = np.linalg.solve(np.eye(60) - dense + pi, chi - 1)  # the one of mean 0
    np.testing.assert_allclose(values - pi @ values, solution, atol=1e-6)


def test_summed_labels_have_the_tau_of_free_ones(problem):
    A, _, codes = problem
    summed, free = (diffuse_labels(A, codes, label_mode=labels) for labels in ("summed", "free"))
    assert summed.tau == free.tau
    np.testing.assert_array_equal(summed.curve.margin, free.curve.margin)
    again = diffuse_labels(A, codes, label_mode="summed", tau=summed.tau)
    np.testing.assert_allclose(again.values, summed.values, rtol=1e-10)


def test_balanced_weights_give_the_same_mass(rng):
    values, pi = rng.random((50, 3)), rng.dirichlet(np.ones(50))
    mass = pi @ (values * balanced_weights(pi @ values))
    np.testing.assert_allclose(mass, mass[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_late_steps_of_absorbing_labels_are_taken_by_series(rng, dtype, weighted):
    X = rng.normal(size=(300, 2)) + np.repeat([[0, 0], [4, 0]], 150, axis=0)
    A = markov_operator(X.astype(dtype), n_neighbors=10)
    y, weight = marked(300, {0: 0, 200: 1}), rng.uniform(0.5, 1, 300) if weighted else np.ones(300)
    dense = naive.markov_matrix(A.affinity.toarray().astype(float))
    walk = start_walk(A, Labels.of(y, weight), label_mode="absorbing")
    for t in (256, 1024, 5000):
        walk.advance(t)
        N = naive.absorbing_labels(dense, y, 2, t, weight=weight)
        np.testing.assert_allclose(walk.values(), N, atol=2e-5 if dtype == np.float32 else 1e-9)


def test_free_mass_does_not_depend_on_time(problem):
    A, _, codes = problem
    assert np.median(np.bincount(codes[codes >= 0])) > 1  # so that the sum goes to 3 tau
    for t in (1, 3, 16, 17, 200, 5000):
        values = diffuse_labels(A, codes, label_mode="free", tau=t).values
        np.testing.assert_allclose(A.stationary_distribution @ values, 1, rtol=1e-12)
        values = diffuse_labels(A, codes, label_mode="summed", tau=t).values
        np.testing.assert_allclose(A.stationary_distribution @ values, 3 * t + 1, rtol=1e-12)


def test_free_limit_is_constant_on_each_component(rng):
    blocks = [naive.gaussian(*naive.neighbors_graph(rng.normal(size=(12, 2)), 5), 1.0)] * 3
    A = MarkovOperator.from_affinity(sp.block_diag(blocks))
    codes = marked(36, {0: 0, 1: 1, 5: 0, 12: 1, 20: 2, 21: 1})
    pi, part = A.stationary_distribution, A.components
    values = diffuse_labels(A, codes, label_mode="free", tau=20000).values
    for x in range(36):
        for i in range(3):
            labelled = codes == i
            here = labelled & (part == part[x])
            limit = pi[here].sum() / (pi[labelled].sum() * pi[part == part[x]].sum())
            assert values[x, i] == pytest.approx(limit, rel=1e-9)


def test_absorbing_limit_is_harmonic(problem):
    A, dense, codes = problem
    values = diffuse_labels(A, codes, label_mode="absorbing", tau=20000).values
    np.testing.assert_allclose(values, naive.harmonic_labels(dense, codes, 3), atol=1e-9)
    np.testing.assert_allclose(values.sum(axis=1), 1, atol=1e-9)


def test_absorbing_limit_on_a_chain_is_linear():
    values = diffuse_labels(chain(11), marked(11, {0: 3, 10: 7}), label_mode="absorbing", tau=5000)
    np.testing.assert_allclose(values.posteriors[:, 1], np.linspace(0, 1, 11), atol=1e-10)


@ALL
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("t", [1, 5, 40, 80, 150])
def test_where_little_or_nothing_has_arrived(labels, dtype, t):
    """No rounding decides: either the true posterior or none."""
    A, y = chain(120, dtype), marked(120, {20: 0, 95: 1})
    dense = naive.markov_matrix(chain(120).affinity.toarray())
    N = twin(labels, dense, chain(120).stationary_distribution, y, 2, t)
    result = diffuse_labels(A, y, label_mode=labels, tau=t)
    p = naive.posteriors(N, np.ones(2))
    np.testing.assert_allclose(result.posteriors, p, atol=1e-5)
    assert (result.codes == np.where(N.sum(axis=1) > 0, p.argmax(axis=1), -1)).all()
    assert (result.reached == (N.sum(axis=1) > 0)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("t", [3000, 20000])
def test_late_maps_are_still_right(rng, dtype, t):
    """Two blobs weakly joined: the constant mode is all but the last digits by then."""
    X = rng.normal(size=(80, 2)) + np.repeat([[0, 0], [7, 0]], 40, axis=0)
    distances, mask = naive.neighbors_graph(X, 79)
    K = naive.gaussian(distances, mask, 1.0).astype(dtype)
    A, y = MarkovOperator.from_affinity(sp.csr_array(K)), marked(80, {0: 3, 60: 7, 61: 7})
    result = diffuse_labels(A, y, tau=t)
    assert (result.codes == np.repeat([0, 1], 40)).all()
    exact = diffuse_labels(MarkovOperator.from_affinity(K.astype(float)), y, tau=t)
    np.testing.assert_allclose(result.posteriors, exact.posteriors, atol=2e-3)


# --- laws


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 99),
    labels=st.sampled_from(["summed", "free", "absorbing"]),
    tau=st.one_of(st.just("margin"), st.integers(1, 40)),
)
def test_names_and_numbering_do_not_matter(seed, labels, tau):
    rng = np.random.default_rng(seed)
    X, order = rng.normal(size=(40, 2)), rng.permutation(40)
    y = np.where(rng.random(40) < 0.2, rng.integers(0, 3, 40), -1)
    y[:3] = [0, 1, 2]
    names = np.array(["c", "a", "b", None], dtype=object)  # None is y = -1
    A, B = (markov_operator(Z, n_neighbors=8) for Z in (X, X[order]))
    result = diffuse_labels(A, y, label_mode=labels, tau=tau)
    other = diffuse_labels(B, names[y][order], label_mode=labels, tau=tau)
    assert other.tau == result.tau
    assert other.classes.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(other.posteriors, result.posteriors[order][:, [1, 2, 0]], atol=1e-10)
    np.testing.assert_allclose(other.margin, result.margin[order], atol=1e-10)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 99), t=st.integers(1, 30))
def test_free_values_are_linear_in_the_labels(seed, t):
    """N of a class is the mean, by stationary mass, of the N of its labels one by one."""
    rng = np.random.default_rng(seed)
    A = markov_operator(rng.normal(size=(30, 2)))
    chosen = rng.permutation(30)[:4]
    pi = A.stationary_distribution[chosen]
    single, together = (
        diffuse_labels(A, marked(30, labels), label_mode="summed", tau=tau).values
        for labels, tau in (
            (dict(zip(chosen, range(4), strict=True)), t),  # a label alone is summed twice as far
            (dict.fromkeys(chosen, 5), 2 * t),
        )
    )
    np.testing.assert_allclose(together[:, 0], single @ pi / pi.sum(), atol=1e-11)


@ALL
def test_labels_of_many_kinds(problem, labels):
    A, _, codes = problem
    expected = diffuse_labels(A, codes, label_mode=labels)
    for names in ([3, 7, 12, -1], ["a", "b", "c", -1], [1.0, 2.0, 3.0, np.nan]):
        y = np.array(names, dtype=object)[codes]
        for target in (y, list(y), pd.Series(y)):
            result = diffuse_labels(A, target, label_mode=labels)
            assert result.classes.tolist() == names[:3]
            assert (result.posteriors == expected.posteriors).all()


@ALL
def test_one_class(problem, labels):
    A, _, codes = problem
    result = diffuse_labels(A, np.where(codes == 1, 7, -1), label_mode=labels)
    assert result.classes.tolist() == [7]
    assert (result.posteriors == 1).all()
    assert (result.margin == 1).all()
    assert (result.codes == 0).all()


@ALL
def test_everything_labelled(problem, labels):
    A, _, _ = problem
    y = np.arange(60) % 3
    result = diffuse_labels(A, y, label_mode=labels)
    np.testing.assert_allclose(result.posteriors.sum(axis=1), 1)
    if labels == "absorbing":
        assert (result.codes == y).all()
        assert (result.margin == 1).all()


@ALL
@pytest.mark.parametrize("tau", ["margin", 1, 30, 3000])
@pytest.mark.parametrize("prior", [None, "uniform"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_components_without_labels(rng, labels, tau, prior, dtype):
    X = np.concatenate([rng.normal(size=(20, 2)), 100 + rng.normal(size=(15, 2))]).astype(dtype)
    A = markov_operator(X, n_neighbors=10)
    result = diffuse_labels(
        A, marked(35, {0: 3, 1: 7, 2: 9}), label_mode=labels, tau=tau, class_prior=prior
    )
    assert (result.codes[20:] == -1).all()
    assert (result.margin[20:] == 0).all()
    np.testing.assert_allclose(result.posteriors[20:], 1 / 3, rtol=1e-6)
    for name in ("values", "posteriors", "margin"):
        assert np.isfinite(getattr(result, name)).all()
        assert getattr(result, name).dtype == ("f8" if name == "values" else dtype)
    assert not result.reached[20:].any()


def test_absorbing_keeps_labels_and_free_may_overturn_them(rng):
    X = rng.normal(size=(100, 2)) + np.repeat([[0, 0], [7, 0]], 50, axis=0)
    A = markov_operator(X)
    y = np.where(np.arange(100) % 5, -1, np.repeat([0, 1], 50))
    y[5] = 1
    assert diffuse_labels(A, y, label_mode="absorbing").codes[5] == 1
    assert diffuse_labels(A, y, label_mode="free", tau=64).codes[5] == 0


def test_weights_are_trust(problem):
    A, _, codes = problem
    dropped = np.flatnonzero(codes == 0)[:2]
    weight = np.ones(60)
    weight[dropped] = 0
    fewer = np.where(weight > 0, codes, -1)
    for labels in ("summed", "free", "absorbing"):
        weighted = diffuse_labels(A, codes, label_mode=labels, tau=20, label_weight=weight)
        np.testing.assert_allclose(
            weighted.values, diffuse_labels(A, fewer, label_mode=labels, tau=20).values, atol=1e-12
        )
    # free labels only know the weights within a class
    halves, whole = (
        diffuse_labels(A, codes, label_mode="free", tau=20, label_weight=np.full(60, w)).values
        for w in (0.5, 1)
    )
    np.testing.assert_allclose(halves, whole, rtol=1e-12)


# --- the curve and the time


def test_coverage_counts_hops_within_components(problem):
    A, _, codes = problem
    for labels, groups in (("free", codes), ("absorbing", np.minimum(codes, 0))):
        curve = diffuse_labels(A, codes, label_mode=labels, tau=30).curve
        hops = naive.hops(A.affinity.toarray(), groups)
        expected = [naive.coverage(hops, t) for t in curve.times]
        np.testing.assert_allclose(curve.coverage, expected, rtol=1e-12)
        assert curve.is_covered
    np.testing.assert_allclose(coverage_of(np.array([1, 1, 0, 1])), [1 / 3, 2 / 3, 2 / 3, 1])


@ALL
def test_margin_curve(problem, labels):
    A, dense, codes = problem
    pi = A.stationary_distribution
    curve = diffuse_labels(A, codes, label_mode=labels, tau=60).curve
    assert (curve.times == curve_times(60)).all()
    for t, margin in zip(curve.times, curve.margin, strict=True):
        # the curve of summed labels is that of free ones
        N = twin("free" if labels == "summed" else labels, dense, pi, codes, 3, t)
        p = naive.posteriors(N, np.ones(3))
        assert margin == pytest.approx(naive.margins(p).mean(), abs=1e-10)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 999),
    labels=st.sampled_from(["summed", "free", "absorbing"]),
    share=st.sampled_from([None, 0.5, 1.0]),
    max_time=st.integers(8, 300),
)
def test_tau_by_the_margin_follows_the_rule(seed, labels, share, max_time):
    A, y = random_problem(seed)
    whole = diffuse_labels(A, y, tau=max_time, label_mode=labels).curve
    if share is None:
        counts = np.unique(y[y >= 0], return_counts=True)[1]
        cap, slope = (0.65, 0.6) if labels == "absorbing" else (0.8, 0.35)
        kept = min(cap, 1 - slope / np.median(counts) ** 0.5)
    else:
        kept = share
    expected = naive.chosen_time(whole.times, whole.margin, whole.coverage, kept)
    rule = StoppingRule("margin", max_time=max_time, kept_share=share)
    result = diffuse_labels(A, y, label_mode=labels, tau=rule)
    # the walk is broken off where the margin has fallen far; here it never rises again
    assert result.tau == expected
    seen = len(result.curve.times)
    np.testing.assert_allclose(result.curve.margin, whole.margin[:seen], atol=1e-12)
    at_tau = diffuse_labels(A, y, tau=result.tau, label_mode=labels)
    np.testing.assert_allclose(result.posteriors, at_tau.posteriors, atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 999),
    max_time=st.integers(8, 3000),
)
def test_the_default_tau_follows_the_rule(seed, max_time):
    A, y = random_problem(seed)
    K, pi = A.affinity.toarray(), A.stationary_distribution
    n_classes = len(np.unique(y[y >= 0]))
    result = diffuse_labels(A, y, label_mode="absorbing", tau=StoppingRule(max_time=max_time))
    curve = result.curve
    assert set(curve.times) <= set(cut_times(max_time))
    looks = {"equal": [], "balanced": []}
    walk = start_walk(A, Labels.of(encode_labels(y)[1]), label_mode="absorbing")
    for t in curve.times.tolist():
        walk.advance(t)
        for weighting, rows in looks.items():
            N = walk.values()
            p = naive.posteriors(N, np.ones(n_classes) if weighting == "equal" else 1 / (pi @ N))
            codes = np.where(N.any(axis=1), p.argmax(axis=1), -1)
            rows.append((naive.margins(p).mean(), *naive.cut(K, codes, n_classes)))
    np.testing.assert_allclose(curve.cut, [cut for _, cut, _ in looks["equal"]], rtol=1e-9)
    found = {
        weighting: naive.auto_time(curve.times, rows, curve.coverage, curve.kept_share)
        for weighting, rows in looks.items()
    }
    (tau, cut, error), (tau_balanced, cut_balanced, error_balanced) = found.values()
    if cut_balanced < cut - 0.5 * np.hypot(error, error_balanced):
        assert (result.weighting, result.tau) == ("balanced", tau_balanced)
    else:
        assert (result.weighting, result.tau) == ("equal", tau)
        again = diffuse_labels(A, y, tau=result.tau)
        np.testing.assert_allclose(result.posteriors, again.posteriors, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_single_label_per_class_is_summed_if_that_cuts_less(seed):
    A, y = random_problem(seed)
    assert diffuse_labels(A, np.arange(60) % 3).label_mode == "absorbing"
    y = np.where(np.arange(60) < 3, np.arange(60), -1)
    K, classes = A.affinity.toarray(), np.unique(y[y >= 0])
    absorbing = diffuse_labels(A, y, label_mode="absorbing")
    summed = diffuse_labels(A, y, label_mode="summed", tau=256)
    cut, error = naive.cut(K, absorbing.codes, len(classes))
    other, other_error = naive.cut(K, summed.codes, len(classes))
    takes_summed = other < cut - 0.5 * np.hypot(error, other_error)
    expected = summed if takes_summed else absorbing
    result = diffuse_labels(A, y)
    assert (result.label_mode, result.tau) == (expected.label_mode, expected.tau)
    np.testing.assert_allclose(result.posteriors, expected.posteriors, atol=1e-12)
    np.testing.assert_array_equal(result.codes, expected.codes)
    for other_way in ({"tau": 9}, {"tau": "margin"}):
        assert diffuse_labels(A, y, **other_way).label_mode == "absorbing"


def test_the_walk_ends_with_the_margin(monkeypatch):
    A, y = random_problem(3)
    rule = StoppingRule(kept_share=1, max_time=4000)
    small = diffuse_labels(A, y, tau=rule)
    *kept, last = small.curve.margin  # of the share 1, only the largest is kept
    assert small.curve.times[-1] < 4000
    assert last < max(kept) == small.curve.margin.max()
    monkeypatch.setattr("diffclass.label_diffusion.stopping.LONG_WALK_POINTS", 10)
    large = diffuse_labels(A, y, tau=rule)  # looks begin once the labels cover the graph
    assert (large.label_mode, large.tau) == ("absorbing", small.tau)
    covered = small.curve.coverage >= 0.999
    assert covered.argmax() > 0
    np.testing.assert_array_equal(large.curve.times, small.curve.times[covered])
    np.testing.assert_array_equal(large.curve.margin, small.curve.margin[covered])
    assert (large.codes == small.codes).all()


def random_problem(seed):
    rng = np.random.default_rng(seed)
    A = markov_operator(rng.normal(size=(60, 2)), n_neighbors=8)
    y = np.where(rng.random(60) < 0.1, rng.integers(0, 3, 60), -1)
    y[0] = 0
    return A, y


def test_without_coverage_the_latest_time_is_used_and_said():
    A, y = chain(100), marked(100, {0: 0, 99: 1})
    with pytest.warns(ConvergenceWarning, match=r"by max_time = 20 .* raise max_time"):
        result = diffuse_labels(A, y, label_mode="free", tau=StoppingRule("margin", max_time=20))
    assert result.tau == 20
    assert not result.curve.is_covered
    assert result.values[40].tolist() == result.values[20].tolist() != [0, 0]  # as its neighbours
    with pytest.warns(ConvergenceWarning, match="max_time = 1 "):
        assert diffuse_labels(A, y, tau=StoppingRule(max_time=1)).tau == 1  # no sum of tau = 256


def test_the_last_time_falls_without_a_jump():
    n = np.unique(np.geomspace(1, 1e9, 400).astype(int))
    for rule, longest, since in (("auto", 16_384, 32_768), ("margin", 1024, 65_536)):
        times = np.array([last_time(int(size), rule) for size in n])
        assert (times[n <= since] == longest).all()
        assert (times[n >= 2**21] == 256).all()
        assert (np.diff(times) <= 0).all()
        assert (times[1:] / times[:-1]).min() > 0.94  # n grows by a factor of 1.05
        work = times * n
        assert (work[(times > 256)] <= longest * since).all()


def test_a_huge_last_time_costs_nothing(problem):
    A, _, codes = problem
    result = diffuse_labels(A, codes, tau=StoppingRule(max_time=10**12))
    assert result.tau < 10**6


@pytest.mark.parametrize(
    ("times", "last", "expected"),
    [
        (curve_times, 1, [1]),
        (curve_times, 5, [1, 2, 3, 4, 5]),
        (curve_times, 40, [*range(1, 17), 19, 23, 27, 32, 38, 40]),
        (cut_times, 1, [1]),
        (cut_times, 40, [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 40]),
    ],
)
def test_times_of_curve_and_cut(times, last, expected):
    assert times(last).tolist() == expected
    assert cut_times(5000)[-4:].tolist() == [1024, 2048, 4096, 5000]
    for last in (2, 16, 17, 255, 256, 1023, 1024, 1025, 2**20, 10**6):
        found = times(last)
        assert found[-1] == last
        assert (np.diff(found) > 0).all()


def test_the_choice_by_margin_by_hand():
    choice = BestTime(0.8)
    assert choice.see(0.9, 0.5)  # not covered: the latest
    assert choice.see(0.5, 0.9995)
    assert choice.see(0.6, 1.0)
    assert choice.see(0.5, 1.0)
    assert not choice.see(0.47, 1.0)
    assert not choice.is_over
    assert not choice.see(0.28, 1.0)
    assert choice.is_over


def test_the_default_choice_by_hand():
    choice = BestTime(0.5, foresees=True)
    assert choice.see(0.9, 0.5, Cut(0.1, 0.0))  # not covered: the latest
    assert choice.see(0.8, 1.0, Cut(0.5, 0.04))
    assert not choice.is_over
    assert choice.see(0.65, 1.0, Cut(0.5, 0.04))
    assert choice.see(0.55, 1.0, Cut(0.4, 0.04))
    assert not choice.is_over
    assert choice.see(0.46, 1.0, Cut(0.45, 0.04))
    assert choice.is_over  # another fall of 0.09 would be below 0.4
    assert choice.see(0.47, 1.0, Cut(0.4, 0.04))
    assert not choice.is_over
    assert not choice.see(0.3, 1.0, Cut(0.1, 0.04))
    assert choice.is_over  # by the margin, whatever the cut may do
    assert choice.cut == Cut(0.4, 0.04)
    assert Cut(0.1, 0.03).is_clearly_below(Cut(0.126, 0.04))
    assert not Cut(0.1, 0.03).is_clearly_below(Cut(0.124, 0.04))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 999))
def test_the_cut(seed):
    rng = np.random.default_rng(seed)
    K = rng.random((30, 30)) * (rng.random((30, 30)) < 0.3)
    A = MarkovOperator.from_affinity(K + K.T)
    codes = rng.integers(-1, 4, 30)
    cut = cut_of(A, codes, 5)  # the last class has no points
    mean, error = naive.cut(A.affinity.toarray(), codes, 5)
    assert cut.mean == pytest.approx(mean)
    assert cut.error == pytest.approx(error)
    assert 0.2 <= cut.mean <= 1


# --- the simplest sets there are


def mean_accuracy(X, truth, n_labels, **parameters):
    """The mean of ten draws of so many labels per class."""
    A = markov_operator(X, kernel=SharedNeighbors(), random_state=0)
    found = []
    for seed in range(10):
        y = np.full(len(X), -1)
        chosen = draw_per_class(truth, n_labels, random_state=seed)
        y[chosen] = truth[chosen]
        result = diffuse_labels(A, y, **parameters)
        found.append((result.codes == truth)[y < 0].mean())
    return np.mean(found)


UNEQUAL = {"centers": [[0, 0], [4, 0], [2, 4]], "cluster_std": [1, 0.6, 0.4], "random_state": 0}


@pytest.mark.parametrize(
    ("n_labels", "least"),
    [(1, 0.88), (2, 0.91), (5, 0.975), (10, 0.984)],  # summed labels: 0.86, 0.88, 0.93, 0.92
)
def test_unequal_clusters(n_labels, least):
    X, truth = make_blobs([600, 100, 50], **UNEQUAL)
    plain = mean_accuracy(X, truth, n_labels)
    assert plain >= least
    assert mean_accuracy(X, truth, n_labels, class_prior=[600, 100, 50]) >= plain - 0.005


@pytest.mark.parametrize(
    ("n_labels", "least"),
    [(1, 0.96), (5, 0.978), (10, 0.981)],  # of the nearest label: 0.981, 0.978, 0.981
)
def test_touching_clusters_of_very_unequal_size(n_labels, least):
    X, truth = make_blobs([1000, 50], centers=[[0, 0], [5, 0]], cluster_std=1, random_state=0)
    plain = mean_accuracy(X, truth, n_labels)
    assert plain >= least
    assert mean_accuracy(X, truth, n_labels, class_prior=[1000, 50]) >= plain - 0.005


def test_five_hundred_labels_in_one_class_and_five_in_the_others():
    X, truth = make_blobs(4000, centers=4, cluster_std=0.8, random_state=3)
    y = np.full(len(X), -1)
    for code in range(4):
        size = 500 if code == 0 else 5
        chosen = np.flatnonzero(truth == code)[:size]
        y[chosen] = code
    result = diffuse_labels(markov_operator(X, random_state=0), y)
    assert (result.codes == truth)[y < 0].mean() > 0.99


# --- the scale of free labels


def test_labels_in_the_papers_measure_give_another_map():
    """Four points in a row, the first of large degree; both ends are labelled."""
    K = np.array([[9, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1.0]])
    A, y = MarkovOperator.from_affinity(K), [0, -1, -1, 1]
    by_pi, in_l1 = (diffuse_labels(A, y, label_mode=mode, tau=2) for mode in ("free", "free-l1"))
    assert by_pi.codes.tolist() == [0, 1, 1, 1]
    assert in_l1.codes.tolist() == [0, 0, 1, 1]
    P = K / K.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(in_l1.values, (P @ P)[:, [0, 3]], rtol=1e-12)


@pytest.mark.parametrize("tau", [1, 17, 256, 6000])
def test_one_factor_per_class_takes_free_labels_to_the_papers_measure(problem, tau):
    A, _, y = problem
    free, in_l1 = (diffuse_labels(A, y, label_mode=m, tau=tau) for m in ("free", "free-l1"))
    assert in_l1.label_mode == "free-l1"
    mean = np.bincount(y[y >= 0], A.stationary_distribution[y >= 0]) / np.bincount(y[y >= 0])
    np.testing.assert_allclose(free.values * mean, in_l1.values, rtol=1e-12)
    late = diffuse_labels(A, y, label_mode="free-l1", tau=10**6).values
    np.testing.assert_allclose(late, np.broadcast_to(mean, late.shape), rtol=1e-9)


def test_the_papers_rule_takes_the_largest_margin_wherever_the_labels_are():
    A = markov_operator(np.arange(60.0)[:, None], n_neighbors=2)
    y = np.full(60, -1)
    y[[0, 59]] = 0, 1
    curve = diffuse_labels(A, y, label_mode="free-l1", tau=64).curve
    rule = StoppingRule("margin", max_time=64, kept_share=1, covered=False)
    result = diffuse_labels(A, y, label_mode="free-l1", tau=rule)
    assert result.tau == curve.times[curve.margin.argmax()]
    early = StoppingRule("margin", max_time=8, kept_share=1, covered=False)
    assert diffuse_labels(A, y, label_mode="free-l1", tau=early).tau == 8  # and does not warn


# --- refusals


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"label_mode": "sticky"}, "'absorbing', 'summed'"),
        ({"tau": "best"}, "'auto', 'margin'"),
        ({"tau": StoppingRule("late")}, r"tau\.by = 'late'; possible: 'auto', 'margin'"),
        ({"tau": StoppingRule(kept_share=0)}, r"tau\.kept_share = 0; it has to be above 0 to 1"),
        ({"tau": StoppingRule("margin", kept_share=1.5)}, r"tau\.kept_share"),
        ({"tau": 0}, "tau"),
        ({"tau": 2.5}, "tau"),
        ({"tau": None}, "tau"),
        ({"tau": True}, "tau"),
        ({"tau": StoppingRule(max_time=0)}, r"tau\.max_time"),
        ({"tau": StoppingRule(covered="no")}, r"tau\.covered = 'no'"),
        ({"tau": StoppingRule("margin", max_time=2.5)}, r"tau\.max_time"),
        ({"label_weight": np.ones(3)}, "label_weight has shape"),
        ({"label_weight": np.full(60, 1.5)}, "between 0 and 1"),
        ({"label_weight": np.full(60, np.nan)}, "between 0 and 1"),
        ({"label_weight": np.zeros(60)}, "0 for every label"),
    ],
)
def test_refuses_parameters(problem, parameters, message):
    A, _, codes = problem
    with pytest.raises(ParameterError, match=message):
        diffuse_labels(A, codes, **parameters)


def test_refuses_labels(problem):
    A, _, codes = problem
    with pytest.raises(DataError, match="59 entries"):
        diffuse_labels(A, codes[:-1])
    with pytest.raises(DataError, match="no label"):
        diffuse_labels(A, np.full(60, -1))
