"""Maps of a scene in its sensor's geometry lie on the map, and labels come back from it."""

from __future__ import annotations

import json
from contextlib import closing

import h5py
import numpy as np
import pytest
import rasterio

from diffclass.command_line.main import run
from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import open_scene, read_labels, write_class_map
from diffclass_hyperspectral.io.georeference import Georeference, map_info_of
from diffclass_relabel import open_editor

ROWS, COLUMNS = 48, 50
PLACE = (0.001, 0.0, 10.0, 0.0, -0.001, 45.0)
FAST = ["--components", "6", "--neighbors", "8"]


@pytest.fixture
def emit(folder):
    """The folder with an EMIT scene whose map is upside down behind an empty column."""
    tissue = make_tissue_scene(ROWS, COLUMNS, n_bands=12, random_state=0)
    with h5py.File("emit.nc", "w") as file:
        file["reflectance"] = tissue.cube
        bands = file.create_group("sensor_band_parameters")
        bands["wavelengths"] = tissue.wavelengths
        columns, rows = np.meshgrid(np.arange(COLUMNS + 1), np.arange(ROWS, 0, -1))
        file["location/glt_x"] = columns.astype(np.int32)
        file["location/glt_y"] = np.where(columns > 0, rows, 0).astype(np.int32)
        a, b, c, d, e, f = PLACE
        file.attrs["geotransform"] = np.array([c, a, b, f, d, e])
        file.attrs["spatial_ref"] = rasterio.CRS.from_epsg(4326).to_wkt()
    np.save("truth.npy", tissue.truth)
    return folder


def on_map(picture, empty):
    """The picture as the fixture's lookup table carries it."""
    out = np.full((ROWS, COLUMNS + 1, *picture.shape[2:]), empty, dtype=picture.dtype)
    out[:, 1:] = picture[::-1]
    return out


def read_back(name):
    with rasterio.open(name) as raster:
        assert raster.crs.is_geographic
        assert "WGS 84" in raster.crs.to_wkt()
        np.testing.assert_allclose(tuple(raster.transform)[:6], PLACE)
        return raster.read().transpose(1, 2, 0)


def classify(*outputs):
    words = ["classify", "emit.nc", "--labels", "truth.npy", "--labels-per-class", "8"]
    words += [*FAST, "--tau", "16"]
    assert run([*words, "--overwrite", *outputs]) == 0


@pytest.mark.parametrize("ending", [".tif", ".img"])
def test_maps(emit, capsys, ending):
    names = [name + ending for name in ("map", "p", "m")]
    classify("-o", names[0], "--probability", names[1], "--margin", names[2])
    said = [line for line in capsys.readouterr().err.splitlines() if "orthorectified" in line]
    assert said == [
        f"{', '.join(names)}: orthorectified by the lookup table of emit.nc to 48 rows x 51 "
        "columns; .npy and .png keep the sensor's grid"
    ]
    classify("-o", "map.npy", "--probability", "p.npy", "--margin", "m.npy")
    assert "orthorectified" not in capsys.readouterr().err
    for name, empty in zip(names, (0, np.nan, np.nan), strict=True):
        sensor = np.load(name.replace(ending, ".npy")).reshape(ROWS, COLUMNS, -1)
        np.testing.assert_array_equal(read_back(name), on_map(sensor, empty))


def test_replay_says_which_maps_it_carries(emit, capsys):
    """In the line that classify says; labels keep the sensor's grid."""
    with closing(open_editor("emit.nc", "s.jsonl", settings={"components": 6})) as editor:
        for class_id, pixel in ((1, 0), (2, 2_000)):
            editor.apply({"op": "add_class", "id": class_id})
            editor.apply({"op": "stroke", "class": class_id, "pixels": [pixel, 9]})
    outputs = ["-o", "map.tif", "--margin", "margin.npy", "--labels", "labels.tif"]
    assert run(["replay", "s.jsonl", "--scene", "emit.nc", *outputs]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "orthorectified" in line]
    assert said == [
        "map.tif: orthorectified by the lookup table of emit.nc to 48 rows x 51 columns; .npy and "
        ".png keep the sensor's grid"
    ]
    assert read_labels("map.tif").shape == (ROWS, COLUMNS + 1)
    assert read_labels("labels.tif").shape == (ROWS, COLUMNS)


def test_a_map_is_read_as_labels_of_the_sensor(emit, capsys):
    classify("-o", "map.npy")
    classify("-o", "map.tif")
    scene = open_scene("emit.nc")
    again = read_labels("map.tif", grid=scene)
    np.testing.assert_array_equal(again.ids, np.load("map.npy"))
    again.on(scene)
    assert read_labels("map.tif").shape == (ROWS, COLUMNS + 1)
    moved = map_info_of(Georeference((0.001, 0.0, 10.01, 0.0, -0.001, 45.0), "EPSG:4326"))
    write_class_map("moved.tif", read_labels("map.tif").ids, map_info=moved)
    with pytest.warns(UserWarning, match="480 of 2,400 labelled pixels lie outside"):
        found = read_labels("moved.tif", grid=scene)
    np.testing.assert_array_equal(found.ids[:, 10:], again.ids[:, :-10])
    assert not found.ids[:, :10].any()


def test_shapes_are_labels_of_the_sensor(emit):
    (emit / "labels.geojson").write_text(
        '{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": '
        '{"class": "water"}, "geometry": {"type": "Polygon", "coordinates": [[[10.001, 45], '
        "[10.003, 45], [10.003, 44.999], [10.001, 44.999], [10.001, 45]]]}}]}"
    )
    scene = open_scene("emit.nc")
    labels = read_labels("labels.geojson", grid=scene)
    on_map = read_labels("labels.geojson", grid=scene.lookup_table)
    np.testing.assert_array_equal(scene.lookup_table.to_sensor(on_map.ids), labels.ids)
    assert np.argwhere(labels.ids == 1).tolist() == [[ROWS - 1, 0], [ROWS - 1, 1]]
    assert labels.table[1].name == "water"


def test_suggestions_lie_on_the_map(emit, capsys):
    labels = np.load("truth.npy")
    labels[np.random.default_rng(0).random(labels.shape) < 0.9] = 0
    np.save("labels.npy", labels)
    words = ["suggest", "emit.nc", "--labels", "labels.npy", "-o", "p.geojson", "-n", "4", *FAST]
    assert run(words) == 0
    for feature in json.loads((emit / "p.geojson").read_text())["features"]:
        longitude, latitude = feature["geometry"]["coordinates"]
        pixel = feature["properties"]
        assert longitude == pytest.approx(10 + 0.001 * (pixel["column"] + 1.5))
        assert latitude == pytest.approx(45 - 0.001 * (ROWS - 1 - pixel["row"] + 0.5))


def test_coordinates_of_an_embedding(emit, capsys):
    words = ["embed", "emit.nc", "-n", "2", "--neighbors", "16", "--overwrite"]
    for name in ("c.tif", "c.npy"):
        assert run([*words, "-o", name]) == 0
    sensor = np.load("c.npy")
    np.testing.assert_allclose(read_back("c.tif"), on_map(sensor, np.nan), rtol=1e-6)


def test_a_damaged_table_costs_only_what_needs_it(emit, fails):
    with h5py.File("emit.nc", "r+") as file:
        file["location/glt_x"][0, 1] = 99
    classify("-o", "map.npy")
    words = ["classify", "emit.nc", "--labels", "truth.npy", "-o", "map.tif", *FAST]
    fails(*words, code=3, says="points outside the scene")


def test_a_scene_without_a_table_stays_as_it_is(emit, capsys):
    with h5py.File("emit.nc", "r+") as file:
        del file["location"]
    scene = open_scene("emit.nc")
    assert scene.lookup_table is None
    assert scene.centre(0, 0) is None
    classify("-o", "map.img")
    assert read_labels("map.img").shape == (ROWS, COLUMNS)
