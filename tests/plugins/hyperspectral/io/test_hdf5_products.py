"""EMIT, PRISMA, PACE, NEON, Tanager and AVIRIS-3: small files laid out as the products are."""

from __future__ import annotations

from functools import partial

import h5py
import numpy as np
import pytest

from diffclass_hyperspectral import open_scene
from diffclass_hyperspectral.io.georeference import Georeference, georeference_of
from diffclass_hyperspectral.io.readers import read_image

from ..products import (
    SWATH,
    write_aviris3,
    write_emit,
    write_neon,
    write_pace,
    write_prisma,
    write_tanager,
)
from ..writers import pixels_of, refuses

fails = partial(refuses, pixels_of)


def place(scene):
    return georeference_of(scene.map_info)


# --- EMIT ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunks", [True, False])
def test_emit(tmp_path, chunks):
    cube = write_emit(tmp_path / "emit.nc", chunks=chunks)
    scene = open_scene(tmp_path / "emit.nc")
    assert (scene.format, scene.ignore_value, scene.map_info) == ("EMIT", -9999, None)
    np.testing.assert_allclose(scene.wavelengths, [381, 388.4, 1380, 2000, 2492.9], rtol=1e-6)
    np.testing.assert_allclose(scene.widths, [8.4, 8.4, 8.5, 8.8, 8.7], rtol=1e-6)
    assert scene.band_mask.tolist() == [True, True, False, True, True]
    assert np.argwhere(~scene.valid).tolist() == [[2, 3]]
    np.testing.assert_array_equal(np.asarray(scene.data), cube)


def test_emit_without_its_parts(tmp_path):
    path = tmp_path / "emit.nc"
    for name, word in (("sensor_band_parameters/wavelengths", "wavelengths"), ("reflectance", "")):
        write_emit(path)
        with h5py.File(path, "r+") as file:
            del file[name]
        fails(path, word)
    write_emit(path)
    with h5py.File(path, "r+") as file:
        del file["sensor_band_parameters/good_wavelengths"]
        file["sensor_band_parameters/good_wavelengths"] = np.ones(4)
    fails(path, "good_wavelengths", "5 finite numbers")


# --- PRISMA --------------------------------------------------------------------------------------


def write_prisma_with_widths(path, **options):
    """Write widths as the product has them: in the order of the centres, 0 for absent bands."""
    cubes = write_prisma(path, **options)
    with h5py.File(path, "r+") as file:
        file.attrs["List_Fwhm_Vnir"] = np.float32([11, 10, 9, 0])
        file.attrs["List_Fwhm_Swir"] = np.float32([14, 13, 12])
    return cubes


@pytest.mark.parametrize("corners", ["centres", "edges"])
def test_prisma(tmp_path, corners):
    cubes = write_prisma_with_widths(tmp_path / "prisma.he5", corners=corners)
    scene = open_scene(tmp_path / "prisma.he5")
    assert scene.format == "PRISMA"
    assert scene.wavelengths.tolist() == [406, 700, 977, 943, 1500, 2497]
    assert scene.widths.tolist() == [9, 10, 11, 12, 13, 14]
    vnir = cubes["Vnir"][:, [2, 1, 0]].transpose(0, 2, 1) / 65535 * 0.8
    swir = cubes["Swir"][:, ::-1].transpose(0, 2, 1) / 65535 * 0.61 - 0.01
    expected = np.concatenate([vnir, swir], axis=2)
    assert np.argwhere(~scene.valid).tolist() == [[4, 5]]
    expected[4, 5] = np.nan
    np.testing.assert_allclose(scene.data, expected, atol=1e-6)
    assert place(scene) == Georeference((30, 0, 500000, 0, -30, 5000100), "EPSG:32632")


@pytest.mark.parametrize("name", ["L2ScaleSwirMin", "List_Cw_Vnir"])
def test_prisma_without_an_attribute(tmp_path, name):
    path = tmp_path / "prisma.he5"
    write_prisma(path)
    with h5py.File(path, "r+") as file:
        del file.attrs[name]
    fails(path, f"lacks the attribute {name}")
    with h5py.File(path, "r+") as file:
        file.attrs[name] = np.float32([1, 2])
    fails(path, name, "finite numbers are needed")


def test_prisma_corners_that_do_not_fit(tmp_path):
    path = tmp_path / "prisma.he5"
    write_prisma(path)
    with h5py.File(path, "r+") as file:
        file.attrs["Product_LRcorner_easting"] = np.float32(600000)
        file.attrs["Product_LRcorner_northing"] = np.float32(4000000)
    fails(path, "30 m apart", "6 columns x 9 rows")


def test_prisma_without_a_cube(tmp_path):
    path = tmp_path / "prisma.he5"
    write_prisma(path)
    with h5py.File(path, "r+") as file:
        del file[f"{SWATH}/Data Fields/SWIR_Cube"]
    fails(path, "lacks", "SWIR_Cube")


# --- PACE, NEON, Tanager and AVIRIS-3 ------------------------------------------------------------


def test_pace(tmp_path):
    cube = write_pace(tmp_path / "PACE_OCI.20240701T175112.L2.SFREFL.V3_1.nc")
    scene = open_scene(tmp_path / "PACE_OCI.20240701T175112.L2.SFREFL.V3_1.nc")
    assert (scene.format, scene.map_info, scene.scale_factor) == ("PACE", None, 1)
    assert scene.wavelengths.tolist() == [346, 351, 588, 761, 2258]
    assert scene.widths is None
    with pytest.warns(UserWarning, match="no pixel has data in band 4"):
        assert scene.empty_bands.tolist() == [False, False, False, True, False]
    assert np.argwhere(~scene.valid).tolist() == [[2, 3]]
    expected = np.where(cube == -32767, np.nan, cube)
    np.testing.assert_array_equal(np.asarray(scene.data), expected)


def test_pace_that_is_scaled(tmp_path):
    path = tmp_path / "pace.nc"
    cube = write_pace(path)
    with h5py.File(path, "r+") as file:
        file["geophysical_data/rhos"].attrs["scale_factor"] = np.float32([0.5])
        file["geophysical_data/rhos"].attrs["add_offset"] = np.float32([0.25])
    scene = open_scene(path)
    np.testing.assert_array_equal(np.asarray(scene.data)[0, :, :3], cube[0, :, :3] * 0.5 + 0.25)
    assert np.isnan(np.asarray(scene.data)[2, 3]).all()


def test_neon(tmp_path):
    cube = write_neon(tmp_path / "NEON_D02_SERC_DP3_368000_4306000_reflectance.h5")
    scene = open_scene(tmp_path / "NEON_D02_SERC_DP3_368000_4306000_reflectance.h5")
    assert (scene.format, scene.ignore_value, scene.scale_factor) == ("NEON AOP", -9999, 10000)
    assert scene.band_mask.tolist() == [True, True, False, False, True]
    assert scene.wavelengths[[0, 4]].tolist() == [383.9, 2400]
    assert scene.widths.tolist() == [5] * 5
    assert np.argwhere(~scene.valid).tolist() == [[0, 0]]
    np.testing.assert_array_equal(np.asarray(scene.data), cube)
    assert place(scene) == Georeference((1, 0, 368000, 0, -1, 4307000), "EPSG:32618")


@pytest.mark.parametrize(("zone", "code"), [(-34, 32734), (10, 32610)])
def test_tanager_on_its_grid(tmp_path, zone, code):
    cube = write_tanager(tmp_path / "20250504_092952_87_4001_ortho_sr_hdf5.h5", zone=zone)
    scene = open_scene(tmp_path / "20250504_092952_87_4001_ortho_sr_hdf5.h5")
    assert (scene.format, scene.shape) == ("Tanager", (9, 6, 4))
    assert scene.band_mask.tolist() == [True, True, False, True]
    np.testing.assert_allclose(scene.widths, [5.2, 5.5, 6, 6.8], rtol=1e-6)
    assert np.argwhere(~scene.valid).tolist() == [[0, 0], [0, 1], [8, 5]]
    np.testing.assert_array_equal(np.asarray(scene.data)[1:8], cube[1:8])
    assert place(scene) == Georeference((30, 0, 345660, 0, -30, 6286110), f"EPSG:{code}")


def test_tanager_in_its_swath(tmp_path):
    cube = write_tanager(tmp_path / "basic_sr.h5", kind="SWATHS")
    scene = open_scene(tmp_path / "basic_sr.h5")
    assert (scene.format, scene.map_info) == ("Tanager", None)
    np.testing.assert_array_equal(np.asarray(scene.data)[1:8], cube[1:8])


def test_radiances_of_tanager_and_the_code_of_its_grid(tmp_path):
    cube = write_tanager(tmp_path / "ortho_radiance.h5", name="toa_radiance")
    with h5py.File(tmp_path / "ortho_radiance.h5", "r+") as file:
        file["HDFEOS/GRIDS/HYP"].attrs["epsg_code"] = np.int32(32735)
    scene = open_scene(tmp_path / "ortho_radiance.h5")
    assert (scene.format, scene.shape) == ("Tanager", (9, 6, 4))
    np.testing.assert_array_equal(np.asarray(scene.data)[1:8], cube[1:8])
    assert place(scene).crs == "EPSG:32735"


@pytest.mark.parametrize("where", ["utm", "reflectance/utm"])
def test_the_grid_of_aviris3_has_the_name_that_the_cube_states(tmp_path, where):
    write_aviris3(tmp_path / "rfl.nc")
    with h5py.File(tmp_path / "rfl.nc", "r+") as file:
        file.move("transverse_mercator", where)
        file["reflectance/reflectance"].attrs["grid_mapping"] = "utm"
    found = place(open_scene(tmp_path / "rfl.nc"))
    assert found == Georeference((30, 0, 4e5, 0, -30, 5.8e6), "EPSG:32611")


@pytest.mark.parametrize("transform", [True, False])
def test_aviris3(tmp_path, transform):
    cube = write_aviris3(tmp_path / "AV320230926t_L2A_OE_RFL_ORT.nc", transform=transform)
    scene = open_scene(tmp_path / "AV320230926t_L2A_OE_RFL_ORT.nc")
    assert (scene.format, scene.ignore_value) == ("AVIRIS-3", -9999)
    np.testing.assert_allclose(scene.wavelengths, [390.6, 1000.2, 2495], rtol=1e-6)
    assert scene.widths.tolist() == [8, 8, 8]
    assert np.argwhere(~scene.valid).tolist() == [[4, 4]]
    np.testing.assert_array_equal(np.asarray(scene.data), cube)
    assert place(scene) == Georeference((30, 0, 4e5, 0, -30, 5.8e6), "EPSG:32611")


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (write_pace, "sensor_band_parameters/wavelength_3d"),
        (write_neon, "SERC/Reflectance/Metadata/Spectral_Data/Wavelength"),
        (write_aviris3, "reflectance/wavelength"),
        (write_tanager, "HDFEOS INFORMATION/StructMetadata.0"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*the reader of HDF5 does not use")
def test_parts_that_are_missing_or_of_another_size(tmp_path, write, name):
    path = tmp_path / "scene.h5"
    write(path)
    with h5py.File(path, "r+") as file:
        del file[name]
        if name.startswith("HDFEOS"):
            file[name] = np.bytes_("nothing known")
        else:
            file[name] = np.ones(77)
    fails(path)
    with h5py.File(path, "r+") as file:
        del file[name]
    if write is write_aviris3:  # without wavelengths it is any HDF5 file
        assert open_scene(path).format == "HDF5"
    else:
        fails(path, "lacks", name.rpartition("/")[2])


@pytest.mark.parametrize("damage", ["gone", "short", "nan", "text", "group"])
@pytest.mark.parametrize(
    ("write", "name"),
    [
        (write_emit, "sensor_band_parameters/fwhm"),
        (write_neon, "SERC/Reflectance/Metadata/Spectral_Data/FWHM"),
        (write_aviris3, "reflectance/fwhm"),
        (write_tanager, "HDFEOS/GRIDS/HYP/Data Fields/surface_reflectance@fwhm"),
        (write_prisma_with_widths, "@List_Fwhm_Swir"),
    ],
)
def test_damaged_widths_are_none(tmp_path, write, name, damage):
    path = tmp_path / "scene.h5"
    write(path)
    place, _, attribute = name.partition("@")
    with h5py.File(path, "r+") as file:
        holder, key = (file[place or "/"].attrs, attribute) if attribute else (file, place)
        values = np.array(holder[key], dtype=float)
        del holder[key]
        values[0] = np.nan
        if damage == "group" and not attribute:
            file.create_group(key)["more"] = values
        elif damage != "gone":
            holder[key] = {"short": values[1:], "nan": values, "group": h5py.Empty("f8"),
                           "text": np.bytes_(["8"] * len(values))}[damage]  # fmt: skip
    scene = open_scene(path)
    assert scene.widths is None
    assert len(scene.wavelengths) == scene.n_bands


def test_tanager_on_another_grid(tmp_path):
    path = tmp_path / "scene.h5"
    write_tanager(path)
    with h5py.File(path, "r+") as file:
        text = file["HDFEOS INFORMATION/StructMetadata.0"][()]
        del file["HDFEOS INFORMATION/StructMetadata.0"]
        file["HDFEOS INFORMATION/StructMetadata.0"] = np.bytes_(text.replace(b"UTM", b"SNSOID"))
    fails(path, "not UTM")


@pytest.mark.filterwarnings("ignore:.*the reader of HDF5 does not use")
def test_a_named_array_of_a_product_is_taken_as_stored(tmp_path):
    cube = write_tanager(tmp_path / "scene.h5")
    name = "HDFEOS/GRIDS/HYP/Data Fields/surface_reflectance"
    assert open_scene(tmp_path / "scene.h5", variable=name).shape == (4, 9, 6)
    assert cube.shape == (9, 6, 4)


# --- HDF5 in general -----------------------------------------------------------------------------


def test_hdf5_arrays_as_stored(tmp_path):
    cube = np.arange(24).reshape(2, 3, 4)
    with h5py.File(tmp_path / "scene.h5", "w") as file:
        file["a/cube"] = cube
        file["labels"] = cube[:, :, 0]
    np.testing.assert_array_equal(open_scene(tmp_path / "scene.h5").data, cube)
    np.testing.assert_array_equal(read_image(tmp_path / "scene.h5", n_axes=2).data, cube[:, :, 0])
    with h5py.File(tmp_path / "scene.h5", "r+") as file:
        file["b"] = cube + 1
    fails(tmp_path / "scene.h5", "a/cube 2 x 3 x 4", "variable='a/cube'")
    np.testing.assert_array_equal(open_scene(tmp_path / "scene.h5", variable="b").data, cube + 1)


@pytest.mark.parametrize("keep", [0.01, 0.3, 0.7, 0.95, 0.97])
@pytest.mark.parametrize(
    "write", [write_emit, write_prisma, write_pace, write_neon, write_tanager, write_aviris3]
)
def test_truncated(tmp_path, write, keep):
    path = tmp_path / "scene.h5"
    write(path)
    raw = path.read_bytes()
    path.write_bytes(raw[: int(keep * len(raw))])
    fails(path)
