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


def facts_of(scene):
    return {
        "format": scene.format, "shape": scene.shape, "ignored": scene.ignore_value,
        "scale": scene.scale_factor, "place": georeference_of(scene.map_info),
        "centres": scene.wavelengths.round(3).tolist(),
        "widths": None if scene.widths is None else scene.widths.round(3).tolist(),
        "good": scene.band_mask.tolist(), "missing": np.argwhere(~scene.valid).tolist(),
    }  # fmt: skip


def utm(left, top, zone, side=30):
    return Georeference((side, 0, left, 0, -side, top), f"EPSG:{zone}")


EMIT = {
    "format": "EMIT", "ignored": -9999, "place": None, "good": [True, True, False, True, True],
    "centres": [381, 388.4, 1380, 2000, 2492.9], "widths": [8.4, 8.4, 8.5, 8.8, 8.7],
    "missing": [[2, 3]],
}  # fmt: skip
PACE = {
    "format": "PACE", "scale": 1, "place": None, "centres": [346, 351, 588, 761, 2258],
    "widths": None, "missing": [[2, 3]],
}  # fmt: skip
NEON = {
    "format": "NEON AOP", "ignored": -9999, "scale": 10000, "widths": [5] * 5,
    "good": [True, True, False, False, True], "centres": [383.9, 650, 1400, 1800, 2400],
    "missing": [[0, 0]], "place": utm(368000, 4307000, 32618, side=1),
}  # fmt: skip
TANAGER = {
    "format": "Tanager", "shape": (9, 6, 4), "good": [True, True, False, True],
    "widths": [5.2, 5.5, 6, 6.8], "missing": [[0, 0], [0, 1], [8, 5]],
}  # fmt: skip
AVIRIS = {
    "format": "AVIRIS-3", "ignored": -9999, "centres": [390.6, 1000.2, 2495], "widths": [8] * 3,
    "missing": [[4, 4]], "place": utm(4e5, 5.8e6, 32611),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "write", "options", "facts"),
    [
        ("emit.nc", write_emit, {"chunks": True}, EMIT),
        ("emit.nc", write_emit, {"chunks": False}, EMIT),
        ("PACE_OCI.20240701T175112.L2.SFREFL.V3_1.nc", write_pace, {}, PACE),
        ("NEON_D02_SERC_DP3_368000_4306000_reflectance.h5", write_neon, {}, NEON),
        ("20250504_092952_87_4001_ortho_sr_hdf5.h5", write_tanager, {"zone": -34},
         TANAGER | {"place": utm(345660, 6286110, 32734)}),
        ("ortho.h5", write_tanager, {"zone": 10}, TANAGER | {"place": utm(345660, 6286110, 32610)}),
        ("ortho_radiance.h5", write_tanager, {"name": "toa_radiance"}, TANAGER),
        ("basic_sr.h5", write_tanager, {"kind": "SWATHS"}, TANAGER | {"place": None}),
        ("AV320230926t_L2A_OE_RFL_ORT.nc", write_aviris3, {"transform": True}, AVIRIS),
        ("AV320230926t_L2A_OE_RFL_ORT.nc", write_aviris3, {"transform": False}, AVIRIS),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.* no pixel has data in band 4")  # of PACE
def test_what_a_product_states(tmp_path, name, write, options, facts):
    cube = write(tmp_path / name, **options)
    scene = open_scene(tmp_path / name)
    found = facts_of(scene)
    assert {fact: found[fact] for fact in facts} == facts
    data = np.asarray(scene.data)
    np.testing.assert_array_equal(
        data[scene.valid], np.where(cube == -32767, np.nan, cube)[scene.valid]
    )
    assert scene.empty_bands.tolist() == [
        write is write_pace and k == 3 for k in range(scene.n_bands)
    ]


# --- EMIT ----------------------------------------------------------------------------------------


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
    assert georeference_of(scene.map_info) == utm(500000, 5000100, 32632)


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


def test_pace_that_is_scaled(tmp_path):
    path = tmp_path / "pace.nc"
    cube = write_pace(path)
    with h5py.File(path, "r+") as file:
        file["geophysical_data/rhos"].attrs["scale_factor"] = np.float32([0.5])
        file["geophysical_data/rhos"].attrs["add_offset"] = np.float32([0.25])
    scene = open_scene(path)
    np.testing.assert_array_equal(np.asarray(scene.data)[0, :, :3], cube[0, :, :3] * 0.5 + 0.25)
    assert np.isnan(np.asarray(scene.data)[2, 3]).all()


def test_the_code_of_a_grid_goes_first(tmp_path):
    write_tanager(tmp_path / "ortho.h5")
    with h5py.File(tmp_path / "ortho.h5", "r+") as file:
        file["HDFEOS/GRIDS/HYP"].attrs["epsg_code"] = np.int32(32735)
    assert open_scene(tmp_path / "ortho.h5").georeference.crs == "EPSG:32735"


@pytest.mark.parametrize("where", ["utm", "reflectance/utm"])
def test_the_grid_of_aviris3_has_the_name_that_the_cube_states(tmp_path, where):
    write_aviris3(tmp_path / "rfl.nc")
    with h5py.File(tmp_path / "rfl.nc", "r+") as file:
        file.move("transverse_mercator", where)
        file["reflectance/reflectance"].attrs["grid_mapping"] = "utm"
    assert open_scene(tmp_path / "rfl.nc").georeference == utm(4e5, 5.8e6, 32611)


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
