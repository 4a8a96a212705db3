"""Scenes from files of any known format, and from cubes of xarray."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from diffclass.options import check_options
from diffclass_hyperspectral.io.readers import is_xarray, name_of, picked, read_image
from diffclass_hyperspectral.io.scenes.scene import Scene
from diffclass_hyperspectral.options import OPTIONS


def open_scene(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Any,
    *,
    variable: str | None = None,
    bands: str | Sequence[int] | np.ndarray | None = None,
    mask: Any = None,
    roi: Any = None,
) -> Scene:
    """Open a hyperspectral scene.

    Parameters
    ----------
    path : path-like, DataArray, Dataset, pystac.Item, or list of path-like
        ENVI (header or data file), ERDAS LAN, GeoTIFF, EMIT L2A, PRISMA L2D, EnMAP or DESIS L2A
        (image or metadata), PACE OCI L2, NEON AOP, Tanager, AVIRIS-3, Sentinel-2 L2A (folder or
        MTD_MSIL2A.xml), MATLAB ``.mat`` (any version), HDF5, NumPy ``.npy`` or ``.npz``, or a JPEG
        or PNG photograph, VRT, JPEG 2000, Zarr. The content decides, then the suffix. A folder or
        list of files with a band each, a STAC item, an address or virtual path that GDAL reads (as
        "https://host/scene.tif", "/vsizip/scenes.zip/scene.tif"); or a cube of xarray, its
        dimensions in any order, read by blocks.
    variable : str, optional
        Name of the array in a ``.mat``, ``.npz`` or HDF5 file, or a ``Dataset``, that holds more
        than one cube; the resolution of Sentinel-2's bands, ``"R20m"`` by default; assets of a STAC
        item, as ``"red,nir*"``.
    bands, mask, roi : optional
        What to work with; see `Scene.select`.

    Returns
    -------
    Scene
        With ``data`` of shape (rows, columns, bands).

    Raises
    ------
    DataError
        Where the file is missing, damaged, of unknown format, or holds no cube of numbers.
    ParameterError
        Where ``variable`` does not apply, or a library is missing.

    See Also
    --------
    open_tiles : Opens several scenes as one.
    Scene.from_array : From an array.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> folder = tempfile.mkdtemp()
    >>> np.save(folder + "/cube.npy", np.ones((4, 5, 3), dtype=np.float32))
    >>> open_scene(folder + "/cube.npy").shape
    (4, 5, 3)
    """
    check_options(OPTIONS, variable=variable)
    source = picked(path, variable=variable) if is_xarray(path) else path
    contents = read_image(source, variable=None if is_xarray(source) else variable, n_axes=3)
    of_images = ("class_names", "class_colors", "unused")
    facts = {name: fact for name, fact in vars(contents).items() if name not in of_images}
    scene = Scene.from_array(facts.pop("data"), path=name_of(source), **facts)
    return scene.select(bands=bands, mask=mask, roi=roi)
