"""Bandwidths: the semigroup error against the dense kernel, the rule, slopes and dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from diffclass import (
    DataError,
    DiffusionMap,
    ParameterError,
    neighbors_graph,
    semigroup_bandwidth,
    slope_bandwidth,
)
from diffclass.neighbors import ExactSearch
from diffclass.plots import BandwidthDisplay
from diffclass.spectral.bandwidth import plateau
from diffclass.spectral.semigroup import first_minimum_after_maximum, semigroup_error
from experiments.datasets import (
    make_circle,
    make_flat_torus,
    make_sphere,
    make_swiss_roll,
    make_torus_helix,
)
from tests import naive


def dense_error(X, epsilon, alpha):
    def conjugate(e):
        K, d = naive.normalised(np.exp(-naive.squared_distances(X) / e), alpha)
        return K / np.sqrt(np.outer(d, d))

    S = conjugate(epsilon)
    return np.linalg.norm(S @ S - conjugate(2 * epsilon), 2)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("make", [make_circle, make_swiss_roll])
def test_the_error_is_the_dense_one_on_512_points(make, alpha):
    X, _ = make(512, noise=0.02, random_state=0)
    curve = semigroup_bandwidth(X, alpha=alpha)
    assert curve.in_reach.all()
    some = slice(0, None, 8)  # a dense norm takes long
    dense = [dense_error(X, epsilon, alpha) for epsilon in curve.epsilons[some]]
    np.testing.assert_allclose(curve.values[some], dense, atol=1e-3)


def test_a_graph_that_reaches_far_enough_is_as_good_as_the_full_kernel():
    X, _ = make_circle(512, random_state=0)
    for n_neighbors in (60, 120, 250):
        wide = semigroup_bandwidth(X, search=ExactSearch(n_neighbors))
        assert 0 < np.count_nonzero(wide.in_reach) < 20
        assert np.isnan(wide.values[~wide.in_reach]).all()
        for epsilon, value in zip(wide.epsilons, wide.values, strict=True):
            if np.isfinite(value):
                assert value == pytest.approx(dense_error(X, epsilon, 1.0), abs=0.02)


def test_a_graph_cut_short_falsifies_it():
    X, _ = make_circle(512, random_state=0)
    narrow = semigroup_error(neighbors_graph(X, 10), 0.1)
    assert abs(narrow - dense_error(X, 0.1, 1.0)) > 0.1


@pytest.mark.parametrize("seed", range(5))
def test_the_chosen_scale_recovers_an_uneven_circle(seed):
    X, angle = make_circle(600, density=0.6, random_state=seed)
    found = DiffusionMap(2, bandwidth="semigroup", alpha=1).fit(X)
    assert found.bandwidth_curve_.is_found
    waves = np.column_stack([np.cos(angle), np.sin(angle)])
    fit = found.embedding_ @ np.linalg.lstsq(found.embedding_, waves, rcond=None)[0]
    assert ((fit - waves) ** 2).sum() < 0.02 * (waves**2).sum()


def test_far_below_the_points_spacing_the_error_is_zero():
    for n in (20, 40):
        X = 10.0 * np.arange(n)[:, None]
        assert semigroup_error(neighbors_graph(X, n - 1), 0.5) == 0


# --- the rule


@pytest.mark.parametrize(
    ("values", "n_useful", "reach", "expected"),
    [
        ([0.1, 0.5, 0.3, 0.1, 0.4, 0.2], [20] * 6, 6, (3, True)),
        ([0.5, 0.3, 0.1, 0.4, 0.01, 0.0], [20] * 6, 6, (2, True)),  # not the later, lower one
        ([0.1, 0.5, 0.3, 0.31, 0.1, 0.4], [20] * 6, 6, (4, True)),  # a ripple is no minimum
        ([0.1, 0.5, 0.1, 0.4, 0.2, 0.4], [1, 1, 5, 20, 20, 20], 6, (3, False)),  # too few useful
        ([0.1, 0.5, 0.3, 0.2, 0.15, 0.1], [20] * 6, 6, (5, False)),
        ([0.1, 0.5, 0.3, 0.2, 0.15, 0.1], [20, 20, 20, 20, 60, 90], 6, (3, False)),  # a blob
        ([0.1, 0.5, 0.3, 0.2, 0.1, 0.4], [20, 20, 20, 20, 60, 90], 6, (3, False)),  # a blob, too
        ([0.1, 0.5, 0.3, np.nan, np.nan, np.nan], [20] * 6, 3, (2, False)),
        ([0.1, 0.2, 0.3, np.nan, np.nan, np.nan], [20] * 6, 3, (2, False)),
        ([0.1, 0.2, 0.3, np.nan, np.nan, np.nan], [1] * 6, 3, (2, False)),
    ],
)
def test_first_minimum_after_maximum(values, n_useful, reach, expected):
    in_reach = np.arange(6) < reach
    n_useful = np.array(n_useful)
    found = first_minimum_after_maximum(np.array(values), n_useful, in_reach, n_useful <= 30)
    assert found == expected


def test_too_few_points_for_the_rule_get_the_nearest_scale():
    """Where the rule finds nothing the whole set is no answer."""
    X, _ = make_torus_helix(600, density=0.8, noise=0.0, random_state=0)
    curve = semigroup_bandwidth(X)
    assert not curve.is_found
    assert curve.epsilon < 0.6


# --- slope


def spiral(n, random_state):
    turn = np.sqrt(np.random.default_rng(random_state).uniform(0.3, 9, n)) * np.pi
    return turn[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]), turn


def helix(n, random_state):
    return make_torus_helix(n, noise=0.0, random_state=random_state)


@pytest.mark.parametrize("n", [500, 1500])
@pytest.mark.parametrize(
    ("make", "dimension"),
    [
        (make_circle, 1),
        (helix, 1),
        (spiral, 1),
        (make_swiss_roll, 2),
        (make_sphere, 2),
        (make_flat_torus, 2),
    ],
)
def test_the_slope_tells_the_dimension(make, dimension, n):
    X, _ = make(n, random_state=0)
    curve = slope_bandwidth(X)
    assert curve.criterion == "slope"
    assert curve.is_found
    assert curve.dimension == pytest.approx(dimension, abs=0.1)
    assert curve.epsilon == pytest.approx(curve.limit, rel=0.2)


@pytest.mark.parametrize("n", [500, 1500])
@pytest.mark.parametrize("seed", range(3))
def test_sheets_of_a_roll_stay_apart(n, seed):
    """At 33, where the slope is largest, the first coordinate does not follow the roll."""
    X, parameters = make_swiss_roll(n, random_state=seed)
    along = np.asarray(parameters).reshape(n, -1)[:, 0]
    slope = slope_bandwidth(X)
    assert slope.is_found
    assert 3 < slope.epsilon < 6.5
    found = DiffusionMap(1, bandwidth=slope.epsilon, n_neighbors=20).fit_transform(X)[:, 0]
    assert abs(spearmanr(found, along)[0]) > 0.95


def test_the_semigroup_error_does_not_take_the_roll_for_a_blob():
    X, _ = make_swiss_roll(600, random_state=0)
    curve = semigroup_bandwidth(X)
    assert not curve.is_found  # it is least at 106, beyond the limit
    assert curve.epsilon < 6.5 < curve.limit < 30


def test_where_no_slope_is_flat_nothing_is_found(rng):
    X = rng.normal(size=(300, 30))
    curve = slope_bandwidth(X)
    assert not curve.is_found
    assert curve.dimension is None
    assert curve.limit == np.inf


def test_a_plateau_is_the_widest_flat_range():
    scales = 2.0 ** np.arange(8)
    n_useful = np.arange(8) + 2.5
    slopes = np.array([2.0, 1, 1.02, 0.99, 1.04, 1.2, 1.2, 0.5])
    assert plateau(scales, slopes, n_useful).tolist() == [1, 2, 3, 4]
    assert plateau(scales, slopes, n_useful / 2).tolist() == []
    assert plateau(scales, np.arange(8) + 1.0, n_useful).tolist() == []


def test_slopes_are_differences_of_the_kernel_sum(rng):
    X = rng.normal(size=(200, 2))
    scales = np.geomspace(0.05, 5, 9)
    D = naive.squared_distances(X)
    sums = [[np.exp(-D / (e * f)).sum() - 200 for f in (0.999, 1.001)] for e in scales]
    expected = np.log(np.divide(*np.transpose(sums)[::-1])) / np.log(1.001 / 0.999)
    np.testing.assert_allclose(slope_bandwidth(X, scales).values, expected, rtol=1e-3)


# --- both


def test_curves_can_be_drawn(rng):
    import matplotlib as mpl

    mpl.use("Agg")
    X, _ = make_circle(200, random_state=0)
    for curve in (semigroup_bandwidth(X), slope_bandwidth(X)):
        display = BandwidthDisplay(curve).plot()
        assert "epsilon" in display.ax_.get_xlabel()


def test_units_carry_through():
    X, _ = make_circle(300, random_state=0)
    for choose in (semigroup_bandwidth, slope_bandwidth):
        once, thrice = choose(X), choose(3 * X + 100)
        assert thrice.epsilon == pytest.approx(9 * once.epsilon, rel=1e-4)
        np.testing.assert_allclose(thrice.values, once.values, atol=1e-3)


@pytest.mark.parametrize("unit", [1e-100, 1e-30, 1e-20, 1e20, 1e30, 1e100])
@pytest.mark.parametrize("choose", [semigroup_bandwidth, slope_bandwidth])
def test_any_unit_gives_the_same_curve(choose, unit):
    X, _ = make_circle(300, random_state=0)
    once, other = choose(X), choose(X * unit)
    assert other.epsilon / unit**2 == pytest.approx(once.epsilon, rel=1e-4)
    assert other.is_found == once.is_found
    assert other.limit / unit**2 == pytest.approx(once.limit, rel=1e-4)
    np.testing.assert_allclose(other.values, once.values, rtol=1e-3, atol=1e-6)


def test_slopes_at_scales_beyond_single_precision(rng):
    slopes = slope_bandwidth(rng.normal(size=(50, 2)), [1e-60, 1.0, 1e60]).values
    np.testing.assert_allclose(slopes[[0, 2]], 0, atol=1e-30)
    assert slopes[1] > 0.1


def test_memory_is_bounded_by_edges():
    X, _ = make_circle(1000, random_state=0)
    small = semigroup_bandwidth(X, max_edges=50_000)
    assert not small.in_reach.all()
    assert (small.epsilons[small.in_reach] < 0.1).all()


@pytest.mark.parametrize("choose", [semigroup_bandwidth, slope_bandwidth])
def test_refusals(choose):
    with pytest.raises(DataError, match="all 20 points are equal"):
        choose(np.ones((20, 3)))
    with pytest.raises(DataError, match="NaN"):
        choose([[0.0], [np.nan]])
    for bad in ([0.0, 1.0], [-1.0], [np.inf], []):
        with pytest.raises(ParameterError, match="epsilons"):
            choose([[0.0], [1.0], [2.0]], bad)


def test_a_graph_too_narrow_for_all_scales_is_said(rng):
    with pytest.raises(ParameterError, match=r"no scale is in reach.* smaller epsilons"):
        semigroup_bandwidth(rng.normal(size=(500, 2)), [100.0], search=ExactSearch(5))
