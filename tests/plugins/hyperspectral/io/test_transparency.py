"""Alpha bands, masks, no-data values and gains by band, and photographs."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import rasterio
from PIL import Image
from rasterio.enums import ColorInterp

from diffclass.exceptions import DataError
from diffclass_hyperspectral import open_scene, read_labels, write_class_map
from diffclass_hyperspectral.io.readers import is_ignored

from ..writers import save_envi
from .test_geotiff import write_tiff as write_plain_tiff
from .test_vector_labels import EXPECTED, SCENE, write

RGB = np.random.default_rng(6).integers(1, 255, (20, 16, 3)).astype(np.uint8)
HOLE = np.zeros((20, 16), dtype=bool)
HOLE[:5, :7] = True


def write_tiff(path, cube, *, kinds=None, mask=None, **options):
    write_plain_tiff(path, cube, **options)
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(path, "r+") as raster:
        if kinds:
            raster.colorinterp = kinds
        if mask is not None:
            raster.write_mask(mask)
    return path


def with_alpha(alpha):
    return np.dstack([RGB, alpha.astype(np.uint8)])


COLORS = [ColorInterp.red, ColorInterp.green, ColorInterp.blue, ColorInterp.alpha]


def test_a_fourth_band_that_is_only_called_alpha_is_kept(tmp_path):
    near = np.random.default_rng(0).integers(1, 255, HOLE.shape)
    path = write_tiff(tmp_path / "o.tif", with_alpha(near), kinds=COLORS)
    scene = open_scene(path)
    assert scene.shape == (20, 16, 4)
    assert scene.valid.all()


@pytest.mark.parametrize(("how", "nodata"), [("alpha", None), ("alpha", 7), ("mask", None)])
def test_an_alpha_band_and_a_mask_hide_pixels_and_are_no_measurement(tmp_path, how, nodata):
    """Beside a value for no data, too."""
    cube, path = RGB.copy(), tmp_path / "o.tif"
    cube[15, 3] = 7
    if how == "mask":
        write_tiff(path, cube, mask=~HOLE)
    else:
        shown = np.where(HOLE, 0, 255).astype(np.uint8)
        write_tiff(path, np.dstack([cube, shown]), kinds=COLORS, nodata=nodata)
    scene = open_scene(path)
    assert scene.shape == (20, 16, 3)
    expected = ~HOLE & ((cube != 7).all(axis=2) if nodata else True)
    np.testing.assert_array_equal(scene.valid, expected)
    np.testing.assert_array_equal(np.asarray(scene.data)[expected], cube[expected])


def test_no_data_by_band(tmp_path):
    cube = RGB.astype(np.int16)
    cube[2, 2] = (-1, -2, -3)
    cube[4, 4] = (-2, -2, -2)  # the value of the second band alone
    cube[6, 6] = (-2, -3, -1)  # those of other bands
    path = write_tiff(tmp_path / "o.tif", cube)
    beside = "".join(
        f'<PAMRasterBand band="{i}"><NoDataValue>{-i}</NoDataValue></PAMRasterBand>'
        for i in (1, 2, 3)
    )
    (tmp_path / "o.tif.aux.xml").write_text(f"<PAMDataset>{beside}</PAMDataset>")
    with rasterio.open(path) as raster:
        assert raster.nodatavals == (-1, -2, -3)
    assert np.argwhere(~open_scene(path).valid).tolist() == [[2, 2], [4, 4]]


def test_masked_labels_are_no_labels(tmp_path):
    ids = np.full((20, 16, 1), 3, dtype=np.uint8)
    labels = read_labels(write_tiff(tmp_path / "l.tif", ids, mask=~HOLE))
    np.testing.assert_array_equal(labels.ids, np.where(HOLE, 0, 3))


def test_class_maps_have_no_data_where_they_are_unclassified(tmp_path):
    ids = np.array([[0, 1], [10, 1]])
    write_class_map(tmp_path / "map.tif", ids, map_info=SCENE.map_info)
    with rasterio.open(tmp_path / "map.tif") as raster:
        assert raster.nodata == 0
    labels = read_labels(tmp_path / "map.tif")
    np.testing.assert_array_equal(labels.ids, ids)
    assert [entry.name for entry in labels.table] == ["class 1", "class 10"]


# ENVI


def test_gains_and_offsets_of_bands(tmp_path):
    cube = np.random.default_rng(1).integers(0, 4000, (6, 5, 3)).astype(np.int16)
    cube[1, 2] = -1
    gains, offsets = [0.5, 2.0, 0.01], [1.0, 0.0, -3.0]
    facts = {"data gain values": gains, "data offset values": offsets, "data ignore value": -1}
    scene = open_scene(save_envi(tmp_path, cube, metadata=facts))
    assert np.argwhere(~scene.valid).tolist() == [[1, 2]]
    expected = (cube * np.float32(gains) + np.float32(offsets)).reshape(-1, 3)
    keep = scene.valid.ravel()
    np.testing.assert_allclose(scene.spectra()[keep], expected[keep], rtol=1e-6)


def test_one_gain_is_a_scale_factor(tmp_path):
    cube = np.ones((4, 4, 2), dtype=np.int16)
    facts = {"data gain values": [0.25, 0.25]}
    scene = open_scene(save_envi(tmp_path, cube, metadata=facts))
    assert (scene.scale_factor, scene.data.dtype) == (4.0, np.dtype(np.int16))
    both = facts | {"reflectance scale factor": 10}
    with pytest.warns(UserWarning, match="b.hdr: states data gain values, which"):
        assert open_scene(save_envi(tmp_path, cube, "b.hdr", metadata=both)).scale_factor == 10


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "i4", "f4", "f8", "?"])
@pytest.mark.parametrize(
    "ignored", [None, np.nan, 0, -1, 0.5, 1, 127, 128, 255, 256, -32768, 65535, 65536, 1e300]
)
def test_a_value_that_the_type_cannot_hold_hides_no_pixel(dtype, ignored):
    span = [0, 1] if dtype == "?" else [0, 0.5, 1] if dtype in "f4f8" else np.iinfo(dtype)
    values = np.array([span.min, -1, 0, 127, span.max] if hasattr(span, "min") else span)
    values = values[values >= getattr(span, "min", 0)].astype(dtype)
    expected = [value == ignored for value in values.astype(float).tolist()]
    assert is_ignored(values, ignored).tolist() == expected
    of_bands = is_ignored(np.stack([values, values], axis=-1), np.array([np.nan, ignored or 0.0]))
    assert not of_bands[:, 0].any()


def test_a_value_in_a_header_is_one_of_the_files_precision():
    assert is_ignored(np.float32([-3.4e38, 0.1, 0]), 0.1).tolist() == [False, True, False]
    by_band = is_ignored(np.uint8([[7, 7], [1, 9]]), np.array([7.0, 9.0]))
    assert by_band.tolist() == [[True, False], [False, True]]


# Photographs and archives


@pytest.mark.parametrize("ending", [".jpg", ".jpeg", ".png"])
def test_photographs_are_scenes(tmp_path, ending):
    Image.fromarray(RGB).save(tmp_path / f"photo{ending}")
    scene = open_scene(tmp_path / f"photo{ending}")
    assert scene.shape == (20, 16, 3)
    assert scene.band_names == ("red", "green", "blue")
    if ending == ".png":
        np.testing.assert_array_equal(scene.data, RGB)


def test_a_photograph_is_upright_as_viewers_show_it(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    Image.fromarray(RGB).save(tmp_path / "photo.jpg", exif=exif, quality=100, subsampling=0)
    data = np.asarray(open_scene(tmp_path / "photo.jpg").data)
    # the first row is shown as the last column
    np.testing.assert_allclose(data.astype(float), np.rot90(RGB, -1).astype(float), atol=5)


@pytest.mark.parametrize("grey", [False, True])
def test_transparent_pixels_of_a_png(tmp_path, grey):
    alpha = np.where(HOLE, 0, 255).astype(np.uint8)
    image = Image.fromarray(RGB[..., 0] if grey else RGB)
    image.putalpha(Image.fromarray(alpha))
    image.save(tmp_path / "photo.png")
    scene = open_scene(tmp_path / "photo.png")
    assert scene.n_bands == (1 if grey else 3)
    np.testing.assert_array_equal(scene.valid, ~HOLE)


@pytest.mark.parametrize("kind", ["u1", "u2"])
def test_a_grey_value_that_is_transparent(tmp_path, kind):
    grey = np.arange(20).reshape(4, 5).astype(kind) * 12
    Image.fromarray(grey).save(tmp_path / "grey.png", transparency=36)
    np.testing.assert_array_equal(open_scene(tmp_path / "grey.png").valid, grey != 36)


def test_a_jpeg_holds_no_labels(tmp_path):
    Image.fromarray(RGB[..., 0]).save(tmp_path / "labels.jpg")
    with pytest.raises(DataError, match="JPEG blurs"):
        read_labels(tmp_path / "labels.jpg")


def test_archives_of_numpy(tmp_path):
    centres = np.array([450.0, 550.0, 650.0])
    np.savez(tmp_path / "scene.npz", cube=RGB, wavelengths=centres, truth=HOLE.astype(np.uint8))
    scene = open_scene(tmp_path / "scene.npz")
    np.testing.assert_array_equal(scene.data, RGB)
    np.testing.assert_array_equal(scene.wavelengths, centres)
    np.testing.assert_array_equal(read_labels(tmp_path / "scene.npz").ids, HOLE)
    np.savez(tmp_path / "two.npz", a=RGB, b=RGB + 1)
    with pytest.raises(DataError, match="several arrays"):
        open_scene(tmp_path / "two.npz")
    np.testing.assert_array_equal(open_scene(tmp_path / "two.npz", variable="b").data, RGB + 1)


# Vectors


@pytest.mark.parametrize("name", ["labels.fgb", "labels.kml"])
def test_other_vector_files(tmp_path, name):
    fields = {"Name" if name.endswith("kml") else "class": ["corn", "soy"]}
    crs = "EPSG:4326" if name.endswith("kml") else "EPSG:32633"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        driver = {"driver": "KML"} if name.endswith("kml") else {}
        path = write(tmp_path / name, fields, crs=crs, **driver)
    labels = read_labels(path, grid=SCENE)
    np.testing.assert_array_equal(labels.ids, EXPECTED)
    assert [entry.name for entry in labels.table] == ["corn", "soy"]
