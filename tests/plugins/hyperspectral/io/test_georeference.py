from __future__ import annotations

import json
import pickle
import sys
from contextlib import nullcontext

import numpy as np
import pytest
import rasterio
import rasterio.shutil

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import (
    ClassTable,
    LabelImage,
    Scene,
    ValidationPixel,
    open_scene,
    read_labels,
    write_class_map,
    write_points,
    write_raster,
)
from diffclass_hyperspectral.io.georeference import (
    Georeference,
    MapInfo,
    even_steps,
    from_envi,
    georeference_of,
    map_info_of,
    parsed_crs,
    same_crs,
)
from diffclass_hyperspectral.io.georeference.georeference import transformed_bounds

from ..writers import UTM, save_envi

IDS = np.array([[0, 1, 10], [14, 10, 0]])
TABLE = ClassTable.from_ids(
    [0, 1, 10, 14],
    names={0: "nothing", 1: "corn & <oats>", 14: "Bäume, 森"},
    colors={0: (255, 255, 255), 10: (1, 2, 3)},
)
ETRS = Georeference((25.0, 0.0, 4e6, 0.0, -25.0, 3e6), "EPSG:3035")
PLACES = [
    UTM,
    Georeference((15.0, 0.0, 5e5, 0.0, -20.0, 5.4e6), "EPSG:32733"),
    Georeference((1e-4, 0.0, 10.0, 0.0, -2e-4, 45.0), "EPSG:4326"),
    Georeference((1.0, 0.0, 3e5, 0.0, -1.0, 4e6), "EPSG:26917"),
    ETRS,
    Georeference((24.0, 18.0, 5e5, 18.0, -24.0, 5.4e6), "EPSG:32633"),  # turned
    Georeference((30.0, 0.0, 5e5, 0.0, 30.0, 5.4e6), "EPSG:32633"),  # south up
]


@pytest.mark.parametrize("place", PLACES)
def test_envi_strings_lead_back(place):
    strings = map_info_of(place)
    again = from_envi(tuple(strings), place.crs).georeference
    np.testing.assert_allclose(again.transform, place.transform, rtol=1e-12, atol=1e-9)
    assert again.crs == place.crs
    if place is not ETRS:  # the strings alone do not name that system
        assert georeference_of(tuple(strings)).crs == place.crs
    assert pickle.loads(pickle.dumps(strings)).georeference == place


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["map.img", "map.tif"])
def test_written_coordinates_are_read_by_rasterio(tmp_path, place, name):
    for write, array in ((write_class_map, IDS), (write_raster, IDS / 7)):
        write(tmp_path / name, array, map_info=map_info_of(place), overwrite=True)
        with rasterio.open(tmp_path / name) as raster:
            np.testing.assert_allclose(tuple(raster.transform)[:6], place.transform, atol=1e-9)
            assert same_crs(raster.crs.to_wkt(), place.crs)
        again = georeference_of(open_scene(tmp_path / name).map_info)
        np.testing.assert_allclose(again.transform, place.transform, atol=1e-9)
        assert same_crs(again.crs, place.crs)


@pytest.mark.parametrize("reference", [(1.5, 1.5), (1, 1), (21, 11)])
@pytest.mark.parametrize("half", ["North", "South"])
def test_reference_pixels_as_gdal_reads_them(tmp_path, reference, half):
    text = f"UTM, {reference[0]}, {reference[1]}, 5e5, 5e6, 30, 20, 33, {half}, WGS-84"
    facts = {"map info": text.split(", ")}
    header = save_envi(tmp_path, np.ones((4, 5, 2), np.int16), metadata=facts)
    place = georeference_of(open_scene(header).map_info)
    with rasterio.open(header.with_suffix(".img")) as raster:
        np.testing.assert_allclose(tuple(raster.transform)[:6], place.transform)
        assert same_crs(raster.crs.to_wkt(), place.crs)


@pytest.mark.parametrize(
    "text",
    [
        "UTM", "", "UTM, 1, 1", "UTM, 1, 1, x, 5e6, 30, 30, 33, North, WGS-84",
        "UTM, 1, 1, 5e5, 5e6, 0, 30, 33, North, WGS-84", "UTM, 1, 1, nan, 5e6, 30, 30",
        "UTM, 1, 1, 5e5, 5e6, 30, 30, rotation=x",
    ],
)  # fmt: skip
def test_strings_that_say_nothing_stay_text(text):
    texts = tuple(text.split(", "))
    assert from_envi(texts) == texts
    assert georeference_of(texts) is None


@pytest.mark.parametrize(
    "text", ["UTM, 1, 1, 5e5, 5e6, 30, 30, 61, North, WGS-84", "UTM, 1, 1, 5e5, 5e6, 30, 30",
             "State Plane, 1, 1, 5e5, 5e6, 30, 30, 33, North, WGS-84",
             "UTM, 1, 1, 5e5, 5e6, 30, 30, 17, South, NAD-27"],
)  # fmt: skip
def test_a_place_without_a_known_system(text):
    assert georeference_of(text.split(", ")).crs is None


def test_a_sheared_grid_is_no_envi_grid(tmp_path):
    sheared = map_info_of(Georeference((30.0, 9.0, 5e5, 0.0, -30.0, 5.4e6), "EPSG:32633"))
    with pytest.warns(UserWarning, match="sheared grid"):
        write_class_map(tmp_path / "map.img", IDS, map_info=sheared)
    assert read_labels(tmp_path / "map.img").map_info is None
    write_class_map(tmp_path / "map.tif", IDS, map_info=sheared)
    assert read_labels(tmp_path / "map.tif").map_info.georeference == sheared.georeference


def test_a_system_that_is_none(tmp_path):
    with pytest.raises(DataError, match="no coordinate reference system"):
        parsed_crs('PROJCS["nonsense"')
    place = MapInfo(("x",), Georeference(ETRS.transform, 'PROJCS["nonsense"'))
    with pytest.warns(UserWarning, match="left out of the map"):
        write_class_map(tmp_path / "map.tif", IDS, map_info=place)
    assert read_labels(tmp_path / "map.tif").map_info.georeference.transform == ETRS.transform


NO_SYSTEMS = (
    "EPSG:999999", "EPSG:abc", "hello", 'PROJCS["nonsense"', "+proj=foo", "EPSG:4326+9999",
    "urn:ogc:def:crs:EPSG::99999", "GEOGCRS[]", 'LOCAL_CS["a grid",UNIT["metre",1]]',
)  # fmt: skip


def in_envi(path, crs):
    save_envi(path, CUBE)
    header = (path / "scene.hdr").read_text()
    place = "map info = {Arbitrary, 1, 1, 500000, 5400000, 30, 30}"
    text = f"{header}\n{place}\ncoordinate system string = {{{crs}}}\n"
    (path / "scene.hdr").write_text(text)
    return path / "scene.hdr"


def in_netcdf(path, crs):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("rioxarray")
    centres = {"x": 500015 + 30 * np.arange(3.0), "y": 5399985 - 30 * np.arange(3.0)}
    array = (("y", "x", "band"), CUBE, {"grid_mapping": "spatial_ref"})
    dataset = xarray.Dataset({"cube": array}, coords=centres)
    dataset["spatial_ref"] = xarray.DataArray(0, attrs={"crs_wkt": crs})
    dataset.to_netcdf(path / "scene.nc")
    return path / "scene.nc"


CUBE = np.arange(36, dtype=np.float32).reshape(3, 3, 4)


@pytest.mark.parametrize("written", [in_envi, in_netcdf])
@pytest.mark.parametrize("crs", NO_SYSTEMS)
def test_a_text_that_names_no_place_is_refused_in_our_words(tmp_path, capfd, written, crs):
    """The scene is read; what needs its place says in one sentence that it has none."""
    scene = open_scene(written(tmp_path, crs))
    assert scene.describe()["crs"] is not None
    says = "^the scene: .*(no coordinate reference system: |is a local coordinate system)"
    shapes = {"type": "Polygon", "coordinates": [[[10, 40], [11, 40], [11, 41], [10, 40]]]}
    feature = {"type": "Feature", "properties": {"class": "a"}, "geometry": shapes}
    labels = tmp_path / "labels.geojson"
    labels.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    with pytest.raises(DataError, match=says):
        read_labels(labels, grid=scene)
    with pytest.raises(DataError, match=says):
        write_class_map(tmp_path / "map.geojson", np.eye(3, dtype=int), map_info=scene.map_info)
    pixels = [ValidationPixel(1, 0, 0, 500015.0, 5399985.0)]
    with pytest.raises(DataError, match=r"no coordinate reference|is a local coordinate system"):
        write_points(tmp_path / "points.geojson", pixels, crs=crs)
    assert not [*tmp_path.glob("map*"), *tmp_path.glob("points*")]
    assert capfd.readouterr() == ("", "")  # PROJ and GDAL have printed nothing


# --- labels and scene ----------------------------------------------------------------------------


def labels_at(transform, crs="EPSG:32633", shape=(2, 3)):
    ids = np.ones(shape, dtype=np.uint8)
    place = map_info_of(Georeference(transform, crs))
    return LabelImage(ids, ClassTable.from_ids([1]), map_info=place)


def test_labels_lie_where_their_coordinates_say():
    scene = Scene.from_array(np.ones((2, 3, 4)), map_info=map_info_of(UTM))
    fits = nullcontext()
    refused = pytest.raises(DataError, match=r"do not overlap|no place")

    def told(says):
        return pytest.warns(UserWarning, match=says)

    degrees = "EPSG:4326"
    for transform, crs, said in (
        (UTM.transform, UTM.crs, fits),
        ((30, 0, 500010, 0, -30, 5400000), UTM.crs, fits),
        # what the system of degrees makes of the scene's corners
        ((4.0814e-4, 0, 15.0, 0, -2.6988e-4, 48.753013), degrees, fits),
        ((3e-4, 0, 15.0, 0, -3e-4, 48.7525), degrees, told("placed by coordinates")),
        ((15, 0, 500000, 0, -15, 5400000), UTM.crs, told("placed by coordinates")),  # finer
        ((30, 0, 500030, 0, -30, 5400000), UTM.crs, told("2 of 6 labelled pixels lie outside")),
        ((30, 0, 500060, 0, -30, 5400000), UTM.crs, told("4 of 6 labelled pixels lie outside")),
        ((30, 0, 600000, 0, -30, 5400000), UTM.crs, refused),
        ((3e-4, 0, 16.0, 0, -3e-4, 48.7525), degrees, refused),
        ((3e-4, 0, 15.0, 0, -3e-4, 480.0), degrees, refused),
    ):
        with said:
            labels_at(transform, crs).on(scene)
    LabelImage.from_array(np.ones((2, 3))).on(scene)


# --- without rasterio ----------------------------------------------------------------------------


@pytest.fixture
def without_rasterio(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "rasterio"]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("rasterio", "rasterio.crs", "rasterio.enums", "rasterio.warp"):
        monkeypatch.setitem(sys.modules, name, None)


def test_envi_coordinates_need_no_library(tmp_path, without_rasterio):
    for number, place in enumerate(PLACES[:2]):
        name = tmp_path / f"{number}.img"
        write_class_map(name, IDS, TABLE, map_info=map_info_of(place))
        labels = read_labels(name)
        assert georeference_of(labels.map_info) == place
        labels.on(Scene.from_array(np.ones((2, 3, 4)), map_info=map_info_of(place)))


def test_missing_rasterio_names_the_extra(tmp_path, without_rasterio):
    with pytest.raises(ParameterError, match=r"diffclass\[maps\]"):
        write_class_map(tmp_path / "map.tif", IDS)
    (tmp_path / "scene.tif").write_bytes(b"II*\x00" + bytes(100))
    with pytest.raises(ParameterError, match=r"diffclass\[maps\]"):
        open_scene(tmp_path / "scene.tif")
    assert [file.name for file in tmp_path.iterdir()] == ["scene.tif"]


@pytest.mark.parametrize("n", [2, 3, 1000])
@pytest.mark.parametrize("step", [1 / 3600, -0.1, 30.0])
def test_steps_of_axes_in_double_precision(n, step):
    axis = 10.05 + step * np.arange(n)
    assert even_steps(axis) == pytest.approx((10.05, step), rel=1e-9)
    if n > 2:
        axis[-1] += 0.01 * step
        assert even_steps(axis) is None


def test_a_local_system_has_no_place():
    local = 'LOCAL_CS["a grid",UNIT["metre",1]]'
    with pytest.raises(DataError, match=r"^a\.tif: .* local coordinate system"):
        transformed_bounds((0.0, 0.0, 1.0, 1.0), local, "EPSG:32633", ("a.tif", "b.tif"))


def test_areas_of_pixels():
    grid = (30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6)
    assert Georeference(grid, "EPSG:32633").pixel_area == pytest.approx(900)
    assert Georeference(grid, "EPSG:2263").pixel_area == pytest.approx(900 * 0.3048006096**2)
    for unknown in (None, "EPSG:4326", 'LOCAL_CS["a grid",UNIT["metre",1]]'):
        assert Georeference(grid, unknown).pixel_area is None


@pytest.mark.parametrize("side", [0.01, 30.0, 1000.0])
@pytest.mark.parametrize(
    ("crs", "corner", "is_known"),
    [
        ("EPSG:32633", (5e5, 5.4e6), True), ("EPSG:32733", (3e5, 6e6), True),
        ("EPSG:3035", (4.3e6, 3.1e6), True), ("EPSG:3031", (-2e6, 1e6), True),
        ("EPSG:3857", (1.2e6, 1e5), True), ("EPSG:3857", (1.2e6, 6.1e6), False),
        ("EPSG:4087", (1.2e6, 1e5), True), ("EPSG:4087", (1.2e6, 5.4e6), False),
    ],
)  # fmt: skip
def test_areas_are_those_on_the_ground_or_none(crs, corner, is_known, side):
    place = Georeference((side, 0.0, corner[0], 0.0, -side, corner[1]), crs)
    assert place.pixel_area == (pytest.approx(side**2) if is_known else None)
    turned = Georeference((0.0, side, corner[0], side, 0.0, corner[1]), crs)
    assert turned.pixel_area == place.pixel_area
