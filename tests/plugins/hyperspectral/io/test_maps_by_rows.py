"""Maps written a block of rows at a time: the files of the whole array, in little memory."""

from __future__ import annotations

import errno
import os
import tracemalloc

import numpy as np
import pytest
import rasterio
from PIL import Image
from spectral.io import envi

from diffclass.exceptions import DataError
from diffclass_hyperspectral import ClassTable, open_scene, read_labels, write_class_map
from diffclass_hyperspectral.io.gdal_messages import quiet
from diffclass_hyperspectral.io.georeference import Georeference, map_info_of
from diffclass_hyperspectral.io.maps import geotiff_writer, mapped_file, png_maps, write_raster
from diffclass_hyperspectral.io.maps.map_files import output_files
from diffclass_hyperspectral.io.rasters import ComputedRaster, PointPicture

BLOCKS = "diffclass_hyperspectral.io.rasters.BLOCK_VALUES"
NAMES = ["m.img", "m.bil", "m.bip", "m.npy", "m.tif"]


class Recorded:
    """A raster that remembers the most rows it was asked for."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype
        self.most = 0

    def __getitem__(self, rows):
        block = self.values[rows]
        self.most = max(self.most, len(block))
        return block


def contents(folder, name):
    return [file.read_bytes() for file in output_files(folder / name) if file.exists()]


@pytest.fixture
def probabilities(rng):
    values = rng.random((53, 7, 3)).astype(np.float32)
    values[50, 2] = np.nan  # in the last block only
    return values


@pytest.mark.parametrize("name", NAMES)
def test_rasters_are_the_same_by_rows(tmp_path, monkeypatch, probabilities, name):
    (tmp_path / "whole").mkdir()
    write_raster(tmp_path / "whole" / name, probabilities, band_names=list("abc"))
    monkeypatch.setattr(BLOCKS, 5 * 7 * 3)
    recorded = Recorded(probabilities)
    write_raster(tmp_path / name, recorded, band_names=list("abc"))
    if name != "m.tif":  # whose strips may lie in another order
        assert contents(tmp_path, name) == contents(tmp_path / "whole", name)
        assert recorded.most == 5
    found = open_scene(tmp_path / name)
    np.testing.assert_array_equal(found.data[:], probabilities)
    if name != "m.npy":
        assert np.isnan(found.ignore_value)


@pytest.mark.parametrize("name", ["m.img", "m.bil", "m.bip"])
def test_envi_data_are_those_of_spectral(tmp_path, probabilities, name):
    interleave = name[2:].replace("img", "bsq")
    envi.save_image(str(tmp_path / "theirs.hdr"), probabilities, interleave=interleave)
    write_raster(tmp_path / name, probabilities)
    assert (tmp_path / name).read_bytes() == (tmp_path / "theirs.img").read_bytes()
    theirs, ours = (envi.read_envi_header(tmp_path / n) for n in ("theirs.hdr", "m.hdr"))
    assert theirs.items() <= ours.items()


def test_envi_classes_are_those_of_spectral(tmp_path, rng):
    ids = rng.integers(0, 4, (9, 5)).astype(np.uint8)
    names, colors = ["unused", "a", "b", "c"], [(0, 0, 0), (1, 2, 3), (4, 5, 6), (7, 8, 9)]
    envi.save_classification(
        str(tmp_path / "theirs.hdr"), ids, class_names=names, class_colors=colors, interleave="bsq"
    )
    table = ClassTable.from_ids(
        [1, 2, 3], names=dict(enumerate(names)), colors=dict(enumerate(colors))
    )
    write_class_map(tmp_path / "m.img", ids, table)
    assert (tmp_path / "m.img").read_bytes() == (tmp_path / "theirs.img").read_bytes()
    theirs, ours = (envi.read_envi_header(tmp_path / n) for n in ("theirs.hdr", "m.hdr"))
    del theirs["class names"], ours["class names"]  # ours say what 0 is
    assert ours.pop("data ignore value") == "0"  # and that it is no data
    assert theirs == ours


@pytest.mark.parametrize("name", NAMES)
def test_class_maps_of_points(tmp_path, monkeypatch, rng, name):
    monkeypatch.setattr(BLOCKS, 20)
    valid = rng.random((40, 6)) < 0.7
    ids = np.where(valid, rng.integers(1, 300, valid.shape), 0).astype(np.int16)
    write_class_map(tmp_path / name, PointPicture(ids[valid], valid))
    np.testing.assert_array_equal(read_labels(tmp_path / name).ids, ids)


def test_wrong_ids_are_found_where_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr(BLOCKS, 8)
    ids = np.ones((30, 4))
    ids[17, 3] = 1.5
    with pytest.raises(DataError, match=r"1\.5 at row 17, column 3"):
        write_class_map(tmp_path / "m.img", ids)
    ids[17, 3] = -7
    with pytest.raises(DataError, match="-7 at row 17, column 3"):
        write_class_map(tmp_path / "m.img", ids)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", NAMES)
def test_memory_is_that_of_a_block(tmp_path, monkeypatch, name):
    monkeypatch.setattr(BLOCKS, 2**14)

    def rows(wanted):
        return np.full((wanted.stop - wanted.start, 256, 4), 0.5)

    small = ComputedRaster((8, 256, 4), np.float64, rows)
    write_raster(tmp_path / f"small{name}", small)
    tracemalloc.start()
    write_raster(tmp_path / name, ComputedRaster((4000, 256, 4), np.float64, rows))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20 < 4000 * 256 * 4 * 4 / 8


def test_large_strips_of_a_geotiff_are_written_once(tmp_path, rng):
    values = rng.random((700, 900)).astype(np.float32)
    write_raster(tmp_path / "m.tif", values)
    with quiet(), rasterio.open(tmp_path / "m.tif") as found:
        np.testing.assert_array_equal(found.read(1), values)
        assert found.nodata is None
    assert (tmp_path / "m.tif").stat().st_size < values.nbytes * 1.05


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("limit", [1, 1_000, 8_000, 16_000, 1_000_000])
def test_a_geotiff_is_whole_or_not_there(tmp_path, rng, monkeypatch, said_of, limit, is_large):
    """GDAL says nothing of blocks that it cannot write when it closes the file."""
    if is_large:
        monkeypatch.setattr(geotiff_writer, "LARGEST_PLAIN", 20)
    values = rng.random((60, 60, 2)).astype(np.float32)
    said = said_of(limit, write_raster, tmp_path / "m.tif", values)
    assert ("m.tif: no room left on its disk" in said) == (limit < values.nbytes)
    assert os.listdir(tmp_path) == ([] if said else ["m.tif"])
    if not said:
        with quiet(), rasterio.open(tmp_path / "m.tif") as found:
            np.testing.assert_array_equal(found.read().transpose(1, 2, 0), values)


@pytest.mark.parametrize("name", ["m.gpkg", "m.geojson"])
def test_polygons_are_whole_or_not_there(tmp_path, rng, said_of, name):
    ids, table = rng.integers(1, 3, (20, 20)).astype(np.uint8), ClassTable.from_ids([1, 2])
    place = map_info_of(Georeference((30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6), "EPSG:32633"))
    write_class_map(tmp_path / name, ids, table, map_info=place)
    size = (tmp_path / name).stat().st_size
    (tmp_path / name).unlink()
    for limit in (1, size // 2, size - 1, size):
        said = said_of(limit, write_class_map, tmp_path / name, ids, table, map_info=place)
        assert (f"{name}: no room left on its disk" in said) == (limit < size)
        assert os.listdir(tmp_path) == ([] if said else [name])


# Points in a file


def test_a_mapped_file_is_an_array_in_a_file(tmp_path):
    points = mapped_file(tmp_path / "points.npy")((5, 3))
    points[:] = np.arange(15).reshape(5, 3)
    del points
    found = np.load(tmp_path / "points.npy")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.ravel(), np.arange(15))
    assert mapped_file(tmp_path / "none.npy")((0, 3)).shape == (0, 3)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EOPNOTSUPP])
def test_a_full_disk_is_told_before_anything_is_written(tmp_path, monkeypatch, code):
    def reserve(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "posix_fallocate", reserve)
    create = mapped_file(tmp_path / "points.npy")
    if code == errno.EOPNOTSUPP:
        assert create((1000, 3)).shape == (1000, 3)
        return
    with pytest.raises(DataError, match=r"no room for 1\.2e-05 GB .* free space or choose"):
        create((1000, 3))
    assert list(tmp_path.iterdir()) == []


def test_a_system_that_cannot_reserve(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate")
    assert mapped_file(tmp_path / "points.npy")((10, 3)).shape == (10, 3)


# Pictures


@pytest.mark.parametrize("rows_at_once", [1, 3, 100])
def test_a_large_map_is_drawn_in_part(tmp_path, monkeypatch, rng, rows_at_once):
    monkeypatch.setattr(BLOCKS, rows_at_once * 600)
    monkeypatch.setattr(png_maps, "_MOST_PIXELS", 200 * 300)
    ids = rng.integers(1, 3, (401, 600)).astype(np.uint8)
    table = ClassTable.from_ids([1, 2], colors={1: (255, 0, 0), 2: (0, 0, 255)})
    write_class_map(tmp_path / "m.png", Recorded(ids), table)
    picture = np.asarray(Image.open(tmp_path / "m.png").convert("RGB"))
    # every third row and column: with every second one there is a row too many
    drawn = picture[12:][: 134 * 3, 12 : 12 + 200 * 3]
    thinned = ids[::3, ::3]
    side = png_maps._times(thinned.shape)
    expected = np.where(thinned[..., None] == 1, [255, 0, 0], [0, 0, 255])
    np.testing.assert_array_equal(drawn[: 134 * side : side, : 200 * side : side], expected)
    assert png_maps.dots_of_a_pixel(ids.shape) == pytest.approx(side / 3)
    write_class_map(tmp_path / "p.png", Recorded(ids), table, legend=False)
    np.testing.assert_array_equal(read_labels(tmp_path / "p.png").ids, ids)
    write_raster(tmp_path / "r.png", Recorded(ids[..., None] / 2))
    with Image.open(tmp_path / "r.png") as shown:
        assert shown.size[0] < 200 * side + 200


def test_a_small_map_is_drawn_whole():
    assert png_maps._step((2048, 2048)) == 1
    assert png_maps._step((2048, 2049)) == 2
    assert png_maps.dots_of_a_pixel((48, 20)) == 10
