"""What the display of diffusion coordinates draws, in one, two and three dimensions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from diffclass.exceptions import DataError, ParameterError
from tests.drawings import assert_everything_inside, legend_texts

pytest.importorskip("matplotlib")

from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from diffclass.plots import DEFAULT_PALETTE, EmbeddingDisplay

RNG = np.random.default_rng(0)
COORDINATES = RNG.normal(size=(60, 4)) * [3.0, 1.0, 0.3, 0.1]


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
    assert_everything_inside(display.figure_)


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
    assert_everything_inside(display.figure_)
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
    assert_everything_inside(display.plot().figure_)


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
    with pytest.raises(ParameterError, match="both set"):
        EmbeddingDisplay(COORDINATES, values=np.zeros(60), y=np.zeros(60, int))
    for wrong in ((0, 4), (-1,), (1, 1), (), (0, 1, 2, 3)):
        with pytest.raises(ParameterError, match="from 0 to 3"):
            EmbeddingDisplay(COORDINATES, components=wrong)
    plain, space = Figure().add_subplot(), Figure().add_subplot(projection="3d")
    with pytest.raises(ParameterError, match="projection='3d'"):
        EmbeddingDisplay(COORDINATES, components=(0, 1, 2)).plot(plain)
    with pytest.raises(ParameterError, match="projection '3d'"):
        EmbeddingDisplay(COORDINATES).plot(space)


def test_masked_values_are_no_values(rng):
    places, values, hidden = rng.normal(size=(30, 2)), rng.normal(size=30), np.arange(30) % 3 == 0
    masked = np.ma.array(np.where(hidden, -9999, values), mask=hidden)
    for given in (masked, np.where(hidden, np.nan, values)):
        display = EmbeddingDisplay(places, values=given).plot()
        assert display.points_.get_clim() == (values[~hidden].min(), values[~hidden].max())
        assert len(display.points_.get_offsets()) == 20
