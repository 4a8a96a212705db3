"""Scenes whose bands lie in files of their own: folders, lists, items of STAC, also on servers."""

from __future__ import annotations

import json
import sys

import fsspec
import numpy as np
import pystac
import pytest
import rasterio

from diffclass.command_line import main as cli
from diffclass.exceptions import DataError, ParameterError
from diffclass.jobs import Holdout
from diffclass_hyperspectral import (
    classify_scene,
    open_scene,
    open_tiles,
    read_labels,
)

from ..range_server import served
from .test_geotiff import CUBE, NM, NORTH_UP, WIDTHS, write_tiff

NAMES = ("B2", "B3", "B8A", "B10")
CALIBRATED = np.where(CUBE == 7, np.nan, CUBE * np.float32(0.0001) + np.float32(-0.1))


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


@pytest.mark.parametrize("nodata", [None, 7, 0.1, -99.9, -3.4028234663852886e38, np.nan])
@pytest.mark.parametrize("kinds", [("u1", "i2", "f4", "f8"), ("f8", "f4", "f8", "f4"), ("u2",) * 4])
def test_bands_of_different_types(tmp_path, nodata, kinds):
    """In a folder, and in the virtual raster that others make of it; each type rounds alike."""
    values = np.random.default_rng(0).integers(8, 200, (*CUBE.shape[:2], 4))
    hidden, bands, texts = np.zeros(CUBE.shape[:2], dtype=bool), [], []
    (tmp_path / "scene").mkdir()
    for k, kind in enumerate(kinds):
        band = values[..., k].astype(kind)
        is_stated = nodata is not None and (kind[0] == "f" or nodata == 7)
        if is_stated:
            band[k, 3], hidden[k, 3] = nodata, True
        bands.append(band)
        stated = {"nodata": nodata} if is_stated else {}
        write_tiff(tmp_path / f"scene/B{k}.tif", band[..., None], **stated)
        name = {"u1": "Byte", "i2": "Int16", "u2": "UInt16", "f4": "Float32", "f8": "Float64"}[kind]
        no_data = f"<NoDataValue>{nodata!r}</NoDataValue>" if is_stated else ""
        texts.append(
            f'<VRTRasterBand dataType="{name}" band="{k + 1}">{no_data}<SimpleSource>'
            f'<SourceFilename relativeToVRT="1">scene/B{k}.tif</SourceFilename>'
            "<SourceBand>1</SourceBand></SimpleSource></VRTRasterBand>"
        )
    rows, columns = hidden.shape
    size = f'rasterXSize="{columns}" rasterYSize="{rows}"'
    place = "<SRS>EPSG:32633</SRS><GeoTransform>5e5, 30, 0, 5.4e6, 0, -30</GeoTransform>"
    virtual = f"<VRTDataset {size}>{place}{''.join(texts)}</VRTDataset>"
    (tmp_path / "scene.vrt").write_text(virtual)
    for name in ("scene", "scene.vrt"):
        scene = open_scene(tmp_path / name)
        np.testing.assert_array_equal(scene.valid, ~hidden)
        found = scene.spectra(bands=np.ones(4, dtype=bool)).reshape(*hidden.shape, 4)
        np.testing.assert_array_equal(found[~hidden], np.stack(bands, axis=-1)[~hidden])


def test_a_list_keeps_its_order_and_may_have_files_of_several_bands(tmp_path):
    files = write_bands(tmp_path)
    two = write_tiff(tmp_path / "two.tif", CUBE[..., :2])
    scene = open_scene([files[3], files[0], two])
    np.testing.assert_array_equal(scene.data, CUBE[..., [3, 0, 0, 1]])
    assert scene.path.name == "T33_B10_20m and 2 more"
    assert scene.wavelengths is None  # of the last file they are not known


@pytest.mark.parametrize(
    ("types", "joint"),
    [(("uint8", "uint16"), "uint16"), (("int16", "uint16"), "int32"), (("f4", "int16"), "f4")],
)
def test_files_of_several_types_are_a_scene_of_one_that_holds_all(tmp_path, types, joint):
    cube = np.abs(CUBE[..., :1]) % 200
    files = [write_tiff(tmp_path / f"{name}.tif", cube.astype(name)) for name in types]
    for order in (files, files[::-1]):
        data = open_scene(order).data
        assert data.dtype == data[2:5].dtype == np.dtype(joint)


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
    says = r"5 grids .*; \.\.\.\); .*Tiles are named one by one"
    with pytest.raises(DataError, match=says) as told:
        open_scene(tmp_path)
    assert str(told.value).count("40 rows") == 3


def test_what_is_no_list_of_bands(tmp_path):
    for given, says in (
        ([], "empty"), (tmp_path, "this is a folder"), ([tmp_path / "B1.tif"], "no such file"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=says):
            open_scene(given)


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
        "type": "Feature", "stac_version": f"{version}.0", "stac_extensions": [], "id": name,
        "geometry": None, "properties": {"datetime": "2026-01-01T00:00:00Z"}, "links": [],
        "assets": assets,
    }  # fmt: skip


def save_item(path, item):
    path.write_text(json.dumps(item))
    return path


SHUFFLED = [2, 0, 3, 1]  # wavelengths put bands in order


def shuffled_item(folder, version):
    files = write_bands(folder, tags=[{}] * 4)
    centres = [NM[k] for k in SHUFFLED]
    return item_of([files[k] for k in SHUFFLED], wavelengths=centres, version=version)


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize("remote", [False, True])
def test_an_item(tmp_path, version, remote):
    path = save_item(tmp_path / "item.json", shuffled_item(tmp_path, version))
    with served(tmp_path) as server:
        place = f"{server.address}/item.json" if remote else path
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
    item = shuffled_item(tmp_path, "1.0" if version == "1.0" else "1.1")
    for key, width in zip(NAMES, (0.006, 0.007, 0.008, last), strict=True):
        asset = item["assets"][key]
        holder = asset if version == "asset" else asset.get("bands", asset.get("eo:bands"))[0]
        holder["full_width_half_max" if version == "1.0" else "eo:full_width_half_max"] = width
    scene = open_scene(save_item(tmp_path / "item.json", item))
    np.testing.assert_allclose(scene.wavelengths, NM)
    assert last == 0.009 or scene.widths is None
    np.testing.assert_allclose([6, 7, 8, 9] if scene.widths is None else scene.widths, [6, 7, 8, 9])


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_scales_of_an_item(tmp_path, version):
    files = write_bands(tmp_path)
    item = item_of(files, version=version, scale=0.0001, offset=-0.1, nodata=7)
    scene = open_scene(save_item(tmp_path / "item.json", item))
    np.testing.assert_allclose(scene.data, CALIBRATED, rtol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_scales_of_the_files_count_before_those_of_an_item(tmp_path, offset):
    files = write_bands(tmp_path)
    for path in files:
        with rasterio.open(path, "r+") as raster:
            raster.scales, raster.offsets = [0.5], [offset]
    item = item_of(files, scale=0.0001, offset=-0.1, nodata=7)
    scene = open_scene(save_item(tmp_path / "item.json", item))
    found = np.asarray(scene.data) / scene.scale_factor
    expected = np.where(CUBE == 7, np.nan, CUBE * 0.5 + offset)  # the files state no such value
    found[np.asarray(scene.data) == scene.ignore_value] = np.nan
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def several_bands(path, version, **stated):
    """Write an item of one asset with four bands; of each it states lists, or one value."""
    write_tiff(path.with_name("all.tif"), nodata=None)
    bands = [{name: values[k] for name, values in stated.items()} for k in range(len(NM))]
    item = item_of([path.with_name("x_all.tif")], wavelengths=[0.5], version=version)
    asset = item["assets"]["all"] | {"href": "./all.tif"}
    colon = {"center_wavelength": "eo", "full_width_half_max": "eo"}
    colon |= {"scale": "raster", "offset": "raster"}
    if version == "1.1":
        asset["bands"] = [{f"{colon[k]}:{k}" if k in colon else k: v for k, v in one.items()}
                          for one in bands]  # fmt: skip
    else:
        for group, names in (("eo:bands", ("name", "center_wavelength", "full_width_half_max")),
                             ("raster:bands", ("scale", "offset", "nodata"))):  # fmt: skip
            asset[group] = [{k: v for k, v in one.items() if k in names} for one in bands]
    item["assets"] = {"all": asset}
    return save_item(path, item)


OF_BANDS = {
    "name": ["a", "b", "c", "d"],
    "center_wavelength": [v / 1e3 for v in NM],
    "full_width_half_max": [v / 1e3 for v in WIDTHS],
    "scale": [1e-4, 2e-4, 3e-4, 4e-4],
    "offset": [0, -0.1, 0.1, 0],
    "nodata": [7, 8, 9, "nan"],
}


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize("n_stated", range(1, 7))
def test_an_asset_of_several_bands(tmp_path, version, n_stated):
    stated = dict(list(OF_BANDS.items())[-n_stated:])
    scene = open_scene(several_bands(tmp_path / "item.json", version, **stated))
    missing = np.array([7, 8, 9, np.nan]) == CUBE
    gains, offsets = stated.get("scale", [1] * 4), stated.get("offset", [0] * 4)
    expected = np.where(missing, np.nan, CUBE * np.array(gains) + np.array(offsets))
    np.testing.assert_allclose(np.asarray(scene.data), expected, rtol=1e-5, atol=1e-6)
    if n_stated >= 4:
        np.testing.assert_allclose(scene.widths if n_stated > 4 else WIDTHS, WIDTHS)
    assert (scene.wavelengths is None) == (n_stated < 5)
    names = tuple("abcd") if n_stated == 6 else ("all 1", "all 2", "all 3", "all 4")
    assert scene.band_names == names


@pytest.mark.parametrize("where", ["asset", "properties"])
def test_what_is_stated_of_all_bands(tmp_path, where):
    path = several_bands(tmp_path / "item.json", "1.1", name=["a", "b", "c", "d"])
    item = json.loads(path.read_text())
    holder = item["properties"] if where == "properties" else item["assets"]["all"]
    holder |= {"raster:scale": 1e-4, "raster:offset": -0.1, "nodata": 7}
    save_item(path, item)
    np.testing.assert_allclose(open_scene(path).data, CALIBRATED, rtol=1e-5, atol=1e-7)


def test_bands_of_an_item_that_its_file_lacks_are_told(tmp_path):
    path = several_bands(tmp_path / "item.json", "1.1", scale=[0.5] * 4)
    item = json.loads(path.read_text())
    item["assets"]["all"]["bands"].pop()
    save_item(path, item)
    with pytest.warns(UserWarning, match=r"item.json: states 3 bands of all.tif, which has 4, "):
        np.testing.assert_array_equal(open_scene(path).data, CUBE)


def test_bad_bands_of_the_files_stay_bad(tmp_path):
    files = write_bands(tmp_path, tags=[{"bbl": "1"}, {"bbl": "0"}, {}, {"bbl": "1"}])
    assert open_scene(files).band_mask.tolist() == [True, False, True, True]


def test_an_item_in_python(tmp_path):
    files = write_bands(tmp_path)
    item = pystac.Item.from_dict(item_of(files, "S2"))
    for key, asset in item.assets.items():
        asset.href = str(tmp_path / f"T33_{key}_20m.tif")
    scene = open_scene(item)
    assert scene.path.name == "S2"
    np.testing.assert_array_equal(scene.data, CUBE)


def test_the_second_asset_of_a_band_is_left_out(tmp_path):
    item = item_of(write_bands(tmp_path))
    again = item["assets"]["B2"] | {"href": "./nothing.jp2", "type": "image/jp2"}
    item["assets"]["B2-jp2"] = again
    assert open_scene(save_item(tmp_path / "item.json", item)).n_bands == 4


TWO = np.concatenate([CUBE, CUBE], axis=1)


def two_items(tmp_path, absolute=False):
    """Write two scenes side by side, and return their items, with addresses of this kind."""
    items = []
    for k in range(2):
        folder = tmp_path / f"tile{k}"
        moved = NORTH_UP @ NORTH_UP.translation(30 * k, 0)
        files = write_bands(folder, transform=moved)
        items.append(item_of(files, f"tile{k}"))
        save_item(folder / f"tile{k}.json", items[-1])
        for asset in items[-1]["assets"].values() if absolute else ():
            asset["href"] = str(folder / asset["href"])
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
    path = save_item(tmp_path / "collection.json", collection)
    with served(tmp_path) as server:
        place = f"{server.address}/collection.json" if remote else path
        tiles = open_tiles([place])
        assert tiles.is_mosaic
        np.testing.assert_array_equal(tiles.scene.data, TWO)
        with pytest.raises(DataError, match="no STAC item"):
            open_scene(place)


def test_a_list_of_items_in_a_file(tmp_path, capsys):
    found = {"type": "FeatureCollection", "features": two_items(tmp_path, absolute=True)}
    path = save_item(tmp_path / "found.json", found)
    assert [tile.scene.path.name for tile in open_tiles([path]).tiles] == ["tile0", "tile1"]
    assert cli.run(["info", str(path)]) == 0
    said = capsys.readouterr().out
    assert "40 rows x 60 columns x 4 bands" in said
    assert "scenes       2 on one map grid: tile0, tile1" in said


@pytest.mark.parametrize("kind", ["collection", "catalog", "features"])
def test_relative_addresses_are_relative_to_their_file(tmp_path, monkeypatch, kind):
    items = two_items(tmp_path)
    (tmp_path / "catalog").mkdir()
    if kind == "features":
        for k, item in enumerate(items):
            for asset in item["assets"].values():
                asset["href"] = f"../tile{k}/{asset['href']}"
        found = {"type": "FeatureCollection", "features": items}
        save_item(tmp_path / "catalog" / "features.json", found)
    else:
        everywhere = pystac.SpatialExtent([[0, 0, 1, 1]]), pystac.TemporalExtent([[None, None]])
        extent = pystac.Extent(*everywhere)
        made = pystac.Collection("c", "two tiles", extent)
        root = made
        if kind == "catalog":
            root = pystac.Catalog("root", "of a collection")
            root.add_child(made)
        for k in range(2):
            made.add_item(pystac.Item.from_file(str(tmp_path / f"tile{k}" / f"tile{k}.json")))
        root.normalize_hrefs(str(tmp_path / "catalog"))
        root.make_all_asset_hrefs_relative()
        root.save(pystac.CatalogType.SELF_CONTAINED)
    for folder, name in (
        (tmp_path, f"catalog/{kind}.json"),
        (tmp_path / "catalog", f"{kind}.json"),
    ):
        monkeypatch.chdir(folder)
        tiles = open_tiles([name])
        np.testing.assert_array_equal(tiles.scene.data, TWO)


def test_items_that_are_not_on_a_web_server(tmp_path):
    two_items(tmp_path)
    files = fsspec.filesystem("memory")
    for k in range(2):
        item = json.loads((tmp_path / f"tile{k}" / f"tile{k}.json").read_text())
        for asset in item["assets"].values():
            asset["href"] = (tmp_path / f"tile{k}" / asset["href"]).resolve().as_uri()
        files.pipe(f"/bucket/tile_{k}.json", json.dumps(item).encode())
    assert open_scene("memory://bucket/tile_1.json").shape == CUBE.shape
    tiles = open_tiles(["memory://bucket/tile_*.json"])
    assert [str(tile.scene.path) for tile in tiles.tiles] == [
        "memory://bucket/tile_0.json", "memory://bucket/tile_1.json"
    ]  # fmt: skip
    with pytest.raises(DataError, match=r"memory://bucket/b\*\.json: no such files"):
        open_tiles(["memory://bucket/b*.json"])
    for place in ("https://host/tile_*.tif", "/vsizip/a.zip/*.tif"):
        with pytest.raises(DataError, match="no files are listed there; name each"):
            open_tiles([place])
    with pytest.raises(DataError, match="stands for several files"):
        open_scene("s3://bucket/tile_*.tif")


@pytest.mark.parametrize("address", ["s3://bucket/item.json", "s3://b/t_*.tif", "gs://b/s.zarr"])
def test_the_library_of_an_address_is_named(monkeypatch, address):
    library = "s3fs" if address.startswith("s3") else "gcsfs"
    monkeypatch.setitem(sys.modules, library, None)
    says = f"needs the library {library} .*pip install {library}"
    with pytest.raises(ParameterError, match=says):
        open_tiles([address])


def test_the_library_of_a_zarr_store_on_a_web_server_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with pytest.raises(ParameterError, match="pip install aiohttp"):
        open_scene("https://127.0.0.1:1/scene.zarr")


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", '{"type": "Feature"}', '{"type": "FeatureCollection", "features": []}',
     '{"type": "Feature", "assets": {"a": 1}}', '{"type": "Feature", "assets": {}, "id": "x"}'],
)  # fmt: skip
def test_damaged_items(tmp_path, content):
    (tmp_path / "item.json").write_text(content)
    for read in (open_scene, lambda path: open_tiles([path])):
        with pytest.raises(DataError, match=r"item\.json"):
            read(tmp_path / "item.json")


@pytest.mark.parametrize("fault", ["stall", "early", "error", "gone"])
def test_a_server_of_items_that_fails(tmp_path, monkeypatch, fault):
    monkeypatch.setattr("diffclass_hyperspectral.io.readers.addresses.SECONDS", 1)
    save_item(tmp_path / "item.json", item_of(write_bands(tmp_path)))
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
    five = Holdout(labels_per_class=5)
    maps = [
        classify_scene(open_scene(path), labels, holdout=five).result.class_map
        for path in (one, tmp_path / "folder")
    ]
    np.testing.assert_array_equal(*maps)
