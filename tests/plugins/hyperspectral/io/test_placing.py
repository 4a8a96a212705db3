"""Labels of another extent, resolution or coordinate system are placed by coordinates."""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pyproj
import pytest
import rasterio
import rioxarray  # noqa: F401  the accessor
import xarray
from rasterio.transform import Affine

import diffclass_hyperspectral.xarray  # noqa: F401  the accessor
from diffclass.command_line.main import run
from diffclass.exceptions import DataError
from diffclass_hyperspectral import (
    LabelImage,
    Scene,
    open_scene,
    open_tiles,
    read_labels,
    read_tile_labels,
)
from diffclass_hyperspectral.io.georeference import Georeference, Votes, map_info_of
from diffclass_hyperspectral.io.labels import placing

from ..products import write_emit

UTM = "EPSG:32633"
SHAPE = (40, 50)
GRIDS = {
    "north": Affine(30, 0, 500000, 0, -30, 5400000),
    "rotated": Affine(24, 18, 500000, 18, -24, 5400000),
}
# transform and shape of labels by how they lie to the north grid
LABELS = {
    "larger": (Affine(30, 0, 499700, 0, -30, 5400150), UTM, (60, 80)),
    "smaller": (Affine(30, 0, 500300, 0, -30, 5399700), UTM, (11, 7)),
    "shifted": (Affine(30, 0, 500077, 0, -30, 5400013), UTM, SHAPE),
    "half a pixel": (Affine(30, 0, 500015, 0, -30, 5400015), UTM, (50, 60)),
    "finer": (Affine(10, 0, 499800, 0, -10, 5400100), UTM, (150, 170)),
    "oblong": (Affine(7, 0, 499900, 0, -70, 5400100), UTM, (20, 220)),
    "coarser": (Affine(75, 0, 499900, 0, -75, 5400100), UTM, (19, 23)),
    "from south to north": (Affine(20, 0, 499900, 0, 20, 5398700), UTM, (70, 85)),
    "degrees": (Affine(3e-4, 0, 14.998, 0, -3e-4, 48.754), "EPSG:4326", (60, 80)),
    "next zone": (Affine(20, 5, 940700, 5, -20, 5417800), "EPSG:32632", (190, 190)),
    "Europe": (Affine(50, 0, 4688300, 0, -50, 2861600), "EPSG:3035", (60, 60)),
}


OF_ITS_GRID = ("larger", "smaller")


def class_at(x, y):
    """Return the class at coordinates of the scene's system: stripes of 230 m, gaps between."""
    stripe = np.floor((x + 0.5 * y) / 230).astype(int) % 4
    return np.where(np.floor(y / 170).astype(int) % 3 == 0, 0, stripe).astype(np.uint8)


def centres(transform, shape):
    rows, columns = np.mgrid[: shape[0], : shape[1]] + 0.5
    return transform * (columns, rows)


def moved(xs, ys, source, target):
    return pyproj.Transformer.from_crs(source, target, always_xy=True).transform(xs, ys)


def pixel_at(transform, shape, xs, ys):
    columns, rows = ~transform * (xs, ys)
    rows, columns = (np.floor(part + 1e-6).astype(int) for part in (rows, columns))
    inside = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
    return [(i, j) if ok else None
            for i, j, ok in zip(*map(np.ravel, (rows, columns, inside)), strict=True)]  # fmt: skip


def placed_one_by_one(ids, transform, crs, grid, shape=SHAPE):
    """Return ids on the grid, and the numbers of labels outside, mixed pixels and tied ones."""
    votes, used = {}, np.zeros(ids.shape, bool)
    at = pixel_at(grid, shape, *moved(*centres(transform, ids.shape), crs, UTM))
    for place, pixel in zip(np.ndindex(ids.shape), at, strict=True):
        if pixel is not None:
            found = votes.setdefault(pixel, {})
            if ids[place]:
                used[place] = True
                found[ids[place]] = found.get(ids[place], 0) + 1
    out = np.zeros(shape, int)
    of_centres = pixel_at(transform, ids.shape, *moved(*centres(grid, shape), UTM, crs))
    for pixel, place in zip(np.ndindex(shape), of_centres, strict=True):
        if pixel not in votes and place is not None and ids[place]:
            votes[pixel] = {ids[place]: 1}
            used[place] = True
    mixed = tied = 0
    for pixel, found in votes.items():
        if found:
            counts = sorted(found.values(), reverse=True)
            mixed += len(found) > 1
            is_tied = len(counts) > 1 and counts[0] == counts[1]
            tied += is_tied
            out[pixel] = 0 if is_tied else max(found, key=found.get)
    return out, (int(np.count_nonzero((ids > 0) & ~used)), mixed, tied)


def told(caught):
    """Return the labelled pixels outside, all of them, mixed pixels and tied ones of a warning."""
    (text,) = [str(one.message) for one in caught]
    found = re.search(r": ([\d,]+) of ([\d,]+) labelled pixels lie outside; ([\d,]+) pixels of the "
                      r"scene hold several.*\(([\d,]+)\)", text)  # fmt: skip
    return tuple(int(number.replace(",", "")) for number in found.groups())


def write(path, ids, transform, crs):
    """Write a picture as GDAL does, in the format of the ending."""
    driver = {".tif": "GTiff", ".hdr": "ENVI", ".img": "HFA", ".vrt": "GTiff"}[path.suffix]
    data = path.with_suffix({".hdr": ".dat", ".vrt": ".tif"}.get(path.suffix, path.suffix))
    with rasterio.open(data, "w", driver=driver, height=ids.shape[0], width=ids.shape[1], count=1,
                       dtype=ids.dtype, transform=transform, crs=crs) as file:  # fmt: skip
        file.write(ids, 1)
    if path.suffix == ".vrt":
        rasterio.shutil.copy(data, path, driver="VRT")
    return path


def scene_on(transform=GRIDS["north"], shape=SHAPE, crs=UTM, path="scene.tif"):
    place = map_info_of(Georeference(tuple(transform)[:6], crs))
    return Scene.from_array(np.ones((*shape, 4)), map_info=place, path=path)


def labels_by_place(name):
    transform, crs, shape = LABELS[name]
    return class_at(*moved(*centres(transform, shape), crs, UTM)), transform, crs


@pytest.mark.parametrize("name", OF_ITS_GRID)
def test_of_labels_whose_pixels_are_the_scene_s_only_those_outside_are_told(tmp_path, name):
    ids, transform, crs = labels_by_place(name)
    path = write(tmp_path / "labels.tif", ids, transform, crs)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = read_labels(path, grid=scene_on())
    expected, (outside, _, _) = placed_one_by_one(ids, transform, crs, GRIDS["north"])
    np.testing.assert_array_equal(labels.ids, expected)
    assert bool(outside) == (name == "larger")
    says = f"{path}: {outside:,} of {np.count_nonzero(ids):,} labelled pixels lie outside scene.tif"
    assert [str(one.message) for one in caught] == [says] * bool(outside)


TURNS = {"east": (10.0, 370.0), "west": (-170.0, 190.0), "seam": (-0.01, 359.99)}


@pytest.mark.parametrize("to_east", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3])  # label pixels of a scene's pixel, across
@pytest.mark.parametrize("place", TURNS)
def test_longitudes_go_around(tmp_path, place, size, to_east):
    """Labels in 0 to 360 degrees for a scene in -180 to 180, and the other way round."""
    own, other = TURNS[place][::-1] if to_east else TURNS[place]
    ids = np.random.default_rng(0).integers(0, 4, SHAPE).astype(np.uint8)
    fine, step = np.kron(ids, np.ones((size, size), dtype=np.uint8)), 1e-3 / size
    path = write(tmp_path / "l.tif", fine, Affine(step, 0, other, 0, -step, 5), "EPSG:4326")
    scene = scene_on(Affine(1e-3, 0, own, 0, -1e-3, 5), crs="EPSG:4326")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(read_labels(path, grid=scene).ids, ids)
        np.testing.assert_array_equal(read_labels(path).on(scene).ids, ids)
    shapes = {"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"class": 1 + i}, "geometry": {
            "type": "Point", "coordinates": [turn + 0.0105, 4.9895 - 0.01 * i]}}
        for i, turn in enumerate((own, other))
    ]}  # fmt: skip
    (tmp_path / "l.geojson").write_text(json.dumps(shapes))
    found = read_labels(tmp_path / "l.geojson", grid=scene).ids
    assert (found[10, 10], found[20, 10], np.count_nonzero(found)) == (1, 2, 2)
    box = f"{other + 0.01},4.98,{other + 0.02},4.99"
    assert np.count_nonzero(scene.select(roi=box).valid) == 100


@pytest.mark.parametrize("left", [-180, 0])
def test_a_map_of_the_earth_has_no_seam(tmp_path, left):
    x, y = centres(Affine(2, 0, left, 0, -2, 90), (90, 180))
    ids = (1 + (np.floor(x % 360 / 20) + np.floor(y / 20)) % 3).astype(np.uint8)
    path = write(tmp_path / "earth.tif", ids, Affine(2, 0, left, 0, -2, 90), "EPSG:4326")
    for own in (-10, 170, 350):
        scene = scene_on(Affine(1, 0, own, 0, -1, 20), crs="EPSG:4326", shape=(40, 20))
        x, y = centres(Affine(1, 0, own, 0, -1, 20), (40, 20))
        with pytest.warns(UserWarning, match="placed by coordinates"):
            found = read_labels(path, grid=scene).ids
        expected = 1 + (np.floor(x % 360 / 20) + np.floor(y / 20)) % 3
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("of", "named"), [("scene", "scene.tif"), ("labels", "labels.tif")])
def test_a_local_system_is_told_with_its_file(of, named):
    local = 'LOCAL_CS["a grid",UNIT["metre",1]]'
    systems = {"scene": UTM, "labels": UTM, of: local}
    scene = scene_on(crs=systems["scene"], path="scene.tif")
    for shape in (SHAPE, (20, 20)):
        place = map_info_of(Georeference(tuple(GRIDS["north"])[:6], systems["labels"]))
        labels = LabelImage.from_array(np.ones(shape, int), path="labels.tif")
        with pytest.raises(DataError, match=f"^{named}: .*is a local coordinate system"):
            replace(labels, map_info=place).on(scene)


@pytest.mark.parametrize(
    ("name", "grid"),
    [(n, g) for n in LABELS for g in GRIDS if not (n in OF_ITS_GRID and g == "north")],
)
def test_labels_are_placed_as_one_by_one(tmp_path, name, grid):
    ids, transform, crs = labels_by_place(name)
    path = write(tmp_path / "labels.tif", ids, transform, crs)
    scene = scene_on(GRIDS[grid])
    with pytest.warns(UserWarning, match="placed by coordinates") as caught:
        labels = read_labels(path, grid=scene)
    expected, (outside, mixed, tied) = placed_one_by_one(ids, transform, crs, GRIDS[grid])
    np.testing.assert_array_equal(labels.ids, expected)
    assert told(caught) == (outside, np.count_nonzero(ids), mixed, tied)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert labels.on(scene) is labels
    with pytest.warns(UserWarning, match="placed by coordinates") as again:
        np.testing.assert_array_equal(read_labels(path).on(scene).ids, expected)
    assert told(again) == told(caught)


@pytest.mark.parametrize("ending", [".tif", ".hdr", ".img", ".vrt"])
@pytest.mark.parametrize("name", ["finer", "coarser", "degrees", "Europe"])
def test_placed_labels_are_those_of_their_places(tmp_path, name, ending):
    """Away from borders, in any format."""
    ids, transform, crs = labels_by_place(name)
    path = write(tmp_path / f"labels{ending}", ids, transform, crs)
    with pytest.warns(UserWarning, match="placed by coordinates"):
        labels = read_labels(path, grid=scene_on())
    x, y = centres(GRIDS["north"], SHAPE)
    reach = 65  # metres, more than half a diagonal of the largest pixel
    around = [class_at(x + right * reach, y + up * reach)
              for right in (-1, 0, 1) for up in (-1, 0, 1)]  # fmt: skip
    clear = np.logical_and.reduce([one == around[4] for one in around])
    assert np.count_nonzero(clear) > 300
    np.testing.assert_array_equal(labels.ids[clear], around[4][clear])


def test_labels_of_the_scene_s_own_grid_are_taken_as_they_are(tmp_path):
    transform = GRIDS["north"]
    ids = class_at(*centres(transform, SHAPE))
    path = write(tmp_path / "labels.tif", ids, transform, UTM)
    np.testing.assert_array_equal(read_labels(path, grid=scene_on()).on(scene_on()).ids, ids)
    for labels in (LabelImage.from_array(ids), read_labels(path)):
        for scene in (scene_on(), Scene.from_array(np.ones((*SHAPE, 4)))):
            np.testing.assert_array_equal(labels.on(scene).ids, ids)


def test_another_size_needs_coordinates_of_both(tmp_path):
    ids, transform, crs = labels_by_place("finer")
    with_place = read_labels(write(tmp_path / "labels.tif", ids, transform, crs))
    without = LabelImage.from_array(ids, path="labels.npy")
    nowhere = Scene.from_array(np.ones((*SHAPE, 4)), path="scene.npy")
    for labels, scene, lacking in (
        (without, scene_on(), "labels.npy"),
        (with_place, nowhere, "scene.npy"),
        (without, nowhere, "labels.npy"),
    ):
        says = f"150 rows x 170 columns.*40 rows x 50 columns, and {lacking} states no coord"
        with pytest.raises(DataError, match=says):
            labels.on(scene)
    far = scene_on(Affine(30, 0, 700000, 0, -30, 5400000))
    with pytest.raises(DataError, match="do not overlap"):
        with_place.on(far)
    with pytest.raises(DataError, match="do not overlap"):
        read_labels(tmp_path / "labels.tif", grid=far)


def test_a_system_that_only_one_names_is_told(tmp_path):
    ids, transform, _ = labels_by_place("finer")
    path = write(tmp_path / "labels.tif", ids, transform, None)
    with pytest.warns(UserWarning, match="only one names its coordinate system"):
        labels = read_labels(path, grid=scene_on())
    expected, _ = placed_one_by_one(ids, transform, UTM, GRIDS["north"])
    np.testing.assert_array_equal(labels.ids, expected)


def test_of_a_large_picture_only_the_rows_of_the_scene_are_read(tmp_path, monkeypatch):
    transform, shape = Affine(10, 0, 480000, 0, -10, 5405000), (3000, 5000)
    ids = class_at(*centres(transform, shape))
    path = write(tmp_path / "country.tif", ids, transform, UTM)
    whole, scene = read_labels(path), scene_on()
    with pytest.warns(UserWarning, match="placed by coordinates") as caught:
        expected = whole.on(scene).ids
    assert told(caught)[1] == np.count_nonzero(ids)
    read = []
    monkeypatch.setattr(placing, "_COUNTED", 10**6)
    rows = placing.row_blocks
    monkeypatch.setattr(placing, "row_blocks", lambda n, width: rows(read.append(n) or n, width))
    with pytest.warns(UserWarning, match="labelled pixels in the rows that were read lie outside"):
        labels = read_labels(path, grid=scene)
    np.testing.assert_array_equal(labels.ids, expected)
    assert read[0] < 130  # of 3000: 120 rows of 10 m


# --- kinds of scenes -----------------------------------------------------------------------------


def test_scenes_in_their_sensor_s_geometry(tmp_path):
    write_emit(tmp_path / "emit.nc")
    scene = open_scene(tmp_path / "emit.nc")
    table = scene.lookup_table
    fine = np.kron(table.to_map(np.arange(1, scene.valid.size + 1).reshape(scene.shape[:2])),
                   np.ones((2, 2), int)).astype(np.int32)  # fmt: skip
    path = write(tmp_path / "fine.tif", fine, Affine(0.0005, 0, 10, 0, -0.0005, 45), "EPSG:4326")
    with pytest.warns(UserWarning, match="0 of .* labelled pixels lie outside; 0 pixels"):
        labels = read_labels(path, grid=scene)
    np.testing.assert_array_equal(labels.ids.ravel(), np.arange(1, scene.valid.size + 1))


def test_scenes_that_are_apart(tmp_path):
    """A stack of two systems: labels of one file lie on both, and outside is what neither has."""
    left = scene_on(path="left.tif")
    x, y = moved(501600.0, 5399900.0, UTM, "EPSG:3035")
    right = scene_on(Affine(20, 0, x, 0, -20, y), (30, 30), "EPSG:3035", path="right.tif")
    tiles = open_tiles([left, right])
    assert not tiles.is_mosaic
    transform, shape = Affine(10, 0, 499900, 0, -10, 5400100), (150, 260)
    ids = class_at(*centres(transform, shape))
    path = write(tmp_path / "both.tif", ids, transform, UTM)
    with pytest.warns(UserWarning, match="placed by coordinates") as caught:
        labels = read_tile_labels(path, tiles)
    parts = [labels.ids[tile.rows, tile.columns] for tile in tiles.tiles]
    expected, (outside, _, _) = placed_one_by_one(ids, transform, UTM, GRIDS["north"])
    np.testing.assert_array_equal(parts[0], expected)
    with pytest.warns(UserWarning, match="placed by coordinates"):
        np.testing.assert_array_equal(parts[1], read_labels(path, grid=right).ids)
    assert parts[1].any()
    assert 0 < told(caught)[0] < outside
    with pytest.warns(UserWarning, match="placed by coordinates"):
        np.testing.assert_array_equal(read_tile_labels(read_labels(path), tiles).ids, labels.ids)


def test_masks_and_regions(tmp_path):
    ids, transform, crs = labels_by_place("degrees")
    path = write(tmp_path / "region.tif", ids, transform, crs)
    expected, _ = placed_one_by_one((ids > 0).astype(int), transform, crs, GRIDS["north"])
    for option, kept in (("roi", expected > 0), ("mask", expected == 0)):
        with pytest.warns(UserWarning, match="placed by coordinates"):
            scene = scene_on().select(**{option: path})
        np.testing.assert_array_equal(scene.valid, kept)


def test_cubes_of_xarray(tmp_path):
    def picture(values, step, dims):
        rows, columns = values.shape[:2]
        places = {"y": 5400000 - step * (np.arange(rows) + 0.5),
                  "x": 500000 + step * (np.arange(columns) + 0.5)}  # fmt: skip
        return xarray.DataArray(values, dims=dims, coords=places).rio.write_crs(UTM)

    truth = 1 + (np.arange(50) > 24)[None, :].repeat(40, axis=0)
    values = truth[..., None] + 0.1 * np.random.default_rng(0).normal(size=(*SHAPE, 4))
    cube = picture(values, 30, ("y", "x", "band"))
    fine = picture(np.kron(truth, np.ones((3, 3), int)).astype(np.uint8)[:60], 10, ("y", "x"))
    with pytest.warns(UserWarning, match="0 of 9,000 labelled pixels lie outside"):
        maps = cube.diffclass.classify(fine)
    assert (maps["class_map"].to_numpy() == truth).mean() > 0.99
    with pytest.warns(UserWarning, match="placed by coordinates"):
        assert maps["class_map"].diffclass.evaluate(fine).scores.overall_accuracy > 0.99


# --- commands ------------------------------------------------------------------------------------


def test_commands_tell_it_in_a_line_and_in_the_report(folder, capsys):
    transform = GRIDS["north"]
    x, _ = centres(transform, SHAPE)
    truth = (1 + (x > 500700)).astype(np.uint8)
    cube = truth + 0.1 * np.random.default_rng(0).normal(size=(4, *SHAPE))
    with rasterio.open("scene.tif", "w", driver="GTiff", height=40, width=50, count=4,
                       dtype="float32", transform=transform, crs=UTM) as file:  # fmt: skip
        file.write(cube.astype(np.float32))
    other, crs, shape = LABELS["degrees"]
    x, _ = moved(*centres(other, shape), crs, UTM)
    write(folder / "labels.tif", (1 + (x > 500700)).astype(np.uint8), other, crs)
    for words in (
        ["classify", "scene.tif", "--labels", "labels.tif", "-o", "map.tif"],
        ["evaluate", "map.tif", "labels.tif"],
    ):
        assert run([*words, "--report", "report.json", "--overwrite"]) == 0
        (line,) = [text for text in capsys.readouterr().err.splitlines() if "placed by coo" in text]
        assert "labelled pixels lie outside" in line
        told_too = json.loads((folder / "report.json").read_text())["warnings"]
        assert any("placed by coordinates" in text for text in told_too)
    assert (read_labels("map.tif").ids == truth).mean() > 0.99


def test_votes():
    votes = Votes(5)
    rng = np.random.default_rng(0)
    pixels, ids = rng.integers(0, 5, 400), rng.integers(1, 4, 400)
    for part in np.split(np.arange(400), 8):
        votes.add(pixels[part], ids[part])
    found, n_mixed, n_tied = votes.winners()
    counts = np.array([[np.sum((pixels == p) & (ids == i)) for i in (1, 2, 3)] for p in range(5)])
    is_tied = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1
    np.testing.assert_array_equal(found, np.where(is_tied, 0, 1 + counts.argmax(axis=1)))
    assert (n_mixed, n_tied) == (5, is_tied.sum())
