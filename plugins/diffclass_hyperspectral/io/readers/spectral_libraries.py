"""Spectral libraries: files of many spectra, and folders of text files with one each.

ENVI's ``.sli`` with its header; CSV with a column of wavelengths; vector files of the EnMAP-Box,
which keeps each spectrum as JSON in a field; the text files of ECOSTRESS and of the USGS. Values of
the USGS below -1e30 are channels that were deleted; wavelengths are those of the file with
"Wavelengths" in its name and as many values, beside the spectra or one folder above.

Sources: EnMAP-Box documentation, Spectral Libraries; Kokaly et al. 2017, USGS Spectral Library
Version 7 (Data Series 1035); Meerdink et al. 2019, The ECOSTRESS spectral library version 1.0.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.exceptions import DataError, ParameterError, warn_user
from diffclass.system.libraries import reading, require, require_file
from diffclass.system.output import replacing_pair, require_writable
from diffclass_hyperspectral.io.number_tables import read_table, write_table
from diffclass_hyperspectral.io.readers import envi
from diffclass_hyperspectral.io.readers.contents import FILLS, scaled_spectra
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres

ENDINGS = (".sli", ".csv", ".txt")
_VECTORS = (".geojson", ".json", ".gpkg")
_LOOKED_AT = 64  # features of a vector file, to tell whether it holds spectra
_DELETED = -1e30
_CLASS_FIELDS = ("class", "class_name", "label", "category", "name")


@dataclass(frozen=True, eq=False)
class SpectralLibrary:
    """Spectra float64 (n, bands) with n names, and wavelengths (bands,) in nanometres or None."""

    names: tuple[str, ...]
    spectra: np.ndarray
    wavelengths: np.ndarray | None = None


def is_library(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file, by ending or fields, or a folder of ``.txt`` is a spectral library."""
    place = Path(path)
    suffix = place.suffix.lower()
    if place.is_dir():
        return any(map(_is_spectrum, place.iterdir()))
    if suffix in _VECTORS and place.is_file():
        return bool(_profiles(place, most=_LOOKED_AT))
    return suffix in ENDINGS


def read_library(path: str | os.PathLike[str]) -> SpectralLibrary:
    """Read a spectral library; values such as -9999 become NaN, with a warning.

    ``.csv`` has a line of names, then a line for each band with its wavelength and a value of each
    spectrum. Without a unit in the name of the first column, as in "wavelength (nm)", wavelengths
    below 100 are micrometres. `DataError`: it cannot be read, or holds no spectrum.
    """
    place = Path(path)
    if place.is_dir():
        return _of_folder(place)
    require_file(place)
    if place.suffix.lower() in _VECTORS:
        return _of_profiles(place)
    library = _of_text(place) if place.suffix.lower() == ".txt" else _of_columns(place)
    return replace(library, spectra=np.array(_measured(place, library.spectra)))


def _measured(place: Path, spectra: Iterable[np.ndarray]) -> list[np.ndarray]:
    """Return spectra with NaN for what no reflectance is, and warn of it."""
    found = list(spectra)
    filled = [np.isin(values, FILLS) | (np.abs(values) > -_DELETED) for values in found]
    values = np.concatenate([v[wrong] for v, wrong in zip(found, filled, strict=True)])
    if len(values):
        warn_user(
            f"{place}: {len(values)} values such as {values[0]:g} are no measurements; they are "
            "taken for missing ones"
        )
    return [np.where(wrong, np.nan, v) for v, wrong in zip(found, filled, strict=True)]


def _of_columns(place: Path) -> SpectralLibrary:
    """Read ENVI's ``.sli``, or columns of a table."""
    centers: Sequence[float] | np.ndarray | None
    if place.suffix.lower() == ".sli":
        names, spectra, centers, unit = envi.read_library(place)
    else:
        table, columns = read_table(place)
        if table.shape[1] < 2:
            raise DataError(f"{place}: one column; give wavelengths first, then the spectra")
        names, spectra, centers, unit = columns[1:], table[:, 1:].T, table[:, 0], _unit(columns[0])
    if not len(spectra):
        raise DataError(f"{place}: holds no spectrum")
    wavelengths = None if centers is None else in_nanometres(np.asarray(centers, float), unit)
    if wavelengths is not None and not np.isfinite(wavelengths).all():
        raise DataError(f"{place}: wavelengths are missing; fill in the first column")
    return SpectralLibrary(
        tuple(name.strip() for name in names), np.asarray(spectra, dtype=np.float64), wavelengths
    )


def _of_folder(folder: Path) -> SpectralLibrary:
    found = [_of_text(file) for file in sorted(filter(_is_spectrum, folder.iterdir()))]
    if not found:
        raise DataError(f"{folder}: no .txt file with a spectrum of ECOSTRESS or the USGS")
    values = _measured(folder, [one.spectra[0] for one in found])
    return _joined(
        [(one.names[0], one.wavelengths, own) for one, own in zip(found, values, strict=True)]
    )


def _of_text(path: Path) -> SpectralLibrary:
    """Read a file of ECOSTRESS (lines of facts, an empty one, pairs of numbers), or of the USGS."""
    with reading(path, "a spectrum of ECOSTRESS or the USGS"):
        head, _, body = path.read_text("iso-8859-1").partition("\n\n")
        if "Record=" in head.partition("\n")[0]:
            return _of_usgs(path)
        lines = (line.partition(":") for line in head.splitlines())
        facts = {name.strip().lower(): text.strip() for name, _, text in lines}
        pairs = np.array([line.split()[:2] for line in body.splitlines() if line.strip()], float)
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        unit = "nm" if "nanomet" in facts["x units"].lower() else "um"
        scale = 0.01 if "percent" in facts["y units"].lower() else 1.0
        return SpectralLibrary(
            (facts["name"],),
            scaled_spectra(pairs[None, :, 1], scale),
            in_nanometres(pairs[:, 0], unit),
        )


def _of_usgs(path: Path) -> SpectralLibrary:
    usgs = require("spectral.database.usgs")
    found = usgs.SampleData.read_from_file(os.fspath(path), "")
    values = np.array(found.values, dtype=np.float64)
    values[values < _DELETED] = np.nan
    name = " ".join(found.description.split()[:-2])  # without spectrometer and kind of measurement
    beside = [*path.parent.iterdir(), *path.parent.parent.iterdir()]
    for other in sorted(file for file in beside if "wavelengths" in file.name.lower()):
        told = usgs.SpectrometerData.read_from_file(os.fspath(other))
        if len(told.values) == len(values):
            centres = in_nanometres(np.array(told.values), f"{told.unit}s")
            return SpectralLibrary((name,), values[None], centres)
    raise DataError(
        f"{path}: no file of {len(values)} wavelengths beside it or in the folder above; put the "
        "library's ..._Wavelengths_....txt there"
    )


def _is_spectrum(path: Path) -> bool:
    """Tell whether a file begins like a spectrum, not the wavelengths, of ECOSTRESS or the USGS."""
    if path.suffix.lower() != ".txt" or not path.is_file():
        return False
    with path.open(encoding="iso-8859-1") as stream:
        head = stream.read(8192).lower()
    of_spectrometer = ("wavelength", "bandpass", "wavenumber", "resolution")
    if "record=" in head.partition("\n")[0]:
        return not any(word in path.name.lower() for word in of_spectrometer)
    return "x units:" in head


def _of_profiles(path: Path) -> SpectralLibrary:
    found = _profiles(path)
    if not found:
        raise DataError(f"{path}: no field with spectra as JSON; export them as text, not as bytes")
    spectra = []
    for name, profile in found:
        with reading(path, "spectra of the EnMAP-Box"):
            values = np.array(profile["y"], dtype=np.float64)
            good = np.array(profile.get("bbl", np.ones(len(values))), dtype=float) != 0
            values[~good] = np.nan
            centres = None
            if "x" in profile:
                numbers = np.array(profile["x"], dtype=np.float64)
                centres = in_nanometres(numbers, profile.get("xUnit"))
        spectra.append((name, centres, values))
    measured = _measured(path, [values for _, _, values in spectra])
    pairs = zip(spectra, measured, strict=True)
    return _joined([(name, centres, values) for (name, centres, _), values in pairs])


def _profiles(path: Path, *, most: int | None = None) -> list[tuple[str, dict[str, Any]]]:
    """Return spectra of the EnMAP-Box with their names, of at most so many features of a file."""
    try:
        raw = require("pyogrio.raw", extra="maps")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of several layers: they are said for labels
            meta, _, _, columns = raw.read(os.fspath(path), read_geometry=False, max_features=most)
    except Exception:  # what is wrong with a vector file is said where it is read as one
        return []
    fields = dict(zip(map(str, meta["fields"]), columns, strict=True))
    of_json = {name: [_profile(value) for value in column] for name, column in fields.items()}
    chosen = next((found for found in of_json.values() if any(found)), [])
    names = next((fields[n] for n in _CLASS_FIELDS if n in fields), None)
    return [
        (str(k + 1 if names is None else names[k]), profile)
        for k, profile in enumerate(chosen)
        if profile is not None
    ]


def _profile(value: object) -> dict[str, Any] | None:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found.get("y"), list) else None


def _joined(spectra: Sequence[tuple[str, np.ndarray | None, np.ndarray]]) -> SpectralLibrary:
    """Return spectra that may have wavelengths of their own on those of all."""
    names = tuple(name for name, _, _ in spectra)
    placed = [(centres, values) for _, centres, values in spectra if centres is not None]
    if len(placed) < len(spectra):
        if len({len(values) for _, _, values in spectra}) > 1:
            raise DataError("spectra without wavelengths have to have the same number of bands")
        return SpectralLibrary(names, np.array([values for _, _, values in spectra]))
    union = np.unique(np.concatenate([centres for centres, _ in placed]))
    values = np.array([resampled(values, centres, union) for centres, values in placed])
    return SpectralLibrary(names, values, union)


def write_library(
    path: str | os.PathLike[str], library: SpectralLibrary, *, overwrite: bool = False
) -> tuple[Path, ...]:
    """Write a spectral library, ``.sli`` or ``.csv``, whole or not at all; return its files."""
    files = library_files(path)
    for file in files:
        require_writable(file, overwrite=overwrite)
    place = files[0]
    if len(files) == 1:
        n_bands = library.spectra.shape[1]
        known = library.wavelengths is not None
        centers = library.wavelengths if known else np.arange(1.0, n_bands + 1)
        columns = np.column_stack([np.asarray(centers), library.spectra.T])
        first = "wavelength (nm)" if known else "band"
        write_table(place, columns, [first, *library.names], overwrite=overwrite)
        return files
    known_fields = {
        **envi.fields_of_names("spectra names", library.names),
        **(
            {}
            if library.wavelengths is None
            else {"wavelength": library.wavelengths.tolist(), "wavelength units": "Nanometers"}
        ),
    }
    with replacing_pair(*files, overwrite=overwrite) as (data, beside):
        made = require("spectral.io.envi").SpectralLibrary(library.spectra, known_fields)
        made.save(os.fspath(data.with_suffix("")))
        text = envi.from_ascii(data.with_suffix(".hdr").read_text("ascii"))
        data.with_suffix(".hdr").unlink()
        beside.write_text(text, encoding="utf-8")
    return files


def library_files(path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the files that `write_library` writes; `ParameterError` for another ending."""
    place = Path(path)
    if place.suffix.lower() == ".csv":
        return (place,)
    if place.suffix.lower() == ".sli":
        return place, place.with_suffix(".hdr")
    raise ParameterError(f"{place}: a spectral library is written as .sli or .csv")


_SAMPLES = 33  # of a band's response, over twice its width to either side
_PER_WIDTH = 2 * np.sqrt(2 * np.log(2))  # standard deviations of a Gaussian in its width


def resampled(
    values: np.ndarray, given: np.ndarray, centres: np.ndarray, widths: np.ndarray | None = None
) -> np.ndarray:
    """Return what bands with Gaussian responses see of a spectrum: means over each response (m,).

    Between its values (n,) the spectrum is taken as linear. It has a resolution of its own, the
    distance between its values, and widths of Gaussians add up in squares: spectra of the sensor
    itself stay as they are. A band whose centre lies beyond the spectrum, or next to a value that
    is missing, is NaN. Without ``widths`` (full at half maximum) it is interpolated.
    """
    order = np.argsort(given)
    given, values = given[order], values[order]
    added = np.zeros(len(centres))
    if widths is not None and len(given) > 1:
        own = np.interp(centres, given, np.gradient(given))
        added = np.sqrt(np.maximum(widths**2 - own**2, 0))
    offsets = np.linspace(-2, 2, _SAMPLES)
    response = np.exp(-((offsets * _PER_WIDTH) ** 2) / 2)
    places = centres[:, None] + added[:, None] * offsets
    seen = np.interp(places, given, values)
    inside = (places >= given[0]) & (places <= given[-1]) & np.isfinite(seen)
    weights = np.where(inside, response, 0)
    at_centre = inside[:, _SAMPLES // 2]
    sums = np.where(at_centre, weights.sum(axis=1), np.nan)
    return np.asarray((weights * np.where(inside, seen, 0)).sum(axis=1) / sums)


def _unit(name: str) -> str | None:
    """Return the unit in the name of a column, if there is one."""
    words: Sequence[str] = re.findall(r"[^\W\d_]+", name.lower())
    known = [word for word in words if in_nanometres(np.ones(1), word) is not None]
    return next((word for word in known if word not in ("unknown", "none")), None)
