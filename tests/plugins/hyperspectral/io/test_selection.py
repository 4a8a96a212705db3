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
from diffclass_hyperspectral.io.georeference import Georeference, map_info_of

PLACE = Georeference((30.0, 0.0, 5e5, 0.0, -30.0, 5.4e6), "EPSG:32633")
INFO = map_info_of(PLACE)
TISSUE = make_tissue_scene(48, 50, n_bands=10, random_state=0)


def made_scene(**facts):
    cube = np.arange(2 * 3 * 10, dtype=np.float32).reshape(2, 3, 10)
    return Scene.from_array(cube, wavelengths=np.arange(400.0, 900, 50), **facts)


def saved(folder, *, bands=True):
    names = [f"{400 + 50 * i} nm" for i in range(10)] if bands else None
    write_raster(folder / "scene.tif", TISSUE.cube, band_names=names, map_info=INFO)
    write_class_map(folder / "labels.tif", TISSUE.labels, map_info=INFO)
    return folder / "scene.tif"


def save_shape(path, box, crs="EPSG:32633"):
    ring = [list(corner) for corner in shapely.box(*box).exterior.coords]
    shape = {
        "type": "Feature",
        "properties": {},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }
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
    write_class_map(tmp_path / "cloud.tif", picture, map_info=INFO)
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
    with pytest.raises(DataError, match="leave no pixel"):
        open_scene(path, mask=np.ones((48, 50)))
    with pytest.raises(DataError, match="10 rows x 10 columns"):
        open_scene(path, mask=np.ones((10, 10)))
    with pytest.raises(DataError, match="do not overlap"):
        open_scene(path, roi="0,0,10,10")
    with pytest.raises(ParameterError, match="is empty"):
        open_scene(path, roi="10,0,0,10")
    with pytest.raises(ParameterError, match="3 numbers; a box has four"):
        open_scene(path, roi="1,2,3")
    with pytest.raises(DataError, match="no such file"):
        open_scene(path, roi="123")
    with pytest.raises(DataError, match="no map coordinates"):
        Scene.from_array(TISSUE.cube).select(roi="0,0,10,10")
    with pytest.raises(DataError, match="one band"):
        open_scene(path, mask=path)
    shifted = map_info_of(Georeference((30.0, 0.0, 5e5 + 90, 0.0, -30.0, 5.4e6), "EPSG:32633"))
    write_class_map(tmp_path / "shifted.tif", TISSUE.labels, map_info=shifted)
    with pytest.warns(UserWarning, match="20 of 280 labelled pixels lie outside"):
        masked = open_scene(path, mask=tmp_path / "shifted.tif")
    np.testing.assert_array_equal(masked.valid[:, 3:], TISSUE.labels[:, :-3] == 0)


# --- commands ------------------------------------------------------------------------------------


def test_commands_work_on_the_part(tmp_path, capsys):
    path = saved(tmp_path)
    part = ["--bands", "400-700nm", "--roi", "500000,5398700,501500,5400000"]
    assert run(["info", str(path), *part, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["usable_bands"], facts["valid_share"]) == (7, pytest.approx(43 / 48))
    made = {"classify": ["--labels", str(tmp_path / "labels.tif")], "cluster": ["-k", "2"],
            "anomaly": [], "embed": ["--neighbors", "12"]}  # fmt: skip
    for name, more in made.items():
        out = tmp_path / f"{name}.npy"
        assert run([name, str(path), "-o", str(out), *part, *more, "-q"]) == 0, name
        written = np.load(out)
        known = written > 0 if name in ("classify", "cluster") else np.isfinite(written)
        known = known if known.ndim == 2 else known[..., 0]
        assert known.reshape(48, 50)[:43].all(), name
        assert not known.reshape(48, 50)[43:].any(), name


def test_commands_refuse_what_cannot_be(tmp_path, capsys):
    path = saved(tmp_path)
    labels = str(tmp_path / "labels.tif")
    words = ["classify", str(path), "--labels", labels, "-o", str(tmp_path / "m.npy")]
    assert run([*words, "--bands", "60"]) != 0
    assert "names no band" in capsys.readouterr().err
    write_class_map(tmp_path / "mask.npy", np.ones((48, 50), int))
    words = ["classify", str(path), "--labels", labels, "-o", str(tmp_path / "mask.npy")]
    assert run([*words, "--mask", str(tmp_path / "mask.npy"), "--overwrite"]) == 2
    assert "is read from" in capsys.readouterr().err
    np.save(tmp_path / "table.npy", np.ones((20, 3)))
    words = ["embed", str(tmp_path / "table.npy"), "-o", str(tmp_path / "e.csv"), "--bands", "1"]
    assert run(words) == 2
    said = capsys.readouterr().err
    assert "diffclass embed [OPTIONS] SCENE | TABLE" in said
    assert f"--bands is for scenes; {tmp_path / 'table.npy'} is a table" in said


def test_a_map_of_a_part_reads_back(tmp_path):
    path = saved(tmp_path)
    words = ["classify", str(path), "--labels", str(tmp_path / "labels.tif"), "--bands", "1-8",
             "-o", str(tmp_path / "map.tif"), "-q"]  # fmt: skip
    assert run(words) == 0
    assert (read_labels(tmp_path / "map.tif").ids > 0).all()
