"""What the tags of one of GDAL's rasters say of its bands: wavelengths, widths, bad ones, scales.

They are fields of ENVI (as "reflectance_scale_factor") in the domain "ENVI" or among the tags of
the file, with a value for each band, an alpha band counted or not; or tags of the bands, in these
domains or "IMAGERY" (CENTRAL_WAVELENGTH_UM and FWHM_UM, which GDAL rounds to a nanometre); or names
of bands ("450.3 nm"; of Wyvern also "Band_503"). Tags of a band go before those of the file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.system.attributes import Attributes
from diffclass_hyperspectral.io.readers import envi
from diffclass_hyperspectral.io.readers.wavelengths import (
    one_unit,
    unit_in_name,
    widths_in_nanometres,
)

_GAINS = ("data gain values", "data offset values",
          "data reflectance gain values", "data reflectance offset values")  # fmt: skip
_LISTS = ("wavelength", "fwhm", "bbl", *_GAINS)
_NUMBERS = ("reflectance scale factor", "data ignore value")
_ABOVE_0 = ("wavelength", "fwhm")
PLACES = ("ground control points", "RPC", "GEOLOCATION")
ATTRIBUTES = Attributes(
    "GeoTIFF, VRT, JPEG 2000 and ERDAS IMAGINE",
    honoured=dict.fromkeys(("transform", "coordinate system"), "place")
    | dict.fromkeys(("GDAL's scale", "data gain values", "data reflectance gain values",
                     "reflectance scale factor"), "scale")
    | dict.fromkeys(("GDAL's offset", "data offset values", "data reflectance offset values"),
                    "offset")
    | dict.fromkeys(("GDAL's no-data value", "mask", "alpha band", "data ignore value"),
                    "missing values")
    | dict.fromkeys(("description", "band names"), "names of bands")
    | dict.fromkeys(("wavelength", "wavelengths", "wavelength units", "central wavelength um"),
                    "wavelengths")
    | dict.fromkeys(("fwhm", "fwhm um"), "widths")
    | {"bbl": "bad bands"}
    | dict.fromkeys(("category names", "raster attribute table", "color table", "flag values",
                     "flag meanings", "flag colors", "class names"),
                    "names and colours of classes"),
    left_out=dict.fromkeys(PLACES, "place"),
)  # fmt: skip
_FALSE = {"0", "0.0", "false"}


class BandTags:
    """Tags of the file and of the bands shown, from 1, of rasterio's dataset.

    ``fields`` are as `envi.facts_of` takes them; ``unused`` names what is no number for each band.
    """

    def __init__(self, raster: Any, bands: tuple[int, ...]):
        self._raster, self._bands = raster, bands
        self._of_file = _lower(raster.tags()) | _lower(raster.tags(ns="ENVI"))
        self._of_bands = [_of_band(raster, band) for band in bands]
        self.fields: dict[str, Any] = {"bands": str(len(bands))}
        self.unused: list[str] = []
        for name in _LISTS:
            self._add_list(name, self._of_file.get(name, self._of_file.get(f"{name}s", "")))
        for name in _NUMBERS:
            self._add_list(name, self._of_file.get(name, ""), n=1)
        self.fields["wavelength units"] = self._of_file.get("wavelength units", "")
        names = self._of_file.get("band names", "").strip("{} ").split(",")
        if len(names) == raster.count:
            self.fields["band names"] = [names[band - 1].strip() for band in bands]

    def _add_list(self, name: str, text: str, *, n: int | None = None) -> None:
        texts, n_shown = listed(text), len(self._bands) if n is None else n
        if n is None and len(texts) == self._raster.count:
            texts = [texts[band - 1] for band in self._bands]
        values = [0.0] if texts == ["nan"] else floats(texts)  # which is missing in every file
        usable = values is not None and len(values) == n_shown
        if usable and (name not in _ABOVE_0 or min(values or ()) > 0):
            self.fields[name] = texts
        elif texts:
            self.unused.append(name)

    def facts(self, path: Path) -> dict[str, Any]:
        """Return what fields and tags state, as `Contents` has it, without place and classes."""
        facts = envi.facts_of(path, self.fields)
        self.unused += ATTRIBUTES.unused(self._unknown())
        found = [self._wavelength(k) for k in range(len(self._bands))]
        known = [value for value in found if value is not None]
        if len(known) == len(found):
            facts["wavelengths"] = one_unit(known)
        stated = np.array([value for value, _ in known]) if len(known) == len(found) else None
        facts["widths"] = self._widths(facts, stated)
        facts["band_mask"] = self._good(facts["band_mask"])
        for name, key in (("wavelength", "wavelengths"), ("fwhm", "widths")):
            stated_at_all = name in self.fields or any(name in tags for tags in self._of_bands)
            if facts[key] is None and stated_at_all and name not in self.unused:
                self.unused.append(name)
        return facts

    def _unknown(self) -> dict[str, str]:
        """Return tags but those that tell how a file was laid out that this one is a copy of."""
        tags: dict[str, str] = {}
        for one in (*self._of_bands, self._of_file):
            tags |= one
        return {
            name: text for name, text in tags.items() if name not in envi.LAYOUT and "#" not in name
        }

    def number(self, name: str) -> float | None:
        """Return a field of one number."""
        return float(self.fields[name][0]) if name in self.fields else None

    def agree(self, name: str, values: Any) -> bool:
        """Tell whether a field is stated with these values."""
        stated = np.array(self.fields.get(name, []), dtype=float)
        other = np.asarray(np.nan if values is None else values, dtype=float)
        return stated.size > 0 and bool(np.all(stated == other))

    def leave_out(self, name: str, *, unless: Any = None) -> None:
        """Note that a field that is stated does not count, unless with these values it would."""
        if name in self.fields and not (unless is not None and self.agree(name, unless)):
            self.unused.append(name)

    def _wavelength(self, k: int) -> tuple[float, str | None] | None:
        """Return a number and its unit."""
        tags, name = self._of_bands[k], self._raster.descriptions[self._bands[k] - 1] or ""
        for key, unit in (
            ("wavelength", tags.get("wavelength units")),
            ("central wavelength um", "um"),
        ):
            values = floats([tags[key]]) if key in tags else None
            if values and values[0] > 0:
                return values[0], unit
        return unit_in_name(name) or (_by_wyvern(name) if self._is_wyvern else None)

    @property
    def _is_wyvern(self) -> bool:
        return Path(self._raster.name).name.lower().startswith("wyvern")

    def _widths(self, facts: dict[str, Any], stated: np.ndarray | None) -> np.ndarray | None:
        """Return widths in nanometres: of the bands' tags, of the file's, or of "IMAGERY"."""
        centres = facts["wavelengths"]
        if stated is None:
            stated = np.array(self.fields.get("wavelength", []), dtype=float)
        of_bands, of_imagery = (
            [tags.get(key, "") for tags in self._of_bands] for key in ("fwhm", "fwhm um")
        )
        for texts, unit in ((of_bands, None), (self.fields.get("fwhm", []), None),
                            (of_imagery, "um")):  # fmt: skip
            found = widths_in_nanometres(floats(texts), stated, centres, unit=unit)
            if found is not None:
                return found
        return None

    def _good(self, of_file: np.ndarray | None) -> np.ndarray | None:
        flags = [tags.get("bbl") for tags in self._of_bands]
        if not any(flags):
            return of_file
        good = np.ones(len(flags), dtype=bool) if of_file is None else of_file
        return np.array([one if flag is None else flag.strip().lower() not in _FALSE
                         for flag, one in zip(flags, good, strict=True)])  # fmt: skip


def _of_band(raster: Any, band: int) -> dict[str, str]:
    tags: dict[str, str] = {}
    for domain in ("IMAGERY", "ENVI", None):
        tags |= _lower(raster.tags(band, ns=domain))
    return tags


def _by_wyvern(name: str) -> tuple[float, str | None] | None:
    named = re.fullmatch(r"Band_(\d+(?:\.\d+)?)(?:nm)?", name, re.IGNORECASE)
    return (float(named[1]), "nm") if named else None


def listed(text: str) -> list[str]:
    """Return the texts between braces, commas and blanks."""
    return re.findall(r"[^\s,;{}]+", text)


def floats(texts: list[str]) -> list[float] | None:
    """Return finite numbers, None for a tag of another meaning."""
    try:
        values = [float(text) for text in texts]
    except ValueError:
        return None
    return values if values and np.isfinite(values).all() else None


def _lower(tags: dict[str, str]) -> dict[str, str]:
    return {name.lower().replace("_", " "): text for name, text in tags.items()}
