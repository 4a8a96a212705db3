"""Variables of NetCDF files: pictures as bands, times, and how a message names the option."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr

from diffclass.command_line import main as cli
from diffclass.exceptions import DataError
from diffclass_hyperspectral import open_scene

from .test_geotiff import CUBE


def written(path, **arrays):
    """Write pictures (y, x), or cubes with times before them."""
    dims = {2: ("y", "x"), 3: ("time", "y", "x")}
    made = xr.Dataset({name: (dims[values.ndim], values) for name, values in arrays.items()})
    if path.suffix == ".zarr":
        made.to_zarr(path, zarr_format=3, consolidated=False)
    else:
        made.to_netcdf(path, engine="h5netcdf" if path.suffix == ".nc" else "scipy")
    return path


B2, B3, B4 = (CUBE[..., k] for k in range(3))
ENDINGS = [".nc", ".cdf", ".zarr"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_picture_is_a_scene_of_one_band(tmp_path, ending):
    scene = open_scene(written(tmp_path / f"scene{ending}", lst=B2))
    np.testing.assert_array_equal(scene.data, B2[..., None])
    np.testing.assert_array_equal(open_scene(xr.DataArray(B2, dims=("y", "x"))).data, B2[..., None])


@pytest.mark.parametrize("ending", ENDINGS)
def test_pictures_of_one_size_are_bands(tmp_path, ending):
    path = written(tmp_path / f"bands{ending}", B02=B2, B03=B3, B04=B4)
    scene = open_scene(path)
    np.testing.assert_array_equal(scene.data, CUBE[..., :3])
    assert scene.band_names == ("B02", "B03", "B04")
    for wanted in ("B04,B02", "B04, B*2"):
        chosen = open_scene(path, variable=wanted)
        np.testing.assert_array_equal(chosen.data, CUBE[..., [2, 0]])
    with pytest.raises(DataError, match="no variable 'B8'; it has B02, B03, B04"):
        open_scene(path, variable="B02,B8")


def test_pictures_beside_a_cube_are_named_together(tmp_path):
    path = written(tmp_path / "scene.nc", red=B2, green=B3, series=CUBE.transpose(2, 0, 1))
    np.testing.assert_array_equal(open_scene(path, variable="red,green").data, CUBE[..., :2])
    with pytest.raises(DataError, match="cannot be bands of one scene"):
        open_scene(path, variable="red,series")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "f4"])
def test_packed_coordinates_are_places_and_wavelengths(tmp_path, ending, kind):
    """As whole numbers with a scale and an offset, which xarray leaves to who reads them."""
    rows, columns, bands = CUBE.shape
    lines = {"y": (rows, 0, -30.0, 5.4e6), "x": (columns, 0, 30.0, 5e5),
             "wavelength": (bands, 50, 10.0, -100.0), "fwhm": (bands, 4, 0.5, 6.0)}  # fmt: skip
    packed = {
        name: (
            "wavelength" if name == "fwhm" else name,
            np.arange(first, first + n).astype(kind),
            {"scale_factor": gain, "add_offset": offset},
        )
        for name, (n, first, gain, offset) in lines.items()
    }
    cube = xr.DataArray(CUBE, packed, ("y", "x", "wavelength"), name="scene")
    path = tmp_path / f"scene{ending}"
    if ending == ".zarr":
        cube.to_zarr(path, zarr_format=3, consolidated=False)
    else:
        cube.to_netcdf(path, engine="h5netcdf" if ending == ".nc" else "scipy")
    scene = open_scene(path)
    assert scene.georeference.transform == (30, 0, 499_985, 0, -30, 5_400_015)
    np.testing.assert_array_equal(scene.wavelengths, 400 + 10.0 * np.arange(bands))
    np.testing.assert_array_equal(scene.widths, 8 + 0.5 * np.arange(bands))
    unpacked = open_scene(xr.decode_cf(cube.to_dataset())["scene"])
    assert unpacked.georeference == scene.georeference
    np.testing.assert_array_equal(unpacked.wavelengths, scene.wavelengths)


@pytest.mark.parametrize("order", ["<", ">"])
def test_unsigned_values_in_either_byte_order(order):
    stored = np.arange(60, dtype=np.uint16).reshape(4, 5, 3) + 40_000
    cube = xr.DataArray(stored.astype(f"{order}u2").view(f"{order}i2"), dims=("y", "x", "band"))
    scene = open_scene(cube.assign_attrs(_Unsigned="true"))
    np.testing.assert_array_equal(scene.spectra().reshape(4, 5, 3), stored)


def test_times_that_are_taken_for_bands_are_told(tmp_path):
    path = written(tmp_path / "scene.nc", lst=CUBE.transpose(2, 0, 1))
    with pytest.warns(UserWarning, match=r"its dimension 'time' \(4\) is taken for bands"):
        np.testing.assert_array_equal(open_scene(path).data, CUBE)
    one = written(tmp_path / "one.nc", lst=B2[None])
    assert open_scene(one).shape == (40, 30, 1)


def test_a_message_names_the_option_as_its_user_writes_it(tmp_path, capsys):
    cubes = {"early": CUBE.transpose(2, 0, 1), "late": CUBE.transpose(2, 0, 1)}
    path = written(tmp_path / "scene.nc", **cubes)
    with pytest.raises(DataError, match="name one with variable=, or several"):
        open_scene(path)
    np.savez(tmp_path / "two.npz", a=CUBE, b=CUBE)
    with pytest.raises(DataError, match="as in variable='a'"):
        open_scene(tmp_path / "two.npz")
    for name, words in (
        ("scene.nc", "name one with --variable,"),
        ("two.npz", "as in --variable a"),
    ):
        assert cli.run(["info", str(tmp_path / name)]) == 3
        said = capsys.readouterr().err
        assert words in said
        assert "variable=" not in said
    np.save(tmp_path / "cube.npy", CUBE)
    np.save(tmp_path / "ids.npy", CUBE[..., 0] % 3)
    files = [str(tmp_path / "cube.npy"), "--labels", str(tmp_path / "ids.npy")]
    for option in ("--variable", "--label-variable"):
        output = ["-o", str(tmp_path / "map.npy")]
        assert cli.run(["classify", *files, *output, option, "x"]) == 2
        assert f"error: {option} x names an array of" in capsys.readouterr().err


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "variable", "shape"),
    [
        ("MODIS_ARRAY.nc", None, (200, 200, 1)),
        ("nonstandard_dim.nc", None, (11, 11, 1)),
        ("unicode.nc", None, (10, 10, 1)),
        ("veris.nc", None, (50, 35, 2)),
        ("sentinel_2_L1C_geographic.nc", "nir,red", (11, 12, 2)),
    ],
)
def test_files_that_others_wrote(data_folder, name, variable, shape):
    path = data_folder / "others" / "rioxarray" / name
    scene = open_scene(path, variable=variable)
    assert scene.shape == shape
    found = scene.spectra(bands=np.ones(shape[2], dtype=bool)).reshape(shape)
    with xr.open_dataset(path, decode_times=False) as dataset:
        pictures = [array for array in dataset.data_vars.values() if array.size > 1]
        for k, band in enumerate(scene.band_names or [pictures[0].name]):
            expected = np.where(scene.valid, dataset[band].squeeze(), np.nan)
            np.testing.assert_allclose(found[..., k], expected, rtol=1e-6)


@pytest.mark.data
def test_two_times_of_others_are_named(data_folder):
    path = data_folder / "others" / "rioxarray" / "PLANET_SCOPE_3D.nc"
    with pytest.raises(DataError, match=r"It has blue .*, green .*; name one with variable="):
        open_scene(path)
    with pytest.warns(UserWarning, match=r"'time' \(2\) is taken for bands"):
        assert open_scene(path, variable="green").shape == (10, 10, 2)


def test_what_was_assumed_is_in_the_report(tmp_path, capsys):
    path = written(tmp_path / "scene.nc", lst=CUBE.transpose(2, 0, 1))
    report = tmp_path / "report.json"
    words = ["cluster", str(path), "-o", str(tmp_path / "map.npy"), "--report", str(report)]
    assert cli.run(words) == 0
    assert "taken for bands" in capsys.readouterr().err
    (said,) = json.loads(report.read_text())["warnings"]
    assert "its dimension 'time' (4) is taken for bands" in said
