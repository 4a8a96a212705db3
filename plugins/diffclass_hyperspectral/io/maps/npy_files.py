"""NumPy ``.npy`` files of arrays larger than memory: written by rows, or mapped for writing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from diffclass.mapped_files import create_mapped
from diffclass_hyperspectral.io.rasters import Raster, blocks_of


def save_rows(path: Path, raster: Raster) -> None:
    """Save a raster as `numpy.save` does, block by block.

    Parameters
    ----------
    path : Path
    raster : Raster
    """
    header = {
        "descr": np.lib.format.dtype_to_descr(np.dtype(raster.dtype)),
        "fortran_order": False,
        "shape": tuple(int(size) for size in raster.shape),
    }
    with path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for _, block in blocks_of(raster):
            stream.write(np.ascontiguousarray(block, dtype=raster.dtype).data)


def mapped_file(path: str | os.PathLike[str]) -> Callable[[tuple[int, int]], np.ndarray]:
    """Return what `SceneFeatures.fit_transform_points` takes to put its points into a file.

    Parameters
    ----------
    path : path-like
        The ``.npy`` file; what it holds is lost.

    Returns
    -------
    callable
        From a shape to a memory map of float32. It raises `DataError` where the disk has too little
        room: the system would end a process that finds out later.

    Examples
    --------
    >>> import tempfile
    >>> create = mapped_file(tempfile.mkdtemp() + "/points.npy")
    >>> create((5, 2)).shape
    (5, 2)
    """

    def create(shape: tuple[int, int]) -> np.ndarray:
        if 0 in shape:
            return np.empty(shape, dtype=np.float32)
        return create_mapped(path, shape, np.float32)

    return create
