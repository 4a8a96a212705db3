"""Cubes of xarray in, maps of xarray out: what a file says and what an array says are the same."""

from __future__ import annotations

import itertools
import json
from functools import partial

import dask.array
import numpy as np
import pyogrio.raw
import pytest
import rasterio
import rioxarray
import shapely
import xarray as xr

import diffclass_hyperspectral.xarray  # noqa: F401
from diffclass import DiffusionClassifier, DiffusionClustering
from diffclass.datasets import make_tissue_scene
from diffclass.exceptions import DataError
from diffclass.jobs import Holdout, cluster
from diffclass_hyperspectral import (
    ClassTable,
    LabelImage,
    Pixels,
    classified_dataset,
    classify_scene,
    open_scene,
    open_tiles,
    read_labels,
    scene_anomalies,
    suggest_for_scene,
    write_class_map,
    write_raster,
)
from diffclass_hyperspectral.io.georeference import Georeference, georeference_of, map_info_of
from diffclass_hyperspectral.io.rasters import BlockArray
from diffclass_hyperspectral.io.tiles import read_tile_labels

from ..writers import PLACE, UTM, refuses

TISSUE = make_tissue_scene(48, 50, n_bands=8, random_state=0)
QUICK = {"classifier": DiffusionClassifier(tau=16, random_state=0)}  # no time is searched for


def make_cube(data=None, *, dims=("y", "x", "band"), name="reflectance"):
    data = TISSUE.cube.astype(np.float32) if data is None else data
    rows, columns, bands = data.shape
    coords = {
        "y": 5.4e6 - 30 * (np.arange(rows) + 0.5),
        "x": 5e5 + 30 * (np.arange(columns) + 0.5),
        "wavelength": ("band", np.linspace(450, 900, bands), {"units": "nm"}),
    }
    cube = xr.DataArray(data, dims=("y", "x", "band"), coords=coords, name=name)
    return cube.rio.write_crs("EPSG:32633").transpose(*dims)


def labels_on(cube, ids=TISSUE.labels):
    return xr.DataArray(ids, dims=("y", "x"), coords={"y": cube.y, "x": cube.x})


fails = partial(refuses, open_scene, named="")


# --- cubes in ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dims", list(itertools.permutations(("y", "x", "band"))))
def test_dimensions_in_any_order(dims):
    scene = open_scene(make_cube(dims=dims))
    assert (scene.shape, scene.format, scene.path.name) == ((48, 50, 8), "xarray", "reflectance")
    np.testing.assert_array_equal(np.asarray(scene.data), TISSUE.cube.astype(np.float32))
    np.testing.assert_allclose(scene.wavelengths, np.linspace(450, 900, 8))
    assert georeference_of(scene.map_info) == UTM


@pytest.mark.parametrize(
    ("names", "unit", "factor"),
    [
        (("lat", "lon", "wavelength"), "um", 1e3),
        (("latitude", "longitude", "wavelengths"), "nanometers", 1.0),
        (("downtrack", "crosstrack", "bands"), None, 1e3),
        (("row", "col", "wl"), None, 1e3),
        (("a", "b", "channel"), "um", 1e3),
    ],
)
def test_usual_names(names, unit, factor):
    attributes = {} if unit is None else {"units": unit}
    centres = xr.Variable(names[2], np.array([0.5, 0.7, 0.9]), attributes)
    cube = xr.DataArray(
        np.arange(24.0).reshape(2, 4, 3), dims=names, coords={"wavelength": centres}
    ).transpose(*names[::-1])
    if names[0] == "a":  # nothing names these two: they are rows and columns in their order
        cube = cube.transpose("channel", "a", "b")
    scene = open_scene(cube)
    assert (scene.shape, scene.map_info) == ((2, 4, 3), None)
    np.testing.assert_allclose(scene.wavelengths, np.array([0.5, 0.7, 0.9]) * factor)


def test_what_attributes_say_of_values():
    stored = np.full((3, 4, 2), 5000, dtype=np.int16)
    stored[1, 2] = -9999
    cube = make_cube(stored).assign_attrs(scale_factor=1e-4, _FillValue=-9999)
    scene = open_scene(cube)
    assert (scene.data.dtype, scene.ignore_value) == (np.int16, -9999)
    assert scene.scale_factor == pytest.approx(1e4)
    assert np.argwhere(~scene.valid).tolist() == [[1, 2]]
    shifted = open_scene(cube.assign_attrs(add_offset=-0.1))
    assert np.asarray(shifted.data)[0, 0].tolist() == pytest.approx([0.4, 0.4])
    assert np.argwhere(~shifted.valid).tolist() == [[1, 2]]
    good = cube.assign_coords(good_wavelengths=("band", [1, 0]))
    assert open_scene(good).band_mask.tolist() == [True, False]


def test_what_rioxarray_opens_is_what_the_reader_opens(tmp_path):
    path = tmp_path / "scene.tif"
    bands = [f"band {i} ({450 + 50 * i} nm)" for i in range(8)]
    write_raster(path, TISSUE.cube, band_names=bands, map_info=PLACE)
    own = open_scene(path)
    for options in ({}, {"chunks": {"y": 5}}, {"masked": True}, {"parse_coordinates": False}):
        with rioxarray.open_rasterio(path, **options) as cube:
            scene = open_scene(cube)
            assert georeference_of(scene.map_info) == georeference_of(own.map_info)
            np.testing.assert_array_equal(scene.spectra(), own.spectra())
            np.testing.assert_allclose(scene.wavelengths, own.wavelengths)
            assert scene.band_names == own.band_names


def test_arrays_of_dask_are_read_by_blocks():
    asked = []

    def block(block_info=None):
        (start, stop), *_ = block_info[None]["array-location"]
        asked.append((start, stop))
        return TISSUE.cube[start:stop].astype(np.float32)

    chunks = ((14, 14, 14, 6), (50,), (8,))
    lazy = dask.array.map_blocks(block, chunks=chunks, dtype=np.float32, meta=np.empty((0, 0, 0)))
    cube = make_cube(lazy, dims=("band", "y", "x"))
    asked.clear()
    scene = open_scene(cube)
    assert isinstance(scene.data, BlockArray)
    assert asked == []
    np.testing.assert_array_equal(scene.data[16:20], TISSUE.cube[16:20].astype(np.float32))
    assert asked == [(14, 28)]


def test_datasets():
    cube = make_cube()
    several = xr.Dataset(
        {"reflectance": cube, "uncertainty": cube, "mask": cube[..., 0].drop_vars("wavelength")}
    )
    assert open_scene(several).path.name == "reflectance"
    assert open_scene(several, variable="uncertainty").path.name == "uncertainty"
    fails(several.rename(reflectance="toa"), "toa", "uncertainty", "variable=")
    fails(several, "no variable 'x'", variable="x")
    bands = xr.Dataset(
        {f"B{i}": cube[..., i].drop_vars("wavelength").assign_attrs(wavelength=0.4 + i / 10)
         for i in range(3)}
    )  # fmt: skip
    stack = open_scene(bands)
    assert (stack.shape, stack.band_names) == ((48, 50, 3), ("B0", "B1", "B2"))
    np.testing.assert_allclose(stack.wavelengths, [400, 500, 600])
    np.testing.assert_array_equal(np.asarray(stack.data), TISSUE.cube[..., :3].astype(np.float32))


@pytest.mark.parametrize("times", [None, 1])
def test_a_variable_for_each_band_as_odc_stac_loads_them(times):
    """Lazy variables on one grid, with a time, a coordinate system and a value for no data."""
    cube = np.rint(1000 * TISSUE.cube).astype(np.int16)
    names = [f"B{k:02}" for k in range(1, 9)]
    bands = make_cube(cube).chunk({"y": 16}).drop_vars("wavelength")
    loaded = xr.Dataset({name: bands[..., k].assign_attrs(nodata=-9)
                         for k, name in enumerate(names)})  # fmt: skip
    if times:
        loaded = loaded.expand_dims(time=[np.datetime64("2026-06-01")])
    scene = open_scene(loaded)
    assert (scene.shape, scene.ignore_value) == ((48, 50, 8), -9)
    assert scene.band_names == tuple(names)
    assert georeference_of(scene.map_info) == UTM
    np.testing.assert_array_equal(scene.data, cube)
    maps = loaded.diffclass.classify(LabelImage.from_array(TISSUE.labels), **QUICK)
    assert maps.class_map.rio.crs == "EPSG:32633"


def test_dimensions_that_say_too_little():
    fails(xr.DataArray(np.zeros((2, 3, 4, 5)), dims=("time", "y", "x", "band")), "time", "select")
    single = xr.DataArray(np.ones((1, 3, 4, 5)), dims=("time", "y", "x", "band"))
    assert open_scene(single).shape == (3, 4, 5)
    fails(xr.DataArray(np.zeros(3), dims=("y",)), "rows, columns and bands")
    gap = [1.0, 2, 3, np.nan, 5, 6, 7, 8]
    fails(make_cube().assign_coords(wavelength=("band", gap)), "wavelength")
    fails(make_cube().assign_attrs(scale_factor=0), "the gain 0")


# --- where the pixels lie ------------------------------------------------------------------------


def opened_by_rioxarray(folder):
    """Return the cube with the transform that rioxarray leaves on every choice of rows."""
    path = folder / "scene.tif"
    if not path.exists():
        write_raster(path, TISSUE.cube, map_info=PLACE)
    with rioxarray.open_rasterio(path) as cube:
        return cube.load()


def polygons(path, transform, *, row, column):
    """Write two squares of 4 x 4 pixels, the second ten columns beside the first."""
    a, _, c, _, e, f = transform
    squares = [
        shapely.box(c + a * left, f + e * (row + 4), c + a * (left + 4), f + e * row)
        for left in (column, column + 10)
    ]
    pyogrio.raw.write(
        path, shapely.to_wkb(squares), [np.array([1, 2])], ["class"], geometry_type="Polygon",
        crs="EPSG:32633", driver="GPKG",
    )  # fmt: skip
    return path


def test_coordinates_rule_over_a_stale_transform(tmp_path):
    cube = opened_by_rioxarray(tmp_path)
    for part, transform in (
        (cube[:, 5:, 7:], (30, 0, 5e5 + 210, 0, -30, 5.4e6 - 150)),
        (cube[:, ::2, ::3], (60 * 1.5, 0, 5e5 - 30, 0, -60, 5.4e6 + 15)),
        (cube[:, 9:10, 4:], (30, 0, 5e5 + 120, 0, -30, 5.4e6 - 270)),
        (cube[:, 9:10, 4:5], (30, 0, 5e5 + 120, 0, -30, 5.4e6 - 270)),
        (cube[:, ::-1], (30, 0, 5e5, 0, 30, 5.4e6 - 30 * 48)),
        (cube.drop_vars("x")[:, 3:], (30, 0, 5e5, 0, -30, 5.4e6 - 90)),
    ):
        place = georeference_of(open_scene(part).map_info)
        assert place.transform == pytest.approx(transform, abs=1e-6)
        assert place.crs == UTM.crs
    single = make_cube()[3:4]  # nothing says how large its only row is
    assert georeference_of(open_scene(single).map_info) is None


def test_uneven_coordinates_are_refused_where_a_position_is_needed(tmp_path):
    cube = opened_by_rioxarray(tmp_path)
    rows = [0, 1, 2, 5, 11, *range(20, 48)]
    part = cube.isel(y=rows)
    scene = open_scene(part)
    assert scene.georeference is None
    assert scene.describe()["map_info"] is None
    shapes = polygons(tmp_path / "labels.gpkg", UTM.transform, row=22, column=5)
    with pytest.raises(DataError, match=r"y are uneven \(steps from -270 to -30\).*give an image"):
        read_labels(shapes, grid=scene)
    with pytest.raises(DataError, match=r"y are uneven.*for a box"):
        open_scene(part, roi=(5e5, 5.39e6, 5.001e6, 5.4e6))
    picture = TISSUE.labels[rows]
    elsewhere = tmp_path / "labels.tif"
    write_class_map(elsewhere, picture, map_info=PLACE)
    with pytest.raises(DataError, match=r"y are uneven.*other coordinates"):
        part.diffclass.classify(elsewhere, **QUICK)
    same = labels_on(part, picture)
    with pytest.raises(DataError, match=r"y are uneven.*other coordinates"):
        part.diffclass.classify(same.assign_coords(y=same.y + 30), **QUICK)
    expected = part.diffclass.classify(picture, **QUICK)  # rows and columns need no place
    assert expected.rio.crs.to_epsg() == 32633
    xr.testing.assert_equal(part.diffclass.classify(same, **QUICK).class_map, expected.class_map)
    for bad in (np.nan, np.inf):
        y = np.where(np.arange(48) == 3, bad, cube.y)
        assert open_scene(cube.assign_coords(y=y)).georeference is None
    assert open_scene(cube.assign_coords(y=np.zeros(48))).georeference is None
    write_class_map(tmp_path / "map.hdr", picture, map_info=scene.map_info)
    assert open_scene(tmp_path / "map.hdr").map_info is None


def test_single_precision_degrees_keep_their_georeference(tmp_path):
    """Steps of 0.00027 degrees at 147 degrees, which single precision rounds by 0.03 of a pixel."""
    step, shape = 0.00027, (300, 400)
    transform = (step, 0.0, 147.1, 0.0, -step, -35.2)
    x = transform[2] + step * (np.arange(shape[1]) + 0.5)
    y = transform[5] - step * (np.arange(shape[0]) + 0.5)
    data = np.random.default_rng(0).random((*shape, 2), dtype=np.float32)
    coords = {"y": y.astype(np.float32), "x": x.astype(np.float32)}
    cube = xr.DataArray(data, dims=("y", "x", "band"), coords=coords).rio.write_crs(4326)
    scene = open_scene(cube)
    own = scene.georeference
    corners = np.array(own.bounds(shape)) - Georeference(transform).bounds(shape)
    assert np.abs(corners).max() < 0.01 * step
    write_class_map(
        tmp_path / "labels.tif", np.ones(shape, np.uint8),
        map_info=map_info_of(Georeference(transform, "EPSG:4326")),
    )  # fmt: skip
    read_labels(tmp_path / "labels.tif").on(scene)
    tiles = open_tiles([cube[:150], cube[150:, 200:], cube.astype(np.float64)])
    assert tiles.is_mosaic
    assert [(tile.row, tile.column) for tile in tiles.tiles] == [(0, 0), (150, 200), (0, 0)]
    uneven = coords["x"].copy()
    uneven[200:] += np.float32(0.4 * step)
    assert open_scene(cube.assign_coords(x=uneven)).georeference is None


@pytest.fixture(scope="module")
def straight_map():
    return make_cube().diffclass.classify(made_labels(), **QUICK).class_map


@pytest.mark.parametrize(("down", "right"), [(1, -1), (-1, 1), (-1, -1)])
def test_rows_and_columns_may_run_either_way(tmp_path, straight_map, down, right):
    """A cube that is turned has the map of the cube as it was, turned, by labels of every kind."""
    straight = make_cube()
    turned = straight[::down, ::right]
    expected = straight_map[::down, ::right]
    write_class_map(tmp_path / "labels.tif", TISSUE.labels, map_info=PLACE)
    picture = labels_on(straight)
    for labels in (tmp_path / "labels.tif", picture, picture[::-1], picture.rio.write_crs(32633).T):
        found = turned.diffclass.classify(labels, **QUICK).class_map
        # which pixel of a stroke is held out goes by the order of the pixels
        assert (found != expected).mean() < 0.005
        xr.testing.assert_equal(found.y, turned.y)
    shapes = polygons(tmp_path / "labels.gpkg", UTM.transform, row=20, column=5)
    ids = read_labels(shapes, grid=open_scene(turned)).ids
    np.testing.assert_array_equal(
        ids[::down, ::right], read_labels(shapes, grid=open_scene(straight)).ids
    )
    assert np.count_nonzero(ids) == 32
    box = (5e5 + 60, 5.4e6 - 300, 5e5 + 600, 5.4e6 - 90)
    regions = [open_scene(cube, roi=box).region for cube in (straight, turned)]
    np.testing.assert_array_equal(regions[1][::down, ::right], regions[0])
    mask = xr.zeros_like(picture)
    mask[2:9, 4:] = 1
    np.testing.assert_array_equal(
        open_scene(turned, mask=mask).region[::down, ::right],
        open_scene(straight, mask=mask).region,
    )


@pytest.mark.parametrize("chunks", [None, {"y": 7}])
def test_tiles_that_run_either_way_make_one_mosaic(tmp_path, chunks):
    cube = make_cube()
    parts = [cube[:20, :30], cube[20:, :30][::-1], cube[:, 30:][::-1, ::-1]]
    tiles = open_tiles([part if chunks is None else part.chunk(chunks) for part in parts])
    assert tiles.is_mosaic
    assert tiles.scene.georeference == UTM
    np.testing.assert_array_equal(np.asarray(tiles.scene.data), TISSUE.cube.astype(np.float32))
    picture = labels_on(cube)
    back = read_labels(picture.rio.write_crs(32633)[::-1, ::-1])
    np.testing.assert_array_equal(read_tile_labels(back, tiles).ids, TISSUE.labels)
    one = read_labels(picture.rio.write_crs(32633)[20:, :30])  # runs as the grid, its tile does not
    joint = read_tile_labels([np_labels(parts[0]), one, np_labels(parts[2])], tiles)
    np.testing.assert_array_equal(joint.ids[20:, :30], TISSUE.labels[20:, :30])


def np_labels(part):
    return LabelImage.from_array(np.zeros(part.shape[:2], dtype=int))


def test_without_a_stated_system_numbers_that_meet_count():
    cube = make_cube().drop_vars("spatial_ref")
    picture = labels_on(cube)
    expected = cube.diffclass.classify(TISSUE.labels, **QUICK).class_map
    turned = picture[::-1].rio.write_crs(32633)
    np.testing.assert_array_equal(cube.diffclass.classify(turned, **QUICK).class_map, expected)
    with pytest.warns(UserWarning, match="only one names its coordinate system"):
        moved = cube.diffclass.classify(turned.assign_coords(y=turned.y - 90), **QUICK).class_map
    down = LabelImage.from_array(np.vstack([np.zeros((3, 50), int), TISSUE.labels[:-3]]))
    np.testing.assert_array_equal(moved, cube.diffclass.classify(down, **QUICK).class_map)
    counted = cube.assign_coords(y=np.arange(48), x=np.arange(50))  # other numbers: pixels count
    labels = picture.rio.write_crs(32633)
    np.testing.assert_array_equal(counted.diffclass.classify(labels, **QUICK).class_map, expected)


# --- maps out ------------------------------------------------------------------------------------


def made_labels():
    names = {1: "nuclei", 2: "cyto plasm", 3: "stroma, loose"}
    return LabelImage.from_array(TISSUE.labels, names=names, colors={2: (9, 8, 7)})


@pytest.mark.parametrize("dims", [("y", "x", "band"), ("band", "x", "y")])
def test_the_accessor_gives_the_map_of_the_scene(dims, tmp_path):
    cube = make_cube(dims=dims)
    expected = classify_scene(open_scene(make_cube()), made_labels()).result
    found = cube.diffclass.classify(made_labels())
    np.testing.assert_array_equal(found.class_map, expected.class_map)
    np.testing.assert_array_equal(found.margin, expected.margin)
    assert found.class_map.dims == ("y", "x")
    np.testing.assert_allclose(found.probability.sum("class"), 1, atol=1e-5)
    assert found["class"].to_numpy().tolist() == ["nuclei", "cyto plasm", "stroma, loose"]
    xr.testing.assert_equal(found.x, cube.x)
    attributes = found.class_map.attrs
    assert attributes["flag_values"].dtype == found.class_map.dtype == np.uint8
    assert attributes["flag_meanings"] == "nuclei cyto_plasm stroma_loose"
    assert len(json.loads(found.attrs["report"])["classes"]) == 3

    found.class_map.rio.to_raster(tmp_path / "map.tif")
    with rasterio.open(tmp_path / "map.tif") as raster:
        assert (tuple(raster.transform)[:6], raster.nodata) == (UTM.transform, 0)
        assert raster.crs.to_epsg() == 32633
    for source in (tmp_path / "map.tif", found.class_map, found):
        back = read_labels(source)
        np.testing.assert_array_equal(back.ids, expected.class_map)
        assert {e.id: e.name for e in back.table} == {e.id: e.name for e in made_labels().table}
        assert back.table[2].color == (9, 8, 7)
        assert georeference_of(back.map_info) == UTM
    found.probability.rio.to_raster(tmp_path / "p.tif")
    assert open_scene(tmp_path / "p.tif").shape == (48, 50, 3)


def test_the_stability_where_it_was_asked_for():
    cube = make_cube()
    maps = cube.diffclass.classify(TISSUE.labels, stability=True)
    assert maps.stability.dims == ("y", "x")
    assert (maps.stability == 1).all()  # of so few pixels all neighbours are exact
    assert np.isnan(maps.stability.rio.nodata)
    assert "stability" not in cube.diffclass.classify(TISSUE.labels, **QUICK)


def test_labels_of_any_kind(tmp_path):
    cube = make_cube(dims=("band", "y", "x"))
    picture = xr.DataArray(TISSUE.labels, dims=("y", "x"))
    write_class_map(tmp_path / "labels.tif", TISSUE.labels, map_info=PLACE)
    expected = cube.diffclass.classify(TISSUE.labels, **QUICK)
    several = xr.Dataset({"mask": cube[0].drop_vars("wavelength"), "reflectance": cube})
    for given, labels in (
        (cube, picture), (cube, picture.T), (cube, tmp_path / "labels.tif"),
        (several, TISSUE.labels),
    ):  # fmt: skip
        found = given.diffclass.classify(labels, **QUICK)
        np.testing.assert_array_equal(found.class_map, expected.class_map)
    held = several.diffclass.classify(TISSUE.truth, holdout=Holdout("random", 4, 3), **QUICK)
    assert json.loads(held.attrs["report"])["holdout"]
    shifted = picture.assign_coords(y=cube.y - 300, x=cube.x).rio.write_crs(32633)
    down = np.vstack([np.zeros((10, 50), int), TISSUE.labels[:-10]])
    found = cube.diffclass.classify(shifted, **QUICK).class_map
    np.testing.assert_array_equal(found, cube.diffclass.classify(down, **QUICK).class_map)


def test_a_file_as_a_dataset(tmp_path):
    write_raster(tmp_path / "scene.tif", TISSUE.cube, map_info=PLACE)
    scene = open_scene(tmp_path / "scene.tif")
    found = classified_dataset(classify_scene(scene, made_labels(), **QUICK).result, scene)
    assert found.rio.crs.to_epsg() == 32633
    assert tuple(found.class_map.rio.transform(recalc=True))[:6] == UTM.transform
    array = open_scene(xr.DataArray(TISSUE.cube, dims=("y", "x", "band")))
    bare = classified_dataset(classify_scene(array, made_labels(), **QUICK).result, array)
    assert "x" not in bare.coords


@pytest.mark.parametrize("largest", [200, 60_000, 70_000])
def test_ids_of_any_size_stay_as_they_are(largest):
    labels = np.where(TISSUE.labels == 3, largest, TISSUE.labels.astype(int))
    found = make_cube().diffclass.classify(labels, **QUICK).class_map
    assert np.unique(found).tolist() == [1, 2, largest]


@pytest.mark.parametrize("engine", [None, "scipy", "h5netcdf"])  # NetCDF-4, NetCDF-3, NetCDF-4
def test_maps_through_netcdf_keep_their_classes(tmp_path, engine):
    found = make_cube().diffclass.classify(made_labels(), **QUICK)
    found.to_netcdf(tmp_path / "maps.nc", engine=engine)
    with xr.open_dataset(tmp_path / "maps.nc", mask_and_scale=False) as back:
        for source in (back, tmp_path / "maps.nc"):
            labels = read_labels(source)
            np.testing.assert_array_equal(labels.ids, found.class_map)
            assert labels.table == ClassTable.from_ids(
                [1, 2, 3], names={e.id: e.name for e in made_labels().table}, colors={2: (9, 8, 7)}
            )
            assert georeference_of(labels.map_info) == UTM


@pytest.mark.parametrize("engine", ["scipy", "h5netcdf"])
@pytest.mark.parametrize("dims", [("y", "x", "band"), ("band", "y", "x")])
def test_cubes_through_netcdf_keep_their_axes(tmp_path, dims, engine):
    """Names of dimensions, not their order, tell rows, columns and bands."""
    make_cube(dims=dims).to_netcdf(tmp_path / "cube.nc", engine=engine)
    scene = open_scene(tmp_path / "cube.nc")
    np.testing.assert_array_equal(np.asarray(scene.data), TISSUE.cube.astype(np.float32))
    np.testing.assert_allclose(scene.wavelengths, np.linspace(450, 900, 8))
    assert scene.georeference == UTM


def test_unsigned_values_of_netcdf_3():
    """NetCDF-3 has no unsigned types: an attribute says that -2 is 254."""
    ids = np.array([[0, 1], [200, 254]], dtype=np.uint8)
    stored = xr.DataArray(ids.view(np.int8), dims=("y", "x")).assign_attrs(
        _Unsigned="true", _FillValue=np.int8(-2)
    )
    np.testing.assert_array_equal(read_labels(stored).ids, [[0, 1], [200, 0]])
    counts = np.array([[[1, 40000]]], dtype=np.uint16)
    cube = xr.DataArray(counts.view(np.int16), dims=("y", "x", "band"))
    for attributes, factor in (({}, 1), ({"scale_factor": 2.0, "add_offset": 1.0}, 2)):
        scene = open_scene(cube.assign_attrs(_Unsigned="true", **attributes))
        shift = attributes.get("add_offset", 0)
        assert np.asarray(scene.data).ravel().tolist() == [factor + shift, 40000 * factor + shift]


# --- the other jobs ------------------------------------------------------------------------------


@pytest.mark.parametrize("dims", [("y", "x", "band"), ("band", "x", "y")])
def test_the_other_jobs_give_what_the_scene_gives(tmp_path, dims):
    cube = make_cube(dims=dims)
    scene = open_scene(cube)
    own = tuple(d for d in dims if d != "band")

    def of(picture):
        assert set(picture.dims) == {"y", "x"}
        assert picture.rio.crs == "EPSG:32633"
        xr.testing.assert_equal(picture.x, cube.x)
        return picture.transpose("y", "x").to_numpy()

    model = DiffusionClustering(3, random_state=0)
    clusters = cube.diffclass.cluster(model=model)
    expected = cluster(Pixels(scene), DiffusionClustering(3, random_state=0))
    np.testing.assert_array_equal(of(clusters), expected.numbers)
    assert clusters.flag_meanings == "cluster_1 cluster_2 cluster_3"
    scores = cube.diffclass.anomaly(method="rx")
    np.testing.assert_array_equal(of(scores), scene_anomalies(scene, method="rx").scores)
    labels = LabelImage.from_array(TISSUE.labels)
    found = cube.diffclass.suggest(labels, 3)
    assert found == suggest_for_scene(scene, labels, 3).suggestions
    assert found[0].point["x"] == float(cube.x[found[0].point["column"]])
    assert len(cube.diffclass.suggest(n_points=4)) == 4
    maps = cube.diffclass.classify(labels, **QUICK)
    truth = xr.DataArray(TISSUE.truth, dims=("y", "x"))
    told = maps.diffclass.evaluate(truth.transpose(*own))
    right = (of(maps.class_map) == TISSUE.truth)[TISSUE.truth > 0].mean()
    assert told.scores.overall_accuracy == pytest.approx(right)
    alone = maps.class_map.diffclass.evaluate(TISSUE.truth)
    assert alone.scores.overall_accuracy == told.scores.overall_accuracy


def test_a_map_is_written_with_its_palette(tmp_path):
    maps = make_cube().diffclass.classify(LabelImage.from_array(TISSUE.labels), **QUICK)
    maps.diffclass.write_map(tmp_path / "map.tif")
    with rasterio.open(tmp_path / "map.tif") as raster:
        assert raster.colormap(1)[1] == (*LabelImage.from_array(TISSUE.labels).table[1].color, 255)
        assert raster.crs == "EPSG:32633"
    written, given = read_labels(tmp_path / "map.tif"), read_labels(maps.class_map)
    np.testing.assert_array_equal(written.ids, given.ids)
    assert written.table == given.table
    assert georeference_of(written.map_info) == UTM
