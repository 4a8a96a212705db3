"""What the displays of the geometry draw: eigenvalues, diffusion coordinates, bandwidths."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from diffclass.exceptions import DataError, ParameterError

pytest.importorskip("matplotlib")

from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from diffclass.plots import (
    DEFAULT_PALETTE,
    BandwidthDisplay,
    EigenvaluesDisplay,
    EmbeddingDisplay,
)

EIGENVALUES = np.array([1.0, -0.9, 0.8, 0.5, -0.1])
RNG = np.random.default_rng(0)
COORDINATES = RNG.normal(size=(60, 4)) * [3.0, 1.0, 0.3, 0.1]


def legend_texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def assert_nothing_cut_off(figure):
    figure.canvas.draw()
    box = figure.get_tightbbox(figure.canvas.get_renderer())
    left, bottom, right, top = (v * figure.dpi for v in box.extents)
    width, height = figure.bbox.size
    assert min(left, bottom) >= -1
    assert right <= width + 1
    assert top <= height + 1


# --- EigenvaluesDisplay ---


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
    assert_nothing_cut_off(display.figure_)


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
    fitted = SimpleNamespace(eigenvalues_=np.array([0.5, 0.25]), time_=2)
    display = EigenvaluesDisplay.from_estimator(fitted, ax=ax)
    assert display.ax_ is ax
    np.testing.assert_allclose(display.lines_[0].get_ydata(), [1, 0.25, 0.0625])
    assert legend_texts(display) == ["t = 2"]
    several = EigenvaluesDisplay.from_estimator(fitted, times=(1, 8), threshold=0.3)
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


# --- EmbeddingDisplay ---


def test_two_columns_with_values():
    values = np.linspace(0, 5, 60)
    display = EmbeddingDisplay(COORDINATES[:, :2], values=values, values_label="angle (rad)").plot()
    np.testing.assert_allclose(display.points_.get_offsets(), COORDINATES[:, :2])
    np.testing.assert_allclose(display.points_.get_array(), values)
    assert display.colorbar_.ax.get_ylabel() == "angle (rad)"
    assert display.ax_.get_aspect() == 1
    assert display.ax_.get_xlabel() == "diffusion coordinate 1"
    assert display.ax_.get_ylabel() == "diffusion coordinate 2"
    assert display.unlabelled_ is None
    assert display.legend_ is None
    assert not display.points_.get_rasterized()
    assert_nothing_cut_off(display.figure_)


def test_points_without_a_value_are_grey_behind():
    values = np.linspace(0, 5, 60)
    values[:10] = np.nan
    display = EmbeddingDisplay(COORDINATES[:, :2], values=values).plot()
    np.testing.assert_allclose(display.unlabelled_.get_offsets(), COORDINATES[:10, :2])
    np.testing.assert_allclose(display.points_.get_offsets(), COORDINATES[10:, :2])
    assert display.unlabelled_.get_zorder() < display.points_.get_zorder()
    assert display.points_.get_clim() == (values[10], 5)


def test_classes_take_the_palette_and_unlabelled_are_grey_behind():
    y = np.tile([4, -1, 9], 20)
    display = EmbeddingDisplay(COORDINATES, y=y, components=(0, 3)).plot()
    np.testing.assert_allclose(display.unlabelled_.get_offsets(), COORDINATES[y == -1][:, [0, 3]])
    np.testing.assert_allclose(display.unlabelled_.get_facecolors(), [to_rgba("0.75")])
    np.testing.assert_allclose(display.points_.get_offsets(), COORDINATES[y != -1][:, [0, 3]])
    expected = [to_rgba(DEFAULT_PALETTE[0 if i == 4 else 1]) for i in y[y != -1]]
    np.testing.assert_allclose(display.points_.get_facecolors(), expected)
    assert display.unlabelled_.get_zorder() < display.points_.get_zorder()
    assert legend_texts(display) == ["4", "9", "unlabelled"]
    marks = display.legend_.legend_handles
    assert [to_rgba(m.get_color()) for m in marks[:2]] == [to_rgba(c) for c in DEFAULT_PALETTE[:2]]
    assert display.ax_.get_ylabel() == "diffusion coordinate 4"
    assert display.colorbar_ is None


def test_strings_and_the_order_of_classes():
    y = np.array(["soy", "corn"] * 30)
    assert legend_texts(EmbeddingDisplay(COORDINATES, y=y).plot()) == ["corn", "soy"]
    ordered = EmbeddingDisplay(COORDINATES, y=y, classes=["oats", "soy", "corn"]).plot()
    assert legend_texts(ordered) == ["oats", "soy", "corn"]
    np.testing.assert_allclose(
        ordered.points_.get_facecolors()[:2], [to_rgba(c) for c in DEFAULT_PALETTE[1:3]]
    )
    named = EmbeddingDisplay(COORDINATES, y=np.tile([2, 1], 30), classes={1: "corn", 2: "soy"})
    assert legend_texts(named.plot()) == ["corn", "soy"]


def test_one_column_is_placed_by_number_or_by_values():
    column = COORDINATES[:, :1]
    by_number = EmbeddingDisplay(column).plot()
    np.testing.assert_allclose(
        by_number.points_.get_offsets(), np.c_[np.arange(60), column], atol=1e-12
    )
    assert by_number.ax_.get_xlabel() == "point number"
    assert by_number.ax_.get_ylabel() == "diffusion coordinate 1"
    assert by_number.ax_.get_aspect() == "auto"
    values = np.linspace(0, 1, 60)
    y = np.arange(60) % 2
    placed = EmbeddingDisplay(column, values=values, values_label="height (m)", y=y).plot()
    np.testing.assert_allclose(placed.points_.get_offsets(), np.c_[values, column])
    assert placed.ax_.get_xlabel() == "height (m)"
    assert legend_texts(placed) == ["0", "1"]
    assert placed.colorbar_ is None


@pytest.mark.parametrize("key", [{}, {"values": np.arange(60.0)}, {"y": np.arange(60) % 3 - 1}])
def test_three_columns_in_space(key):
    display = EmbeddingDisplay(COORDINATES[:, :3], **key).plot()
    assert display.ax_.name == "3d"
    assert display.ax_.get_zlabel() == "diffusion coordinate 3"
    drawn = [c for c in (display.unlabelled_, display.points_) if c is not None]
    assert sum(len(c._offsets3d[0]) for c in drawn) == 60
    limits = (display.ax_.get_xlim(), display.ax_.get_ylim(), display.ax_.get_zlim())
    units = np.ptp(limits, axis=1) / display.ax_.get_box_aspect()
    np.testing.assert_allclose(units, units[0])
    assert_nothing_cut_off(display.figure_)
    if "y" in key:
        # mplot3d would otherwise order the two collections by their depth
        assert not display.ax_.computed_zorder
        assert display.unlabelled_.get_zorder() < display.points_.get_zorder()


def test_components_by_default():
    assert EmbeddingDisplay(COORDINATES).plot().ax_.get_xlabel() == "diffusion coordinate 1"
    assert EmbeddingDisplay(COORDINATES).plot().ax_.name == "rectilinear"
    chosen = EmbeddingDisplay(COORDINATES, components=(3, 0, 1)).plot()
    np.testing.assert_allclose(
        np.c_[chosen.points_._offsets3d], COORDINATES[:, [3, 0, 1]], atol=1e-12
    )


def test_many_points_are_small_and_rasterised():
    y = RNG.integers(-1, 3, 20_001)
    display = EmbeddingDisplay(RNG.normal(size=(20_001, 2)), y=y).plot()
    for collection in (display.points_, display.unlabelled_):
        assert collection.get_rasterized()
        assert collection.get_sizes() == [1.0]


def test_rows_with_nan_are_left_out():
    coordinates = COORDINATES[:, :2].copy()
    coordinates[5] = np.nan
    display = EmbeddingDisplay(coordinates, y=np.zeros(60, int)).plot()
    assert len(display.points_.get_offsets()) == 59
    assert np.isfinite(display.points_.get_offsets()).all()


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("key", [{"values": np.full(60, np.nan)}, {"y": np.full(60, -1)}])
def test_nothing_known_still_draws(n_components, key):
    display = EmbeddingDisplay(COORDINATES[:, :n_components], **key).plot()
    display.figure_.canvas.draw()


def test_long_legends_fit():
    display = EmbeddingDisplay(COORDINATES[:, :2], y=[f"a kind of crop, {i}" for i in range(60)])
    assert_nothing_cut_off(display.plot().figure_)


def test_embedding_from_estimator_on_given_axes():
    ax = Figure().add_subplot()
    fitted = SimpleNamespace(embedding_=COORDINATES)
    display = EmbeddingDisplay.from_estimator(fitted, y=np.arange(60) % 2, components=(1, 2), ax=ax)
    assert display.ax_ is ax
    assert display.legend_ is ax.get_legend()
    assert ax.get_xlabel() == "diffusion coordinate 2"
    with pytest.raises(ParameterError, match="fit it first"):
        EmbeddingDisplay.from_estimator(SimpleNamespace())


@pytest.mark.parametrize(
    ("match", "arguments"),
    [
        ("n_components", {"coordinates": np.zeros(4)}),
        ("n_components", {"coordinates": np.zeros((0, 2))}),
        ("real numbers", {"coordinates": [["a", "b"]]}),
        ("values have shape", {"coordinates": COORDINATES, "values": np.zeros(3)}),
        ("given by y=", {"coordinates": COORDINATES, "values": ["a"] * 60}),
        ("3 labels for 60", {"coordinates": COORDINATES, "y": [1, 2, 3]}),
        (r"classes \[2\]", {"coordinates": COORDINATES, "y": [1, 2] * 30, "classes": [1]}),
    ],
)
def test_embedding_refuses_data(match, arguments):
    with pytest.raises(DataError, match=match):
        EmbeddingDisplay(**arguments)


def test_embedding_refuses_what_it_cannot_draw():
    with pytest.raises(ParameterError, match="both ask"):
        EmbeddingDisplay(COORDINATES, values=np.zeros(60), y=np.zeros(60, int))
    for wrong in ((0, 4), (-1,), (1, 1), (), (0, 1, 2, 3)):
        with pytest.raises(ParameterError, match="from 0 to 3"):
            EmbeddingDisplay(COORDINATES, components=wrong)
    plain, space = Figure().add_subplot(), Figure().add_subplot(projection="3d")
    with pytest.raises(ParameterError, match="projection='3d'"):
        EmbeddingDisplay(COORDINATES, components=(0, 1, 2)).plot(plain)
    with pytest.raises(ParameterError, match="projection '3d'"):
        EmbeddingDisplay(COORDINATES).plot(space)


# --- BandwidthDisplay ---


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
    assert_nothing_cut_off(display.figure_)


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
    display = BandwidthDisplay(curve(**one, epsilon=0.5)).plot()
    display.figure_.canvas.draw()
    assert len(display.shades_) == 2


@pytest.mark.parametrize(
    ("error", "match", "changes"),
    [
        (ParameterError, "criterion", {"criterion": "guess"}),
        (DataError, "rising", {"epsilons": np.array([1.0, 0.1, 2, 3, 4])}),
        (DataError, "above 0", {"epsilons": np.arange(5.0)}),
        (DataError, "values has shape", {"values": np.zeros(4)}),
        (DataError, "n_useful has shape", {"n_useful": np.zeros(4)}),
        (DataError, "in_reach has shape", {"in_reach": np.zeros(4, bool)}),
    ],
)
def test_bandwidth_refuses(error, match, changes):
    with pytest.raises(error, match=match):
        BandwidthDisplay(curve(**changes))
