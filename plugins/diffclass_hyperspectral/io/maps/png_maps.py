"""PNG pictures of maps: with a legend for people, or as a palette image for programs.

Drawing takes some 130 bytes of memory per pixel. Of maps with more than four million pixels every
second, third, ... row and column is drawn; a palette image has them all.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from diffclass.exceptions import ParameterError
from diffclass_hyperspectral.io.labels import ClassTable, largest_id
from diffclass_hyperspectral.io.libraries import require
from diffclass_hyperspectral.io.rasters import Raster, blocks_of
from diffclass_hyperspectral.io.readers import NAMES_KEY, names_as_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

_DPI = 100
_GAP = 12
_LEAST_SIDE = 480
_MOST_PIXELS = 2**22
_GREATEST_SIDE = 60_000  # matplotlib draws at most 2**16 screen pixels


def save_palette_png(path: Path, ids: Raster, table: ClassTable) -> None:
    """Save ids as palette indices with the table's colours; names go into a text chunk."""
    images = require("PIL.Image")
    text = require("PIL.PngImagePlugin").PngInfo()
    largest_id(table.ids, "a PNG")
    text.add_text(NAMES_KEY, names_as_json({entry.id: entry.name for entry in table.entries}))
    small = np.empty(ids.shape, dtype=np.uint8)
    for rows, block in blocks_of(ids):
        small[rows] = block
    image = images.fromarray(small)
    image.putpalette(table.palette.ravel().tolist())
    image.save(path, format="PNG", pnginfo=text)


def save_class_png(path: Path, ids: Raster, table: ClassTable) -> None:
    """Save the map in the table's colours, with names and pixel counts.

    The pixels that are drawn are squares of whole screen pixels: nothing is mixed.
    """
    figure = new_figure()
    legend = _class_legend(figure, _counts(ids), table)
    picture = _magnified(table.palette[_thinned(ids)])
    height, width = picture.shape[:2]
    with _any_letters():
        box = legend.get_window_extent()
    total_width = width + box.width + 3 * _GAP
    total_height = max(height, box.height) + 2 * _GAP
    figure.set_size_inches(total_width / _DPI, total_height / _DPI)
    legend.set_bbox_to_anchor(((width + 2 * _GAP) / total_width, 1 - _GAP / total_height))
    figure.figimage(picture, xo=_GAP, yo=round(total_height) - _GAP - height, origin="upper")
    _save(figure, path)


def save_raster_png(path: Path, band: Raster, *, label: str) -> None:
    """Save one band (rows, columns) in viridis with a colour bar; NaN is left white."""
    figure = new_figure()
    array = _thinned(band)
    height, width = _magnified(array).shape
    figure.set_size_inches((width + 110 + 2 * _GAP) / _DPI, (height + 2 * _GAP) / _DPI)
    total_width, total_height = width + 110 + 2 * _GAP, height + 2 * _GAP
    axes = figure.add_axes(
        (_GAP / total_width, _GAP / total_height, width / total_width, height / total_height)
    )
    image = axes.imshow(array, cmap="viridis", interpolation="nearest", aspect="auto")
    axes.set_axis_off()
    bar = figure.add_axes(
        ((width + 2 * _GAP) / total_width, _GAP / total_height,
         16 / total_width, height / total_height)
    )  # fmt: skip
    figure.colorbar(image, cax=bar, label=_literal(label))
    _save(figure, path)


def new_figure(**options: Any) -> Figure:
    """Make a white figure of 100 dots per inch that draws without a screen."""
    figure_class = require("matplotlib.figure", extra="plots").Figure
    figure = figure_class(dpi=_DPI, facecolor="white", **options)
    require("matplotlib.backends.backend_agg", extra="plots").FigureCanvasAgg(figure)
    return figure


def _counts(ids: Raster) -> Counter[int]:
    counts: Counter[int] = Counter()
    for _, block in blocks_of(ids):
        values, found = np.unique(block, return_counts=True)
        counts.update(dict(zip(values.tolist(), found.tolist(), strict=True)))
    return counts


def _class_legend(figure: Figure, present: Counter[int], table: ClassTable) -> Legend:
    patches = require("matplotlib.patches", extra="plots")
    shown = [entry for entry in table.entries if entry.id or present.get(0)]
    return figure.legend(
        handles=[
            patches.Patch(
                facecolor=np.array(entry.color) / 255, edgecolor="0.4", linewidth=0.5,
                label=f"{entry.id}  {_literal(entry.name)}  ({present.get(entry.id, 0):,})",
            )
            for entry in shown
        ],
        loc="upper left", frameon=False, fontsize=9, borderaxespad=0, borderpad=0,
    )  # fmt: skip


def _literal(text: str) -> str:
    """Keep dollar signs from being read as formulas."""
    return text.replace("$", r"\$")


def dots_of_a_pixel(shape: tuple[int, ...]) -> float:
    """Return how many dots of the screen wide a pixel of a map of this shape is drawn.

    Below 1 where not all rows and columns are.
    """
    step = _step(shape)
    drawn = tuple(-(-size // step) for size in shape[:2])
    return _times(drawn) / step


def _times(shape: tuple[int, ...]) -> int:
    return max(1, -(-_LEAST_SIDE // max(shape[:2])))


def _step(shape: tuple[int, ...]) -> int:
    """Return how many rows, and columns, lie between those that are drawn."""
    rows, columns = shape[:2]
    step = 1
    while -(-rows // step) * -(-columns // step) > _MOST_PIXELS:
        step += 1
    return step


def _thinned(raster: Raster) -> np.ndarray:
    step = _step(raster.shape)
    return np.concatenate([block[::step, ::step] for _, block in blocks_of(raster, step=step)])


def _magnified(array: np.ndarray) -> np.ndarray:
    """Repeat pixels a whole number of times until the longer side is easy to see."""
    if max(array.shape[:2]) > _GREATEST_SIDE:
        raise ParameterError(
            f"{array.shape[0]} rows x {array.shape[1]} columns are too many for a picture "
            f"({_GREATEST_SIDE} at most); write .img, .tif or .npy"
        )
    times = _times(array.shape)
    return array.repeat(times, axis=0).repeat(times, axis=1)


@contextmanager
def _any_letters() -> Iterator[None]:
    """Let a letter that the font lacks be drawn as a box, without a warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _save(figure: Figure, path: Path) -> None:
    with _any_letters():
        figure.savefig(path, dpi=_DPI, format="png")
