"""What the tests of plots assert of every figure."""

from __future__ import annotations


def legend_texts(display):
    """Return what the legend of a display says."""
    return [text.get_text() for text in display.legend_.get_texts()]


def assert_everything_inside(figure):
    """Assert that the layout cuts nothing off, by more than a pixel."""
    figure.canvas.draw()
    width, height = figure.bbox.size
    box = figure.get_tightbbox(figure.canvas.get_renderer())
    left, bottom, right, top = (v * figure.dpi for v in box.extents)
    assert left >= -1
    assert bottom >= -1
    assert right <= width + 1
    assert top <= height + 1
