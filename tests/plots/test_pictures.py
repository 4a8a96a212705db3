from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from diffclass.exceptions import DataError, ParameterError
from tests.drawings import assert_everything_inside, legend_texts

pytest.importorskip("matplotlib")

from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from diffclass.plots import (
    DEFAULT_PALETTE,
    ClassMapDisplay,
    CompositeDisplay,
    MarginMapDisplay,
    class_palette,
    plot_side_by_side,
)

MAP = np.kron([[1, 2, 7], [0, 7, 1]], np.ones((10, 10), dtype=int))


def rendered(figure):
    """Return the drawn figure's pixels, 0 to 255, with the first row at the top."""
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())


def color_at(display, row, column):
    """Return the drawn colour in the middle of a picture's pixel, 0 to 1."""
    pixels = rendered(display.figure_)
    x, y = display.ax_.transData.transform((column, row))
    return pixels[pixels.shape[0] - 1 - int(y), int(x)] / 255.0


@pytest.mark.parametrize("own", [None, {1: "#112233", 2: "#aabbcc", 7: "#00ff00"}])
def test_class_map_draws_the_palette(own):
    display = ClassMapDisplay(MAP, class_colors=own).plot()
    expected = own or dict(zip((1, 2, 7), DEFAULT_PALETTE, strict=False))
    for (row, column), i in {(4, 4): 1, (4, 14): 2, (4, 24): 7, (14, 14): 7, (14, 24): 1}.items():
        np.testing.assert_allclose(
            color_at(display, row, column), to_rgba(expected[i]), atol=1.5 / 255
        )
    # pixels without a class show the ground of the axes
    np.testing.assert_allclose(color_at(display, 14, 4), (1, 1, 1, 1), atol=1e-6)


def test_colors_do_not_depend_on_which_classes_occur():
    all_ids = ClassMapDisplay(MAP, class_ids=[1, 2, 7])
    some = ClassMapDisplay(np.where(MAP == 1, 0, MAP), class_ids=[1, 2, 7])
    assert all_ids.class_colors == some.class_colors
    np.testing.assert_allclose(
        color_at(some.plot(), 4, 24), to_rgba(DEFAULT_PALETTE[2]), atol=1.5 / 255
    )


def test_ids_need_not_be_sorted():
    display = ClassMapDisplay(MAP, class_ids=[7, 1, 2], class_colors=["red", "lime", "blue"]).plot()
    np.testing.assert_allclose(color_at(display, 4, 24), to_rgba("red"), atol=1.5 / 255)
    np.testing.assert_allclose(color_at(display, 4, 4), to_rgba("lime"), atol=1.5 / 255)


def test_class_map_legend_and_labels():
    display = ClassMapDisplay(MAP, class_names={1: "corn", 2: "soy"}).plot(title="map")
    texts = legend_texts(display)
    assert texts == ["corn (200 px)", "soy (100 px)", "class 7 (200 px)", "no class (100 px)"]
    assert display.ax_.get_xlabel() == "column (pixel)"
    assert display.ax_.get_ylabel() == "row (pixel)"
    assert display.ax_.get_title() == "map"
    assert display.figure_ is display.ax_.figure


def test_given_axes_are_used():
    ax = Figure().add_subplot()
    display = ClassMapDisplay(MAP).plot(ax=ax)
    assert display.ax_ is ax
    assert display.legend_ is ax.get_legend()
    assert ClassMapDisplay(MAP).plot(ax=ax, legend=False).legend_ is None


def test_map_of_nothing_and_negative_ids():
    for empty in (np.zeros((4, 5), int), np.full((4, 5), -1), np.zeros((1, 1), np.uint8)):
        display = ClassMapDisplay(empty).plot()
        rendered(display.figure_)
        assert [t.get_text()[:8] for t in display.legend_.get_texts()] == ["no class"]


@pytest.mark.parametrize("shape", [(60, 60), (20, 120), (120, 20), (40, 30)])
def test_nothing_is_cut_off(shape):
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 17, shape)
    figures = [
        ClassMapDisplay(ids, class_names={3: "soybean with minimal tillage"}).plot().figure_,
        MarginMapDisplay(rng.random(shape)).plot(title="margin").figure_,
        CompositeDisplay(rng.random((*shape, 5)), ids).plot(title="scene").figure_,
        plot_side_by_side(
            rng.random((*shape, 5)), ids, maps={"1-NN": ids}, margin=rng.random(shape)
        ),
    ]
    for figure in figures:
        assert_everything_inside(figure)


@pytest.mark.parametrize(
    ("error", "wrong"),
    [
        (DataError, {"class_map": np.ones(4, int)}),
        (DataError, {"class_map": np.ones((2, 2))}),
        (DataError, {"class_map": MAP, "class_ids": [1, 2]}),
        (ParameterError, {"class_map": MAP, "class_names": ["only one"]}),
        (ParameterError, {"class_map": MAP, "class_colors": ["red"]}),
    ],
)
def test_class_map_refuses(error, wrong):
    with pytest.raises(error):
        ClassMapDisplay(**wrong)


def test_no_two_classes_have_one_color():
    assert len(set(class_palette(range(300)).values())) == 300


def test_margin_map():
    margin = np.full((6, 6), 0.25)
    margin[0, 0] = np.nan
    display = MarginMapDisplay(margin).plot()
    assert display.colorbar_.ax.get_ylabel() == "margin (probability, 0 to 1)"
    assert display.im_.get_clim() == (0, 1)
    np.testing.assert_allclose(color_at(display, 3, 3), display.im_.cmap(0.25), atol=2 / 255)
    np.testing.assert_allclose(color_at(display, 0, 0), (1, 1, 1, 1), atol=1e-6)
    assert MarginMapDisplay(margin).plot(legend=False).colorbar_ is None
    with pytest.raises(DataError, match="0 to 1"):
        MarginMapDisplay(margin * 8)


def test_composite_stretch_and_strokes():
    rng = np.random.default_rng(0)
    cube = rng.normal(1000.0, 50.0, (30, 40, 12))
    cube[5, 5] = np.nan
    labels = np.zeros((30, 40), int)
    labels[10:14, 10:30] = 2
    display = CompositeDisplay(cube, labels, class_colors={2: "#112233"}, bands=(9, 5, 1)).plot()
    composite = display.composite
    assert composite.min() == 0.0
    assert composite.max() == 1.0
    known = np.isfinite(cube).all(axis=-1)
    assert (composite[known] == 0.0).mean() == pytest.approx(0.02, abs=0.005)
    np.testing.assert_allclose(composite[5, 5], 0.85)
    np.testing.assert_allclose(color_at(display, 12, 20), to_rgba("#112233"), atol=1.5 / 255)
    assert legend_texts(display) == ["class 2 (80 px)"]


def test_composite_of_one_band_of_constants_and_of_nothing():
    assert CompositeDisplay(np.ones((5, 5))).plot().legend_ is None
    assert CompositeDisplay(np.full((5, 5, 3), np.nan)).composite.min() == np.float32(0.85)
    rendered(CompositeDisplay(np.ones((5, 5, 4)), np.zeros((5, 5), int)).plot().figure_)


def test_composite_refuses():
    with pytest.raises(DataError, match="labels"):
        CompositeDisplay(np.ones((5, 5, 3)), np.ones((4, 5), int))
    with pytest.raises(ParameterError, match="bands"):
        CompositeDisplay(np.ones((5, 5, 3)), bands=(0, 1, 3))


def test_masked_pixels_are_missing():
    hidden, covered = MAP == 7, np.arange(30) % 4 == 0
    for plain, masked in ((0, -9999), (0, 7)):
        with_mask = np.ma.array(np.where(hidden, masked, MAP), mask=hidden)
        shown, known = ClassMapDisplay(with_mask), ClassMapDisplay(np.where(hidden, plain, MAP))
        np.testing.assert_array_equal(shown.class_map, known.class_map)
        assert shown.class_ids == known.class_ids == [1, 2]
    margin = np.where(hidden, np.nan, 0.5)
    np.testing.assert_array_equal(
        MarginMapDisplay(np.ma.array(np.where(hidden, -1.0, 0.5), mask=hidden)).margin, margin
    )
    for dtype in (np.uint8, np.int16, np.float32):
        cube = np.stack([MAP + band for band in range(3)], axis=2).astype(dtype)
        missing = np.ma.array(cube, mask=np.zeros(cube.shape, dtype=bool))
        cube[:, covered], missing[:, covered] = 99, np.ma.masked
        gone = np.where(covered[:, None], np.nan, cube)
        np.testing.assert_array_equal(
            CompositeDisplay(missing).composite, CompositeDisplay(gone).composite
        )


def test_side_by_side():
    cube = np.random.default_rng(0).random((*MAP.shape, 6))
    strokes = np.where(np.arange(30) % 10 == 5, MAP, 0)
    figure = plot_side_by_side(
        cube,
        strokes,
        maps={"1-NN": MAP, "diffusion": MAP},
        margin=np.full(MAP.shape, 0.5),
        accuracies={"1-NN": 0.612, "diffusion": 0.9761},
        class_names={1: "nuclei", 2: "cytoplasm", 7: "stroma"},
    )
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    assert titles == [
        "scene and labels", "1-NN: 61.2 % correct", "diffusion: 97.6 % correct", "margin"
    ]  # fmt: skip
    assert len(figure.legends) == 1
    texts = [t.get_text() for t in figure.legends[0].get_texts()]
    assert texts == ["nuclei", "cytoplasm", "stroma", "no class"]
    with pytest.raises(DataError, match="1-NN"):
        plot_side_by_side(cube, strokes, maps={"1-NN": MAP[:5]})


def test_without_matplotlib_the_error_names_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ParameterError, match=r"pip install 'diffclass\[plots\]'"):
        MarginMapDisplay(np.zeros((3, 3))).plot()
    with pytest.raises(ParameterError, match=r"diffclass\[plots\]"):
        ClassMapDisplay(MAP)


def test_importing_the_displays_loads_nothing_heavy():
    heavy = {"matplotlib", "sklearn", "scipy"}
    code = f"import sys, diffclass.plots; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
