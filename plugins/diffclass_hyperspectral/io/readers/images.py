"""Scenes and label images of any known format: which reader a file needs.

Other packages add readers by the suffix of their files, with entry points in the group
"diffclass.readers".
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from diffclass.exceptions import DataError, ExtensionError, ParameterError, option_name
from diffclass.system.attributes import say_unused
from diffclass.system.extensions import READERS, extension_names, load_extension
from diffclass.system.libraries import reading, require_file
from diffclass.system.remote_paths import RemotePath, place_of
from diffclass_hyperspectral.io.formats import (
    ENVI_ENDINGS,
    FORMATS,
    HINT,
    OWN_ENDINGS,
    format_of,
    header_beside,
)
from diffclass_hyperspectral.io.readers import (
    band_files,
    envi,
    geotiff,
    sentinel2,
    stac,
    xarray_cubes,
    zarr_stores,
)
from diffclass_hyperspectral.io.readers.addresses import is_pattern
from diffclass_hyperspectral.io.readers.contents import Contents
from diffclass_hyperspectral.io.readers.xarray_cubes import is_xarray, name_of


def read_image(
    path: str | os.PathLike[str] | Any, *, variable: str | None = None, n_axes: int = 3
) -> Contents:
    """Read a scene or a label image of any known format, or the bands in a list of files.

    ``variable`` is the array to take from a ``.mat`` or HDF5 file or a dataset, or the assets of a
    STAC item; without it the only array of ``n_axes``, 3 or 2. `DataError`: the file cannot be
    read. `ParameterError`: ``variable`` for a format without names. Attributes that the file states
    and the reader does not use are a warning.
    """
    contents = _read(path, variable=variable, n_axes=n_axes)
    say_unused(name_of(path), contents.format, contents.unused)
    return contents


def _read(path: Any, *, variable: str | None, n_axes: int) -> Contents:
    if is_xarray(path):
        return xarray_cubes.read(path, variable=variable, n_axes=n_axes)
    if stac.is_item(path):
        return stac.read(path, variable=variable)
    if isinstance(path, list | tuple):
        return band_files.read_list(path)
    place = place_of(path)
    if isinstance(place, RemotePath):
        return _from_address(place, variable, n_axes)
    place = _metadata_in(place)
    if zarr_stores.is_store(place):
        return zarr_stores.read(place, variable=variable, n_axes=n_axes)
    if place.is_dir() and band_files.files_in(place):
        return band_files.read_folder(place)
    if place.suffix.lower() in (".hdr", *ENVI_ENDINGS):
        envi.mend(place)
    require_file(place)
    added = _read_by_extension(place, variable, n_axes)
    if added is not None:
        return added
    with reading(place, "an image"):
        name = format_of(place)
        if name is None:
            raise DataError(
                f"{place}: unknown format; {HINT} can be read; labels also as shapes, or as lists "
                "of pixels with the columns row, column and class"
            )
        if name == "png" and n_axes == 3:  # a picture of labels is a picture too
            name = "photograph"
    wanted = FORMATS[name]
    module = importlib.import_module(f"{__package__}.{wanted.module}")
    read = getattr(module, wanted.function)
    if wanted.has_variables or (name == "photograph" and variable is None):
        return read(place, variable=variable, n_axes=n_axes)
    if variable is not None:
        raise ParameterError(
            f"{_option(variable, n_axes)} names an array of a .mat, .npz or HDF5 file; {place} is "
            "none"
        )
    return read(place)


def _from_address(place: RemotePath, variable: str | None, n_axes: int) -> Contents:
    if is_pattern(place):
        raise DataError(f"{place}: stands for several files; name one, or several scenes")
    suffix = place.suffix.lower()
    if suffix == ".json":
        return stac.read(place, variable=variable)
    if suffix == ".zarr":
        return zarr_stores.read(place, variable=variable, n_axes=n_axes)
    if variable is not None:
        raise ParameterError(
            f"{_option(variable, n_axes)} applies to no address ({place}); fetch the file to name "
            "one"
        )
    return geotiff.read(place)


def images_among(places: Iterable[Path]) -> list[Path]:
    """Return those files and folders whose names and first bytes have a reader, in their order.

    A header stands back behind its data file.
    """
    found = [place for place in places if os.access(place, os.R_OK) and _is_image(place)]
    headers = {header_beside(place) for place in found if place.suffix.lower() != ".hdr"}
    return [place for place in found if place not in headers]


def _option(variable: str, n_axes: int) -> str:
    """Return the option that names an array of a scene, or of labels."""
    return option_name("variable" if n_axes == 3 else "label_variable", variable)


def _read_by_extension(path: Path, variable: str | None, n_axes: int) -> Contents | None:
    """Read a file by another package's reader for its suffix; None if no package adds one."""
    reader = load_extension(READERS, path.suffix.lower(), own=OWN_ENDINGS)
    if reader is None:
        return None
    if variable is not None:
        raise ParameterError(
            f"{_option(variable, n_axes)} applies to no {path.suffix} file ({path})"
        )
    with reading(path, f"a {path.suffix} file"):
        contents = reader(path)
    if not isinstance(contents, Contents):
        raise ExtensionError(
            f"the reader of {path.suffix} files ({READERS}) returns {type(contents).__name__}; it "
            "has to return diffclass_hyperspectral.Contents"
        )
    return contents


def _is_image(path: Path) -> bool:
    place = _metadata_in(path)
    if place.suffix.lower() == ".xml":
        return place.name == sentinel2.METADATA or "METADATA" in place.name.upper()
    try:
        is_added = place.suffix.lower() in extension_names(READERS)
        return place.is_file() and (is_added or format_of(place) is not None)
    except OSError:
        return False


def _metadata_in(path: Path) -> Path:
    """Return the metadata file of a product that is a folder, or the path as it is."""
    metadata = path / sentinel2.METADATA
    return metadata if path.is_dir() and metadata.is_file() else path
