"""PNG pictures of maps: with legend and scale bar for people, or as a palette image for programs.

Drawing takes some 130 bytes per pixel: of maps with more than four million pixels every second,
third, ... row and column is drawn; a palette image has them all.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from diffclass.exceptions import DiffclassError, ParameterError
from diffclass.plots import new_figure
from diffclass.system.libraries import require
from diffclass_hyperspectral.io.georeference import Georeference, georeference_of, parsed_crs
from diffclass_hyperspectral.io.labels import ClassTable, largest_id
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
    """Save the map in the table's colours, not mixed anywhere, with names and pixel counts."""
    figure = new_figure(layout=None)
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
    figure = new_figure(layout=None)
    array = _thinned(band)
    height, width = _magnified(array).shape
    total_width, total_height = width + 110 + 2 * _GAP, height + 2 * _GAP
    figure.set_size_inches(total_width / _DPI, total_height / _DPI)
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
    """Return how many dots wide a pixel of a map is drawn, below 1 where not all of them are."""
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


_DEGREE_METRES = 111_195.0  # of a great circle of the mean earth, radius 6371 km
_MARGIN = 12
_THICKNESS = 5
_STRIP = 34
_FONT_SIZE = 13


def metres_of_a_pixel(place: Georeference, n_rows: int) -> float | None:
    """Return a pixel's width on the ground in metres, of degrees in the middle of the picture.

    >>> metres_of_a_pixel(Georeference((30.0, 0, 5e5, 0, -30.0, 5.4e6), "EPSG:32633"), 10)
    30.0
    """
    try:
        crs = parsed_crs(place.crs)
    except DiffclassError:
        return None
    width = math.hypot(place.transform[0], place.transform[3])
    if crs is None:
        return None
    if crs.is_geographic:
        latitude = place.transform[5] + place.transform[4] * n_rows / 2
        return width * _DEGREE_METRES * math.cos(math.radians(latitude))
    if not crs.is_projected or not place.keeps_areas:
        return None
    return width * crs.linear_units_factor[1]


def bar_length(metres_of_dot: float, n_dots: int) -> float:
    """Return the longest of 1, 2, 5, 10, ... metres that is a third of the picture at most."""
    most = metres_of_dot * n_dots / 3
    power = 10.0 ** math.floor(math.log10(most))
    return max(step * power for step in (1, 2, 5) if step * power <= most)


def add_scale_bar(path: Path, map_info: Sequence[str] | None, shape: tuple[int, ...]) -> None:
    """Put a bar and its length under a PNG of a map, unless the scale is not known."""
    dots = dots_of_a_pixel(shape)
    place = georeference_of(map_info)
    metres = None if place is None else metres_of_a_pixel(place, shape[0])
    if not metres or not math.isfinite(metres) or metres < 0:
        return
    length = bar_length(metres / dots, round(shape[1] * dots))
    images, draws = require("PIL.Image"), require("PIL.ImageDraw")
    font = require("PIL.ImageFont").load_default(size=_FONT_SIZE)
    with images.open(path) as picture:
        longer = images.new("RGB", (picture.width, picture.height + _STRIP), "white")
        longer.paste(picture.convert("RGB"), (0, 0))
    top, end = longer.height - _STRIP + 8, _MARGIN + round(length * dots / metres)
    draw = draws.Draw(longer)
    draw.rectangle((_MARGIN, top, end - 1, top + _THICKNESS - 1), fill="black")
    draw.text((end + 8, top + _THICKNESS / 2), _text(length), fill="black", font=font, anchor="lm")
    longer.save(path, format="PNG")


def _text(metres: float) -> str:
    return f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"
