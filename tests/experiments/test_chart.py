"""The chart of guide/which.md says what its table says, and can be read."""

from __future__ import annotations

import html
import re
import shlex

import pytest
from matplotlib.patches import FancyBboxPatch
from matplotlib.transforms import Bbox

from experiments import chart
from tests import legible
from tests.project.test_guides import ROOT, check_options, lines_of

GUIDE = (ROOT / "guide" / "which.md").read_text("utf-8")
ANSWERS = [chart.MANY, *(answer for part in chart.QUESTIONS for answer in part.answers)]


def commands(text):
    return [shlex.split(line, comments=True) for line in lines_of(text)]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.when)
def test_every_answer_is_in_the_table(answer):
    command = " ".join(answer.command.split())
    assert command in GUIDE
    assert answer.python in GUIDE
    assert command or answer.python or answer.advice
    for program, *words in commands(command if command.startswith("diffclass") else ""):
        assert program == "diffclass"
        check_options(words, "the chart")


def test_commands_of_the_table_have_their_options():
    table = "\n".join(re.findall(r"`(diffclass [^`]+)`", GUIDE))
    for _, *words in commands(table):
        check_options(words, "guide/which.md")


@pytest.mark.parametrize(("shape", "widest"), [("wide", 918 / 96), ("tall", 366 / 96)])
def test_text_is_large_enough_and_in_its_box(shape, widest):
    def plot(theme):
        return chart.plot(shape, theme)

    theme = chart.THEMES["light"]
    assert legible.faults(plot, theme, widest=widest, least_text=9) == []
    figure = plot(theme)
    figure.set_dpi(720)  # glyphs at a tenth of a point: in few dots they are set wider
    figure.draw_without_rendering()
    boxes = [patch.get_window_extent() for patch in figure.findobj(FancyBboxPatch)]
    for text in figure.axes[0].texts:
        extent = text.get_window_extent()
        around = [box for box in boxes if Bbox.intersection(box, extent)]
        assert all(box.x0 < extent.x0 and extent.x1 < box.x1 - 40 for box in around), text


@pytest.mark.parametrize("theme", chart.THEMES.values(), ids=chart.THEMES)
def test_text_stands_out(theme):
    for paper in (theme.page, theme.panel, theme.box):
        assert contrast(theme.text, paper) > 7
    assert contrast(theme.python, theme.box) > 4.5
    assert contrast("#ffffff", theme.question) > 4.5


def contrast(one, other):
    """Return the contrast of two colours as WCAG 2 defines it, from 1 to 21."""

    def luminance(color):
        shares = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_pictures_are_those_of_the_script(tmp_path):
    chart.main(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(path.name for path in chart.OUTPUT.iterdir())
    for name in names:
        assert f'"which/{name}"' in GUIDE
        assert said(tmp_path / name) == said(chart.OUTPUT / name)


def said(picture):
    """Return the texts of a picture; where they stand depends on the version of matplotlib."""
    return [html.unescape(text) for text in re.findall(r">([^<>]+)</text>", picture.read_text())]
