"""The colours on the canvas: those of the legend, over every picture."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.plots import DEFAULT_PALETTE

from ..browser import engine_map
from ..color_difference import delta_e, lab

FARTHEST = 10  # CIEDE2000 at which a colour is still told to be that of the legend


def hex_rgb(color):
    return [int(color[k : k + 2], 16) for k in (1, 3, 5)]


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [  # of Sharma, Wu and Dalal's table
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_difference_of_colors(first, second, wanted):
    assert delta_e(first, second) == pytest.approx(wanted, abs=1e-4)


def test_colors_of_the_map_are_those_of_the_legend(painted, editor):
    """Over every grey by calculation, over every kind of picture on the canvas."""
    tab = painted
    opacity = tab.js("diffclass.layers.get('map').opacity")
    level = np.linspace(0, 255, 16)
    colors = np.stack(np.meshgrid(level, level, level), axis=-1).reshape(-1, 1, 3)
    seen = np.rint(opacity * colors + (1 - opacity) * level[:, None])
    assert delta_e(lab(colors), lab(seen)).max() <= FARTHEST
    tab.key("l")
    ids = engine_map(editor)
    samples = np.argwhere(ids < 4)[::17]
    for picture in ("true", "false", "mnf", "bands"):
        tab.find("select[aria-label=Picture]").select_option(picture)
        tab.idle()
        for first in range(0, 18, 3):
            colors = DEFAULT_PALETTE[first : first + 3]
            for class_id, color in enumerate(colors, start=1):
                operation = {"op": "recolor_class", "id": class_id, "color": color.lower()}
                tab.js("operation => diffclass.apply(operation)", operation)
                tab.wait(f"diffclass.state.classes[{class_id - 1}].color === {color.lower()!r}")
            legend = lab([hex_rgb(colors[ids[row, column] - 1]) for row, column in samples])
            drawn = lab(tab.colors(samples))
            assert delta_e(legend, drawn).max() <= FARTHEST


def test_until_there_is_a_map_the_picture_has_its_colors(tab, places):
    assert tab.js("diffclass.layers.greyUnder")
    tab.idle()
    (row, column), _ = places[2]
    (begun,) = tab.colors([(row, column)])
    tab.js("diffclass.layers.setVisible('map', false)")
    (plain,) = tab.colors([(row, column)])
    assert (begun == plain).all()
    assert np.ptp(begun) > 10


def test_a_gray_picture_is_an_option(painted, places):
    tab = painted
    tab.key("l")
    tab.js("diffclass.layers.setOpacity('map', 0.1)")
    row, column = places[1][0]
    tab.js("diffclass.layers.setVisible('map', false)")
    (plain,) = tab.colors([(row, column)])
    tab.js("diffclass.layers.setVisible('map', true)")
    (over_gray,) = tab.colors([(row, column)])
    tab.key("y")
    assert not tab.js("diffclass.layers.greyUnder")
    (over_color,) = tab.colors([(row, column)])
    spread = [int(np.ptp(color)) for color in (plain, over_gray, over_color)]
    assert spread[1] < spread[2]
    tab.key("y", "o")  # outlines hide nothing: the picture keeps its colours
    (outlined,) = tab.colors([(row, column)])
    assert (outlined == plain).all()
