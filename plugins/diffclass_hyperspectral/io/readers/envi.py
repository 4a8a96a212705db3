"""ENVI images, by ``spectral``: any interleave and byte order, memory-mapped.

``spectral`` opens headers in the encoding of the locale, so that a file works on one machine and
fails on another. It is given ASCII, in which every other letter is a mark (`to_ascii`).
"""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from diffclass.exceptions import DataError, warn_user
from diffclass.system.attributes import Attributes, say_unused
from diffclass.system.libraries import reading, require, require_file
from diffclass.system.mapped_files import release_pages
from diffclass.system.output import repair_pair
from diffclass.system.temporary_folders import TemporaryFolder
from diffclass_hyperspectral.io.formats import ENVI_ENDINGS, header_beside
from diffclass_hyperspectral.io.georeference import MapInfo, from_envi
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers.contents import (
    BandScales,
    Color,
    Contents,
    colors_of,
    full_names,
    is_ignored,
    names_as_json,
    scaled_spectra,
)
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres, widths_in_nanometres

INTERLEAVES = ("bsq", "bil", "bip")
LAYOUT = ("samples", "lines", "bands", "header offset", "file type", "data type", "interleave",
          "byte order", "file compression")  # fmt: skip
ATTRIBUTES = Attributes(
    "ENVI",
    honoured=dict.fromkeys(LAYOUT, "size and type of the values")
    | dict.fromkeys(("major frame offsets", "minor frame offsets"), "refused unless they are 0")
    | dict.fromkeys(("wavelength", "wavelength units"), "wavelengths")
    | dict.fromkeys(("map info", "coordinate system string"), "place")
    | dict.fromkeys(("data gain values", "data reflectance gain values",
                     "reflectance scale factor"), "scale")
    | dict.fromkeys(("data offset values", "data reflectance offset values"), "offset")
    | dict.fromkeys(("class names", "class lookup"), "names and colours of classes")
    | {"fwhm": "widths", "bbl": "bad bands", "data ignore value": "missing values",
       "band names": "names of bands"},
    left_out={"geo points": "place", "rpc info": "place", "projection info": "place",
              "read procedures": "values"},
)  # fmt: skip
LIBRARY = Attributes(
    "ENVI spectral library",
    honoured=dict.fromkeys(LAYOUT, "size and type of the values")
    | dict.fromkeys(("wavelength", "wavelength units"), "wavelengths")
    | {"spectra names": "names", "bbl": "bad bands", "data ignore value": "missing values",
       "reflectance scale factor": "scale"},
    left_out={"data gain values": "scale", "data offset values": "offset", "fwhm": "widths"},
)  # fmt: skip
_NEEDED = ("lines", "samples", "bands", "data type", "interleave")


def read(path: Path) -> Contents:
    """Map an ENVI image, named by its header or data file, into memory with its facts."""
    envi = require("spectral.io.envi")
    header = path if is_header(path) else _require_header(path)
    with reading(header, "an ENVI header"), _ascii_copy(header) as readable:
        fields = _read_fields(envi, readable)
        _check_fields(header, fields, envi)
        if fields["data type"] != "1" and not _ORDER.search(_decoded(header.read_bytes())):
            warn_user(f"{header}: states no byte order; the lowest byte is taken to come first (0)")
        data = _data_file(header, fields, envi) if header == path else path
        _check_size(header, data, envi.gen_params(fields))
        facts = facts_of(header, fields)
        array = _map(envi, readable, data)
        scales = scales_of(header, fields, facts["ignore_value"])
        if scales is None:
            return Contents(array, "ENVI", **facts)
        factor = scales.scale_factor
        if factor is not None:
            return Contents(array, "ENVI", **facts | {"scale_factor": factor})
        return Contents(_reflectances(array, scales, data), "ENVI", **facts)


def read_library(
    path: Path,
) -> tuple[list[str], np.ndarray, list[float] | None, str | None]:
    """Return names, spectra (n, bands), wavelengths and their unit of an ``.sli``."""
    envi = require("spectral.io.envi")
    header = _require_header(path)
    with reading(header, "the header of a spectral library"), _ascii_copy(header) as readable:
        fields = _read_fields(envi, readable)
        if str(fields.get("file type", "")).strip().lower() != "envi spectral library":
            raise DataError(f"{header}: no spectral library; its file type says otherwise")
        _check_size(header, path, envi.gen_params(fields))
        say_unused(header, LIBRARY.format, LIBRARY.unused(fields))
        with _unsaid():
            found = envi.open(readable, os.fspath(path.absolute()))
        listed = [from_ascii(name) for name in found.names]
        full = names_of_fields({**fields, "spectra names": listed}, "spectra names")
        names = [*full, *listed[len(full) :]]
        spectra = scaled_spectra(found.spectra, 1 / _scale_factor(header, fields))
        spectra[is_ignored(found.spectra, _number(header, fields, "data ignore value"))] = np.nan
        good = _per_band(header, fields, "bbl", n_bands=spectra.shape[1])
        spectra[:, [] if good is None else good == 0] = np.nan
        return names, spectra, found.bands.centers, found.bands.band_unit


def values_of_bands(header: Path, names: Sequence[str], *, n_bands: int) -> list[np.ndarray | None]:
    """Return fields of a header that have a number for each band of some other file."""
    envi = require("spectral.io.envi")
    with reading(header, "an ENVI header"), _ascii_copy(header) as readable:
        fields = _read_fields(envi, readable)
        return [_per_band(header, fields, name, n_bands=n_bands) for name in names]


def widths_of_bands(header: Path, *, n_bands: int) -> np.ndarray | None:
    """Return the ``fwhm`` of a header, in its unit, for each band of some other file."""
    envi = require("spectral.io.envi")
    with reading(header, "an ENVI header"), _ascii_copy(header) as readable:
        return _widths(header, _read_fields(envi, readable), n_bands=n_bands)


def is_header(path: Path) -> bool:
    """Tell whether the file begins as an ENVI header does, or is called one."""
    with path.open("rb") as stream:
        head = stream.read(7)
    return head.removeprefix(b"\xef\xbb\xbf").startswith(b"ENVI") or path.suffix.lower() == ".hdr"


def mend(path: Path) -> None:
    """Set right a pair of which a killed writer has left no header."""
    header = path.with_suffix(".hdr")
    if header.exists():
        return
    for ending in (path.suffix,) if path != header else ENVI_ENDINGS:
        with suppress(OSError):  # a folder that cannot be written; the reader says what lacks
            repair_pair(path.with_suffix(ending), header)


def _require_header(data: Path) -> Path:
    header = header_beside(data)
    if header is None:
        raise DataError(f"{data}: no ENVI header beside it; put {data.stem}.hdr in the same folder")
    return header


@contextmanager
def _ascii_copy(header: Path) -> Iterator[str]:
    """Yield the name of a header that `spectral` can read, a copy where it would read another.

    `spectral` calls a header binary that is not in the encoding of the locale (Latin-1 degree
    signs, UTF-8 class names), reads "Bil" as bsq, and needs an offset and a byte order.
    """
    require_file(header)
    raw = header.read_bytes()
    marked = _completed(to_ascii(_decoded(raw)))
    if marked.encode() == raw:
        yield os.fspath(header.absolute())
        return
    with TemporaryFolder("diffclass-header") as folder:
        copy = os.path.join(folder.path, "header.hdr")
        with open(copy, "w", encoding="ascii", newline="") as stream:
            stream.write(marked)
        yield copy


_ORDER = re.compile(r"(?im)^[ \t]*byte order[ \t]*=[ \t]*\S")
_EMPTY = re.compile(
    r"^[ \t]*(header offset|byte order)[ \t]*=[ \t]*$", re.IGNORECASE | re.MULTILINE
)
_INTERLEAVE = re.compile(r"(?im)^[ \t]*interleave[ \t]*=.*$")


def _completed(text: str) -> str:
    """Return a header with its interleave in small letters, and 0 where offset or order lack."""
    text = _INTERLEAVE.sub(lambda found: found[0].lower(), text)
    text = _EMPTY.sub(lambda found: f"{found[1]} = 0", text)
    return text if _ORDER.search(text) else f"{text.rstrip()}\nbyte order = 0\n"


def _decoded(raw: bytes) -> str:
    """Return the text of a header, its lines divided by line feeds alone."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def _unsaid() -> Iterator[None]:
    """Leave out what `spectral` warns and logs of fields, which are read here."""
    log = logging.getLogger("spectral")
    before, log.disabled = log.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Parameters with non-lowercase names")
            yield
    finally:
        log.disabled = before


def _read_fields(envi: Any, header: str) -> dict[str, Any]:
    with _unsaid():
        fields = envi.read_envi_header(header)
    return {name: _original(value) for name, value in fields.items()}


def _original(value: str | list[str]) -> str | list[str]:
    return from_ascii(value) if isinstance(value, str) else [from_ascii(text) for text in value]


def _check_fields(header: Path, fields: dict[str, Any], envi: Any) -> None:
    missing = [name for name in _NEEDED if name not in fields]
    if missing:
        raise DataError(f"{header}: the header lacks {', '.join(missing)}; add it as ENVI defines")
    if str(fields.get("file type", "")).strip().lower() == "envi spectral library":
        raise DataError(f"{header}: a spectral library, not an image; name an image")
    if str(fields.get("file compression", "0")).strip() not in {"0", ""}:
        raise DataError(f"{header}: the image is compressed; write it uncompressed first")
    if fields["interleave"] not in INTERLEAVES:
        raise DataError(
            f"{header}: unknown interleave {fields['interleave']!r}; write bsq, bil or bip"
        )
    if fields["data type"] not in envi.envi_to_dtype or fields["data type"] in {"6", "9"}:
        raise DataError(
            f"{header}: data type {fields['data type']!r} is no kind of real number that ENVI "
            "defines (1-5, 12-15); correct the header"
        )
    for name in ("lines", "samples", "bands"):
        if not (fields[name].isdecimal() and int(fields[name]) > 0):
            raise DataError(f"{header}: {name} = {fields[name]} is not a positive whole number")


def _data_file(header: Path, fields: dict[str, Any], envi: Any) -> Path:
    """Find the data file of a header by the endings that `spectral` knows."""
    stem = os.path.splitext(header)[0]
    endings = [*envi.KNOWN_EXTS, fields["interleave"].lower()]
    for ending in ["", *(f".{e}" for e in endings), *(f".{e.upper()}" for e in endings)]:
        # a header under a data file's name is not its own data
        if os.path.isfile(stem + ending) and not os.path.samefile(stem + ending, header):
            return Path(stem + ending)
    raise DataError(
        f"{header}: no data file beside it; looked for {Path(stem).name} with the endings "
        f"{', '.join(endings)} and none; put it in the same folder"
    )


def _check_size(header: Path, data: Path, params: Any) -> None:
    values = params.nrows * params.ncols * params.nbands
    needed = params.offset + values * np.dtype(params.dtype).itemsize
    there = data.stat().st_size
    size = f"{params.nrows} lines x {params.ncols} samples x {params.nbands} bands"
    if there < needed:
        raise DataError(
            f"{data}: {there} bytes, but {header.name} ({size}) needs {needed}; "
            "the file is cut short or the header belongs to another one"
        )
    if there > needed:
        warn_user(
            f"{data}: {there} bytes, {there - needed} more than {header.name} ({size}) needs; "
            "check that the header belongs to it",
            UserWarning,
        )


def _map(envi: Any, header: str, data: Path) -> np.ndarray:
    with _unsaid():
        image = envi.open(header, os.fspath(data.absolute()))
    array = image.open_memmap(interleave="bip")
    if array is None:
        raise DataError(f"{data}: cannot be mapped into memory; copy it to a local disk")
    return np.asarray(array)


def facts_of(header: Path, fields: dict[str, Any]) -> dict[str, Any]:
    """Return what fields of a header, or of GDAL's domain "ENVI", say, as `Contents` has it."""
    n_bands = int(fields["bands"])
    wavelengths = _per_band(header, fields, "wavelength", n_bands=n_bands)
    good = _per_band(header, fields, "bbl", n_bands=n_bands)
    unit = fields.get("wavelength units")
    centres = None if wavelengths is None else in_nanometres(wavelengths, unit)
    stated = _widths(header, fields, n_bands=n_bands)
    widths = widths_in_nanometres(stated, wavelengths, centres)
    names = names_of_fields(fields, "band names")  # more where one has a comma
    return {
        "wavelengths": centres,
        "widths": widths,
        "band_mask": None if good is None else good != 0,
        "ignore_value": _number(header, fields, "data ignore value"),
        "scale_factor": _scale_factor(header, fields),
        "band_names": names if len(names) == n_bands else None,
        "map_info": _map_info(fields),
        "class_names": dict(enumerate(names_of_fields(fields, "class names"))) or None,
        "class_colors": _class_colors(fields) or None,
        "unused": _unused(fields, centres, widths),
    }


def _unused(
    fields: dict[str, Any], centres: np.ndarray | None, widths: np.ndarray | None
) -> tuple[str, ...]:
    """Return the fields that are stated and do not count, the damaged ones among them."""
    is_index = str(fields.get("wavelength units", "")).strip().lower() == "index"
    n_names = len(names_of_fields(fields, "band names"))
    damaged = {"wavelength": centres is None and not is_index, "fwhm": widths is None,
               "band names": n_names != int(fields["bands"])}  # fmt: skip
    if "reflectance scale factor" in fields and "data reflectance gain values" not in fields:
        damaged |= {"data gain values": True, "data offset values": True}
    unused = [name for name, is_so in damaged.items() if is_so and fields.get(name)]
    if "coordinate system string" in fields:  # which says the same
        fields = {name: text for name, text in fields.items() if name != "projection info"}
    return (*unused, *ATTRIBUTES.unused(fields))


def _widths(header: Path, fields: dict[str, Any], *, n_bands: int) -> np.ndarray | None:
    try:
        return _per_band(header, fields, "fwhm", n_bands=n_bands)
    except DataError:
        return None  # damaged widths cost only themselves


def _map_info(fields: dict[str, Any]) -> MapInfo | None:
    texts = _texts(fields, "map info")
    # well-known text holds commas, at which spectral has cut it
    system = ",".join(_texts(fields, "coordinate system string"))
    return from_envi(texts, system) if texts else None


def _texts(fields: dict[str, Any], name: str) -> tuple[str, ...]:
    """Return a list field; `spectral` gives a bare string where the braces are missing."""
    value = fields.get(name, [])
    values = [value] if isinstance(value, str) else list(value)
    while values and not values[-1]:  # a comma before the closing brace
        values.pop()
    return tuple(values)


def _per_band(
    header: Path, fields: dict[str, Any], name: str, *, n_bands: int
) -> np.ndarray | None:
    texts = _texts(fields, name)
    if not texts:
        return None
    if len(texts) != n_bands:
        raise DataError(
            f"{header}: {n_bands} bands, but {len(texts)} values of '{name}'; "
            f"correct or remove the '{name}' field"
        )
    values = np.array([_as_float(header, name, text) for text in texts])
    if not np.isfinite(values).all():
        number = int(np.argmin(np.isfinite(values)))
        raise DataError(
            f"{header}: '{name}' of band {number + 1} is {texts[number]}; write a finite number, "
            f"or remove the '{name}' field"
        )
    return values


def _number(header: Path, fields: dict[str, Any], name: str) -> float | None:
    texts = _texts(fields, name)
    if len(set(texts)) > 1:
        raise DataError(f"{header}: '{name}' holds {len(texts)} values; write one for all bands")
    return _as_float(header, name, texts[0]) if texts else None


def _as_float(header: Path, name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise DataError(f"{header}: '{name}' holds {text!r}, which is not a number") from None


def scales_of(header: Path, fields: dict[str, Any], ignored: float | None) -> BandScales | None:
    """Return gains and offsets of the bands, where they and no scale factor make reflectances."""
    n_bands = int(fields["bands"])
    for kind in ("data reflectance", "data"):
        gains = _per_band(header, fields, f"{kind} gain values", n_bands=n_bands)
        offsets = _per_band(header, fields, f"{kind} offset values", n_bands=n_bands)
        if gains is None and offsets is None:
            continue
        if kind == "data" and "reflectance scale factor" in fields:
            return None  # gains to radiances as well as a factor to reflectances
        made = BandScales(
            np.ones(n_bands) if gains is None else gains,
            np.zeros(n_bands) if offsets is None else offsets,
            ignored,
        )
        made.check(header)
        return made
    return None


def _reflectances(array: np.ndarray, scales: BandScales, data: Path) -> BlockArray:
    def read_rows(start: int, stop: int) -> np.ndarray:
        values = scales.apply(array[start:stop])
        release_pages(array)
        return values

    return BlockArray(array.shape, np.float32, read_rows=read_rows, path=data)


def _scale_factor(header: Path, fields: dict[str, Any]) -> float:
    factor = _number(header, fields, "reflectance scale factor")
    if factor is None:
        return 1.0
    if not 1e-9 <= factor <= 1e9:
        raise DataError(
            f"{header}: 'reflectance scale factor' is {factor:g}; write what stored values are "
            "divided by to be reflectances, as 10000"
        )
    return factor


def _class_colors(fields: dict[str, Any]) -> dict[int, Color]:
    try:
        values = [min(255, max(0, int(float(text)))) for text in _texts(fields, "class lookup")]
    except ValueError:
        return {}  # colours are decoration: a damaged list costs only them
    return colors_of(values)


# ENVI keeps lists between braces, divided by commas, and knows no escape for either.
_PLAIN = str.maketrans({",": ";", "{": "(", "}": ")"})
# Of a field of names that its list cannot hold, as quoted JSON; other programs ignore it.
_IN_FULL = "diffclass {}"


def fields_of_names(field: str, names: Sequence[str]) -> dict[str, Any]:
    """Return a header's list of names, and a field of our own with those that it cannot hold.

    >>> fields_of_names("class names", ["water, {deep}", "soy"])["class names"]
    ['water; (deep)', 'soy']
    """
    listed = [_listed(name) for name in names]
    full = {i: name for i, name in enumerate(names) if name != listed[i]}
    # in ASCII: spectral writes in the encoding of the locale
    fields: dict[str, Any] = {field: [to_ascii(name) for name in listed]}
    if full:
        fields[_IN_FULL.format(field)] = to_ascii(quote(names_as_json(full), safe=' ":'))
    return fields


def names_of_fields(fields: dict[str, Any], field: str) -> tuple[str, ...]:
    """Return the names that a header lists, in full where `fields_of_names` has written them so."""
    listed = dict(enumerate(_texts(fields, field)))
    text = fields.get(_IN_FULL.format(field))
    full = full_names(listed, unquote(text) if isinstance(text, str) else None, _listed)
    return tuple(full[i] for i in listed)


def _listed(name: str) -> str:
    """Return a name as a list can hold it."""
    return " ".join(name.translate(_PLAIN).split())


_OTHER = re.compile(r"[^\x00-\x7f]|_(?=_u[0-9a-f]{2,6}__)")  # the second would be read as a mark
_MARK = re.compile(r"__u([0-9a-f]{2,6})__")


def to_ascii(text: str) -> str:
    """Return ``text`` with every letter beyond ASCII as a mark.

    >>> to_ascii("20 °C")
    '20 __ub0__C'
    """
    return _OTHER.sub(lambda found: f"__u{ord(found.group()):02x}__", text)


def from_ascii(text: str) -> str:
    """Return ``text`` with the letters instead of the marks; the reverse of `to_ascii`."""
    return _MARK.sub(lambda found: chr(int(found.group(1), 16)), text)
