"""Real files in every format, for the tests of the readers, and what is said of bad ones."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import spectral.io.envi as envi

from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.georeference import Georeference, map_info_of
from diffclass_hyperspectral.io.readers import read_image

UTM = Georeference((30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6), "EPSG:32633")
PLACE = map_info_of(UTM)


def place_at(row=0, column=0, crs=UTM.crs):
    """Where a picture lies whose first pixel is in this row and column of ``UTM``."""
    x, y = 5e5 + 30 * column, 5.4e6 - 30 * row
    return map_info_of(Georeference((30.0, 0.0, x, 0.0, -30.0, y), crs))


def refuses(read, path, *words, named=None, **options):
    """Assert that reading ends in one clear line that names the file and has some words."""
    with pytest.raises(DataError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    for word in (path.stem if named is None else named, *words):
        assert word in message, message


def pixels_of(path, **options):
    return np.asarray(read_image(path, **options).data)


def save_envi(folder, cube, name="scene.hdr", **options):
    metadata = options.pop("metadata", {})
    envi.save_image(str(folder / name), cube, metadata=metadata, **options)
    return folder / name


def save_mat73(path, arrays, *, userblock=True):
    with h5py.File(path, "w", userblock_size=512 if userblock else 0) as file:
        for name, array in arrays.items():
            dataset = file.create_dataset(name, data=array.T, chunks=True, compression="gzip")
            dataset.attrs["MATLAB_class"] = np.bytes_(
                {"float64": "double", "float32": "single"}.get(array.dtype.name, array.dtype.name)
            )
    if userblock:
        with path.open("r+b") as stream:
            stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    return path


def write_lan(path, cube, *, packing, order="<"):
    rows, columns, bands = cube.shape
    head = bytearray(128)
    head[:6] = b"HEAD74"
    head[6:10] = np.array([packing, bands], order + "i2").tobytes()
    head[16:32] = np.array([columns, rows, 0, 0], order + "i4").tobytes()
    values = cube.transpose(0, 2, 1).astype(cube.dtype.newbyteorder(order))
    path.write_bytes(bytes(head) + values.tobytes())
    return path
