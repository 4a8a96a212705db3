"""A picture of one row, one column or one pixel is the same in every format."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import scipy.io
import xarray as xr
import zarr

from diffclass_hyperspectral import open_scene, read_labels, write_class_map, write_raster

from ..writers import save_mat73

SHAPES = [(1, 1), (1, 6), (6, 1), (1, 2), (2, 2), (2, 3)]
ENDINGS = [
    ".npy",
    ".npz",
    ".mat",
    "73.mat",
    ".h5",
    ".nc",
    ".cdf",
    ".zarr",
    "2.zarr",
    ".tif",
    ".img",
]


def saved(path, array):
    """Save a cube or a picture alone, beside what is neither where a file may hold several."""
    ending, n_bands = path.name.removeprefix("file"), *(array.shape[2:] or (3,))
    beside = {"wavelengths": 400.0 + np.arange(n_bands)}
    dims = ("y", "x", "band")[: array.ndim]
    match ending:
        case ".npy":
            np.save(path, array)
        case ".npz":
            np.savez(path, picture=array, **beside)
        case ".mat":
            scipy.io.savemat(path, {"picture": array, **beside})
        case "73.mat":
            save_mat73(path, {"picture": array, "wavelengths": beside["wavelengths"][None]})
        case ".h5":
            with h5py.File(path, "w") as file:
                for name, values in {"picture": array, **beside}.items():
                    file[name] = values
        case ".nc" | ".cdf":
            engine = "h5netcdf" if ending == ".nc" else "scipy"
            xr.DataArray(array, dims=dims, name="picture").to_netcdf(path, engine=engine)
        case ".zarr":
            made = xr.DataArray(array, dims=dims, name="picture").to_dataset()
            made.to_zarr(path, zarr_format=3, consolidated=False)
        case "2.zarr":
            zarr.save_array(str(path), array)
        case _ if array.ndim == 3:
            write_raster(path, array)
        case _:
            write_class_map(path, array)
    return path


@pytest.mark.parametrize("n_bands", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ending", ENDINGS)
def test_scenes(tmp_path, ending, shape, n_bands):
    cube = np.random.default_rng(0).random((*shape, n_bands)).astype(np.float32)
    if ending == ".mat" and n_bands == 1:
        return  # MATLAB drops a last axis of one
    scene = open_scene(saved(tmp_path / f"file{ending}", cube))
    np.testing.assert_array_equal(scene.data, cube)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ending", ENDINGS)
def test_labels(tmp_path, ending, shape):
    ids = (1 + np.arange(np.prod(shape)) % 3).reshape(shape).astype(np.int16)
    labels = read_labels(saved(tmp_path / f"file{ending}", ids))
    np.testing.assert_array_equal(labels.ids, ids)
