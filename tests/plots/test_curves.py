"""What the displays of curves draw: margin by time, eigenvalues, bandwidths."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from diffclass.exceptions import DataError, ParameterError
from tests.drawings import assert_everything_inside, legend_texts

pytest.importorskip("matplotlib")

from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from diffclass.plots import BandwidthDisplay, EigenvaluesDisplay, MarginCurveDisplay

EIGENVALUES = np.array([1.0, -0.9, 0.8, 0.5, -0.1])


def fitted_classifier():
    curve = SimpleNamespace(
        times=np.array([1, 2, 4, 8]),
        margin=np.array([0.1, 0.5, 0.8, 0.6]),
        coverage=np.array([0.1, 0.4, 0.9, 1.0]),
    )
    return SimpleNamespace(margin_curve_=curve, tau_=8)


def test_margin_curve_from_estimator():
    display = MarginCurveDisplay.from_estimator(fitted_classifier())
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_xlabel() == "diffusion time t (steps)"
    assert display.ax_.get_ylabel().startswith("mean margin")
    assert "share reached" in display.coverage_ax_.get_ylabel()
    assert list(display.tau_line_.get_xdata()) == [8, 8]
    texts = legend_texts(display)
    assert texts == ["mean margin", "coverage", "chosen time tau = 8"]
    assert_everything_inside(display.figure_)


def test_margin_curve_without_coverage_or_tau():
    display = MarginCurveDisplay([1, 2], [0.1, 0.2]).plot()
    assert display.coverage_line_ is None
    assert display.tau_line_ is None
    with pytest.raises(DataError, match="shape"):
        MarginCurveDisplay([1, 2], [0.1, 0.2, 0.3])
    with pytest.raises(ParameterError, match="fit it first"):
        MarginCurveDisplay.from_estimator(SimpleNamespace())


def test_spectrum_draws_powers_of_magnitudes():
    display = EigenvaluesDisplay(EIGENVALUES, times=(1, 4)).plot()
    for line, t in zip(display.lines_, (1, 4), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), np.arange(5))
        np.testing.assert_allclose(line.get_ydata(), np.abs(EIGENVALUES) ** t)
    assert display.ax_.get_ylabel() == "eigenvalue of A^t"
    assert display.ax_.get_xlabel() == "index l (0: trivial)"
    low, high = display.ax_.get_ylim()
    assert -0.05 < low < 0
    assert 1 < high < 1.05
    assert display.figure_ is display.ax_.figure
    assert_everything_inside(display.figure_)


def test_negative_eigenvalues_are_hollow_and_explained():
    display = EigenvaluesDisplay(EIGENVALUES, times=(1, 2)).plot()
    assert len(display.negative_lines_) == 2
    for line, hollow, t in zip(display.lines_, display.negative_lines_, (1, 2), strict=True):
        assert line.get_markevery() == [0, 2, 3]
        np.testing.assert_array_equal(hollow.get_xdata(), [1, 4])
        np.testing.assert_allclose(hollow.get_ydata(), np.array([0.9, 0.1]) ** t)
        assert hollow.get_markerfacecolor() == "white"
        assert to_rgba(hollow.get_markeredgecolor()) == to_rgba(line.get_color())
    assert legend_texts(display) == ["t = 1", "t = 2", "hollow: negative, drawn at |lambda|^t"]


def test_spectrum_without_negative_ones_says_nothing_of_them():
    display = EigenvaluesDisplay([1.0, 0.5]).plot()
    assert display.negative_lines_ == []
    assert legend_texts(display) == ["t = 1"]
    assert display.threshold_line_ is None
    assert EigenvaluesDisplay([1.0, 0.5]).plot(legend=False).legend_ is None


def test_spectrum_counts_what_is_above_the_threshold():
    display = EigenvaluesDisplay([1.0, 0.9, 0.8, 0.5], times=(1, 4), threshold=0.45).plot()
    assert list(display.threshold_line_.get_ydata()) == [0.45, 0.45]
    assert display.threshold_line_.get_linestyle() == "--"
    # 0.9^4 = 0.66, 0.8^4 = 0.41
    assert legend_texts(display) == [
        "t = 1: all 3 above delta", "t = 4: 1 above delta", "delta = 0.45"
    ]  # fmt: skip


def test_spectrum_from_estimator_prepends_the_trivial_one():
    ax = Figure().add_subplot()
    fitted = SimpleNamespace(eigenvalues_=np.array([0.5, 0.25]), time_=2, kind="weighted")
    display = EigenvaluesDisplay.from_estimator(fitted, ax=ax)
    assert display.ax_ is ax
    np.testing.assert_allclose(display.lines_[0].get_ydata(), [1, 0.25, 0.0625])
    assert legend_texts(display) == ["t = 2"]
    fitted = SimpleNamespace(eigenvalues_=np.array([1, 0.5, 0.25]), time_=2, kind="symmetric")
    several = EigenvaluesDisplay.from_estimator(fitted, times=(1, 8), threshold=0.3)
    np.testing.assert_allclose(several.lines_[0].get_ydata(), [1, 0.5, 0.25])
    assert several.times == (1, 8)
    assert several.threshold_line_ is not None


@pytest.mark.parametrize(
    ("error", "match", "arguments"),
    [
        (DataError, "shape", {"eigenvalues": np.eye(2)}),
        (DataError, "shape", {"eigenvalues": []}),
        (DataError, "complex", {"eigenvalues": [1, 1j]}),
        (DataError, "Laplacian", {"eigenvalues": [0.0, 0.5, 1.7]}),
        (DataError, "-1 to 1", {"eigenvalues": [1.0, np.nan]}),
        (ParameterError, "times", {"eigenvalues": [1.0], "times": ()}),
        (ParameterError, "times", {"eigenvalues": [1.0], "times": (1, 0)}),
    ],
)
def test_spectrum_refuses(error, match, arguments):
    with pytest.raises(error, match=match):
        EigenvaluesDisplay(**arguments)


def test_spectrum_refuses_thresholds_and_unfitted():
    with pytest.raises(ParameterError, match="threshold"):
        EigenvaluesDisplay([1.0], threshold=1.5)
    with pytest.raises(ParameterError, match="fit it first"):
        EigenvaluesDisplay.from_estimator(SimpleNamespace(time_=1))


def curve(**changes):
    fields = {
        "epsilons": np.array([0.001, 0.01, 0.1, 1.0, 10.0]),
        "values": np.array([0.2, 0.4, 0.1, 0.3, np.nan]),
        "n_useful": np.array([2, 9, 10, 60, 400]),
        "in_reach": np.array([True, True, True, True, False]),
        "epsilon": 0.1,
        "is_found": True,
        "criterion": "semigroup",
        "dimension": None,
    }
    return SimpleNamespace(**(fields | changes))


def spans(display):
    """Return the left and right ends of the grey patches."""
    boxes = [patch.get_extents().transformed(display.ax_.transData.inverted())
             for patch in display.shades_]  # fmt: skip
    return [(box.x0, box.x1) for box in boxes]


def test_bandwidth_curve_and_choice():
    display = BandwidthDisplay(curve()).plot()
    np.testing.assert_allclose(display.line_.get_xdata(), curve().epsilons)
    np.testing.assert_allclose(display.line_.get_ydata(), curve().values)
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_xlabel() == "epsilon (squared units of the points)"
    assert display.ax_.get_ylabel() == "semigroup error ||S_t^2 - S_2t||"
    assert display.ax_.get_ylim()[0] == 0
    assert list(display.choice_line_.get_xdata()) == [0.1, 0.1]
    assert display.dimension_line_ is None
    assert legend_texts(display) == [
        "chosen: 0.1", "fewer than 10 useful neighbours", "graph too narrow for the scale"
    ]  # fmt: skip
    assert_everything_inside(display.figure_)


def test_bandwidth_shades_reach_halfway_to_the_next_scale():
    display = BandwidthDisplay(curve()).plot()
    half = np.sqrt(10)
    np.testing.assert_allclose(
        spans(display), [(0.001 / half, 0.01 * half), (10 / half, 10 * half)], rtol=1e-6
    )


def test_bandwidth_names_each_reason_once():
    holes = curve(in_reach=np.array([False, True, False, True, False]), n_useful=np.full(5, 50))
    display = BandwidthDisplay(holes).plot()
    assert len(display.shades_) == 3
    assert legend_texts(display) == ["chosen: 0.1", "graph too narrow for the scale"]
    clean = BandwidthDisplay(curve(in_reach=np.ones(5, bool), n_useful=np.full(5, 50))).plot()
    assert clean.shades_ == []
    assert legend_texts(clean) == ["chosen: 0.1"]


def test_bandwidth_by_slope_tells_the_dimension_and_a_fallback():
    ax = Figure().add_subplot()
    slope = curve(criterion="slope", dimension=2.08, is_found=False, epsilon=0.01234)
    display = BandwidthDisplay(slope).plot(ax)
    assert display.ax_ is ax
    assert ax.get_ylabel() == "slope of log sum K against log epsilon"
    assert legend_texts(display)[:2] == ["fallback: 0.0123", "dimension 2.1"]
    np.testing.assert_allclose(display.dimension_line_.get_ydata(), [1.04, 1.04])
    assert BandwidthDisplay(slope).plot(legend=False).legend_ is None


def test_bandwidth_of_one_scale_and_of_no_value():
    one = {"epsilons": [0.5], "values": [np.nan], "n_useful": [3], "in_reach": [False]}
    arrays = {name: np.array(value) for name, value in one.items()}
    display = BandwidthDisplay(curve(**arrays, epsilon=0.5)).plot()
    display.figure_.canvas.draw()
    assert len(display.shades_) == 2
