"""Tiles of one scene give the scene's map; other scenes share a graph and get a map each."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pyogrio.raw
import pytest
import rasterio
import shapely

from diffclass import DiffusionClassifier
from diffclass.command_line.main import run
from diffclass.datasets import make_tissue_scene
from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import (
    LabelImage,
    Scene,
    SceneFeatures,
    classify_scene,
    open_scene,
    open_tiles,
    read_labels,
    read_tile_labels,
    read_tile_segments,
    write_class_map,
    write_raster,
)
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    georeference_of,
    map_info_of,
    placement,
)

from ..writers import place_at as place
from .test_selection import save_shape

ROWS, COLUMNS = 60, 56
TISSUE = make_tissue_scene(ROWS, COLUMNS, n_bands=12, random_state=0)
NAMES = {1: "nuclei", 2: "cytoplasm", 3: "stroma"}
LABELLED = ["--labels", "labels.tif", "--tau", "16"]  # no time is searched for


def save_tile(name, rows, columns, *, info=None, cube=TISSUE.cube):
    names = [f"{430 + 20 * i} nm" for i in range(12)]
    info = place(rows.start, columns.start) if info is None else info
    write_raster(f"{name}.tif", cube[rows, columns], band_names=names, map_info=info)
    return Path(f"{name}.tif")


def saved_tiles(*, overlap=0):
    """Save the scene, its labels and truth, and the scene cut into tiles of different sizes."""
    Path("tiles").mkdir()
    whole = save_tile("scene", slice(0, ROWS), slice(0, COLUMNS))
    write_class_map("labels.tif", TISSUE.labels, map_info=place())
    write_class_map("truth.tif", TISSUE.truth, map_info=place())
    tiles = [
        save_tile(f"tiles/t{i}{j}", slice(max(0, top - overlap), bottom),
                  slice(max(0, left - overlap), right))
        for i, (top, bottom) in enumerate([(0, 25), (25, 60)])
        for j, (left, right) in enumerate([(0, 20), (20, 33), (33, 56)])
    ]  # fmt: skip
    return whole, tiles


def save_far_tile():
    return save_tile("far", slice(0, 30), slice(0, 30), info=place(0.5, 9000))


def classes_of_tiles(folder, tiles, ids):
    """Save the part of a picture that lies in each tile, under the tile's name."""
    Path(folder).mkdir()
    for tile in open_tiles(tiles).tiles:
        file = Path(folder, tile.scene.path.name)
        write_class_map(file, ids[tile.rows, tile.columns], map_info=tile.scene.map_info)


# --- mosaics -------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlap", [0, 4])
def test_a_mosaic_is_the_scene(folder, overlap):
    whole, tiles = saved_tiles(overlap=overlap)
    one, joint = open_scene(whole), open_tiles(tiles[::-1])
    assert joint.is_mosaic
    assert joint.scene.shape == one.shape
    np.testing.assert_array_equal(joint.scene.spectra(), one.spectra())
    assert georeference_of(joint.scene.map_info) == georeference_of(one.map_info)
    np.testing.assert_array_equal(joint.scene.wavelengths, one.wavelengths)


@pytest.mark.parametrize("spatial", [False, True])
def test_tiles_give_the_map_of_the_scene(folder, spatial):
    whole, tiles = saved_tiles(overlap=2)
    joint = open_tiles(tiles)
    options = {
        "features": SceneFeatures(spatial=spatial),
        "classifier": DiffusionClassifier(tau=16 if spatial else "auto", random_state=0),
    }
    labels = read_labels("labels.tif"), read_tile_labels("labels.tif", joint)
    one = classify_scene(open_scene(whole), labels[0], **options).result
    found = classify_scene(joint.scene, labels[1], **options).result
    np.testing.assert_array_equal(found.class_map, one.class_map)
    np.testing.assert_array_equal(found.margin, one.margin)
    for tile in joint.tiles:
        part = found.part(tile.rows, tile.columns)
        np.testing.assert_array_equal(part.class_map, one.class_map[tile.rows, tile.columns])
        np.testing.assert_array_equal(part.posteriors, one.posteriors[tile.rows, tile.columns])


def test_gaps_have_no_data_and_missing_pixels_are_filled_by_the_next(folder):
    cube = TISSUE.cube.astype(np.float32).copy()
    cube[5, 5] = np.nan
    holed = save_tile("holed", slice(0, 20), slice(0, 20), cube=cube)
    other = save_tile("other", slice(3, 20), slice(3, 30))
    joint = open_tiles([holed, other]).scene
    assert joint.shape[:2] == (20, 30)
    assert not joint.valid[:3, 20:].any()
    assert joint.valid.sum() == 20 * 20 + 17 * 10
    np.testing.assert_array_equal(joint.data[5:6][0, 5], TISSUE.cube[5, 5].astype(np.float32))


@pytest.mark.parametrize("fill", [np.nan, np.inf, -np.inf, -3.4028235e38, 9.96921e36, -9999.0])
def test_the_first_tile_with_data_counts_whatever_means_none(fill):
    """Also the fill values that no file states: what lies under them is another tile's."""
    cube = np.random.default_rng(0).random((6, 8, 3)).astype(np.float32)
    left, right = cube[:, :6].copy(), cube[:, 2:].copy()
    left[1:3, 3:] = fill
    left[4:, 4, 1] = fill
    right[:, -1] = fill
    stated = {"ignore_value": fill} if fill == -9999 else {}
    joint = open_tiles([
        Scene.from_array(left, map_info=place(), **stated),
        Scene.from_array(right, map_info=place(0, 2), **stated),
    ]).scene  # fmt: skip
    hidden = np.broadcast_to(np.arange(8) == 7, (6, 8))
    is_told = np.isfinite(fill) and not stated
    with pytest.warns(UserWarning, match="6 pixels hold values") if is_told else nullcontext():
        np.testing.assert_array_equal(joint.valid, ~hidden)
    found = joint.spectra(bands=np.ones(3, dtype=bool)).reshape(6, 8, 3)
    np.testing.assert_array_equal(found[~hidden], cube[~hidden])


def test_scales_and_no_data_of_each_tile_count():
    stored = np.full((4, 5, 3), 5000, dtype=np.int16)
    stored[..., 1] = np.arange(20).reshape(4, 5)
    stored[1, 1] = -1
    left = Scene.from_array(stored, scale_factor=1e4, ignore_value=-1, map_info=place())
    right = Scene.from_array(np.full((4, 5, 3), 0.25), map_info=place(0, 5))
    joint = open_tiles([left, right]).scene
    assert joint.data[0:1][0, [0, 5], 0].tolist() == [0.5, 0.25]
    assert np.argwhere(~joint.valid).tolist() == [[1, 1]]


def offset(picture, grid):
    return placement(picture, grid, (10, 20))[1]


def test_grids():
    grid = georeference_of(place())
    assert offset(georeference_of(place(7, -3)), grid) == (7, -3)
    for other in (
        place(0, 0.3),
        place(0, 0, "EPSG:32632"),
        map_info_of(Georeference((15.0, 0.0, 5e5, 0.0, -15.0, 5.4e6), "EPSG:32633")),
    ):
        assert placement(georeference_of(other), grid, (10, 20)) is None  # fmt: skip
    turned = Georeference((3.0, 4.0, 5e5, 4.0, -3.0, 5.4e6), "EPSG:32633")
    moved = Georeference((3.0, 4.0, 5e5 + 3 * 2 + 4 * 5, 4.0, -3.0, 5.4e6 + 8 - 15), "EPSG:32633")
    assert offset(moved, turned) == (5, 2)


def test_a_roi_and_bands_of_a_mosaic(folder):
    _, tiles = saved_tiles()
    joint = open_tiles(tiles, bands="1-4", roi=(5e5 + 300, 5.4e6 - 900, 5e5 + 900, 5.4e6)).scene
    assert joint.usable_bands().sum() == 4
    expected = np.zeros((ROWS, COLUMNS), bool)
    expected[:30, 10:30] = True
    np.testing.assert_array_equal(joint.valid, expected)


# --- stacks --------------------------------------------------------------------------------------


def test_scenes_without_a_common_grid_are_stacked(folder):
    top = Scene.from_array(TISSUE.cube[:30], path="top")
    bottom = Scene.from_array(TISSUE.cube[30:, :40], path="bottom")
    joint = open_tiles([top, bottom])
    assert not joint.is_mosaic
    assert joint.scene.map_info is None
    labels = read_tile_labels(
        [LabelImage.from_array(TISSUE.labels[:30]), LabelImage.from_array(TISSUE.labels[30:, :40])],
        joint,
    )
    found = classify_scene(joint.scene, labels).result
    for tile, truth in zip(joint.tiles, (TISSUE.truth[:30], TISSUE.truth[30:, :40]), strict=True):
        part = found.part(tile.rows, tile.columns)
        assert (part.class_map > 0).all()
        assert (part.class_map == truth).mean() > 0.5
    assert found.n_missing == joint.scene.shape[0] * COLUMNS - 30 * COLUMNS - 30 * 40


def test_no_pixel_of_a_stack_is_smoothed_with_another_scene():
    one = Scene.from_array(TISSUE.cube[:40])
    features = SceneFeatures(spatial=True).fit(one)
    alone = features.transform(one).reshape(40, COLUMNS, -1)
    joint = open_tiles([one, Scene.from_array(2 * TISSUE.cube[40:])])
    beside = features.transform(joint.scene).reshape(*joint.scene.shape[:2], -1)[:40]
    np.testing.assert_array_equal(np.isfinite(beside), np.isfinite(alone))
    components = alone.shape[2] // 2  # smoothed ones: the bandwidth is found of all scenes
    np.testing.assert_allclose(beside[..., :components], alone[..., :components], atol=1e-5)


def test_shapes_on_the_tiles_of_a_stack(folder):
    near = save_tile("near", slice(0, 30), slice(0, 30))
    far = save_far_tile()
    box = save_shape(Path("box.geojson"), (5e5, 5.4e6 - 300, 5e5 + 300, 5.4e6))
    joint = open_tiles([near, far], mask=box)
    assert not joint.is_mosaic
    assert joint.scene.valid.sum() == 2 * 900 - 100


def test_segments_of_tiles_are_those_of_the_scene(folder):
    whole, tiles = saved_tiles(overlap=2)
    boxes = [(0, 0, 11, 9), (0, 9, 30, 56), (40, 3, 60, 50)]  # top, left, bottom, right in pixels
    shapes = [shapely.box(5e5 + 30 * left, 5.4e6 - 30 * bottom, 5e5 + 30 * right, 5.4e6 - 30 * top)
              for top, left, bottom, right in boxes]  # fmt: skip
    pyogrio.raw.write(
        "fields.gpkg", shapely.to_wkb(shapes), field_data=[np.array(["a", "b", "b"])],
        fields=["crop"], geometry_type="Polygon", crs="EPSG:32633",
    )  # fmt: skip
    expected = np.zeros((ROWS, COLUMNS), int)
    for number, (top, left, bottom, right) in enumerate(boxes, start=1):
        expected[top:bottom, left:right] = number
    write_raster("numbers.tif", expected.astype(np.int32), map_info=place())
    for opened in (open_tiles([whole]), open_tiles(tiles)):
        for name in ("fields.gpkg", "numbers.tif"):
            found = read_tile_segments(name, opened)
            np.testing.assert_array_equal(found, expected)
    far = save_far_tile()
    stack = open_tiles([whole, far])
    found = read_tile_segments("fields.gpkg", stack)
    first = stack.tiles[0]
    np.testing.assert_array_equal(found[first.rows, first.columns], expected)
    assert np.count_nonzero(found) == np.count_nonzero(expected)
    with pytest.raises(DataError, match="a folder"):
        read_tile_segments("tiles", stack)


# --- labels --------------------------------------------------------------------------------------


def test_labels_in_a_folder_and_of_another_extent(folder):
    _, tiles = saved_tiles()
    joint = open_tiles(tiles)
    classes_of_tiles("labels", tiles, TISSUE.labels)
    Path("labels", tiles[0].name).unlink()
    labels = read_tile_labels("labels", joint)
    expected = TISSUE.labels.copy()
    expected[joint.tiles[0].rows, joint.tiles[0].columns] = 0
    np.testing.assert_array_equal(labels.ids, expected)
    wide = np.zeros((ROWS + 20, COLUMNS), int)
    wide[10:-10] = TISSUE.labels
    write_class_map("wide.tif", wide, map_info=place(-10, 0))
    labels = read_tile_labels("wide.tif", joint)
    np.testing.assert_array_equal(labels.ids, TISSUE.labels)


def test_files_in_a_folder_of_labels_that_are_no_scene_s_are_told(folder):
    scenes = [Scene.from_array(np.ones((2, 3, 4)), path=f"{name}.npy") for name in "ab"]
    for name in "abcd":
        write_class_map(f"{name}.img", np.array([[0, 1, 2], [2, 1, 0]]))
    Path("readme.txt").write_text("labels of the summer")
    told = r"2 files are named as none of the scenes and count for nothing \(c.img, d.img\)"
    for given, n_labels in ((scenes, 8), (scenes[:1], 4)):
        with pytest.warns(UserWarning, match=told if len(given) == 2 else "3 files"):
            labels = read_tile_labels(folder, open_tiles(given))
        assert np.count_nonzero(labels.ids) == n_labels
    np.save("a.npy", np.ones((2, 3), int))
    with pytest.raises(DataError, match="are both called as a"):
        read_tile_labels(folder, open_tiles(scenes))


def test_a_report_holds_the_hashes_of_a_folder_of_labels(folder, works):
    _, tiles = saved_tiles()
    classes_of_tiles("labels", tiles, TISSUE.labels)
    words = ["classify", *tiles, "--labels", "labels", "--tau", "16", "-o", "map.npy"]
    words += ["--report", "report.json"]
    hashed = {Path(one["path"]) for one in works(*words)["recipe"]["inputs"]}
    assert {folder / "labels" / tile.name for tile in tiles} <= hashed
    assert {folder / tile for tile in tiles} <= hashed
    works("rerun", "report.json", "--into", "again")


def test_labels_that_do_not_fit(folder):
    _, tiles = saved_tiles()
    joint = open_tiles(tiles)
    with pytest.raises(DataError, match="one for each"):
        read_tile_labels([LabelImage.from_array(TISSUE.labels)], joint)
    Path("empty").mkdir()
    with pytest.raises(DataError, match=r"t00\.tif"):
        read_tile_labels("empty", joint)
    with pytest.raises(DataError, match="rows"):
        read_tile_labels(LabelImage.from_array(TISSUE.labels[:9]), joint)
    parts = [TISSUE.labels[tile.rows, tile.columns] for tile in joint.tiles]
    named = [LabelImage.from_array(ids, names=NAMES) for ids in parts]
    named[2] = LabelImage.from_array(parts[2], names={1: "debris"})
    with pytest.raises(DataError, match="number classes alike"):
        read_tile_labels(named, joint)
    name = NAMES[1]
    named[2] = LabelImage.from_array(np.where(parts[2] == 1, 9, parts[2]), names={9: name})
    with pytest.raises(DataError, match=rf"'{name}' is class 9, but class 1 in another"):
        read_tile_labels(named, joint)
    write_class_map("far.tif", TISSUE.labels, map_info=place(5000, 0))
    with pytest.raises(DataError, match="do not overlap"):
        read_tile_labels("far.tif", joint)


def test_bands_have_to_be_alike():
    one = Scene.from_array(np.ones((4, 4, 3)), wavelengths=np.array([400.0, 500, 600]))
    with pytest.raises(DataError, match="has 2 bands"):
        open_tiles([one, Scene.from_array(np.ones((4, 4, 2)))])
    other = Scene.from_array(np.ones((4, 4, 3)), wavelengths=np.array([400.0, 507, 600]))
    with pytest.raises(DataError, match=r"band 2 lies at 507\.0 nm"):
        open_tiles([one, other])
    first, same, others, turned = (
        Scene.from_array(np.ones((4, 4, 3)), band_names=tuple(names))
        for names in ("abc", "abc", "xyz", "cba")
    )
    assert len(open_tiles([first, same, others]).tiles) == 3
    with pytest.raises(DataError, match="in another order, c, b, a"):
        open_tiles([first, turned])


# --- the command ---------------------------------------------------------------------------------


def test_classify_writes_a_mosaic_or_a_map_for_each(folder, works):
    whole, tiles = saved_tiles(overlap=3)
    Path("maps").mkdir()
    works("classify", whole, *LABELLED, "-o", "one.tif")
    works("classify", *tiles, *LABELLED, "-o", "all.tif", "--save", "m.model")
    each = ["-o", "maps/{}.tif", "--margin", "maps/{}_margin.npy"]
    works("classify", *tiles, *LABELLED, *each)
    works("classify", *tiles, "--model", "m.model", "-o", "again.tif")
    one = read_labels("one.tif")
    np.testing.assert_array_equal(read_labels("all.tif").ids, one.ids)
    assert (read_labels("again.tif").ids == one.ids).mean() > 0.97
    for tile in open_tiles(tiles).tiles:
        found = read_labels(Path("maps", tile.scene.path.name))
        np.testing.assert_array_equal(found.ids, one.ids[tile.rows, tile.columns])
        found.on(tile.scene)
        assert np.load(f"maps/{tile.scene.path.stem}_margin.npy").shape == found.shape


def test_classify_says_what_it_cannot_write(folder, fails):
    whole, tiles = saved_tiles()
    for scenes, outputs, says in (
        ([whole, save_far_tile()], ["-o", "map.tif"], "no common map grid"),
        ([whole, "far.tif"], ["-o", "{}.npy", "--margin", "m.npy"], "names of all maps"),
        ([tiles[0], tiles[0]], ["-o", "{}.npy"], "two outputs"),
    ):
        fails("classify", *scenes, "--labels", "labels.tif", *outputs, code=2, says=says)


# --- other commands ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "few"), [("cluster", ["-k", "3"]), ("anomaly", ["--neighbors", "8"])]
)
def test_commands_without_labels_take_tiles(folder, works, command, few):
    whole, tiles = saved_tiles()
    Path("maps").mkdir()
    given = {"whole": [whole], "tiles": tiles, "back": tiles[::-1], "maps/{}": tiles}
    for name, scenes in given.items():
        works(command, *scenes, "-o", f"{name}.tif", *few)
    whole = open_scene("whole.tif")
    values = np.asarray(whole.data[:])
    for name in ("tiles", "back"):
        one = open_scene(f"{name}.tif")
        assert georeference_of(one.map_info) == georeference_of(whole.map_info)
        np.testing.assert_allclose(np.asarray(one.data[:]), values, rtol=1e-4)
    for tile in tiles:
        part = open_scene(Path("maps", tile.name))
        row, column = offset(part.georeference, whole.georeference)
        there = values[row : row + part.shape[0], column : column + part.shape[1]]
        np.testing.assert_allclose(np.asarray(part.data[:]), there, rtol=1e-4)
        assert georeference_of(part.map_info) == open_scene(tile).georeference


def test_clusters_of_tiles_are_compared_with_a_truth(folder, works):
    _, tiles = saved_tiles()
    report = works("cluster", *tiles, "-o", "c.tif", "-k", "3", "--truth", "truth.tif")
    assert np.array(report["agreement"]["confusion"]).sum() == ROWS * COLUMNS


def test_suggestions_on_tiles_lie_on_the_map(folder):
    whole, tiles = saved_tiles()
    found = []
    for name, scenes in (("whole", [whole]), ("tiles", tiles)):
        words = ["--labels", "labels.tif", "-n", "4", "-o", f"{name}.geojson", "-q"]
        assert run(["suggest", *map(str, scenes), *words]) in (0, 4)
        features = json.loads(Path(f"{name}.geojson").read_text())["features"]
        found.append([feature["geometry"] for feature in features])
    assert len(found[0]) == 4
    assert found[0] == found[1]


def test_maps_of_tiles_are_evaluated_as_one(folder, works, fails):
    _, tiles = saved_tiles()
    wrong = np.where(np.arange(ROWS)[:, None] % 7, TISSUE.truth, 1)
    classes_of_tiles("maps", tiles, wrong)
    Path("truths").mkdir()
    for tile in open_tiles(tiles).tiles:
        ids = TISSUE.truth[tile.rows, tile.columns]
        np.save(f"truths/{tile.scene.path.stem}.npy", ids)
    write_class_map("map.tif", wrong, map_info=place())
    maps = [f"maps/{tile.name}" for tile in tiles]
    for more in ([], ["--fitted", "labels.tif", "--gap", "2"]):
        first, *others = (
            works("evaluate", *words, *more)
            for words in (["map.tif", "truth.tif"], [*maps, "truth.tif"],
                          [*maps, "--labels", "truths"])
        )  # fmt: skip
        assert others == [first, first]
    says = ["--margin of 6 maps is a file for each", "{}.tif"]
    fails("evaluate", *maps, "truth.tif", "--margin", "truth.tif", code=2, says=says)
    twice = [maps[0], maps[1], maps[0]]
    fails("evaluate", *twice, "truth.tif", code=3, says="maps of the same pixels")


def test_margins_and_posteriors_of_tiles_are_those_of_the_mosaic(folder, works):
    _, tiles = saved_tiles(overlap=3)
    kinds, said = ("map", "margin", "posterior"), []
    for kind in kinds:
        Path(kind).mkdir()
    for name in ("mosaic", "{}"):
        output, margin, posterior = (f"{kind}/{name}.tif" for kind in kinds)
        rasters = ["--margin", margin, "--probability", posterior]
        words = [*LABELLED, "-o", output, *rasters, "--min-margin", "0.3"]
        works("classify", *tiles, *words)
        maps = [output.replace("{}", tile.stem) for tile in tiles[: 1 if name == "mosaic" else 6]]
        said.append(works("evaluate", *maps, "truth.tif", *rasters))
    assert said[0]["margin"] is not None
    assert said[0]["probability"] is not None
    assert said[0] == said[1]


def test_rasters_that_are_not_those_of_the_maps(folder, fails):
    for i, rows in enumerate((slice(0, 30), slice(30, 60))):
        info = place(rows.start)
        write_class_map(f"map{i}.tif", TISSUE.truth[rows], map_info=info)
        np.save(f"m_map{i}.npy", np.ones((30 + i, COLUMNS), np.float32))
        np.save(f"p_map{i}.npy", np.ones((30, COLUMNS, 3 + i), np.float32))
    write_class_map("truth.tif", TISSUE.truth, map_info=place())
    for more, says in {
        ("--margin", "m_{}.npy"): "m_map1.npy has 31 x 56 pixels, map1.tif 30 x 56",
        ("--margin", "p_{}.npy"): "p_map1.npy has other bands than p_map0.npy",
        ("--margin", "{}_gone.npy"): "map0_gone.npy: no such file",
    }.items():
        fails("evaluate", "map0.tif", "map1.tif", "truth.tif", *more, code=3, says=says)


def test_commands_of_one_scene_say_what_to_do_with_several(folder, fails):
    _, tiles = saved_tiles()
    fails("info", *tiles, code=2, says=["takes one", "ask about each alone", "t01.tif"])
    says = ["takes one", "rio merge", "t01.tif"]
    fails("embed", *tiles, "-o", "out.npy", code=2, says=says)


@pytest.mark.parametrize(
    ("name", "rows", "row"),
    [("a", 30, 0), ("a_labels", 30, 0), ("ab-1", 30, 46), ("autumn", 14, 92), ("autumn", 30, None),
     ("abc", 30, None), ("a", 14, None), ("joint", 106, -1)],
)  # fmt: skip
def test_the_image_of_one_scene_of_a_stack(name, rows, row):
    """It goes where its name says, or else where only it fits."""
    sizes = {"a": 30, "ab": 30, "c": 14}
    scenes = [
        Scene.from_array(np.ones((n, 28, 4)), path=f"{stem}.npy") for stem, n in sizes.items()
    ]
    tiles = open_tiles(scenes)
    assert tiles.scene.shape[:2] == (106, 28)
    ids = np.arange(rows * 28).reshape(rows, 28) % 4
    image = LabelImage.from_array(ids, path=f"{name}.tif")
    if row is None:
        with pytest.raises(DataError, match=r"not clear|of this scene"):
            read_tile_labels(image, tiles)
        return
    row = max(row, 0)
    expected = np.zeros((106, 28), dtype=int)
    expected[row : row + rows] = ids
    np.testing.assert_array_equal(read_tile_labels(image, tiles).ids, expected)


def test_scenes_of_one_name_have_files_of_their_own(folder):
    """They are read again as labels of the scene that they are named after."""
    stem = "w\u00e4lder"
    scenes = [
        Scene.from_array(np.ones((9, 8, 4)), path=folder / side / f"{stem}.npy")
        for side in ("north", "south")
    ]
    tiles = open_tiles(scenes)
    files = [file for file, *_ in tiles.files(Path("labels") / "{}.npy")]
    assert [file.name for file in files] == [f"north_{stem}.npy", f"south_{stem}.npy"]
    Path("labels").mkdir()
    for number, file in enumerate(files, 1):
        np.save(file, np.full((9, 8), number, dtype=np.uint8))
    for tile, number, file in zip(tiles.tiles, (1, 2), files, strict=True):
        for source in (file, "labels"):
            found = read_tile_labels(source, tiles)
            assert (found.ids[tile.rows, tile.columns] == number).all()
    unclear = LabelImage.from_array(np.ones((9, 8), dtype=int), path=f"{stem}.npy")
    with pytest.raises(DataError, match=f"begin its name with .* as north_{stem}_labels"):
        read_tile_labels(unclear, tiles)
    with pytest.raises(ParameterError, match="give it once"):
        list(open_tiles([scenes[0], scenes[0]]).files("maps/{}.tif"))


def test_scenes_that_no_label_reaches_are_named():
    scenes = [
        Scene.from_array(np.ones((20, 28, 4)), path=f"{stem}.npy")
        for stem in ("north/a", "south/a", "b")
    ]
    tiles = open_tiles(scenes)
    _, south, empty = tiles.tiles
    has_data = tiles.scene.valid.copy()
    has_data[empty.rows] = False
    reached = has_data.copy()
    assert tiles.unreached_note(reached, has_data) is None
    reached[south.rows] = False
    assert tiles.unreached_note(reached, has_data).startswith("no label reaches south_a: ")
    reached[south.row, 5] = True
    assert tiles.unreached_note(reached, has_data) is None
    one = np.ones((20, 28), dtype=bool)
    assert open_tiles(scenes[:1]).unreached_note(~one, one) is None


@pytest.mark.filterwarnings("ignore:no label reaches some points")
def test_classify_names_a_scene_that_no_label_reaches(folder, capsys):
    np.save("near.npy", TISSUE.cube[:30])
    np.save("far.npy", TISSUE.cube[30:] + 30)
    Path("labels").mkdir()
    np.save("labels/near.npy", TISSUE.labels[:30])
    words = ["near.npy", "far.npy", "--overwrite", "-o", "{}_map.npy", "--labels", "labels"]
    says = "no label reaches far: nothing there is linked"
    for is_reached in (False, True):
        assert run(["classify", *words]) == 0
        assert (says in capsys.readouterr().err) != is_reached
        assert (np.load("far_map.npy") > 0).all() == is_reached == np.load("far_map.npy").any()
        far = np.where(np.arange(COLUMNS) % 9, 0, TISSUE.truth[30:])
        np.save("labels/far.npy", far)


def test_scenes_without_a_common_grid(folder, works, fails):
    a = save_tile("a", slice(0, 30), slice(0, 28))
    b = save_tile("b", slice(30, 60), slice(0, 28), info=place(crs="EPSG:32631"))
    apart = "a row and a column name no pixel"
    for verb, words, says in (
        ("anomaly", "-o m_{}.npy", apart),
        ("cluster", "-o m_{}.npy --method modes", apart),
        ("suggest", "-o s.csv", apart),
        ("cluster", "-o c.npy -k 3", "write one for each"),
    ):
        fails(verb, a, b, *words.split(), code=2, says=says)
    works("cluster", a, b, "-o", "m_{}.npy", "-k", "3")
    a, b = (np.load(f"m_{name}.npy") for name in "ab")
    assert a.shape == b.shape == (30, 28)
    assert set(np.unique(a)) & set(np.unique(b))  # clusters are shared


def test_what_is_odd_about_all_tiles_is_said_once(folder):
    """It was one line for each tile; a class 255 was told by its share of each."""
    _, paths = saved_tiles()
    Path("labels").mkdir()
    for path in paths:
        with rasterio.open(path, "r+") as raster:
            raster.update_tags(calibration_gain="0.5")
            size = dict(zip(("height", "width"), raster.shape, strict=True))
            profile = size | {"crs": raster.crs, "transform": raster.transform, "dtype": "uint8"}
        ids = np.full((1, *size.values()), 255, dtype=np.uint8)
        ids[0, 0] = 1
        copy = Path("labels") / path.name
        with rasterio.open(copy, "w", driver="GTiff", count=1, **profile) as labels:
            labels.write(ids)
            labels.update_tags(fill_value=0)
    more = f"and {len(paths) - 1} more"
    with pytest.warns(UserWarning, match="calibration") as caught:
        tiles = open_tiles(paths)
    (line,) = [str(one.message) for one in caught]
    assert f"{paths[0]} {more}: states calibration gain, which" in line
    with pytest.warns(UserWarning, match="labels") as caught:
        labels = read_tile_labels("labels", tiles)
    unknown, largest = sorted(str(one.message) for one in caught)
    assert f"{more}: states fill value, which" in unknown
    assert f"{(labels.ids == 255).mean():.1%} of the pixels are 255" in largest
