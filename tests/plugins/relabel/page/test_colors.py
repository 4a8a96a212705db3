"""The colours on the canvas: those of the legend, over every picture."""

from __future__ import annotations

from itertools import cycle

import numpy as np

from diffclass.plots import DEFAULT_PALETTE

from ..browser import engine_map


def hex_rgb(color):
    return [int(color[k : k + 2], 16) for k in (1, 3, 5)]


def test_colors_of_the_map_are_those_of_the_legend(tab, editor):
    """Over every kind of picture on the canvas."""
    tab.key("l")
    tab.js("diffclass.layers.setOpacity('map', 1)")
    ids = engine_map(editor)
    samples = np.argwhere(ids < 4)[::17]
    for first, picture in zip(range(0, 18, 3), cycle(("true", "false", "mnf", "bands"))):
        tab.find("select[aria-label=Picture]").select_option(picture)
        tab.idle()
        colors = DEFAULT_PALETTE[first : first + 3]
        for class_id, color in enumerate(colors, start=1):
            operation = {"op": "recolor_class", "id": class_id, "color": color.lower()}
            tab.js("operation => diffclass.apply(operation)", operation)
            tab.wait(f"diffclass.state.classes[{class_id - 1}].color === {color.lower()!r}")
        legend = [hex_rgb(colors[ids[row, column] - 1]) for row, column in samples]
        np.testing.assert_array_equal(tab.colors(samples), legend)


def test_until_there_is_a_map_the_picture_has_its_colors(blank, places):
    assert blank.js("diffclass.layers.greyUnder")
    blank.idle()
    assert blank.find("[data-layer=map] + input").is_hidden()
    assert blank.find(".none:visible").all_inner_texts() == ["none"] * 4
    (row, column), _ = places[2]
    (begun,) = blank.colors([(row, column)])
    blank.js("diffclass.layers.setVisible('map', false)")
    (plain,) = blank.colors([(row, column)])
    assert (begun == plain).all()
    assert np.ptp(begun) > 10


def test_a_map_of_one_class_is_none(blank, places, editor):
    """It has that class everywhere; the second class makes the first map."""
    blank.idle()
    (samples,) = [[place for pair in places.values() for place in pair]]
    blank.key("l")
    plain = blank.colors(samples)
    blank.add_class("nuclei")
    (row, column), _ = places[1]
    blank.paint(1, (row, column - 1), (row, column + 1))
    assert (engine_map(editor) == 1).any()
    assert (blank.colors(samples) == plain).all()
    assert blank.find(".badge[role=status]").inner_text() == "no map yet"
    blank.add_class("cytoplasm")
    (row, column), _ = places[2]
    blank.paint(2, (row, column - 1), (row, column + 1))
    assert blank.find(".badge[role=status]").inner_text() == "up to date"
    assert (blank.colors(samples) != plain).any(axis=1).all()
    blank.undo()
    assert (blank.colors(samples) == plain).all()


def test_the_picture_shows_through_the_map(tab, editor, places):
    tab.key("l")
    (row, column), _ = places[3]
    over = tab.colors([(row, column)])[0]
    color = hex_rgb(DEFAULT_PALETTE[engine_map(editor)[row, column] - 1])
    tab.js("diffclass.layers.setOpacity('map', 0.002)")  # the grey picture
    grey = tab.colors([(row, column)])[0]
    np.testing.assert_allclose(over, (grey + np.array(color)) / 2, atol=2)


def test_another_picture_is_seen_while_it_is_chosen(tab, places):
    tab.key("l")
    samples = [place for pair in places.values() for place in pair]
    before = tab.colors(samples)
    tab.find("select[aria-label=Picture]").select_option("false")
    tab.wait("diffclass.layers.isLowered")
    picture = tab.colors(samples)
    tab.idle()  # the map is back
    assert not tab.js("diffclass.layers.isLowered")
    after = tab.colors(samples)
    tab.key("i")
    assert (tab.colors(samples) == picture).all()
    assert (after != picture).any()
    assert (before != picture).any()


def test_a_gray_picture_is_an_option(tab, places):
    tab.key("l")
    tab.js("diffclass.layers.setOpacity('map', 0.1)")
    row, column = places[1][0]
    tab.js("diffclass.layers.setVisible('map', false)")
    (plain,) = tab.colors([(row, column)])
    tab.js("diffclass.layers.setVisible('map', true)")
    (over_gray,) = tab.colors([(row, column)])
    tab.key("y")
    assert not tab.js("diffclass.layers.greyUnder")
    tab.idle()
    (over_color,) = tab.colors([(row, column)])
    spread = [int(np.ptp(color)) for color in (plain, over_gray, over_color)]
    assert spread[1] < spread[2]
    tab.key("y", "o")  # outlines hide nothing: the picture keeps its colours
    (outlined,) = tab.colors([(row, column)])
    assert (outlined == plain).all()
