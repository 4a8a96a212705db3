"""Bands by number and wavelength, pixels by masks and regions, in Python and on the commands."""

from __future__ import annotations

import json

import numpy as np
import pytest
import shapely

from diffclass.command_line.main import run
from diffclass.datasets import make_tissue_scene
from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import Scene, open_scene, read_labels, write_class_map, write_raster

from ..writers import PLACE, place_at

TISSUE = make_tissue_scene(48, 50, n_bands=10, random_state=0)


def made_scene(**facts):
    cube = np.arange(2 * 3 * 10, dtype=np.float32).reshape(2, 3, 10)
    return Scene.from_array(cube, wavelengths=np.arange(400.0, 900, 50), **facts)


def saved(folder):
    names = [f"{400 + 50 * i} nm" for i in range(10)]
    write_raster(folder / "scene.tif", TISSUE.cube, band_names=names, map_info=PLACE)
    write_class_map(folder / "labels.tif", TISSUE.labels, map_info=PLACE)
    return folder / "scene.tif"


def save_shape(path, box, crs="EPSG:32633"):
    ring = [list(corner) for corner in shapely.box(*box).exterior.coords]
    polygon = {"type": "Polygon", "coordinates": [ring]}
    shape = {"type": "Feature", "properties": {}, "geometry": polygon}
    crs = {"type": "name", "properties": {"name": f"urn:ogc:def:crs:{crs.replace(':', '::')}"}}
    path.write_text(json.dumps({"type": "FeatureCollection", "crs": crs, "features": [shape]}))
    return path


# --- bands ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        ("1", [0]),
        ("1-3,10", [0, 1, 2, 9]),
        (" 2 - 2 , 4", [1, 3]),
        ("450-550nm", [1, 2, 3]),
        ("450-550,610nm", [1, 2, 3, 4]),
        ("0.45-0.55um, 700-900nm", [1, 2, 3, 6, 7, 8, 9]),
        ("410-460, 849 nm", [1, 9]),
        ([0, 9], [0, 9]),
        (np.arange(10) > 7, [8, 9]),
    ],
)
def test_bands(wanted, numbers):
    assert np.flatnonzero(made_scene().select(bands=wanted).usable_bands()).tolist() == numbers


@pytest.mark.parametrize(
    "wanted",
    ["0", "11", "5-3", "1-11", "1.5", "red", "", "1,,2", "1000-1200nm", "100nm", "401-402nm", "-3",
     [10], [-1], [0.5], [], np.ones(9, bool)],
)  # fmt: skip
def test_bands_that_do_not_exist(wanted):
    with pytest.raises(ParameterError, match="bands"):
        made_scene().select(bands=wanted)


def test_bands_and_what_the_file_says_of_them():
    scene = made_scene(band_mask=np.arange(10) != 2)
    assert np.flatnonzero(scene.select(bands="1-4").band_mask).tolist() == [0, 1, 3]
    with pytest.raises(DataError, match="all bad ones"):
        scene.select(bands="3")
    with pytest.raises(DataError, match="has no wavelengths"):
        Scene.from_array(np.ones((2, 2, 3))).select(bands="450nm")


# --- pixels --------------------------------------------------------------------------------------


def test_a_mask_is_left_out_and_a_roi_is_kept(tmp_path):
    path = saved(tmp_path)
    picture = np.zeros((48, 50), dtype=np.uint8)
    picture[:10, :20] = 255
    write_class_map(tmp_path / "cloud.tif", picture, map_info=PLACE)
    shape = save_shape(tmp_path / "cloud.geojson", (5e5, 5.4e6 - 300, 5e5 + 600, 5.4e6))
    for cloud in (picture, tmp_path / "cloud.tif", shape):
        np.testing.assert_array_equal(open_scene(path, mask=cloud).valid, picture == 0)
        np.testing.assert_array_equal(open_scene(path, roi=cloud).valid, picture > 0)
    box = (5e5, 5.4e6 - 300, 5e5 + 600, 5.4e6)
    for roi in (box, ",".join(map(str, box))):
        np.testing.assert_array_equal(open_scene(path, roi=roi).valid, picture > 0)
    both = open_scene(path, roi=box, mask=picture[::-1])
    assert both.valid.sum() == 200
    again = open_scene(path, roi=box).select(mask=np.arange(50) < np.full((48, 1), 5))
    assert again.valid.sum() == 150


def test_shapes_in_other_coordinates(tmp_path):
    path = saved(tmp_path)
    warp = pytest.importorskip("rasterio.warp")
    box = warp.transform_bounds("EPSG:32633", "EPSG:4326", 5e5, 5.4e6 - 300, 5e5 + 600, 5.4e6)
    shape = save_shape(tmp_path / "roi.geojson", box, "EPSG:4326")
    valid = open_scene(path, roi=shape).valid
    assert abs(int(valid.sum()) - 200) <= 20
    assert not valid[12:].any()


def test_masked_pixels_count_nowhere():
    cube = np.ones((4, 4, 3), dtype=np.float32)
    cube[..., 0] = np.arange(16).reshape(4, 4)
    cube[2:, :, 1] = 5  # constant where the region is
    cube[:2, :, 2] = np.nan
    roi = np.arange(4)[:, None] < np.full((1, 4), 2)
    scene = Scene.from_array(cube).select(roi=roi)
    with pytest.warns(UserWarning, match="no pixel has data in band 3"):
        assert scene.empty_bands.tolist() == [False, False, True]
    assert scene.usable_bands().tolist() == [True, False, False]
    np.testing.assert_array_equal(scene.valid, roi)
    assert np.isnan(scene.spectra()[8:]).all()
    whole = Scene.from_array(np.nan_to_num(cube).astype(np.int16))
    np.testing.assert_array_equal(whole.select(roi=roi).valid, roi)


def test_selections_that_cannot_be(tmp_path):
    path = saved(tmp_path)
    for error, says, given in (
        (DataError, "leave no pixel", {"mask": np.ones((48, 50))}),
        (DataError, "10 rows x 10 columns", {"mask": np.ones((10, 10))}),
        (DataError, "do not overlap", {"roi": "0,0,10,10"}),
        (ParameterError, "is empty", {"roi": "10,0,0,10"}),
        (ParameterError, "3 numbers; a box has four", {"roi": "1,2,3"}),
        (DataError, "no such file", {"roi": "123"}),
        (DataError, "one band", {"mask": path}),
    ):
        with pytest.raises(error, match=says):
            open_scene(path, **given)
    with pytest.raises(DataError, match="no map coordinates"):
        Scene.from_array(TISSUE.cube).select(roi="0,0,10,10")
    write_class_map(tmp_path / "shifted.tif", TISSUE.labels, map_info=place_at(column=3))
    with pytest.warns(UserWarning, match="20 of 280 labelled pixels lie outside"):
        masked = open_scene(path, mask=tmp_path / "shifted.tif")
    np.testing.assert_array_equal(masked.valid[:, 3:], TISSUE.labels[:, :-3] == 0)


# --- commands ------------------------------------------------------------------------------------


def test_commands_work_on_the_part(folder, works):
    path = saved(folder)
    part = ["--bands", "400-700nm", "--roi", "500000,5398700,501500,5400000"]
    facts = works("info", path, *part)
    assert (facts["usable_bands"], facts["valid_share"]) == (7, pytest.approx(43 / 48))
    made = {"classify": ["--labels", "labels.tif"], "cluster": ["-k", "2"], "anomaly": [],
            "embed": ["--neighbors", "12"]}  # fmt: skip
    for name, more in made.items():
        works(name, path, "-o", f"{name}.npy", *part, *more)
        written = np.load(f"{name}.npy").reshape(48, 50, -1)[..., 0]
        known = written > 0 if name in ("classify", "cluster") else np.isfinite(written)
        np.testing.assert_array_equal(known.all(axis=1), np.arange(48) < 43, name)
        assert not known[43:].any(), name


def test_commands_refuse_what_cannot_be(folder, fails, capsys):
    words = ["classify", saved(folder), "--labels", "labels.tif"]
    fails(*words, "-o", "m.npy", "--bands", "60", code=2, says="names no band")
    write_class_map("mask.npy", np.ones((48, 50), int))
    same = ["-o", "mask.npy", "--mask", "mask.npy", "--overwrite"]
    fails(*words, *same, code=2, says="is read from")
    np.save("table.npy", np.ones((20, 3)))
    assert run(["embed", "table.npy", "-o", "e.csv", "--bands", "1"]) == 2
    said = capsys.readouterr().err
    assert "diffclass embed [OPTIONS] SCENE | TABLE" in said
    assert "--bands is for scenes; table.npy is a table" in said


def test_a_map_of_a_part_reads_back(folder, works):
    words = ["--labels", "labels.tif", "--bands", "1-8", "-o", "map.tif"]
    works("classify", saved(folder), *words)
    assert (read_labels("map.tif").ids > 0).all()
