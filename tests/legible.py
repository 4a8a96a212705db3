"""What makes a picture hard to read: text too small, text on text, more than a column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.text import Text

from experiments.figure import COLUMN, LEAST_TEXT, STYLE

SHARED = 0.2  # square points that two boxes may share: boxes are a little larger than their text


def faults(
    plot: Callable[[Any], Figure],
    results: Any,
    *,
    widest: float = COLUMN,
    least_text: float = LEAST_TEXT,
) -> list[str]:
    """Draw a figure as its script does and return what is hard to read in it."""
    with rc_context(STYLE):
        figure = plot(results)
        figure.draw_without_rendering()
        return [
            *_too_wide(figure, widest),
            *_cut_off(figure),
            *_too_small(figure, least_text),
            *_on_one_another(figure),
        ]


def _too_wide(figure: Figure, widest: float) -> Iterator[str]:
    if figure.get_figwidth() > widest:
        yield f"{figure.get_figwidth():.1f} inches wide"


def _cut_off(figure: Figure) -> Iterator[str]:
    width, height = figure.bbox.size
    for text in _texts(figure):
        box = text.get_window_extent()
        if min(box.x0, box.y0) < -1 or box.x1 > width + 1 or box.y1 > height + 1:
            yield f"{text.get_text()!r} runs out of the figure"


def _too_small(figure: Figure, least_text: float) -> Iterator[str]:
    for text in _texts(figure):
        if text.get_fontsize() < least_text - 1e-6:
            yield f"{text.get_text()!r} in {text.get_fontsize():g} points"


def _on_one_another(figure: Figure) -> Iterator[str]:
    area = (figure.dpi / 72) ** 2
    boxes = [(text.get_text(), text.get_window_extent()) for text in _texts(figure)]
    for (a, box_a), (b, box_b) in combinations(boxes, 2):
        width = min(box_a.x1, box_b.x1) - max(box_a.x0, box_b.x0)
        height = min(box_a.y1, box_b.y1) - max(box_a.y0, box_b.y0)
        if min(width, height) > 0 and width * height > SHARED * area:
            yield f"{a!r} on {b!r}"


def _texts(figure: Figure) -> Iterator[Text]:
    """Yield all text that is drawn, tick labels outside the limits left out."""
    hidden = {id(label) for axes in figure.axes for label in _unseen(axes)}
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden:
            yield text


def _unseen(axes: Any) -> Iterator[Text]:
    for axis in (axes.xaxis, axes.yaxis):
        if not axes.axison or not axis.get_visible():
            yield from axis.findobj(Text)
            continue
        low, high = sorted(axis.get_view_interval())
        slack = 1e-9 * (high - low)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            seen = low - slack <= tick.get_loc() <= high + slack
            if not seen or not tick.get_visible():
                yield from (tick.label1, tick.label2)
