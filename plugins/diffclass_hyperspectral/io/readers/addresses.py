"""Texts and lists of files at addresses: by Python itself from web servers, else by ``fsspec``."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from diffclass.exceptions import DataError, ParameterError
from diffclass.system.libraries import reading, require
from diffclass.system.remote_paths import RemotePath, place_of

SECONDS = 20  # that a server may be silent
_WEB = ("http", "https")
# What fsspec opens an address with, where that is a library of its own.
_LIBRARIES = {
    "http": "aiohttp",
    "https": "aiohttp",
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "az": "adlfs",
    "abfs": "adlfs",
}


def text_at(href: str) -> str:
    """Return the text of a file or at an address."""
    place = place_of(href)
    if not isinstance(place, RemotePath):
        return Path(href).read_text(encoding="utf-8")
    if _scheme(place) in _WEB:
        request = Request(href, headers={"User-Agent": "diffclass"})
        with urlopen(request, timeout=SECONDS) as answer:
            return bytes(answer.read()).decode("utf-8")
    with filesystem(place).open(str(place), encoding="utf-8", mode="r") as stream:
        return str(stream.read())


def is_pattern(place: Path) -> bool:
    """Tell whether an address stands for several; the shell has replaced other patterns."""
    return isinstance(place, RemotePath) and "*" in str(place)


def places_like(pattern: Path) -> list[Path]:
    """Return the addresses that a pattern such as "s3://bucket/tile_*.json" stands for."""
    scheme = _scheme(pattern)
    if scheme in (*_WEB, ""):
        raise DataError(f"{pattern}: no files are listed there; name each, or a STAC collection")
    with reading(pattern, "a pattern of addresses"):
        found = filesystem(pattern).glob(str(pattern))
    if not found:
        raise DataError(f"{pattern}: no such files; check the address and the rights to list them")
    return [place_of(f"{scheme}://{str(one).lstrip('/')}") for one in sorted(found)]


def filesystem(place: Path) -> Any:
    """Return fsspec's file system of an address; a `ParameterError` names the library it lacks."""
    fsspec, scheme = require("fsspec", extra="xarray"), _scheme(place)
    library = _LIBRARIES.get(scheme)
    if library is not None:
        try:
            importlib.import_module(library)
        except ImportError as error:
            raise ParameterError(
                f"{place}: reading at {scheme}:// needs the library {library} ({error}); "
                f"run: pip install {library}"
            ) from error
    return fsspec.filesystem(scheme)


def _scheme(place: Path) -> str:
    """Return what an address begins with, "" for GDAL's virtual file systems."""
    scheme, separator, _ = os.fspath(place).partition("://")
    return scheme.lower() if separator and "/" not in scheme else ""
