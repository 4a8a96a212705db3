"""STAC items and collections, by ``pystac``: the assets of an item are the bands of a scene.

An asset counts if its roles call it data or, where none does, if it is a GeoTIFF or JPEG 2000; of
several with the same band the first. Names, centres and widths (in micrometres), scales, offsets
and no-data values of bands stand in ``bands`` (STAC 1.1), or in ``eo:bands`` and ``raster:bands``
(before); scale, offset and no-data value count where the file itself states none.

Source: STAC specification 1.1.0; extensions electro-optical 2.0 and 1.1, raster 2.0 and 1.1.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass.system.attributes import Attributes
from diffclass.system.libraries import reading, require
from diffclass.system.remote_paths import place_of
from diffclass_hyperspectral.io.readers.addresses import is_pattern, places_like, text_at
from diffclass_hyperspectral.io.readers.band_files import Band, read_bands
from diffclass_hyperspectral.io.readers.contents import BandScales, Contents

_IMAGES = ("image/tiff", "image/jp2", "image/vnd.stac.geotiff", "application/x-geotiff")


def is_item(source: object) -> bool:
    """Tell whether something is a ``pystac.Item``, without importing pystac."""
    return all(hasattr(source, name) for name in ("assets", "collection_id", "get_self_href"))


def items_of(source: Any) -> list[Any]:
    """Return the items of a collection, catalog, list or pattern; anything else as it is."""
    if is_item(source) or not isinstance(source, str | os.PathLike):
        return [source]
    place = place_of(source)
    if is_pattern(place):
        return [item for one in places_like(place) for item in items_of(one)]
    if place.suffix.lower() != ".json":
        return [source]
    found = _content(place)
    if found.get("type") == "Feature":
        return [source]
    pystac = require("pystac", extra="stac")
    with reading(place, "a STAC collection"):
        if found.get("type") == "FeatureCollection":
            items = [pystac.Item.from_dict(one) for one in found["features"]]
            for item in items:  # what is relative is so to the item, or else to this file
                item.set_self_href(item.get_self_href() or os.fspath(place.absolute()))
        else:
            catalog = pystac.read_file(os.fspath(place.absolute()), stac_io=_reader(pystac))
            items = list(catalog.get_items(recursive=True))
        if not items:
            raise DataError(f"{place}: holds no item")
        return items


def read(source: Any, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Open the assets of an item as bands of a scene.

    ``variable`` names assets, or patterns such as "B0*", with commas between them.
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
        found = json.loads(text_at(os.fspath(place)))
        if not isinstance(found, dict):
            raise DataError(f"{place}: no STAC item or collection")
        return found


def _reader(pystac: Any) -> Any:
    """Return what reads the files of a catalog, and gives up silent servers."""

    class Reader(pystac.stac_io.DefaultStacIO):  # type: ignore[misc]
        def read_text_from_href(self, href: str, *_: Any, **__: Any) -> str:
            return text_at(href)

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
        facts, _ = _facts(assets[key])
        band = tuple(one.get("name") for one in facts)
        if None in band or not band:
            band = (key,)
        if band not in seen:
            chosen.append(key)
        seen.add(band)
    if not chosen:
        raise DataError(f"{name}: no asset is a raster; it has {', '.join(assets) or 'none'}")
    return chosen


_GROUPS = ("raster:bands", "eo:bands", "bands")
ATTRIBUTES = Attributes(
    "STAC",
    honoured={
        "name": "names of bands", "center_wavelength": "wavelengths",
        "full_width_half_max": "widths", "scale": "scale", "offset": "offset",
        "nodata": "missing values", "roles": "which assets are bands",
    },
)  # fmt: skip


def _facts(asset: Any) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return what an asset states of each band, names as in STAC 1.1, and lists that do not fit."""
    listed = {name: asset.extra_fields.get(name) or [] for name in _GROUPS}
    n = max(map(len, listed.values()))
    facts: list[dict[str, Any]] = [{} for _ in range(n)]
    for bands in listed.values():
        for one, stated in zip(facts, bands if len(bands) == n else [], strict=False):
            one |= {_bare(key): value for key, value in stated.items() if value is not None}
    return facts, tuple(name for name, bands in listed.items() if 0 < len(bands) < n)


def _common(item: Any, asset: Any) -> dict[str, Any]:
    """Return what is stated of all bands of an asset."""
    fields = item.properties | asset.extra_fields
    return {_bare(key): fields[key] for key in _COMMON if fields.get(key) is not None}


def _others(item: Any, asset: Any, facts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what else is stated of an asset, its item or its bands."""
    fields = item.properties | asset.extra_fields
    found = {key: value for key, value in fields.items() if key not in (*_COMMON, *_GROUPS)}
    for one in facts:
        found |= one
    return found


_COMMON = ("nodata", "raster:scale", "raster:offset", "eo:center_wavelength",
           "eo:full_width_half_max")  # fmt: skip


def _bare(key: str) -> str:
    return key.removeprefix("eo:").removeprefix("raster:")


def _bands(item: Any, keys: Sequence[str]) -> list[Band]:
    bands = [_band(item, key) for key in keys]
    known = [band.wavelengths for band in bands]
    if all(centres is not None for centres in known):
        first = [float(centres[0]) for centres in known if centres is not None]
        bands = [bands[k] for k in np.argsort(first, kind="stable")]
    return bands


def _band(item: Any, key: str) -> Band:
    asset = item.assets[key]
    facts, unused = _facts(asset)
    common = _common(item, asset)
    unused += ATTRIBUTES.unused(_others(item, asset, facts))
    stated = [common | one for one in facts or [{}]]
    names = tuple(str(one["name"]) for one in facts if "name" in one)
    return Band(
        key,
        place_of(asset.get_absolute_href() or asset.href),
        _in_nanometres(stated, "center_wavelength"),
        _in_nanometres(stated, "full_width_half_max"),
        _scales(stated),
        _numbers(stated, "nodata", np.nan),
        names if len(names) == len(facts) > 1 else (),
        tuple(f"{name} of {key}" for name in unused),
    )


def _in_nanometres(stated: list[dict[str, Any]], name: str) -> np.ndarray | None:
    values = [one.get(name) for one in stated]
    known = [1e3 * value for value in values if isinstance(value, int | float)]
    return np.array(known) if len(known) == len(values) else None


def _scales(stated: list[dict[str, Any]]) -> BandScales | None:
    if not any({"scale", "offset"} & set(one) for one in stated):
        return None
    return BandScales(_numbers(stated, "scale", 1.0), _numbers(stated, "offset", 0.0))


def _numbers(stated: list[dict[str, Any]], name: str, default: float) -> np.ndarray:
    return np.array([float(one.get(name, default)) for one in stated])
