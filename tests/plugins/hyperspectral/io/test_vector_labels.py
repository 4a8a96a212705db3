from __future__ import annotations

import json
import warnings

import numpy as np
import pyogrio.raw
import pytest
import rasterio.warp
import shapely

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import ClassTable, LabelImage, Scene, read_labels
from diffclass_hyperspectral.io.georeference import Georeference, map_info_of
from diffclass_hyperspectral.io.labels import is_vector
from diffclass_hyperspectral.io.labels.vector_labels import read_vector_labels

from ..writers import PLACE, refuses

LEFT, TOP, SIDE = 500000.0, 5400000.0, 30.0
ROWS, COLUMNS = 8, 10
SCENE = Scene.from_array(
    np.ones((ROWS, COLUMNS, 3)),
    path="scene.hdr",
    map_info=PLACE,
)
FORMATS = ["labels.geojson", "labels.shp", "labels.gpkg"]


def pixels(top, bottom, left, right):
    """The rectangle of rows and columns of the scene."""
    return shapely.box(
        LEFT + SIDE * left, TOP - SIDE * bottom, LEFT + SIDE * right, TOP - SIDE * top
    )


CORN, SOY = pixels(0, 3, 0, 4), pixels(4, 8, 5, 10)
EXPECTED = np.zeros((ROWS, COLUMNS), dtype=int)
EXPECTED[0:3, 0:4] = 1
EXPECTED[4:8, 5:10] = 2


def write(path, fields, shapes=(CORN, SOY), *, crs="EPSG:32633", kind="Polygon", **options):
    if crs == "EPSG:4326":
        shapes = shapely.transform(
            np.array(shapes, dtype=object),
            lambda points: np.column_stack(
                rasterio.warp.transform("EPSG:32633", crs, points[:, 0], points[:, 1])
            ),
        )
    columns = [
        np.array(v, dtype=object) if isinstance(v[0], str | None) else np.array(v)
        for v in fields.values()
    ]
    pyogrio.raw.write(
        path, shapely.to_wkb(np.array(shapes, dtype=object)), columns, list(fields),
        geometry_type=kind, crs=crs, **options,
    )  # fmt: skip
    return path


def fails(path, *words, grid=SCENE, **options):
    refuses(read_vector_labels, path, *words, named="", grid=grid, **options)


def in_geojson(path, shape, value):
    """Write a shape without a coordinate system, which counts as degrees."""
    feature = {"type": "Feature", "properties": {"class": value},
               "geometry": json.loads(shapely.to_geojson(shape))}  # fmt: skip
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    return path


@pytest.mark.parametrize("crs", ["EPSG:32633", "EPSG:4326"])
@pytest.mark.parametrize("name", FORMATS)
def test_names_are_numbered_and_coordinates_transformed(tmp_path, name, crs):
    path = write(tmp_path / name, {"area": [1.5, 2.5], "Class": ["corn", "soy"]}, crs=crs)
    labels = read_labels(path, grid=SCENE)
    np.testing.assert_array_equal(labels.ids, EXPECTED)
    assert [(entry.id, entry.name) for entry in labels.table] == [(1, "corn"), (2, "soy")]
    assert (labels.format, labels.map_info) == ("vector", SCENE.map_info)
    labels.on(SCENE)
    labels.check_trainable()


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_are_ids_with_names_and_colors(tmp_path, name):
    fields = {
        "class_id": [7, 3], "class_name": ["weeds", None], "color": ["#0102ff", "red"],
    }  # fmt: skip
    labels = read_labels(write(tmp_path / name, fields), grid=SCENE)
    np.testing.assert_array_equal(labels.ids, np.array([0, 7, 3])[EXPECTED])
    assert [entry.name for entry in labels.table] == ["class 3", "weeds"]
    assert labels.table[7].color == (1, 2, 255)


def test_texts_of_digits_are_numbers(tmp_path):
    path = write(tmp_path / "labels.geojson", {"class": ["12", "4"]})
    assert read_labels(path, grid=SCENE).table.ids == (4, 12)


@pytest.mark.parametrize(
    "values", [["corn", "soy", None], [1.0, 2.0, np.nan], ["corn", "soy", "-1"]]
)
def test_shapes_without_a_class(tmp_path, values):
    shapes = (CORN, SOY, pixels(3, 4, 0, 9))
    path = write(tmp_path / "labels.gpkg", {"class": values}, shapes)
    np.testing.assert_array_equal(read_labels(path, grid=SCENE).ids, EXPECTED)


def test_points_and_lines(tmp_path):
    center = shapely.Point(LEFT + 2.5 * SIDE, TOP - 1.5 * SIDE)
    path = write(tmp_path / "points.geojson", {"class": [5]}, [center], kind="Point")
    ids = read_labels(path, grid=SCENE).ids
    assert np.argwhere(ids == 5).tolist() == [[1, 2]]
    line = shapely.LineString([(LEFT + 1, TOP - 45), (LEFT + 299, TOP - 45)])
    path = write(tmp_path / "lines.gpkg", {"class": [5]}, [line], kind="LineString")
    assert np.argwhere(read_labels(path, grid=SCENE).ids == 5)[:, 0].tolist() == [1] * 10


@pytest.mark.parametrize("middle", [-180.0, 0.0, 180.0, 360.0])
def test_each_part_of_a_shape_lies_where_the_scene_does(tmp_path, middle):
    """Others cut shapes at 180 degrees, or count longitudes on."""
    place = map_info_of(Georeference((1.0, 0.0, middle - 8, 0.0, -1.0, 48.0), "EPSG:4326"))
    scene = Scene.from_array(np.ones((4, 16, 3)), map_info=place)
    left, right = shapely.box(middle - 6, 45, middle, 47), shapely.box(middle, 45, middle + 5, 47)
    expected = np.zeros((4, 16), dtype=int)
    expected[1:3, 2:13] = 1
    for turns in ((0, 0), (0, -360), (360, 0), (360, 360), (-360, -360)):
        moved = [
            shapely.transform(part, lambda points, by=turn: points + np.array([by, 0]))
            for part, turn in zip((left, right), turns, strict=True)
        ]
        if any(abs(x) > 360 for part in moved for x in part.bounds[::2]):
            continue
        path = in_geojson(tmp_path / "labels.geojson", shapely.multipolygons(moved), 1)
        np.testing.assert_array_equal(read_labels(path, grid=scene).ids, expected)


def test_only_centres_count_and_a_label_image_is_a_grid(tmp_path):
    thin = shapely.box(LEFT, TOP - 40, LEFT + 300, TOP - 14)  # over the centres of row 0 alone
    path = write(tmp_path / "labels.gpkg", {"class": [1]}, [thin])
    grid = LabelImage.from_array(np.zeros((ROWS, COLUMNS)))
    fails(path, "no map coordinates", grid=grid)
    ids = read_labels(path, grid=SCENE).ids
    assert ids[0].all()
    assert not ids[1:].any()


def test_shapes_that_dispute_a_pixel_warn(tmp_path):
    path = write(tmp_path / "labels.gpkg", {"class": [1, 2]}, [CORN, pixels(2, 4, 3, 5)])
    with pytest.warns(UserWarning, match="cover 1 pixels"):
        labels = read_labels(path, grid=SCENE)
    assert labels.ids[2, 3] == 2


@pytest.mark.parametrize("drawn_last", [True, False])
@pytest.mark.parametrize(
    "shape",
    [
        pixels(5.6, 5.8, 1.6, 1.9),
        pixels(5.1, 5.4, 0, 8),  # through many pixels, past all centres
        shapely.Point(LEFT + 1.7 * SIDE, TOP - 5.7 * SIDE),
        shapely.LineString([(LEFT + 31, TOP - 171), (LEFT + 32, TOP - 172)]),
        shapely.MultiPolygon([pixels(5.6, 5.8, 1.6, 1.9), pixels(6.6, 6.8, 1.6, 1.9)]),
    ],
)
def test_no_class_vanishes_without_a_word(tmp_path, shape, drawn_last):
    order = slice(None, None, 1 if drawn_last else -1)
    shapes = [CORN, SOY, shape][order]
    path = write(tmp_path / "a.gpkg", {"class": ["a", "b", "pond"][order]}, shapes, kind="Unknown")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        labels = read_labels(path, grid=SCENE)
    pond = next(entry.id for entry in labels.table if entry.name == "pond")
    assert labels.counts()[pond] == 1
    row = np.argwhere(labels.ids == pond)[0][0]
    assert row == (5 if shape.geom_type != "MultiPolygon" else row)
    told = [str(one.message) for one in said]
    assert len(told) == ("Polygon" in shape.geom_type)
    assert all("without a pixel's centre" in text and "'pond'" in text for text in told)


def test_classes_without_a_pixel_are_named(tmp_path):
    far = shapely.box(LEFT + 9000, TOP, LEFT + 9100, TOP + 100)
    path = write(tmp_path / "a.gpkg", {"class": ["a", "far"]}, [CORN, far])
    with pytest.warns(UserWarning, match="no pixel has the class 'far'"):
        read_labels(path, grid=SCENE)
    path = write(tmp_path / "b.gpkg", {"class": ["under", "over"]}, [CORN, CORN])
    with (
        pytest.warns(UserWarning, match="cover 12 pixels"),
        pytest.warns(UserWarning, match="no pixel has the class 'under'"),
    ):
        read_labels(path, grid=SCENE)


def test_equal_shapes_in_a_stack_are_no_small_ones(tmp_path):
    path = write(tmp_path / "a.gpkg", {"class": [1] * 9}, [CORN] * 9)
    np.testing.assert_array_equal(read_labels(path, grid=SCENE).ids, EXPECTED == 1)


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["007", "7"], {"007": 1, "7": 2}),
        (["2.0", "10.0"], {"class 2": 1, "class 10": 2}),
        (["2020/05/01", "2020/06/01"], {"2020/05/01": 1, "2020/06/01": 2}),
        (["12:30:00", "x"], {"12:30:00": 1, "x": 2}),
        ([" corn", "soy "], {" corn": 1, "soy ": 2}),
        (["0", "soy"], {"soy": 2}),
        (["corn", "0.0"], {"corn": 1}),
        (["corn", "-1"], {"corn": 1}),
        (["corn", "00"], {"corn": 1, "00": 2}),
    ],
)
def test_texts_stay_as_they_are(tmp_path, values, found):
    path = write(tmp_path / "a.geojson", {"class": values}, crs="EPSG:4326")
    labels = read_labels(path, grid=SCENE)
    places = {e.name: int(EXPECTED[labels.ids == e.id][0]) for e in labels.table}
    assert places == found


def test_names_that_are_none_or_two(tmp_path):
    path = tmp_path / "a.geojson"
    fails(write(path, {"class": ["corn", "corn "]}), "differ by the blanks")
    fails(write(path, {"class": [1, 1], "class_name": ["corn", "maize"]}), "'corn' and 'maize'")
    path = write(tmp_path / "b.gpkg", {"class": [1, 2], "class_name": ["corn", "corn"]})
    with pytest.warns(UserWarning, match="classes 1 and 2 are called 'corn'; they stay apart"):
        assert read_labels(path, grid=SCENE).n_classes == 2
    path = in_geojson(tmp_path / "c.geojson", shapely.Point(15, 48), ["a", "b"])
    fails(path, "holds lists, as ['a', 'b']")


def test_numbers_that_name_classes_of_a_map(tmp_path):
    known = ClassTable.from_ids([1, 2, 3], names={1: "2", 2: "5", 3: "10"})
    path = write(tmp_path / "a.geojson", {"class": ["5", "10"]})
    labels = read_labels(path, grid=SCENE, known=known)
    assert [(e.id, e.name) for e in labels.table] == [(2, "5"), (3, "10")]
    ids = read_labels(write(path, {"class": [1, 3]}), grid=SCENE, known=known)
    assert ids.table.ids == (1, 3)
    fails(write(path, {"class": ["2", "2"]}), "may be the id", known=known)
    twice = ClassTable.from_ids([1, 2], names={1: "corn", 2: "corn"})
    fails(write(path, {"class": ["corn", "soy"]}), "of the classes 1 and 2", known=twice)


def test_which_field(tmp_path):
    path = write(tmp_path / "labels.gpkg", {"crop": ["a", "b"], "plot": [1, 2]})
    fails(path, "which field", "crop, plot")
    fails(path, "no field 'kind'", "crop, plot", class_field="kind")
    assert read_labels(path, variable="crop", grid=SCENE).table[1].name == "a"
    assert read_labels(path, variable="labels/plot", grid=SCENE).table.ids == (1, 2)
    alone = write(tmp_path / "alone.gpkg", {"crop": ["a", "b"]})
    assert read_labels(alone, grid=SCENE).table[2].name == "b"


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_without_a_shape(tmp_path, name):
    empty = np.array([], dtype=object)
    pyogrio.raw.write(tmp_path / name, shapely.to_wkb(empty), [empty], ["class"],
                      geometry_type="Polygon", crs="EPSG:4326")  # fmt: skip
    fails(tmp_path / name, "holds no shape; draw one, or name another file")
    with pytest.raises(DataError, match="holds no shape"):
        SCENE.select(mask=tmp_path / name)


def test_which_layer(tmp_path):
    path = write(tmp_path / "labels.gpkg", {"class": ["a", "b"]}, layer="train")
    write(path, {"class": ["c", "d"]}, layer="test", append=True)
    fails(path, "2 layers", "train, test")
    fails(path, "no layer 'val'", layer="val")
    assert read_labels(path, variable="test/class", grid=SCENE).table[1].name == "c"


def test_no_overlap(tmp_path):
    far = [shapely.box(LEFT + 9000, TOP, LEFT + 9100, TOP + 100)]
    fails(write(tmp_path / "a.gpkg", {"class": [1]}, far), "do not overlap", "scene.hdr")
    # degrees that the file calls metres
    path = write(tmp_path / "b.gpkg", {"class": [1]}, [shapely.box(15, 48, 15.1, 48.1)])
    fails(path, "do not overlap")
    # metres that the file calls degrees
    path = in_geojson(tmp_path / "c.geojson", CORN, 1)
    fails(path, "c.geojson", "are no degrees", "RFC 7946")


def test_too_many_classes_and_values_that_are_none(tmp_path):
    shapes = [CORN] * 300
    path = write(tmp_path / "a.gpkg", {"class": [f"plot {i}" for i in range(300)]}, shapes)
    fails(path, "300 different values", "254")
    fails(write(tmp_path / "b.gpkg", {"class": list(range(1, 301))}, shapes), "300 different")
    fails(write(tmp_path / "d.gpkg", {"class": [0, 0]}), "no shape has a class")
    for value in (1.5, -7, 2**40):
        fails(write(tmp_path / "c.gpkg", {"class": [value, 1]}), "class ids are 1, 2")


def test_without_a_system_the_scenes_is_meant(tmp_path):
    with pytest.warns(UserWarning, match="crs"):
        path = write(tmp_path / "labels.shp", {"class": [1, 2]}, crs=None)
    np.testing.assert_array_equal(read_labels(path, grid=SCENE).ids, EXPECTED)


def test_parts_of_a_shapefile_that_are_missing(tmp_path):
    write(tmp_path / "labels.shp", {"class": [1, 2]})
    (tmp_path / "labels.dbf").unlink()
    fails(tmp_path / "labels.shp", "labels.shp")


def test_a_grid_is_needed(tmp_path):
    path = write(tmp_path / "labels.gpkg", {"class": [1, 2]})
    with pytest.raises(ParameterError, match="grid=scene"):
        read_labels(path)
    assert is_vector(path.rename(tmp_path / "labels.dat"))
    with pytest.raises(DataError, match="no such file"):
        read_labels(tmp_path / "absent.shp", grid=SCENE)


@pytest.mark.parametrize("name", FORMATS)
def test_minus_one_is_no_class_as_text_either(tmp_path, name):
    path = write(tmp_path / name, {"class": ["corn", "-1"]})
    labels = read_labels(path, grid=SCENE)
    assert [entry.name for entry in labels.table] == ["corn"]
    np.testing.assert_array_equal(labels.ids, EXPECTED == 1)


def test_times_that_are_missing_are_no_class(tmp_path):
    days = np.array(["2020-05-01", "NaT"], dtype="datetime64[ms]")
    path = write(tmp_path / "labels.gpkg", {"class": days})
    np.testing.assert_array_equal(read_labels(path, grid=SCENE).ids, EXPECTED == 1)
