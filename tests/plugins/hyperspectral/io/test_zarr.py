"""Zarr stores of both versions, written by xarray or by zarr itself."""

from __future__ import annotations

import numpy as np
import pytest
import rioxarray  # noqa: F401  # the accessor "rio"
import xarray as xr
import zarr

from diffclass.exceptions import DataError
from diffclass_hyperspectral import open_scene, read_labels

from ..range_server import served
from .test_geotiff import CUBE, NM, UM, WIDTHS

pytestmark = pytest.mark.filterwarnings("ignore:Consolidated metadata")  # of the writer


def dataset():
    return xr.Dataset(
        {
            "reflectance": (("band", "y", "x"), CUBE.transpose(2, 0, 1), {"_FillValue": 7}),
            "labels": (("y", "x"), (CUBE[..., 0] > 1000).astype(np.uint8)),
        },
        coords={
            "wavelength": ("band", np.array(NM, float), {"units": "nm"}),
            "fwhm": ("band", np.array(WIDTHS)),
            "y": 5.4e6 - 30 * (np.arange(40) + 0.5),
            "x": 5e5 + 30 * (np.arange(30) + 0.5),
        },
    )


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("consolidated", [False, True])
def test_a_store_of_xarray(tmp_path, version, consolidated):
    made = dataset().chunk({"y": 16, "x": 30, "band": 2})
    made.to_zarr(tmp_path / "scene.zarr", zarr_format=version, consolidated=consolidated)
    scene = open_scene(tmp_path / "scene.zarr")
    np.testing.assert_allclose(scene.wavelengths, NM)
    np.testing.assert_allclose(scene.widths, WIDTHS)
    assert scene.ignore_value == 7
    assert scene.georeference.transform[:3] == (30, 0, 5e5)
    np.testing.assert_array_equal(scene.data, CUBE)
    np.testing.assert_array_equal(scene.data[10:20], CUBE[10:20])
    labels = read_labels(tmp_path / "scene.zarr", variable="labels")
    np.testing.assert_array_equal(labels.ids, CUBE[..., 0] > 1000)


DIMS = [("band", "y", "x"), ("y", "x", "band"), ("x", "band", "y")]


def of_rioxarray(dims=DIMS[0], *, dtype="f4", **attributes):
    """Return a cube as rioxarray makes them, with a scalar for its coordinate system."""
    cube = xr.DataArray(
        CUBE.transpose(2, 0, 1).astype(dtype), dims=("band", "y", "x"), name="refl",
        coords={"band": np.arange(1, 5), "y": 5e6 - 30.0 * np.arange(40),
                "x": 4e5 + 30.0 * np.arange(30)},
        attrs=attributes,
    )  # fmt: skip
    return cube.rio.write_crs("EPSG:32633").transpose(*dims)


@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("kind", [(2, True), (2, False), (3, True), (3, False), "nc", "classic"])
@pytest.mark.parametrize("dtype", ["i2", "f4", "f8"])
def test_what_rioxarray_writes(tmp_path, dims, kind, dtype):
    made = of_rioxarray(dims, dtype=dtype).to_dataset()
    path = tmp_path / ("scene.zarr" if isinstance(kind, tuple) else "scene.nc")
    if isinstance(kind, tuple):
        made.to_zarr(path, zarr_format=kind[0], consolidated=kind[1])
    elif kind == "nc":
        made.to_netcdf(path, engine="h5netcdf")
    else:
        made.to_netcdf(path, engine="scipy")
    scene = open_scene(path)
    np.testing.assert_array_equal(scene.data, CUBE.astype(dtype))
    assert scene.georeference.crs == "EPSG:32633"
    assert scene.georeference.transform == (30, 0, 399985, 0, -30, 5000015)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("nodata", [0, -9999, 7])
def test_the_no_data_value_of_rioxarray(tmp_path, version, nodata):
    cube = of_rioxarray(dtype="i2").rio.write_nodata(nodata)
    cube.to_dataset().to_zarr(tmp_path / "scene.zarr", zarr_format=version, consolidated=False)
    scene = open_scene(tmp_path / "scene.zarr")
    assert scene.ignore_value == nodata
    np.testing.assert_array_equal(scene.valid, (nodata != CUBE).all(axis=2))


@pytest.mark.parametrize(
    ("name", "values", "unit"),
    [
        ("FWHM", np.array(WIDTHS) / 1e3, None),
        ("bandwidth", np.array(WIDTHS) / 1e3, "um"),
        ("fwhm", np.array(WIDTHS, dtype=np.float32), "nm"),
    ],
)
def test_widths_of_a_cube_have_a_unit(name, values, unit):
    cube = dataset()["reflectance"].drop_vars("fwhm")
    cube = cube.assign_coords(
        {
            "wavelength": ("band", np.array(UM), {"units": "um"}),
            name: ("band", values, {} if unit is None else {"units": unit}),
        }
    )
    np.testing.assert_allclose(open_scene(cube).widths, WIDTHS)
    backwards = open_scene(cube.isel(band=[3, 1]))
    np.testing.assert_allclose(backwards.widths, [WIDTHS[3], WIDTHS[1]])
    with pytest.warns(UserWarning, match=f"states {name}, which"):
        assert open_scene(cube.drop_vars("wavelength")).widths is None


@pytest.mark.parametrize("values", [[6.5, 7, 8, 0], [6.5, 7, np.nan, 9], list("abcd")])
def test_widths_of_a_cube_that_are_none(values):
    with pytest.warns(UserWarning, match="states fwhm, which"):
        scene = open_scene(dataset().assign_coords(fwhm=("band", values)), variable="reflectance")
    np.testing.assert_allclose(scene.wavelengths, NM)
    assert scene.widths is None


@pytest.mark.parametrize("version", [2, 3])
def test_an_array_without_names(tmp_path, version):
    zarr.create_array(tmp_path / "cube.zarr", data=CUBE, chunks=(16, 30, 2), zarr_format=version)
    scene = open_scene(tmp_path / "cube.zarr")
    assert scene.format == "Zarr"
    np.testing.assert_array_equal(scene.data, CUBE)
    np.testing.assert_array_equal(scene.data[10:20], CUBE[10:20])


@pytest.mark.parametrize("version", [2, 3])
def test_a_group_without_names(tmp_path, version):
    group = zarr.open_group(tmp_path / "many.zarr", mode="w", zarr_format=version)
    group.create_array("cube", data=CUBE)
    group.create_array("ids", data=np.ones((40, 30), dtype=np.uint8))
    np.testing.assert_array_equal(open_scene(tmp_path / "many.zarr").data, CUBE)
    assert read_labels(tmp_path / "many.zarr").ids.shape == (40, 30)
    group.create_array("other", data=CUBE)
    with pytest.raises(DataError, match="several arrays with 3 axes"):
        open_scene(tmp_path / "many.zarr")
    assert open_scene(tmp_path / "many.zarr", variable="other").shape == CUBE.shape


def test_a_store_on_a_server(tmp_path):
    dataset().to_zarr(tmp_path / "scene.zarr", zarr_format=3, consolidated=True)
    with served(tmp_path) as server:
        scene = open_scene(f"{server.address}/scene.zarr")
        np.testing.assert_array_equal(scene.data, CUBE)
        with pytest.raises(DataError, match="connection"):
            open_scene(f"{server.address}/nothing.zarr")


@pytest.mark.parametrize("content", ["", "{", "{}", '{"zarr_format": 3, "node_type": "array"}'])
@pytest.mark.parametrize("mark", ["zarr.json", ".zgroup", ".zarray"])
def test_damaged_stores(tmp_path, mark, content):
    store = tmp_path / "scene.zarr"
    store.mkdir()
    (store / mark).write_text(content)
    with pytest.raises(DataError, match=r"scene\.zarr"):
        open_scene(store)


def test_a_damaged_piece(tmp_path):
    zarr.create_array(tmp_path / "cube.zarr", data=CUBE, chunks=(16, 30, 2), zarr_format=2)
    (tmp_path / "cube.zarr" / "1.0.0").write_bytes(b"no piece")
    with pytest.raises(DataError, match=r"cube\.zarr: cannot be read as an image"):
        np.asarray(open_scene(tmp_path / "cube.zarr").data)
