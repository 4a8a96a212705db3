"""Models in files: a zip of ``manifest.json`` and arrays as ``.npy``, all stored as they are.

The manifest states the kind of the file, its format's version, that of diffclass, the facts, and of
each array its bytes and SHA-256. Reading executes nothing, and what a file claims is compared with
the file before anything of that size is allocated: entries are not compressed, together no larger
than the file, and each array's shape and type make exactly the bytes of its entry.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import math
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass.system.forms import Form, Parts
from diffclass.system.output import replacing

FORMAT = 2
_MANIFEST = "manifest.json"
_MOST_MANIFEST = 2**22  # bytes; most are of a few thousand
_MOST_ENTRIES = 10_000
_PIECE = 2**20
_DAY = (1980, 1, 1, 0, 0, 0)  # of all entries: the same model makes the same file
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '([<|][biuf][1248])', 'fortran_order': False, "
    rb"'shape': \(([0-9, ]{0,100})\), \} *\n"
)


def write_model(
    path: str | os.PathLike[str],
    model: Any,
    form: Form,
    *,
    kind: str,
    version: str,
    overwrite: bool = False,
) -> None:
    """Write a model to a file, which appears whole or not at all.

    Parameters
    ----------
    path : path-like
    model : object
    form : Form
        Of the model.
    kind : str
        What the file holds.
    version : str
        Of diffclass.
    overwrite : bool, default=False
        Whether a file that exists may be replaced.

    Raises
    ------
    ParameterError
        Where the model has a part that no file can hold, such as a function of the user's own, or
        nothing can be written there.

    Examples
    --------
    A file holds what a classifier needs for new points:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass import DiffusionClassifier
    >>> from diffclass.model_files import CLASSIFIER, read_model, write_model
    >>> classifier = DiffusionClassifier(n_neighbors=2).fit([[0.0], [1], [5], [6]], [3, -1, -1, 7])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "x.model"
    ...     write_model(path, classifier, CLASSIFIER, kind="classifier", version="1.0")
    ...     read_model(path, CLASSIFIER, kind="classifier").predict([[0.9], [5.2]])
    array([3, 7])
    """
    try:
        parts = Parts({})  # filled with arrays while the facts are gathered
        facts = form.kept(model, parts)
    except ValueError as error:
        raise ParameterError(f"{path}: the model cannot be kept in a file: {error}") from error
    with replacing(path, overwrite=overwrite) as temporary:
        write_archive(temporary, kind, facts, parts.arrays, version=version)


def read_model(path: str | os.PathLike[str], form: Form, *, kind: str) -> Any:
    """Read a model that `write_model` wrote with this form and kind; nothing is executed.

    Raises
    ------
    DataError
        Where the file is missing, damaged, or holds something else.

    Examples
    --------
    A file of another kind is refused; see `write_model` for one that is read:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass.exceptions import DataError
    >>> from diffclass.model_files import read_model, write_model
    >>> from diffclass.system.forms import Whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "x.model"
    ...     write_model(path, 3, Whole(), kind="number", version="1.0")
    ...     try:
    ...         read_model(path, Whole(), kind="classifier")
    ...     except DataError as error:
    ...         print(str(error).removeprefix(str(path)))
    : holds a 'number', not a 'classifier'
    """
    facts, arrays = read_archive(path, kind)
    try:
        return form.restored(facts, Parts(arrays))
    except Exception as error:  # the libraries that index the points may raise anything
        said = " ".join(str(error).split())[:300]
        raise DataError(f"{path}: is no {kind} that makes sense ({said})") from error


def write_archive(
    path: str | os.PathLike[str],
    kind: str,
    facts: Any,
    arrays: Mapping[str, np.ndarray],
    *,
    version: str,
) -> None:
    """Write facts that JSON can hold and arrays of real numbers or bools, named as files are.

    ``kind`` has to be the same where the file is read; ``version`` is that of diffclass.
    """
    sums = {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as file:
        for name, array in arrays.items():
            with file.open(_entry(name), "w", force_zip64=True) as out:
                summed = hashlib.sha256()
                size = _write_array(out, array, summed)
            sums[name] = {"bytes": size, "sha256": summed.hexdigest()}
        manifest = {
            "kind": kind,
            "format": FORMAT,
            "diffclass": version,
            "facts": facts,
            "arrays": sums,
        }
        file.writestr(zipfile.ZipInfo(_MANIFEST, _DAY), json.dumps(manifest))


def read_archive(path: str | os.PathLike[str], kind: str) -> tuple[Any, dict[str, np.ndarray]]:
    """Return the facts and arrays that `write_archive` wrote.

    A file that is missing, damaged, or of another kind or version of the format is a `DataError`.
    """
    size = Path(path).stat().st_size if Path(path).is_file() else None
    if size is None:
        raise DataError(f"{path}: no such file")
    try:
        with zipfile.ZipFile(path) as file:
            entries = _checked_entries(file, size)
            manifest = _manifest(file, entries, kind, path)
            sums = manifest["arrays"]
            _check_sums(file, entries, sums)
            return manifest["facts"], {
                name: _array(file, entries[_entry(name).filename]) for name in sums
            }
    except DataError:
        raise
    # what zipfile, json and NumPy raise where bytes make no sense
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, OSError, RuntimeError,
            OverflowError, NotImplementedError, zipfile.BadZipFile) as error:  # fmt: skip
        raise DataError(
            f"{path}: is damaged, or no {kind} ({_line(error)}); save it again"
        ) from error


def _entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(f"arrays/{name}.npy", _DAY)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _write_array(out: IO[bytes], array: np.ndarray, summed: Any) -> int:
    """Write an array, update the checksum, and return the number of bytes written."""
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if array.dtype.kind not in "biuf":
        raise TypeError(f"an array of {array.dtype} cannot be kept")
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(array))
    flat = array.reshape(-1).view(np.uint8)
    pieces = (flat[start : start + _PIECE].tobytes() for start in range(0, flat.size, _PIECE))
    for piece in itertools.chain([head.getvalue()], pieces):
        out.write(piece)
        summed.update(piece)
    return len(head.getvalue()) + flat.size


def _checked_entries(file: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the entries by name, none larger than the file has room for."""
    listed = file.infolist()
    entries = {entry.filename: entry for entry in listed}
    if _MANIFEST not in entries:
        raise ValueError(f"it holds no {_MANIFEST}")
    if len(listed) > _MOST_ENTRIES or len(entries) != len(listed):
        raise ValueError("its list of entries has too many, or one twice")
    for entry in listed:
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
            raise ValueError(f"{entry.filename} is compressed")
    if sum(entry.file_size for entry in listed) > size:
        raise ValueError("its entries claim more bytes than the file has")
    return entries


def _manifest(
    file: zipfile.ZipFile,
    entries: Mapping[str, zipfile.ZipInfo],
    kind: str,
    path: str | os.PathLike[str],
) -> dict[str, Any]:
    if entries[_MANIFEST].file_size > _MOST_MANIFEST:
        raise ValueError(f"{_MANIFEST} has {entries[_MANIFEST].file_size} bytes")
    manifest = json.loads(file.read(entries[_MANIFEST]))
    if manifest["kind"] != kind:
        raise DataError(f"{path}: holds a {str(manifest['kind'])[:60]!r}, not a {kind!r}")
    if manifest["format"] != FORMAT:
        raise DataError(
            f"{path}: has format {str(manifest['format'])[:20]}, of diffclass "
            f"{str(manifest['diffclass'])[:20]}; this version reads format {FORMAT}: save it again"
        )
    return manifest


def _check_sums(
    file: zipfile.ZipFile,
    entries: Mapping[str, zipfile.ZipInfo],
    sums: Mapping[str, Mapping[str, Any]],
) -> None:
    """Compare every array's bytes with the manifest; no more than a piece is held."""
    if {_entry(name).filename for name in sums} != entries.keys() - {_MANIFEST}:
        raise ValueError("its entries are not those of its manifest")
    for name, stated in sums.items():
        entry, summed = entries[_entry(name).filename], hashlib.sha256()
        with file.open(entry) as source:
            while piece := source.read(_PIECE):
                summed.update(piece)
        if stated != {"bytes": entry.file_size, "sha256": summed.hexdigest()}:
            raise ValueError(f"size or checksum of {entry.filename} are not as stated")


def _array(file: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    with file.open(entry) as source:
        shape, dtype = _checked_header(source, entry)
        array = np.empty(shape, dtype)
        flat = array.reshape(-1).view(np.uint8)
        for start in range(0, flat.size, _PIECE):
            piece = source.read(min(_PIECE, flat.size - start))
            flat[start : start + _PIECE] = np.frombuffer(piece, np.uint8)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _checked_header(source: IO[bytes], entry: zipfile.ZipInfo) -> tuple[tuple[int, ...], np.dtype]:
    """Return shape and type, which make exactly the rest of the entry."""
    start = source.read(10)
    length = int.from_bytes(start[8:], "little")
    found = _HEADER.fullmatch(source.read(length))
    if start[:8] != _MAGIC or found is None:
        raise ValueError(f"{entry.filename} is no .npy file of real numbers in the order of rows")
    shape = tuple(int(part) for part in found[2].split(b",") if part.strip())
    dtype = np.dtype(found[1].decode())
    wanted = math.prod(shape) * dtype.itemsize
    if wanted != entry.file_size - len(start) - length:
        raise ValueError(f"{entry.filename} has a shape of {wanted} bytes, but not as many")
    return shape, dtype
