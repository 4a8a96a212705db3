"""Class maps as polygons, read back as labels and by pyogrio."""

from __future__ import annotations

import json

import numpy as np
import pyogrio
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage

from diffclass.exceptions import ParameterError
from diffclass_hyperspectral import ClassTable, Scene, read_labels
from diffclass_hyperspectral.io.georeference import Georeference, map_info_of
from diffclass_hyperspectral.io.maps import write_class_map, write_raster

LEFT, TOP, SIDE = 500000.0, 5400000.0, 30.0
NORTH_UP = (SIDE, 0.0, LEFT, 0.0, -SIDE, TOP)
TURNED = (20.0, 5.0, LEFT, 5.0, -20.0, TOP)
IDS = np.array([[0, 1, 10, 10], [14, 10, 0, 1], [14, 14, 1, 1]])
TABLE = ClassTable.from_ids(
    [0, 1, 10, 14], names={1: "corn & <oats>", 10: "lettuce, romaine"}, colors={10: (1, 2, 3)}
)


def info(transform=NORTH_UP, crs="EPSG:32633"):
    return map_info_of(Georeference(transform, crs))


def scene_of(ids, place):
    return Scene.from_array(np.ones((*ids.shape, 3)), path="scene.hdr", map_info=place)


def read(path):
    _, _, geometry, columns = pyogrio.raw.read(path)
    names = pyogrio.read_info(path)["fields"]
    return shapely.from_wkb(geometry), dict(zip(names, columns, strict=True))


@pytest.mark.parametrize("name", ["map.gpkg", "map.geojson"])
@pytest.mark.parametrize("transform", [NORTH_UP, TURNED])
def test_a_map_of_polygons_reads_back(tmp_path, name, transform):
    place = info(transform)
    (path,) = write_class_map(tmp_path / name, IDS, TABLE, map_info=place)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    labels = read_labels(path, grid=scene_of(IDS, place))
    np.testing.assert_array_equal(labels.ids, IDS)
    found = {e.id: (e.name, e.color) for e in labels.table if e.id}
    assert found == {e.id: (e.name, e.color) for e in TABLE if e.id}


@pytest.mark.parametrize("name", ["map.gpkg", "map.geojson"])
@pytest.mark.parametrize(
    ("corner", "side", "crs"),
    [
        *(((LEFT, TOP), side, "EPSG:32633") for side in (1000, 30, 1, 0.1, 0.01, 0.001)),
        *(((11.0, 48.0), side, "EPSG:4326") for side in (1, 1e-2, 1e-5, 1e-7, 1e-8)),
        ((170.0, 48.0), 1.0, "EPSG:4326"),  # across 180 degrees
        ((350.0, 48.0), 1.0, "EPSG:4326"),
        ((4.3e6, 3.1e6), 0.05, "EPSG:3035"),
        ((-2e5, 1e5), 100, "EPSG:3031"),
    ],
)
def test_maps_of_any_pixel_size_read_back(tmp_path, name, corner, side, crs):
    ids = np.random.default_rng(0).integers(0, 4, (14, 17))
    place = info((side, 0.0, corner[0], 0.0, -side, corner[1]), crs)
    write_class_map(tmp_path / name, ids, map_info=place)
    found = read_labels(tmp_path / name, grid=scene_of(ids, place))
    np.testing.assert_array_equal(found.ids, ids)


SIDES = st.integers(1, 14)


@settings(deadline=None, max_examples=40)  # a file each, so fewer maps that are larger
@given(arrays(np.int32, st.tuples(SIDES, SIDES), elements=st.integers(0, 3)))
def test_each_segment_is_a_polygon_and_any_map_reads_back(tmp_path_factory, ids):
    path = tmp_path_factory.mktemp("any") / "map.gpkg"
    write_class_map(path, ids, map_info=info())
    shapes, fields = read(path)
    n_segments = sum(ndimage.label(ids == value)[1] for value in (1, 2, 3))
    assert len(shapes) == n_segments
    assert shapely.is_valid(shapes).all()
    np.testing.assert_allclose(shapely.area(shapes), fields["pixels"] * SIDE**2)
    np.testing.assert_allclose(fields["area"], fields["pixels"] * SIDE**2)
    for value in (1, 2, 3):
        assert fields["pixels"][fields["class"] == value].sum() == np.count_nonzero(ids == value)
    if n_segments:
        labels = read_labels(path, grid=scene_of(ids, info()))
        np.testing.assert_array_equal(labels.ids, ids)


def test_a_polygon_has_the_mean_probability_of_its_pixels(tmp_path):
    probability = np.random.default_rng(0).random(IDS.shape)
    probability[IDS == 0] = np.nan
    path = tmp_path / "map.gpkg"
    write_class_map(path, IDS, TABLE, map_info=info(), probability=probability)
    shapes, fields = read(path)
    for shape, given_, value in zip(shapes, fields["probability"], fields["class"], strict=True):
        rows, columns = np.indices(IDS.shape)
        x, y = LEFT + SIDE * (columns + 0.5), TOP - SIDE * (rows + 0.5)
        inside = shapely.contains_xy(shape, x.ravel(), y.ravel()).reshape(IDS.shape)
        assert (IDS[inside] == value).all()
        assert given_ == pytest.approx(probability[inside].mean())


def test_simplified_outlines_have_neither_gaps_nor_overlaps(tmp_path):
    noise = np.random.default_rng(1).normal(size=(3, 60, 80))
    ids = 1 + ndimage.gaussian_filter(noise, (0, 6, 6)).argmax(axis=0)
    exact, simple = tmp_path / "exact.gpkg", tmp_path / "simple.gpkg"
    write_class_map(exact, ids, map_info=info())
    write_class_map(simple, ids, map_info=info(), simplify=3)
    (before, fields), (after, kept) = read(exact), read(simple)
    n_before, n_after = (shapely.get_num_coordinates(some).sum() for some in (before, after))
    assert n_after < 0.5 * n_before
    assert fields["class"].tolist() == kept["class"].tolist()
    union, total = shapely.union_all(after), shapely.area(after).sum()
    assert shapely.area(union) == pytest.approx(total)  # no overlap
    assert len(shapely.get_parts(union)) == 1
    assert shapely.get_num_interior_rings(union) == 0  # no gap
    labels = read_labels(simple, grid=scene_of(ids, info())).ids
    assert np.mean(labels == ids) > 0.95


def test_geojson_is_in_degrees_and_says_so_to_every_reader(tmp_path):
    path = tmp_path / "map.geojson"
    write_class_map(path, IDS, TABLE, map_info=info())
    content = json.loads(path.read_text())
    points = np.array(
        [p for f in content["features"] for ring in f["geometry"]["coordinates"] for p in ring]
    )
    assert "crs" not in content
    assert (np.abs(points - [15.0, 48.75]) < 0.1).all()


def test_a_map_without_coordinates_is_no_polygon(tmp_path):
    for name, place, word in (
        ("map.gpkg", None, "no map coordinates"),
        ("map.geojson", info(crs=None), "no coordinate system"),
    ):
        with pytest.raises(ParameterError, match=word):
            write_class_map(tmp_path / name, IDS, map_info=place)
    write_class_map(tmp_path / "without_crs.gpkg", IDS, map_info=info(crs=None))
    with pytest.raises(ParameterError, match="not numbers"):
        write_raster(tmp_path / "margin.gpkg", IDS / 14, map_info=info())
    assert [file.name for file in tmp_path.iterdir()] == ["without_crs.gpkg"]


def test_a_map_of_nothing_has_no_polygon(tmp_path):
    path = tmp_path / "map.gpkg"
    write_class_map(path, np.zeros((3, 4), dtype=int), map_info=info())
    shapes, fields = read(path)
    assert len(shapes) == 0
    assert "class_name" in fields
