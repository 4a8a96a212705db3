"""PACE, NEON, Tanager, AVIRIS-3, DESIS, Sentinel-2 and Wyvern: small files laid out as theirs."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

from diffclass.exceptions import DataError
from diffclass_hyperspectral import open_scene
from diffclass_hyperspectral.io.georeference import Georeference, georeference_of
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers import read_image

from ..products import (
    write_aviris3,
    write_desis,
    write_neon,
    write_pace,
    write_sentinel2,
    write_tanager,
    write_wyvern,
)


def fails(path, *words, **options):
    with pytest.raises(DataError) as caught:
        np.asarray(read_image(path, **options).data)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message


def place(scene):
    return georeference_of(scene.map_info)


# --- HDF5 ----------------------------------------------------------------------------------------


def test_pace(tmp_path):
    cube = write_pace(tmp_path / "PACE_OCI.20240701T175112.L2.SFREFL.V3_1.nc")
    scene = open_scene(tmp_path / "PACE_OCI.20240701T175112.L2.SFREFL.V3_1.nc")
    assert (scene.format, scene.map_info, scene.scale_factor) == ("PACE", None, 1)
    assert scene.wavelengths.tolist() == [346, 351, 588, 761, 2258]
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
    assert np.argwhere(~scene.valid).tolist() == [[0, 0]]
    np.testing.assert_array_equal(np.asarray(scene.data), cube)
    assert place(scene) == Georeference((1, 0, 368000, 0, -1, 4307000), "EPSG:32618")


@pytest.mark.parametrize(("zone", "code"), [(-34, 32734), (10, 32610)])
def test_tanager_on_its_grid(tmp_path, zone, code):
    cube = write_tanager(tmp_path / "20250504_092952_87_4001_ortho_sr_hdf5.h5", zone=zone)
    scene = open_scene(tmp_path / "20250504_092952_87_4001_ortho_sr_hdf5.h5")
    assert (scene.format, scene.shape) == ("Tanager", (9, 6, 4))
    assert scene.band_mask.tolist() == [True, True, False, True]
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
def test_parts_that_are_missing_or_of_another_size(tmp_path, write, name):
    path = tmp_path / "scene.h5"
    write(path)
    with h5py.File(path, "r+") as file:
        del file[name]
        if name.startswith("HDFEOS"):
            file[name] = np.bytes_("nothing known")
        else:
            file[name] = np.ones(77)
    fails(path, "scene.h5")
    with h5py.File(path, "r+") as file:
        del file[name]
    if write is write_aviris3:  # without wavelengths it is any HDF5 file
        assert open_scene(path).format == "HDF5"
    else:
        fails(path, "lacks", name.rpartition("/")[2])


def test_tanager_on_another_grid(tmp_path):
    path = tmp_path / "scene.h5"
    write_tanager(path)
    with h5py.File(path, "r+") as file:
        text = file["HDFEOS INFORMATION/StructMetadata.0"][()]
        del file["HDFEOS INFORMATION/StructMetadata.0"]
        file["HDFEOS INFORMATION/StructMetadata.0"] = np.bytes_(text.replace(b"UTM", b"SNSOID"))
    fails(path, "not UTM")


def test_a_named_array_of_a_product_is_taken_as_stored(tmp_path):
    cube = write_tanager(tmp_path / "scene.h5")
    name = "HDFEOS/GRIDS/HYP/Data Fields/surface_reflectance"
    assert open_scene(tmp_path / "scene.h5", variable=name).shape == (4, 9, 6)
    assert cube.shape == (9, 6, 4)


@pytest.mark.parametrize("keep", [0.02, 0.4, 0.95])
@pytest.mark.parametrize("write", [write_pace, write_neon, write_tanager, write_aviris3])
def test_truncated(tmp_path, write, keep):
    path = tmp_path / "scene.h5"
    write(path)
    raw = path.read_bytes()
    path.write_bytes(raw[: int(keep * len(raw))])
    fails(path, "scene.h5")


def test_opening_reads_no_pixel(tmp_path, monkeypatch):
    paths = [tmp_path / f"{write.__name__}.h5" for write in (write_pace, write_neon, write_tanager)]
    for write, path in zip((write_pace, write_neon, write_tanager), paths, strict=True):
        write(path)
    _, safe = write_sentinel2(tmp_path)
    monkeypatch.setattr(BlockArray, "_checked", None)
    for path in (*paths, safe):
        assert isinstance(read_image(path).data, BlockArray)


# --- DESIS ---------------------------------------------------------------------------------------


def test_desis(tmp_path):
    cube, image, metadata = write_desis(tmp_path)
    for path in (image, metadata):
        scene = open_scene(path)
        assert (scene.format, scene.ignore_value) == ("DESIS", -32768)
        assert scene.scale_factor == pytest.approx(10000)
        assert scene.wavelengths.tolist() == [401.9, 650.25, 999.5]
        assert np.argwhere(~scene.valid).tolist() == [[0, 0]]
        np.testing.assert_array_equal(np.asarray(scene.data), cube)
        assert place(scene).crs == "EPSG:32650"


def test_desis_without_its_files(tmp_path):
    _, image, metadata = write_desis(tmp_path)
    header = image.with_suffix(".hdr")
    text = header.read_text()
    header.write_text(text.replace("401.9,  ", ""))
    fails(image, "3 bands", "2 values of 'wavelength'")
    header.unlink()
    fails(image, "lacks its header")
    header.write_text(text)
    image.unlink()
    fails(metadata, "no SPECTRAL_IMAGE.TIF")


# --- Sentinel-2 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [-1000, 0])
def test_sentinel2(tmp_path, offset):
    cube, safe = write_sentinel2(tmp_path, offset=offset)
    for path in (safe, safe / "MTD_MSIL2A.xml"):
        scene = open_scene(path)
        assert (scene.format, scene.band_names) == ("Sentinel-2", ("B02", "B04", "B8A", "B12"))
        assert scene.wavelengths.tolist() == [492.1, 664.6, 864.0, 2202.4]
        expected = (cube + float(offset)) / 10000
        expected[0, 0] = np.nan
        np.testing.assert_allclose(np.asarray(scene.data), expected, atol=1e-6)
        assert np.argwhere(~scene.valid).tolist() == [[0, 0]]
        assert place(scene) == Georeference((20, 0, 6e5, 0, -20, 4.2e6), "EPSG:32610")
    fine = open_scene(safe, variable="R10m")
    assert fine.band_names == ("B02", "B04")
    assert place(fine).transform[0] == 10


def test_sentinel2_that_cannot_be_read(tmp_path):
    _, safe = write_sentinel2(tmp_path)
    fails(safe, "R10m, R20m, R60m", variable="R5m")
    fails(safe, "0 folders", variable="R60m")
    metadata = safe / "MTD_MSIL2A.xml"
    text = metadata.read_text()
    metadata.write_text(text.replace(">10000<", ">none<"))
    fails(safe, "BOA_QUANTIFICATION_VALUE")
    metadata.write_text(text[:300])
    fails(safe, "Sentinel-2 metadata")
    metadata.write_text(text)
    image = next(safe.glob("GRANULE/*/IMG_DATA/R20m/*_B04_20m.jp2"))
    image.write_bytes(image.read_bytes()[:90])
    fails(safe, "B04_20m.jp2")
    metadata.rename(safe / "MTD_MSIL1C.xml")
    fails(safe / "MTD_MSIL1C.xml", "only products of level 2A")
    fails(safe, "this is a folder")


# --- Wyvern --------------------------------------------------------------------------------------


@pytest.mark.parametrize("tags", [True, False])
def test_wyvern(tmp_path, tags):
    cube = write_wyvern(tmp_path / "wyvern_dragonette-001_20240729T203112_3a5d0a9c.tiff", tags=tags)
    scene = open_scene(tmp_path / "wyvern_dragonette-001_20240729T203112_3a5d0a9c.tiff")
    assert (scene.format, scene.ignore_value) == ("GeoTIFF", -9999)
    assert scene.wavelengths.tolist() == [503, 600, 799]
    assert np.argwhere(~scene.valid).tolist() == [[3, 3]]
    np.testing.assert_array_equal(np.asarray(scene.data), cube)
    assert place(scene).crs == "EPSG:4326"
