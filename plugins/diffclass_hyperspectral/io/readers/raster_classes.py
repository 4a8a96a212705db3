"""Names and colours of the classes of a raster, as GDAL finds them in any of its formats.

A raster attribute table (in the file, or in an ``.aux.xml`` beside it) has a row for each class; a
list of category names has one for each number from 0. ``rasterio`` reads neither, but GDAL writes
both into the description of a virtual raster. Names in full stand in a tag of the band.

Source: GDAL, Raster Attribute Tables (GDALRATFieldUsage); PAM and VRT have one schema for them.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from diffclass.system.libraries import require
from diffclass_hyperspectral.io.gdal_messages import quiet
from diffclass_hyperspectral.io.readers.contents import Color, classes_of_flags, full_names
from diffclass_hyperspectral.io.readers.pictures import NAMES_KEY

_NAME, _MIN, _MIN_MAX = "2", "3", "5"
_COLORS = ("6", "7", "8")
_NAMES_OF_VALUES = ("value", "class_id", "id")
_NAMES_OF_NAMES = ("class_name", "class_names", "classname", "class", "name", "category", "label")
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """Return a text as XML 1.0 can hold it: what it has no letter for is U+FFFD."""
    return _NO_XML.sub("\ufffd", text)


def classes_of_raster(raster: Any) -> tuple[dict[int, str] | None, dict[int, Color] | None]:
    """Return names and colours by id of rasterio's dataset of one band; None where it has none."""
    if raster.count != 1:
        return None, None
    flagged, flag_colors = classes_of_flags(raster.tags())
    names, colors = _described(raster)
    names = full_names(names or flagged, raster.tags(1).get(NAMES_KEY), _plain)
    return names or None, {**flag_colors, **_palette(raster), **colors} or None


def _described(raster: Any) -> tuple[dict[int, str], dict[int, Color]]:
    band = _description(raster)
    table = band.find("GDALRasterAttributeTable")
    listed = [category.text or "" for category in band.iter("Category")]
    categories = {i: name for i, name in enumerate(listed) if name}
    if table is None:
        return categories, {}
    names, colors = _rows(table)
    return names or categories, colors


def _description(raster: Any) -> ElementTree.Element:
    """Return what GDAL knows of the only band."""
    shutil = require("rasterio.shutil", extra="maps")
    files = require("rasterio.io", extra="maps")
    with quiet(), files.MemoryFile(ext=".vrt") as virtual:
        shutil.copy(raster, virtual.name, driver="VRT")
        # what XML has no letter for cannot be parsed
        text = xml_text(virtual.read().decode("utf-8", errors="replace"))
    found = ElementTree.fromstring(text).find("VRTRasterBand")
    return ElementTree.Element("VRTRasterBand") if found is None else found


def _rows(table: ElementTree.Element) -> tuple[dict[int, str], dict[int, Color]]:
    fields = [
        (field.findtext("Usage", ""), field.findtext("Name", "").lower())
        for field in table.iter("FieldDefn")
    ]
    value = _column(fields, (_MIN_MAX, _MIN), _NAMES_OF_VALUES)
    name = _column(fields, (_NAME,), _NAMES_OF_NAMES)
    parts = [_column(fields, (usage,), ()) for usage in _COLORS]
    names: dict[int, str] = {}
    colors: dict[int, Color] = {}
    for number, row in enumerate(table.iter("Row")):
        cells = [cell.text or "" for cell in row.iter("F")]
        class_id = number if value is None else _whole(cells[value])
        if class_id is None or class_id < 0:
            continue  # a range of measurements is no class
        if name is not None and cells[name].strip():
            names[class_id] = cells[name]
        color = [_whole(cells[part]) for part in parts if part is not None]
        if len(color) == 3 and all(part is not None and 0 <= part <= 255 for part in color):
            colors[class_id] = (color[0], color[1], color[2])  # type: ignore[assignment]
    return names, colors


def _column(
    fields: list[tuple[str, str]], usages: tuple[str, ...], names: tuple[str, ...]
) -> int | None:
    """Return which column is used so, else the first that is called so."""
    by_usage = [i for usage in usages for i, field in enumerate(fields) if field[0] == usage]
    by_name = [i for name in names for i, field in enumerate(fields) if field[1] == name]
    return next(iter(by_usage + by_name), None)


def _whole(text: str) -> int | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return int(number) if number.is_integer() else None


def _palette(raster: Any) -> dict[int, Color]:
    try:
        colors = raster.colormap(1)
    except ValueError:
        return {}
    return {index: (red, green, blue) for index, (red, green, blue, _) in colors.items()}


def _plain(name: str) -> str:
    return " ".join(xml_text(name).split())
