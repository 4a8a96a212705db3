"""Fill values that a file does not state: no data, and said so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from diffclass.command_line.main import run
from diffclass.exceptions import DataError
from diffclass_hyperspectral import Scene, open_scene
from diffclass_hyperspectral.io.scenes.band_survey import BandSurvey

from ..writers import save_envi

CUBE = np.random.default_rng(5).random((12, 10, 5)).astype(np.float32)
FILLS = [-3.4028235e38, 3.4e38, 9.96921e36, -1e20, np.inf, -np.inf]


def with_fill(value, dtype=np.float32):
    cube = CUBE.astype(dtype)
    cube[3, 4, 2] = value
    return cube


@pytest.mark.parametrize("value", FILLS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_fill_value_costs_one_pixel(value, dtype):
    scene = Scene.from_array(with_fill(value, dtype))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        valid = scene.valid
    assert np.argwhere(~valid).tolist() == [[3, 4]]
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == np.isfinite(value)
    if texts:
        assert "1 pixels" in texts[0]
        assert "band 2 at row 3, column 4" in texts[0]
        assert "taken for no data" in texts[0]
    assert np.isnan(scene.spectra()[34]).all()
    assert scene.usable_bands().all()


@pytest.mark.parametrize("fill", [-9999, -999, -32768])
@pytest.mark.parametrize("dtype", ["i2", "i4", "f4", "f8", ">i2", ">f4"])
def test_a_usual_fill_value_in_all_bands_is_told(fill, dtype):
    """It counts as the file says; in some bands it may be a measurement, and nothing is said."""
    cube = (100 * CUBE).astype(dtype)
    cube[3, 4:6] = cube[:, 9, [0, 2, 4]] = fill  # all bands, and bands that are asked for
    cube[7, 7, 2] = fill
    region = np.arange(12)[:, None] < np.full((1, 10), 11)
    for bands, given, expected in (
        (None, {}, 2),
        ([0, 2, 4], {}, 2 + 11),
        (None, {"ignore_value": float(fill)}, 0),
        ([1, 3], {}, 2),
        ([1], {}, 2),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scene = Scene.from_array(cube, **given).select(bands=bands, roi=region)
            scene.usable_bands()
        said = [str(one.message) for one in caught if "in all bands" in str(one.message)]
        assert len(said) == (expected > 0)
        assert not said or f" {expected} pixels are {fill} in all bands" in said[0]
        assert scene.valid.sum() == (96 if given else 110)


@pytest.mark.parametrize(
    ("dtype", "offset", "is_told"),
    [
        ("f8", 1e4, False), ("f8", 1e7, True), ("f8", -1e9, True), ("i4", 10**5, False),
        ("i4", 2 * 10**9, True), ("u8", 2**53, True), ("f4", 1e6, False), ("i2", 30_000, False),
    ],
)  # fmt: skip
def test_values_that_single_precision_rounds_are_told(dtype, offset, is_told):
    cube = (100 * CUBE).astype(dtype)
    cube[..., 3] += np.asarray(offset, dtype=dtype)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Scene.from_array(cube).usable_bands()
    said = [str(one.message) for one in caught]
    assert len(said) == is_told
    assert not said or "the values of band 4 differ by less than a 65,536th of what" in said[0]


def test_a_band_of_fill_values_is_empty():
    cube = CUBE.copy()
    cube[..., 1] = -3.4e38
    with (
        pytest.warns(UserWarning, match="120 pixels"),
        pytest.warns(UserWarning, match="no pixel has data in band 2"),
    ):
        assert Scene.from_array(cube).empty_bands.tolist() == [False, True, False, False, False]


def test_a_stated_fill_value_is_not_told(recwarn):
    cube = CUBE.copy()
    cube[3, 4] = -3.4e38
    scene = Scene.from_array(cube, ignore_value=-3.4e38)
    assert np.argwhere(~scene.valid).tolist() == [[3, 4]]
    assert not recwarn


def test_the_limit_is_that_of_reflectances():
    cube = (CUBE * 1e4).astype(np.float32)
    cube[0, 0, 0] = 1e20
    assert Scene.from_array(cube, scale_factor=1e4).valid.all()
    with pytest.warns(UserWarning, match="1 pixels"):
        assert not Scene.from_array(cube).valid[0, 0]
    large = np.full((2, 2, 3), 5)
    large[0, 0, 1] = 2**62
    with (
        pytest.warns(UserWarning, match="1 pixels"),
        pytest.warns(UserWarning, match="1 of 4 pixels lack"),
    ):
        assert np.count_nonzero(Scene.from_array(large).valid) == 3


def test_halves_are_never_beyond(recwarn):
    survey = BandSurvey((1, 2, 1), np.ones(1, dtype=bool), None)
    survey.add(slice(0, 1), np.array([[[65504.0], [np.inf]]], dtype=np.float16))
    assert survey.valid.tolist() == [[True, False]]
    assert (survey.n_extreme, len(recwarn)) == (0, 0)


@pytest.mark.parametrize("value", FILLS)
def test_such_a_scene_is_classified(tmp_path, capsys, value):
    np.save(tmp_path / "scene.npy", with_fill(value))
    ids = np.zeros((12, 10), dtype=np.uint8)
    ids[0], ids[-1] = 1, 2
    np.save(tmp_path / "ids.npy", ids)
    words = ["classify", str(tmp_path / "scene.npy"), "--labels", str(tmp_path / "ids.npy")]
    code = run([*words, "-o", str(tmp_path / "map.npy"), "--components", "3", "--neighbors", "5"])
    assert code in (0, 4), capsys.readouterr().err
    assert np.load(tmp_path / "map.npy")[3, 4] == 0
    assert ("taken for no data" in capsys.readouterr().err) == np.isfinite(value)


@pytest.mark.parametrize(
    "facts",
    [
        {"wavelength": [400, 500, "inf", 700, 800]},
        {"wavelength": [400, 500, "nan", 700, 800]},
        {"bbl": [1, 1, "inf", 1, 1]},
        {"reflectance scale factor": "inf"},
        {"reflectance scale factor": "1e-300"},
        {"data offset values": [1, 1, "inf", 1, 1]},
    ],
)
def test_numbers_of_a_header_that_cannot_be_meant(tmp_path, facts, capsys):
    path = save_envi(tmp_path, CUBE, metadata=facts)
    with pytest.raises(DataError, match=next(iter(facts)).split()[0]):
        open_scene(path)
    assert run(["info", str(path), "--json"]) == 3
    assert capsys.readouterr().err.startswith("error: ")
