"""Scenes whose bands lie in files of their own: folders, lists, items of STAC, also on servers."""

from __future__ import annotations

import json

import numpy as np
import pystac
import pytest
import rasterio

from diffclass.exceptions import DataError
from diffclass_hyperspectral import (
    classify_with_holdout,
    open_scene,
    open_tiles,
    read_labels,
)

from ..range_server import served
from .test_geotiff import CUBE, NM, NORTH_UP, WIDTHS, write_tiff

NAMES = ("B2", "B3", "B8A", "B10")


def write_bands(folder, names=NAMES, cube=CUBE, **options):
    folder.mkdir(exist_ok=True)
    pattern = "T33_{}_20m.tif"
    tags = options.pop("tags", [{"wavelength": str(value)} for value in NM])
    return [
        write_tiff(folder / pattern.format(name), cube[..., k : k + 1], tags=[tags[k]], **options)
        for k, name in enumerate(names)
    ]


def test_a_folder_is_a_scene(tmp_path):
    write_bands(tmp_path / "scene", nodata=7)
    (tmp_path / "scene" / "readme.txt").write_text("no band")
    scene = open_scene(tmp_path / "scene")
    assert (scene.format, scene.band_names) == ("band files", NAMES)
    assert (scene.ignore_value, scene.georeference.crs) == (7, "EPSG:32633")
    np.testing.assert_allclose(scene.wavelengths, NM)
    np.testing.assert_array_equal(scene.data, CUBE)
    np.testing.assert_array_equal(scene.data[5:9], CUBE[5:9])


def test_a_list_keeps_its_order_and_may_have_files_of_several_bands(tmp_path):
    files = write_bands(tmp_path)
    two = write_tiff(tmp_path / "two.tif", CUBE[..., :2])
    scene = open_scene([files[3], files[0], two])
    np.testing.assert_array_equal(scene.data, CUBE[..., [3, 0, 0, 1]])
    assert scene.path.name == "T33_B10_20m and 2 more"
    assert scene.wavelengths is None  # of the last file they are not known


@pytest.mark.parametrize("differ", [{"nodata": 9}, {"scale": 0.5}])
def test_files_that_count_otherwise_are_calibrated(tmp_path, differ):
    write_bands(tmp_path, nodata=7)
    cube = CUBE[..., 1:2]
    path = write_tiff(tmp_path / "T33_B3_20m.tif", cube, nodata=differ.get("nodata", 7))
    if "scale" in differ:
        with rasterio.open(path, "r+") as raster:
            raster.scales = [differ["scale"]]
    expected = np.where(CUBE == 7, np.nan, CUBE.astype(np.float32))
    expected[..., 1] = np.where(
        CUBE[..., 1] == differ.get("nodata", 7), np.nan, CUBE[..., 1] * differ.get("scale", 1)
    )
    scene = open_scene(tmp_path)
    np.testing.assert_array_equal(scene.data, expected)
    assert scene.data.dtype == np.float32


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"cube": CUBE[:20, :, :1]}, r"2 grids \(40 rows x 30 columns: B2.*20 rows"),
        ({"transform": NORTH_UP @ NORTH_UP.translation(1, 0)}, "2 grids"),
        ({"cube": CUBE}, "has 4 bands; a folder is a scene whose files have one band"),
    ],
)
def test_folders_that_are_no_scene(tmp_path, other, message):
    write_bands(tmp_path)
    write_tiff(tmp_path / "T33_B11_20m.tif", **({"cube": CUBE[..., :1]} | other))
    with pytest.raises(DataError, match=message):
        open_scene(tmp_path)


def test_a_folder_of_tiles_is_told_how_they_are_named(tmp_path):
    for i in range(5):
        place = NORTH_UP @ NORTH_UP.translation(40 * i, 0)
        write_tiff(tmp_path / f"tile_{i}.tif", CUBE[..., :1], transform=place)
    with pytest.raises(
        DataError, match=r"5 grids .*; \.\.\.\); .*Tiles are named one by one"
    ) as told:
        open_scene(tmp_path)
    assert str(told.value).count("40 rows") == 3


def test_what_is_no_list_of_bands(tmp_path):
    with pytest.raises(DataError, match="empty"):
        open_scene([])
    with pytest.raises(DataError, match="this is a folder"):
        open_scene(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        open_scene([tmp_path / "B1.tif"])


def test_widths_of_the_files_in_their_order(tmp_path):
    tags = [{"wavelength": str(v), "fwhm": str(w)} for v, w in zip(NM, WIDTHS, strict=True)]
    files = write_bands(tmp_path, tags=tags)
    assert open_scene([files[3], files[1]]).widths.tolist() == [9.25, 7]
    plain = write_tiff(tmp_path / "plain.tif", CUBE[..., :1], tags=[{"wavelength": "400"}])
    scene = open_scene([files[3], plain])
    assert (scene.widths, scene.wavelengths.tolist()) == (None, [2400, 400])


# --- STAC


def item_of(files, name="item", *, wavelengths=NM, version="1.1", **band):
    """Return an item as servers write it, with the version's names of fields."""
    assets = {}
    for file, centre in zip(files, wavelengths, strict=True):
        key = file.stem.split("_")[1]
        asset = {"href": f"./{file.name}", "type": "image/tiff; application=geotiff; profile=cloud"
                 "-optimized", "roles": ["data", "reflectance"]}  # fmt: skip
        if version == "1.1":
            colon = {f"raster:{k}" if k != "nodata" else k: v for k, v in band.items()}
            asset["bands"] = [{"name": key, "eo:center_wavelength": centre / 1000, **colon}]
        else:
            asset["eo:bands"] = [{"name": key, "center_wavelength": centre / 1000}]
            asset["raster:bands"] = [band] if band else []
        assets[key] = asset
    assets["thumbnail"] = {"href": "./t.png", "type": "image/png", "roles": ["thumbnail"]}
    return {
        "type": "Feature",
        "stac_version": "1.1.0" if version == "1.1" else "1.0.0",
        "stac_extensions": [],
        "id": name,
        "geometry": None,
        "properties": {"datetime": "2026-01-01T00:00:00Z"},
        "links": [],
        "assets": assets,
    }


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize("remote", [False, True])
def test_an_item(tmp_path, version, remote):
    files = write_bands(tmp_path, tags=[{}] * 4)
    order = [2, 0, 3, 1]  # wavelengths put them in order
    item = item_of([files[k] for k in order], wavelengths=[NM[k] for k in order], version=version)
    (tmp_path / "item.json").write_text(json.dumps(item))
    with served(tmp_path) as server:
        place = f"{server.address}/item.json" if remote else tmp_path / "item.json"
        scene = open_scene(place)
        assert (scene.format, scene.band_names, str(scene.path)) == ("STAC", NAMES, str(place))
        np.testing.assert_allclose(scene.wavelengths, NM)
        np.testing.assert_array_equal(scene.data, CUBE)
        chosen = open_scene(place, variable="B10, B?")
        np.testing.assert_array_equal(chosen.data, CUBE[..., [0, 1, 3]])
        with pytest.raises(DataError, match="no asset 'red'; it has B8A, B2, B10, B3, thumbnail"):
            open_scene(place, variable="red")


@pytest.mark.parametrize("last", [0.009, 0, "9 nm", None])
@pytest.mark.parametrize("version", ["1.0", "1.1", "asset"])
def test_widths_of_an_item(tmp_path, version, last):
    files = write_bands(tmp_path, tags=[{}] * 4)
    order = [2, 0, 3, 1]
    item = item_of(
        [files[k] for k in order],
        wavelengths=[NM[k] for k in order],
        version="1.0" if version == "1.0" else "1.1",
    )
    for key, width in zip(NAMES, (0.006, 0.007, 0.008, last), strict=True):
        asset = item["assets"][key]
        holder = asset if version == "asset" else asset.get("bands", asset.get("eo:bands"))[0]
        holder["full_width_half_max" if version == "1.0" else "eo:full_width_half_max"] = width
    (tmp_path / "item.json").write_text(json.dumps(item))
    scene = open_scene(tmp_path / "item.json")
    np.testing.assert_allclose(scene.wavelengths, NM)
    if last == 0.009:
        np.testing.assert_allclose(scene.widths, [6, 7, 8, 9])
    else:
        assert scene.widths is None


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_scales_of_an_item(tmp_path, version):
    files = write_bands(tmp_path)
    item = item_of(files, version=version, scale=0.0001, offset=-0.1, nodata=7)
    (tmp_path / "item.json").write_text(json.dumps(item))
    expected = np.where(CUBE == 7, np.nan, CUBE * np.float32(0.0001) + np.float32(-0.1))
    np.testing.assert_allclose(open_scene(tmp_path / "item.json").data, expected, rtol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_scales_of_the_files_count_before_those_of_an_item(tmp_path, offset):
    files = write_bands(tmp_path)
    for path in files:
        with rasterio.open(path, "r+") as raster:
            raster.scales, raster.offsets = [0.5], [offset]
    item = item_of(files, scale=0.0001, offset=-0.1, nodata=7)
    (tmp_path / "item.json").write_text(json.dumps(item))
    scene = open_scene(tmp_path / "item.json")
    found = np.asarray(scene.data) / scene.scale_factor
    np.testing.assert_allclose(found, CUBE * 0.5 + offset, rtol=1e-6)


def test_an_item_in_python(tmp_path):
    files = write_bands(tmp_path)
    item = pystac.Item.from_dict(item_of(files, "S2"))
    for key, asset in item.assets.items():
        asset.href = str(tmp_path / f"T33_{key}_20m.tif")
    scene = open_scene(item)
    assert scene.path.name == "S2"
    np.testing.assert_array_equal(scene.data, CUBE)


def test_the_second_asset_of_a_band_is_left_out(tmp_path):
    files = write_bands(tmp_path)
    item = item_of(files)
    again = item["assets"]["B2"] | {"href": "./nothing.jp2", "type": "image/jp2"}
    item["assets"]["B2-jp2"] = again
    (tmp_path / "item.json").write_text(json.dumps(item))
    assert open_scene(tmp_path / "item.json").n_bands == 4


def two_items(tmp_path):
    """Write two scenes side by side, and return their items."""
    items = []
    for k in range(2):
        folder = tmp_path / f"tile{k}"
        moved = NORTH_UP @ NORTH_UP.translation(30 * k, 0)
        files = write_bands(folder, transform=moved)
        items.append(item_of(files, f"tile{k}"))
        (folder / f"tile{k}.json").write_text(json.dumps(items[-1]))
    return items


@pytest.mark.parametrize("remote", [False, True])
def test_a_collection_is_its_items(tmp_path, remote):
    two_items(tmp_path)
    collection = {
        "type": "Collection", "stac_version": "1.1.0", "id": "tiles", "description": "two tiles",
        "license": "other", "stac_extensions": [],
        "extent": {"spatial": {"bbox": [[0, 0, 1, 1]]}, "temporal": {"interval": [[None, None]]}},
        "links": [{"rel": "item", "href": f"./tile{k}/tile{k}.json"} for k in range(2)],
    }  # fmt: skip
    (tmp_path / "collection.json").write_text(json.dumps(collection))
    with served(tmp_path) as server:
        place = f"{server.address}/collection.json" if remote else tmp_path / "collection.json"
        tiles = open_tiles([place])
        assert tiles.is_mosaic
        np.testing.assert_array_equal(tiles.scene.data, np.concatenate([CUBE, CUBE], axis=1))
        with pytest.raises(DataError, match="no STAC item"):
            open_scene(place)


def test_a_list_of_items_in_a_file(tmp_path):
    items = two_items(tmp_path)
    for k, item in enumerate(items):
        for asset in item["assets"].values():
            asset["href"] = str(tmp_path / f"tile{k}" / asset["href"])
    found = {"type": "FeatureCollection", "features": items}
    (tmp_path / "found.json").write_text(json.dumps(found))
    tiles = open_tiles([tmp_path / "found.json"])
    assert [tile.scene.path.name for tile in tiles.tiles] == ["tile0", "tile1"]


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", '{"type": "Feature"}', '{"type": "FeatureCollection", "features": []}',
     '{"type": "Feature", "assets": {"a": 1}}', '{"type": "Feature", "assets": {}, "id": "x"}'],
)  # fmt: skip
def test_damaged_items(tmp_path, content):
    (tmp_path / "item.json").write_text(content)
    with pytest.raises(DataError, match=r"item\.json"):
        open_scene(tmp_path / "item.json")
    with pytest.raises(DataError, match=r"item\.json"):
        open_tiles([tmp_path / "item.json"])


@pytest.mark.parametrize("fault", ["stall", "early", "error", "gone"])
def test_a_server_of_items_that_fails(tmp_path, monkeypatch, fault):
    monkeypatch.setattr("diffclass_hyperspectral.io.readers.stac._SECONDS", 1)
    files = write_bands(tmp_path)
    (tmp_path / "item.json").write_text(json.dumps(item_of(files)))
    with served(tmp_path) as server:
        server.fault = fault
        with pytest.raises(DataError, match=r"^http.*connection"):
            open_scene(f"{server.address}/item.json")


def test_bands_are_classified_like_one_file(tmp_path):
    rng = np.random.default_rng(0)
    truth = np.kron(rng.integers(1, 4, (4, 3)), np.ones((10, 10), dtype=np.uint8)).astype(np.uint8)
    cube = (rng.normal(size=(4, 4))[truth] * 300 + rng.normal(size=(40, 30, 4)) * 50).astype("i2")
    write_bands(tmp_path / "folder", cube=cube)
    one = write_tiff(tmp_path / "one.tif", cube, tags=[{"wavelength": str(v)} for v in NM])
    labels = read_labels(write_tiff(tmp_path / "labels.tif", truth[..., None]))
    maps = [
        classify_with_holdout(open_scene(path), labels, labels_per_class=5).result.class_map
        for path in (one, tmp_path / "folder")
    ]
    np.testing.assert_array_equal(*maps)
