"""STAC items and collections, by ``pystac``: the assets of an item are the bands of a scene.

An asset counts if its roles call it data or, where none does, if it is a GeoTIFF or JPEG 2000. Of
several with the same band the first counts. Centre wavelengths and widths (in micrometres), scales,
offsets and no-data values stand in ``bands`` (STAC 1.1), or in ``eo:bands`` and ``raster:bands``
(before); scale and offset count where the file itself states none.

Source: STAC specification 1.1.0, item and common metadata; extensions electro-optical 2.0 and 1.1,
raster 2.0 and 1.1.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np

from diffclass.exceptions import DataError
from diffclass.libraries import reading, require
from diffclass.remote_paths import RemotePath, place_of
from diffclass_hyperspectral.io.readers.band_files import Band, read_bands
from diffclass_hyperspectral.io.readers.contents import Calibration, Contents

_SECONDS = 20  # that a server may be silent
_IMAGES = ("image/tiff", "image/jp2", "image/vnd.stac.geotiff", "application/x-geotiff")


def is_item(source: object) -> bool:
    """Tell whether something is a ``pystac.Item``, without importing pystac."""
    return all(hasattr(source, name) for name in ("assets", "collection_id", "get_self_href"))


def items_of(source: Any) -> list[Any]:
    """Return the items of a collection, catalog or list of items in a file or at an address.

    An item is returned as it is, also the path to one, and so is any path that is no ``.json``.
    """
    if is_item(source) or not isinstance(source, str | os.PathLike):
        return [source]
    place = place_of(source)
    if place.suffix.lower() != ".json":
        return [source]
    found = _content(place)
    if found.get("type") == "Feature":
        return [source]
    pystac = require("pystac", extra="stac")
    with reading(place, "a STAC collection"):
        if found.get("type") == "FeatureCollection":
            items = [pystac.Item.from_dict(one) for one in found["features"]]
        else:
            catalog = pystac.read_file(os.fspath(place), stac_io=_reader(pystac))
            items = list(catalog.get_items(recursive=True))
        if not items:
            raise DataError(f"{place}: holds no item")
        return items


def read(source: Any, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Open the assets of an item as bands of a scene.

    Parameters
    ----------
    source : path-like or pystac.Item
    variable : str, optional
        Names of assets, or patterns such as "B0*", with commas between them.
    n_axes : int
        Is not used: what is read is a scene.
    """
    item = source if is_item(source) else _item(place_of(source))
    name = Path(item.id) if is_item(source) else place_of(source)
    with reading(name, "a STAC item"):
        bands = _bands(item, _chosen(item, name, variable))
    return read_bands(name, bands, format="STAC")


def _item(place: Path) -> Any:
    pystac = require("pystac", extra="stac")
    found = _content(place)
    if found.get("type") != "Feature" or "assets" not in found:
        raise DataError(
            f"{place}: no STAC item; of a collection, name it among several scenes, or an item"
        )
    with reading(place, "a STAC item"):
        item = pystac.Item.from_dict(found, href=os.fspath(place.absolute()))
        item.make_asset_hrefs_absolute()
    return item


def _content(place: Path) -> dict[str, Any]:
    with reading(place, "a STAC item or collection"):
        found = json.loads(_text(os.fspath(place)))
        if not isinstance(found, dict):
            raise DataError(f"{place}: no STAC item or collection")
        return found


def _text(href: str) -> str:
    if not isinstance(place_of(href), RemotePath):
        return Path(href).read_text(encoding="utf-8")
    with urlopen(Request(href, headers={"User-Agent": "diffclass"}), timeout=_SECONDS) as answer:
        return bytes(answer.read()).decode("utf-8")


def _reader(pystac: Any) -> Any:
    """Return what reads the files of a catalog, and gives up silent servers."""

    class Reader(pystac.stac_io.DefaultStacIO):  # type: ignore[misc]
        def read_text_from_href(self, href: str, *_: Any, **__: Any) -> str:
            return _text(href)

    return Reader()


def _chosen(item: Any, name: Path, variable: str | None) -> list[str]:
    """Return the names of the assets that are bands."""
    assets = item.assets
    if variable is not None:
        wanted = [word.strip() for word in variable.split(",")]
        found = [key for word in wanted for key in assets if fnmatchcase(key, word)]
        lacking = [word for word in wanted if not any(fnmatchcase(key, word) for key in assets)]
        if lacking:
            raise DataError(f"{name}: no asset {lacking[0]!r}; it has {', '.join(assets)}")
        return list(dict.fromkeys(found))
    data = [key for key, asset in assets.items() if "data" in (asset.roles or ())]
    images = [key for key, asset in assets.items()
              if (asset.media_type or "").partition(";")[0].strip().lower() in _IMAGES]  # fmt: skip
    both = [key for key in data if key in images]
    chosen, seen = [], set()
    for key in both or data or images:
        band = _facts(assets[key]).get("name", key)
        if band not in seen:
            chosen.append(key)
        seen.add(band)
    if not chosen:
        raise DataError(f"{name}: no asset is a raster; it has {', '.join(assets) or 'none'}")
    return chosen


def _facts(asset: Any) -> dict[str, Any]:
    """Return what is stated of an asset's only band, names as in STAC 1.1."""
    fields = asset.extra_fields
    facts: dict[str, Any] = {}
    for group in ("raster:bands", "eo:bands", "bands"):
        listed = fields.get(group) or []
        if len(listed) == 1:
            facts |= {key.removeprefix("eo:").removeprefix("raster:"): value
                      for key, value in listed[0].items()}  # fmt: skip
    for key in ("nodata", "raster:scale", "raster:offset", "eo:center_wavelength",
                "eo:full_width_half_max"):  # fmt: skip
        if key in fields:
            facts.setdefault(key.rpartition(":")[2], fields[key])
    return facts


def _bands(item: Any, keys: Sequence[str]) -> list[Band]:
    bands = []
    for key in keys:
        asset = item.assets[key]
        facts = _facts(asset)
        centre, width = facts.get("center_wavelength"), facts.get("full_width_half_max")
        place = place_of(asset.get_absolute_href() or asset.href)
        bands.append(Band(key, place, None if centre is None else 1e3 * float(centre),
                          1e3 * width if isinstance(width, int | float) else None,
                          _calibration(facts)))  # fmt: skip
    known = [band.wavelength for band in bands]
    if all(centre is not None for centre in known):
        bands = [bands[k] for k in np.argsort(np.array(known, dtype=float), kind="stable")]
    return bands


def _calibration(facts: dict[str, Any]) -> Calibration | None:
    if not {"scale", "offset", "nodata"} & set(facts):
        return None
    gain, offset = (np.array([float(facts.get(k, d))]) for k, d in (("scale", 1), ("offset", 0)))
    nodata = facts.get("nodata")
    return Calibration(gain, offset, None if nodata is None else float(nodata))
