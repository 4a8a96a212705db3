"""MATLAB ``.mat`` files up to version 7, by ``scipy.io``; 7.3 is read by `hdf5`.

``loadmat`` looks types up by the number in the file without a check, and a damaged number ends the
process (scipy issue 6072, pull requests 25349 and 25829). The tags of the elements are checked
here first.

Source: MathWorks, "MAT-File Format" (2019), chapter 1: data elements, array flags, dimensions.
"""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from diffclass.exceptions import DataError, option_name
from diffclass.system.attributes import Attributes
from diffclass.system.libraries import reading
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.wavelengths import in_nanometres

_WAVELENGTHS = ("wavelengths", "wavelength", "wavelengths_nm")
ATTRIBUTES = Attributes(
    "MATLAB, NumPy .npz, HDF5 and Zarr: arrays beside the cube, and its attributes",
    honoured=dict.fromkeys(_WAVELENGTHS, "wavelengths")
    | {"nRow, nCol": "rows and columns of a matrix of pixels"},
    left_out={
        "scale_factor": "scale", "add_offset": "offset", "_FillValue": "missing values",
        "missing_value": "missing values", "fwhm": "widths", "bbl": "bad bands",
    },
)  # fmt: skip

_BESIDE = {*_WAVELENGTHS, "nRow", "nCol", *ATTRIBUTES.left_out}  # arrays that are no picture

NUMERIC = frozenset(
    ["double", "single", "logical"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)


@dataclass(frozen=True)
class ArrayListing:
    """Shapes of a file's numeric arrays, what loads one, axes as in MATLAB, and its attributes."""

    path: Path
    shapes: dict[str, tuple[int, ...]]
    load: Callable[[str], np.ndarray]
    attributes: Callable[[str], Mapping[str, Any]] | None = None


def read(path: Path, *, variable: str | None = None, n_axes: int = 3) -> Contents:
    """Read the named array of a ``.mat`` file, or the only one with ``n_axes`` axes."""
    with reading(path, "a MATLAB .mat file"):
        listing = ArrayListing(path, _shapes(path), lambda name: _load(path, name))
        return contents_of(listing, "MATLAB", variable, n_axes=n_axes)


def _shapes(path: Path) -> dict[str, tuple[int, ...]]:
    from scipy.io import whosmat

    return {name: shape for name, shape, kind in whosmat(path) if kind in NUMERIC}


def _load(path: Path, name: str) -> np.ndarray:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadWarning

    check_array(path, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MatReadWarning)  # duplicated names of nameless workspaces
        return np.asarray(loadmat(path, variable_names=[name])[name])


def contents_of(listing: ArrayListing, form: str, variable: str | None, *, n_axes: int) -> Contents:
    """Return the array that is meant, with the wavelengths beside it.

    A scene may also be a (bands, pixels) matrix with scalars ``nRow`` and ``nCol`` in the same
    file, pixels in column-major order, as unmixing data sets have it.
    """
    name, data = _picked(listing, variable, n_axes=n_axes)
    stated = {} if listing.attributes is None else dict(listing.attributes(name))
    if n_axes == 2:
        return Contents(data, form, unused=ATTRIBUTES.unused(stated))
    beside = {_bare(other): other for other in listing.shapes if other != name}
    wavelengths = _wavelengths(listing, beside, data.shape[2:])
    unused = [other for other in _WAVELENGTHS if other in beside and wavelengths is None]
    stated |= {bare: listing.load(other) for bare, other in beside.items()
               if ATTRIBUTES.unused({bare: "stated"})}  # fmt: skip
    return Contents(
        data, form, wavelengths=wavelengths, unused=(*unused, *ATTRIBUTES.unused(stated))
    )


def _bare(name: str) -> str:
    """Return the name of an array without that of its group."""
    return name.rpartition("/")[2]


def _wavelengths(
    listing: ArrayListing, beside: Mapping[str, str], n_bands: tuple[int, ...]
) -> np.ndarray | None:
    """Return wavelengths that stand in an array of a number for each band, or None."""
    for name in _WAVELENGTHS:
        shape = listing.shapes.get(beside.get(name, ""), ())
        if shape and (max(shape),) == n_bands == (int(np.prod(shape)),):
            values = np.asarray(listing.load(beside[name])).ravel().astype(np.float64)
            usable = np.isfinite(values).all() and (values > 0).all()
            return in_nanometres(values, None) if usable else None
    return None


def _picked(listing: ArrayListing, variable: str | None, *, n_axes: int) -> tuple[str, np.ndarray]:
    """Load the array that is meant, as (rows, columns, bands) or (rows, columns); with its name."""
    if variable is not None:
        return variable, _named(listing, variable, n_axes=n_axes)
    of_axes = [name for name, shape in listing.shapes.items() if len(shape) == n_axes]
    # In MATLAB scalars and vectors have two axes as well; a picture may be a single line too.
    fitting = [name for name in of_axes if _is_wide(listing.shapes[name])] or [
        name for name in of_axes if _bare(name) not in _BESIDE
    ]
    if len(fitting) == 1:
        return fitting[0], listing.load(fitting[0])
    if len(fitting) > 1:
        option = "variable" if n_axes == 3 else "label_variable"
        raise DataError(
            f"{listing.path}: several arrays with {n_axes} axes ({_described(listing, fitting)}); "
            f"name one, as in {option_name(option, fitting[0])}"
        )
    matrix = _pixel_matrix(listing, list(listing.shapes)) if n_axes == 3 else None
    if matrix is None:
        pictures = n_axes == 3 and any(
            len(shape) == 2 and _is_wide(shape) for shape in listing.shapes.values()
        )
        cure = (
            "; give a picture of labels with --labels, beside its scene, and a table of rows as "
            ".npy, .csv or .parquet"
            if pictures
            else ""
        )
        raise DataError(
            f"{listing.path}: no numeric array with {n_axes} axes; {_all(listing)}{cure}"
        )
    return "", matrix


def _is_wide(shape: tuple[int, ...]) -> bool:
    """Tell whether an array has several rows and several columns."""
    return min(shape[:2]) > 1


def _named(listing: ArrayListing, variable: str, *, n_axes: int) -> np.ndarray:
    if variable not in listing.shapes:
        raise DataError(f"{listing.path}: no numeric array {variable!r}; {_all(listing)}")
    if n_axes == 3 and len(listing.shapes[variable]) == 2:
        matrix = _pixel_matrix(listing, [variable])
        if matrix is not None:
            return matrix
    return listing.load(variable)


def _pixel_matrix(listing: ArrayListing, names: list[str]) -> np.ndarray | None:
    """Unfold the only (bands, pixels) matrix among ``names``, or return None."""
    if any(listing.shapes.get(name) != (1, 1) for name in ("nRow", "nCol")):
        return None
    rows, columns = (int(listing.load(name).item()) for name in ("nRow", "nCol"))
    fitting = [
        name
        for name in names
        if len(listing.shapes[name]) == 2 and listing.shapes[name][1] == rows * columns > 1
    ]
    if len(fitting) != 1:
        return None
    matrix = listing.load(fitting[0])
    return matrix.reshape(matrix.shape[0], rows, columns, order="F").transpose(1, 2, 0)


def _all(listing: ArrayListing) -> str:
    return f"it holds {_described(listing, listing.shapes) or 'no numeric array'}"


def _described(listing: ArrayListing, names: Iterable[str]) -> str:
    return ", ".join(f"{name} {' x '.join(map(str, listing.shapes[name]))}" for name in names)


_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 12, 13})
_COMPLEX = 0x0800
# Flags, dimensions and name come first; names have 63 letters at most.
_HEAD_BYTES = 4096
_ORDERS = {b"IM": "<", b"MI": ">"}


def check_array(path: Path, name: str) -> None:
    """Raise `DataError` unless the array is of a known type; version 4 has no tags and passes."""
    with path.open("rb") as stream:
        order = _ORDERS.get(stream.read(128)[126:128])
        if order is None:
            return
        for head in _matrices(stream, order):
            flags, found, kind = _tags_of(path, head, order)
            if found != name:
                continue
            if flags & _COMPLEX:
                raise DataError(f"{path}: {name} holds complex numbers; real ones are needed")
            if kind not in _NUMBERS:
                raise DataError(
                    f"{path}: {name} has values of the unknown type {kind}; the file is damaged, "
                    "fetch it again"
                )


def _matrices(stream: BinaryIO, order: str) -> Iterator[bytes]:
    """Yield the beginning of every matrix, without its own tag."""
    place = stream.tell()
    while len(tag := stream.read(8)) == 8:
        kind, count = struct.unpack(f"{order}II", tag)
        body = stream.read(min(count, _HEAD_BYTES))
        if kind == _COMPRESSED:
            body = zlib.decompressobj().decompress(body, _HEAD_BYTES)
            kind = struct.unpack(f"{order}I", body[:4])[0]
            body = body[8:]
        if kind == _MATRIX:
            yield body
        place += 8 + count
        stream.seek(place)


def _tags_of(path: Path, head: bytes, order: str) -> tuple[int, str, int]:
    """Return a matrix's flags, its name and the type of its values."""
    try:
        flags, place = _element(head, 0, order)
        _, place = _element(head, place, order)
        name, place = _element(head, place, order)
        kind = struct.unpack_from(f"{order}I", head, place)[0]
        bits = struct.unpack_from(f"{order}I", flags)[0]
    except (struct.error, IndexError):
        raise DataError(f"{path}: damaged element tags; fetch the file again") from None
    # a value of at most four bytes shares its tag with its length
    return bits, name.decode("latin-1"), kind & 0xFFFF if kind >> 16 else kind


def _element(head: bytes, place: int, order: str) -> tuple[bytes, int]:
    """Return the bytes of the element at ``place``, and where the next one begins."""
    kind, count = struct.unpack_from(f"{order}II", head, place)
    if kind >> 16:
        return head[place + 4 : place + 4 + (kind >> 16)], place + 8
    return head[place + 8 : place + 8 + count], place + 8 + -(-count // 8) * 8
