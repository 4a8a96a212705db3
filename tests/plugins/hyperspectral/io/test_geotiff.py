from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import rasterio
from rasterio.transform import Affine

from diffclass.exceptions import DataError
from diffclass_hyperspectral import open_scene, open_tiles, read_labels
from diffclass_hyperspectral.io.georeference import georeference_of
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.readers import read_image

from ..writers import pixels_of, refuses

CUBE = np.random.default_rng(0).integers(-300, 3000, (40, 30, 4)).astype(np.int16)
CUBE.flags.writeable = False
NORTH_UP = Affine(30, 0, 5e5, 0, -30, 5.4e6)
NM, UM = (400, 500, 600, 2400), (0.4, 0.5, 0.6, 2.4)
WIDTHS = (6.5, 7, 8, 9.25)  # nm
TURNED = Affine(28.19, 6.84, 5e5, 10.26, -18.79, 5.4e6)


def write_tiff(
    path, cube=CUBE, *, tags=(), names=(), domain=None, file_tags=None, envi=None, **options
):
    options = {"crs": "EPSG:32633", "transform": NORTH_UP} | options
    with rasterio.open(
        path, "w", driver="GTiff", height=cube.shape[0], width=cube.shape[1],
        count=cube.shape[2], dtype=cube.dtype, **options,
    ) as raster:  # fmt: skip
        raster.write(cube.transpose(2, 0, 1))
        for band, entry in enumerate(tags, start=1):
            raster.update_tags(band, ns=domain, **entry)
        if names:
            raster.descriptions = names
        raster.update_tags(**(file_tags or {}))
        raster.update_tags(ns="ENVI", **(envi or {}))
    return path


fails = partial(refuses, pixels_of)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "float32", "float64"])
@pytest.mark.parametrize(
    "layout",
    [
        {},
        {"interleave": "pixel"},
        {"tiled": True, "blockxsize": 16, "blockysize": 16, "compress": "deflate"},
        {"BIGTIFF": "YES", "ENDIANNESS": "BIG"},
    ],
)
def test_every_layout_and_type(tmp_path, dtype, layout):
    cube = np.abs(CUBE).astype(dtype)
    scene = open_scene(write_tiff(tmp_path / "scene.tif", cube, nodata=7, **layout))
    assert (scene.format, scene.ignore_value, scene.scale_factor) == ("GeoTIFF", 7, 1)
    assert scene.data.dtype == dtype
    np.testing.assert_array_equal(scene.data, cube)


def test_pixels_are_read_in_blocks_and_not_when_opened(tmp_path, monkeypatch):
    path = write_tiff(tmp_path / "scene.tif", tiled=True, blockxsize=16, blockysize=16)
    data = read_image(path).data
    assert isinstance(data, BlockArray)
    asked = []
    read = data._read_rows
    monkeypatch.setattr(data, "_read_rows", lambda *rows: (asked.append(rows), read(*rows))[1])
    np.testing.assert_array_equal(data[20:22], CUBE[20:22])
    assert asked == [(16, 32)]


@pytest.mark.parametrize(
    "given",
    [
        {"tags": [{"wavelength": w, "wavelength_units": "Nanometers"} for w in NM]},
        {"tags": [{"Wavelength": w, "wavelength_units": "Micrometers"} for w in UM]},
        {"tags": [{"wavelength": w} for w in UM]},
        {"tags": [{"CENTRAL_WAVELENGTH_UM": w} for w in UM], "domain": "IMAGERY"},
        {"names": ["Band 1 (400.0 nm)", "500 Nanometers", "0.6 um", "b4 (2.4 Micrometers)"]},
        {"file_tags": {"wavelength": "{400, 500, 600, 2400}", "wavelength_units": "nm"}},
        {"file_tags": {"wavelengths": "0.4 0.5 0.6 2.4"}},
    ],
)  # fmt: skip
def test_wavelengths(tmp_path, given):
    scene = open_scene(write_tiff(tmp_path / "scene.tif", **given))
    np.testing.assert_allclose(scene.wavelengths, [400, 500, 600, 2400])


@pytest.mark.parametrize(
    "given",
    [
        {"tags": [{"wavelength": "red"}] * 4},
        {"tags": [{"wavelength": "500"}]},
        {"file_tags": {"wavelength": "{400, 500}"}},
        {"tags": [{"wavelength": "nan"}] * 4},
        {"envi": {"wavelength": "{1, 2, 3, 4, 5}", "wavelength_units": "nm"}},
    ],
)
def test_tags_that_are_no_wavelengths_are_told(tmp_path, given):
    with pytest.warns(UserWarning, match=r"scene.tif: states wavelength, which .* does not use"):
        assert open_scene(write_tiff(tmp_path / "scene.tif", **given)).wavelengths is None


def test_names_that_are_no_wavelengths(tmp_path):
    path = write_tiff(tmp_path / "scene.tif", names=["10 m", "20 m", "B3", "B4"])
    assert open_scene(path).wavelengths is None


WAVES = [{"wavelength": w, "wavelength_units": "Nanometers"} for w in NM]
SMALL = [{"wavelength": w, "wavelength_units": "Micrometers", "FWHM": f / 1e3}
         for w, f in zip(UM, WIDTHS, strict=True)]  # fmt: skip


@pytest.mark.parametrize(
    "given",
    [
        {"tags": [tags | {"fwhm": w} for tags, w in zip(WAVES, WIDTHS, strict=True)]},
        {"tags": SMALL},
        {"tags": [{"CENTRAL_WAVELENGTH_UM": w, "FWHM_UM": f / 1e3}
                  for w, f in zip(UM, WIDTHS, strict=True)], "domain": "IMAGERY"},
        {"tags": [{"FWHM_UM": f / 1e3} for f in WIDTHS], "domain": "IMAGERY",
         "names": ["400 nm", "500 nm", "600 nm", "2400 nm"]},
        {"file_tags": {"wavelength": "{400, 500, 600, 2400}", "fwhm": "{6.5, 7, 8, 9.25}"}},
        {"file_tags": {"wavelengths": "0.4 0.5 0.6 2.4", "fwhm": "0.0065 0.007 0.008 0.00925"}},
        {"tags": WAVES, "file_tags": {"fwhm": "6.5, 7, 8, 9.25"}},
    ],
)  # fmt: skip
def test_widths(tmp_path, given):
    scene = open_scene(write_tiff(tmp_path / "scene.tif", **given))
    np.testing.assert_allclose(scene.wavelengths, NM)
    np.testing.assert_allclose(scene.widths, WIDTHS)


@pytest.mark.parametrize("width", ["", "wide", "nan", "inf", "0", "-7"])
def test_a_width_that_is_none_costs_only_the_widths(tmp_path, width):
    tags = [one | {"fwhm": "7"} for one in WAVES[:3]] + [WAVES[3] | {"fwhm": width}]
    with pytest.warns(UserWarning, match="states fwhm, which"):
        scene = open_scene(write_tiff(tmp_path / "scene.tif", tags=tags))
    np.testing.assert_allclose(scene.wavelengths, NM)
    assert scene.widths is None


def test_an_alpha_band_has_no_width(tmp_path):
    cube = np.full((4, 5, 4), 255, dtype=np.uint8)
    tags = [one | {"fwhm": w} for one, w in zip(WAVES[:3], WIDTHS, strict=False)]
    scene = open_scene(write_tiff(tmp_path / "scene.tif", cube, tags=tags, alpha="yes"))
    assert (scene.n_bands, scene.widths.tolist()) == (3, [6.5, 7, 8])


def test_widths_stay_those_of_all_bands(tmp_path):
    """A choice of bands masks them: widths have the length of the wavelengths all along."""
    tags = [one | {"fwhm": w} for one, w in zip(WAVES, WIDTHS, strict=True)]
    left = write_tiff(tmp_path / "left.tif", tags=tags)
    moved = NORTH_UP @ NORTH_UP.translation(30, 0)
    right = write_tiff(tmp_path / "right.tif", tags=tags, transform=moved)
    chosen = open_scene(left, bands="450-650nm")
    assert chosen.band_mask.tolist() == [False, True, True, False]
    joint = open_tiles([left, right], bands="2-3")
    assert joint.is_mosaic
    for scene in (chosen, chosen.scaled(2), joint.scene, open_tiles([left, chosen]).scene):
        assert scene.widths.tolist() == list(WIDTHS)


@pytest.mark.data
def test_widths_of_real_tiles(data_folder):
    tiles = sorted((data_folder / "enmap_potsdam" / "images").glob("*.tif"))
    scene = open_tiles(tiles[:2]).scene
    assert scene.widths.shape == scene.wavelengths.shape == (224,)
    np.testing.assert_allclose(scene.widths[[0, -1]], [6.99561, 7.1581])
    assert 5 < scene.widths.min() < scene.widths.max() < 15


def test_band_names_and_bad_bands(tmp_path):
    path = write_tiff(tmp_path / "scene.tif", names=["a", None, "c", "d"], tags=[{"bbl": "0"}])
    scene = open_scene(path)
    assert scene.band_names == ("a", "band 2", "c", "d")
    assert scene.band_mask.tolist() == [False, True, True, True]


def test_one_scale_and_several(tmp_path):
    path = write_tiff(tmp_path / "scene.tif", nodata=int(CUBE[0, 0, 0]))
    with rasterio.open(path, "r+") as raster:
        raster.scales = (1e-4,) * 4
    scene = open_scene(path)
    assert (scene.scale_factor, scene.data.dtype) == (pytest.approx(1e4), np.int16)
    with rasterio.open(path, "r+") as raster:
        raster.scales, raster.offsets = (1e-4, 1e-3, 1e-4, 1e-4), (0, 0, 0.5, 0)
    scene = open_scene(path)
    expected = CUBE * np.array([1e-4, 1e-3, 1e-4, 1e-4]) + np.array([0, 0, 0.5, 0])
    expected[np.equal(CUBE, CUBE[0, 0, 0])] = np.nan
    np.testing.assert_allclose(scene.data, expected, rtol=1e-5)
    with rasterio.open(path, "r+") as raster:
        raster.scales = (0, 1, 1, 1)
    fails(path, "gain 0 and offset 0 of band 1")


@pytest.mark.parametrize(
    ("transform", "crs"),
    [
        (NORTH_UP, "EPSG:32633"),
        (TURNED, "EPSG:32733"),
        (Affine(24, 18, 5e5, 9, -24, 5.4e6), "EPSG:32633"),
        (Affine(1e-4, 0, 10, 0, -2e-4, 45), "EPSG:4326"),
        (Affine(25, 0, 4e6, 0, -25, 3e6), "EPSG:3035"),
        (Affine(1, 0, 5, 0, 1, 7), "EPSG:26917"),
    ],
)  # fmt: skip
def test_coordinates(tmp_path, transform, crs):
    scene = open_scene(write_tiff(tmp_path / "scene.tif", transform=transform, crs=crs))
    place = georeference_of(scene.map_info)
    np.testing.assert_array_equal(place.transform, tuple(transform)[:6])
    assert place.crs == crs


def test_no_coordinates(tmp_path):
    with pytest.warns(rasterio.errors.NotGeoreferencedWarning):
        path = write_tiff(tmp_path / "scene.tif", crs=None, transform=None)
    assert open_scene(path).map_info is None


def test_labels_with_palette_and_names_beside(tmp_path):
    ids = np.array([[0, 1, 2], [2, 2, 0]], dtype=np.uint8)
    path = write_tiff(tmp_path / "labels.tif", ids[:, :, None])
    with rasterio.open(path, "r+") as raster:
        raster.write_colormap(1, {0: (0, 0, 0), 1: (10, 20, 30), 2: (200, 100, 50)})
    (tmp_path / "labels.tif.aux.xml").write_text(
        "<PAMDataset><PAMRasterBand band='1'><CategoryNames><Category>none</Category>"
        "<Category>corn</Category><Category></Category></CategoryNames></PAMRasterBand></PAMDataset>"
    )
    labels = read_labels(path)
    np.testing.assert_array_equal(labels.ids, ids)
    assert [(e.id, e.name, e.color) for e in labels.table] == [
        (1, "corn", (10, 20, 30)),
        (2, "class 2", (200, 100, 50)),
    ]
    (tmp_path / "labels.tif.aux.xml").write_text("<PAMDataset><")
    assert read_labels(path).table[1].name == "class 1"


def test_complex_and_several_label_bands(tmp_path):
    fails(write_tiff(tmp_path / "scene.tif", CUBE.astype(np.complex64)), "complex")
    with pytest.raises(DataError, match="one-hot"):
        read_labels(write_tiff(tmp_path / "labels.tif"))


def test_swapped_mark_of_byte_order(tmp_path):
    path = write_tiff(tmp_path / "scene.tif")
    path.write_bytes(b"MM\x00*" + path.read_bytes()[4:])
    fails(path, "GeoTIFF")
