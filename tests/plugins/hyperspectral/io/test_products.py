"""EMIT, PRISMA and EnMAP files, small but laid out as the agencies' products are."""

from __future__ import annotations

from xml.etree import ElementTree

import h5py
import numpy as np
import pytest
import rasterio
from rasterio.transform import Affine

from diffclass.exceptions import DataError
from diffclass_hyperspectral import open_scene
from diffclass_hyperspectral.io.georeference import Georeference, georeference_of
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers import read_image

ROWS, COLUMNS = 9, 6
SWATH = "HDFEOS/SWATHS/PRS_L2D_HCO"


def fails(path, *words, **options):
    with pytest.raises(DataError) as caught:
        np.asarray(read_image(path, **options).data)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message


def write_emit(path, *, chunks=True):
    """Write the layout of EMITL2ARFL.001."""
    rng = np.random.default_rng(0)
    cube = rng.random((ROWS, COLUMNS, 5)).astype(np.float32)
    cube[2, 3] = -9999
    with h5py.File(path, "w") as file:
        stored = file.create_dataset(
            "reflectance", data=cube, chunks=(4, 3, 2) if chunks else None, fillvalue=-9999
        )
        stored.attrs["_FillValue"] = np.float32([-9999])
        bands = file.create_group("sensor_band_parameters")
        bands["wavelengths"] = np.float32([381.0, 388.4, 1380.0, 2000.0, 2492.9])
        bands["fwhm"] = np.float32([8.4, 8.4, 8.5, 8.8, 8.7])
        bands["good_wavelengths"] = np.float32([1, 1, 0, 1, 1])
        place = file.create_group("location")
        place["lat"] = np.full((ROWS, COLUMNS), 45.0)
        place["lon"] = np.full((ROWS, COLUMNS), 10.0)
        # the map grid is the sensor's, upside down, with an empty first column
        columns, rows = np.meshgrid(np.arange(COLUMNS + 1), np.arange(ROWS, 0, -1))
        place["glt_x"] = columns.astype(np.int32)
        place["glt_y"] = np.where(columns > 0, rows, 0).astype(np.int32)
        file.attrs["geotransform"] = np.array([10.0, 0.001, 0.0, 45.0, 0.0, -0.001])
        file.attrs["spatial_ref"] = rasterio.CRS.from_epsg(4326).to_wkt()
    return cube


def write_prisma(path, *, corners="centres"):
    """Write the layout of PRISMA's L2D: (row, band, column), descending, with absent bands."""
    rng = np.random.default_rng(1)
    cubes = {"Vnir": rng.integers(1, 65535, (ROWS, 4, COLUMNS), dtype=np.uint16),
             "Swir": rng.integers(1, 65535, (ROWS, 3, COLUMNS), dtype=np.uint16)}  # fmt: skip
    centres = {"Vnir": [977.0, 700.0, 406.0, 0.0], "Swir": [2497.0, 1500.0, 943.0]}
    ranges = {"Vnir": (0.0, 0.8), "Swir": (-0.01, 0.6)}
    half = 0 if corners == "centres" else 15
    with h5py.File(path, "w") as file:
        for name, cube in cubes.items():
            cube[4, :, 5] = 0
            file[f"{SWATH}/Data Fields/{name.upper()}_Cube"] = cube
            file.attrs[f"List_Cw_{name}"] = np.float32(centres[name])
            file.attrs[f"List_Cw_{name}_Flags"] = np.array(centres[name]).astype(bool).astype("u1")
            file.attrs[f"L2Scale{name}Min"], file.attrs[f"L2Scale{name}Max"] = (
                np.float32(value) for value in ranges[name]
            )
        file.attrs["Epsg_Code"] = np.int32(32632)
        file.attrs["Product_ULcorner_easting"] = np.float32(500015 - half)
        file.attrs["Product_ULcorner_northing"] = np.float32(5000085 + half)
        file.attrs["Product_LRcorner_easting"] = np.float32(500015 + 30 * (COLUMNS - 1) + half)
        file.attrs["Product_LRcorner_northing"] = np.float32(5000085 - 30 * (ROWS - 1) - half)
    return cubes


def write_enmap(folder, *, gains=(1e-4, 1e-4, 1e-4), name="ENMAP01-____L2A-DT0-SPECTRAL_IMAGE"):
    cube = np.random.default_rng(2).integers(0, 6000, (ROWS, COLUMNS, 3)).astype(np.int16)
    cube[0, 0] = -32768
    image = folder / f"{name}.TIF"
    with rasterio.open(
        image, "w", driver="GTiff", height=ROWS, width=COLUMNS, count=3, dtype="int16",
        crs="EPSG:32633", transform=Affine(30, 0, 4e5, 0, -30, 5.8e6),
    ) as raster:  # fmt: skip
        raster.write(cube.transpose(2, 0, 1))
    root = ElementTree.Element("level_X")
    specific = ElementTree.SubElement(root, "specific")
    ElementTree.SubElement(specific, "backgroundValue").text = "-32768"
    bands = ElementTree.SubElement(specific, "bandCharacterisation")
    for number, (centre, gain) in enumerate(zip((418.4, 902.0, 2445.3), gains, strict=True)):
        band = ElementTree.SubElement(bands, "bandID", number=str(number + 1))
        for tag, value in {"wavelengthCenterOfBand": centre, "FWHMOfBand": 6.0,
                           "GainOfBand": gain, "OffsetOfBand": 0}.items():  # fmt: skip
            ElementTree.SubElement(band, tag).text = str(value)
    metadata = folder / f"{name.split('SPECTRAL')[0]}METADATA.XML"
    ElementTree.ElementTree(root).write(metadata)
    return cube, image, metadata


# --- EMIT ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunks", [True, False])
def test_emit(tmp_path, chunks):
    cube = write_emit(tmp_path / "emit.nc", chunks=chunks)
    scene = open_scene(tmp_path / "emit.nc")
    assert (scene.format, scene.ignore_value, scene.map_info) == ("EMIT", -9999, None)
    np.testing.assert_allclose(scene.wavelengths, [381, 388.4, 1380, 2000, 2492.9], rtol=1e-6)
    assert scene.band_mask.tolist() == [True, True, False, True, True]
    assert np.argwhere(~scene.valid).tolist() == [[2, 3]]
    np.testing.assert_array_equal(np.asarray(scene.data), cube)


def test_emit_without_its_parts(tmp_path):
    path = tmp_path / "emit.nc"
    for name, word in (("sensor_band_parameters/wavelengths", "wavelengths"), ("reflectance", "")):
        write_emit(path)
        with h5py.File(path, "r+") as file:
            del file[name]
        fails(path, "emit", word)
    write_emit(path)
    with h5py.File(path, "r+") as file:
        del file["sensor_band_parameters/good_wavelengths"]
        file["sensor_band_parameters/good_wavelengths"] = np.ones(4)
    fails(path, "good_wavelengths", "5 finite numbers")


# --- PRISMA --------------------------------------------------------------------------------------


@pytest.mark.parametrize("corners", ["centres", "edges"])
def test_prisma(tmp_path, corners):
    cubes = write_prisma(tmp_path / "prisma.he5", corners=corners)
    scene = open_scene(tmp_path / "prisma.he5")
    assert scene.format == "PRISMA"
    assert scene.wavelengths.tolist() == [406, 700, 977, 943, 1500, 2497]
    vnir = cubes["Vnir"][:, [2, 1, 0]].transpose(0, 2, 1) / 65535 * 0.8
    swir = cubes["Swir"][:, ::-1].transpose(0, 2, 1) / 65535 * 0.61 - 0.01
    expected = np.concatenate([vnir, swir], axis=2)
    assert np.argwhere(~scene.valid).tolist() == [[4, 5]]
    expected[4, 5] = np.nan
    np.testing.assert_allclose(scene.data, expected, atol=1e-6)
    place = Georeference((30, 0, 500000, 0, -30, 5000100), "EPSG:32632")
    assert georeference_of(scene.map_info) == place


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


# --- EnMAP ---------------------------------------------------------------------------------------


def test_enmap(tmp_path):
    cube, image, metadata = write_enmap(tmp_path)
    for path in (image, metadata):
        scene = open_scene(path)
        assert (scene.format, scene.ignore_value) == ("EnMAP", -32768)
        assert scene.scale_factor == pytest.approx(10000)
        assert scene.wavelengths.tolist() == [418.4, 902, 2445.3]
        np.testing.assert_array_equal(scene.data, cube)
        assert np.argwhere(~scene.valid).tolist() == [[0, 0]]
        np.testing.assert_allclose(scene.spectra()[1:], cube.reshape(-1, 3)[1:] / 1e4, atol=1e-6)
        assert georeference_of(scene.map_info).crs == "EPSG:32633"


def test_enmap_gains_that_differ(tmp_path):
    gains = (1e-4, 2e-4, 1e-4)
    cube, image, _ = write_enmap(tmp_path, gains=gains)
    scene = open_scene(image)
    expected = cube * np.array(gains)
    expected[0, 0] = np.nan
    np.testing.assert_allclose(scene.data, expected, rtol=1e-6)
    assert np.argwhere(~scene.valid).tolist() == [[0, 0]]


def test_enmap_metadata_of_another_product(tmp_path):
    _, image, metadata = write_enmap(tmp_path)
    text = metadata.read_text()
    metadata.write_text(text.replace('number="3"', 'number="x"'))
    fails(image, "METADATA")
    metadata.write_text(text.replace("<wavelengthCenterOfBand>902.0</wavelengthCenterOfBand>", ""))
    fails(image, "lacks wavelengthCenterOfBand")
    root = ElementTree.fromstring(text)
    bands = root.find("specific/bandCharacterisation")
    bands.remove(bands[0])
    metadata.write_bytes(ElementTree.tostring(root))
    fails(image, "describes 2 bands", "has 3")
    metadata.write_text(text[:200])
    fails(metadata, "METADATA")
    metadata.write_text("")
    fails(image, "empty")
    image.unlink()
    metadata.write_text(text)
    fails(metadata, "no SPECTRAL_IMAGE.TIF")
    (tmp_path / "other.xml").write_text(text)
    fails(tmp_path / "other.xml", "no METADATA.XML of EnMAP")


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


@pytest.mark.parametrize("keep", [0.01, 0.3, 0.7, 0.97])
@pytest.mark.parametrize("write", [write_emit, write_prisma])
def test_truncated(tmp_path, write, keep):
    path = tmp_path / "scene.h5"
    write(path)
    raw = path.read_bytes()
    path.write_bytes(raw[: int(keep * len(raw))])
    fails(path, "scene.h5")


# --- reading when asked --------------------------------------------------------------------------


def make_blocks(path, step):
    cube = np.arange(11 * 3 * 4).reshape(11, 3, 4)
    asked = []

    def read_rows(start, stop):
        asked.append((start, stop))
        return cube[start:stop]

    return (
        cube,
        asked,
        BlockArray(cube.shape, cube.dtype, read_rows=read_rows, path=path, step=step),
    )


@pytest.mark.parametrize("step", [1, 4, 50])
def test_blocks_are_the_array(tmp_path, step):
    cube, asked, blocks = make_blocks(tmp_path, step)
    assert (blocks.shape, blocks.ndim, blocks.size, len(blocks)) == (cube.shape, 3, cube.size, 11)
    assert asked == []
    few = blocks[..., np.array([True, False, False, True])][..., [1, 0]]
    assert (few.shape, asked) == ((11, 3, 2), [])
    for start in range(12):
        for stop in range(start, 12):
            np.testing.assert_array_equal(blocks[start:stop], cube[start:stop])
            np.testing.assert_array_equal(few[start:stop], cube[start:stop][..., [3, 0]])
    np.testing.assert_array_equal(blocks[2:5, 1], cube[2:5, 1])
    np.testing.assert_array_equal(blocks[-1], cube[-1])
    np.testing.assert_array_equal(blocks[::2], cube[::2])
    np.testing.assert_array_equal(np.asarray(blocks, dtype=float), cube)


def test_a_piece_is_read_once(tmp_path):
    _, asked, blocks = make_blocks(tmp_path, 4)
    for row in range(11):
        blocks[row : row + 1]
    assert asked == [(0, 4), (4, 8), (8, 11)]


def test_opening_reads_no_pixel(tmp_path, monkeypatch):
    write_emit(tmp_path / "emit.nc")
    write_prisma(tmp_path / "prisma.he5")
    _, image, _ = write_enmap(tmp_path)
    monkeypatch.setattr(BlockArray, "_checked", None)
    for path in (tmp_path / "emit.nc", tmp_path / "prisma.he5", image):
        assert isinstance(read_image(path).data, BlockArray)


def test_a_block_that_is_cut_short(tmp_path):
    blocks = BlockArray((4, 2, 1), "f4", read_rows=lambda *_: np.zeros((1, 2, 1)), path=tmp_path)
    with pytest.raises(DataError, match="damaged"):
        blocks[0:4]
