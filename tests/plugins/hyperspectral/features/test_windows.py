"""Scenes read and smoothed by windows: the same features and map as from the whole picture."""

from __future__ import annotations

import os
import tracemalloc

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from diffclass import DiffusionClassifier
from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import Scene, SceneFeatures, open_scene
from diffclass_hyperspectral.features import block_statistics as quantiles
from diffclass_hyperspectral.features.block_statistics import streamed_quantile
from diffclass_hyperspectral.features.feature_costs import feature_cost
from diffclass_hyperspectral.features.smoothing import GridDiffusion
from diffclass_hyperspectral.features.spatial_scales import reach_of, smoothings_of
from diffclass_hyperspectral.io.rasters import ComputedRaster, PointPicture, spread_out
from diffclass_hyperspectral.io.scenes.band_survey import BandSurvey

from ..io.test_geotiff import write_tiff

BLOCKS = "diffclass_hyperspectral.io.rasters.BLOCK_VALUES"


@pytest.fixture
def cube(rng):
    """Fields of two kinds under noise, with rows and a corner without data."""
    kind = (np.arange(90)[:, None] // 15 + np.arange(40) // 10) % 2
    cube = gaussian_filter(rng.normal(size=(90, 40, 8)), (3, 3, 0)) * 5
    cube += rng.normal(size=cube.shape) + 3 * kind[..., None] * np.arange(8)
    cube[31:52] = cube[70:75, :9] = np.nan
    return cube.astype(np.float32)


def on_disk(folder):
    def create(shape):
        return np.lib.format.open_memmap(folder / "points.npy", "w+", np.float32, shape)

    return create


def window_bytes(features, scene, rows):
    """Return what windows with that many rows of their own need."""
    features.fit(scene)
    n_rows = rows + 2 * reach_of(smoothings_of(features.scales))
    return n_rows * scene.shape[1] * (30 * features.n_components_ + 150)


@pytest.mark.parametrize("metric", ["euclidean", "correlation"])
@pytest.mark.parametrize(
    "scales", [(0, GridDiffusion(40)), (1.5, GridDiffusion(9)), (GridDiffusion(200), 0, 2.0)]
)
def test_features_do_not_depend_on_the_window(tmp_path, monkeypatch, cube, metric, scales):
    scene = Scene.from_array(cube)
    features = SceneFeatures(4, metric=metric, spatial=True, scales=scales, position_weight=0.1)
    whole, valid = features.fit_transform_points(scene)
    np.testing.assert_array_equal(valid, np.isfinite(cube[..., 0]))
    for rows, values in ((1, 300), (7, 2000), (33, 10**6)):
        monkeypatch.setattr(BLOCKS, values)
        size = window_bytes(features, scene, rows)
        points, _ = features.fit_transform_points(
            Scene.from_array(cube), on_disk(tmp_path), window_bytes=size
        )
        np.testing.assert_allclose(points, whole, atol=1e-5)
        again, _ = features.transform_points(scene, window_bytes=size)
        np.testing.assert_allclose(again, whole, atol=1e-5)
        del points
        np.testing.assert_array_equal(np.load(tmp_path / "points.npy"), again)


def test_spectral_features_do_not_depend_on_the_block(tmp_path, monkeypatch, cube):
    whole = SceneFeatures(4).fit_transform(cube)
    valid = np.isfinite(whole[:, 0])
    for values in (300, 3000):
        monkeypatch.setattr(BLOCKS, values)
        points, where = SceneFeatures(4).fit_transform_points(cube, on_disk(tmp_path))
        np.testing.assert_array_equal(where.ravel(), valid)
        np.testing.assert_allclose(points, whole[valid], atol=1e-5)


def test_the_map_does_not_depend_on_the_window(cube):
    scene, features = Scene.from_array(cube), SceneFeatures(4, spatial=True)
    maps = []
    for rows in (None, 2, 15, 40):
        size = None if rows is None else window_bytes(features, scene, rows)
        points, _ = features.fit_transform_points(scene, window_bytes=size)
        y = np.full(len(points), -1)
        y[[0, 5, 12, 17]] = [0, 0, 1, 1]
        maps.append(DiffusionClassifier(random_state=0).fit(points, y).transduction_)
    for other in maps[1:]:
        np.testing.assert_array_equal(other, maps[0])


def test_the_reach_is_how_far_a_pixel_counts(rng):
    image = rng.normal(size=(61, 5, 2)).astype(np.float32) * 1e-3  # nearly alike: it goes far
    valid = np.ones(image.shape[:2], dtype=bool)
    changed = image.copy()
    changed[30] += np.float32(1e-3)
    for smoothing in (GridDiffusion(12, bandwidth=1.0), GridDiffusion(3, 0, bandwidth=1.0)):
        first, second = (smoothing.smooth(i, valid) for i in (image, changed))
        counts = (first != second).any(axis=(1, 2))
        assert not counts[: 30 - smoothing.reach].any()
        assert counts[31 - smoothing.n_steps : 30].all()
    assert GridDiffusion(128).reach < 70


def test_memory_is_a_window_and_not_the_scene(tmp_path, cube, monkeypatch):
    monkeypatch.setattr(BLOCKS, 2000)
    monkeypatch.setattr(quantiles, "_KEPT", 100)
    scene = Scene.from_array(np.tile(cube, (8, 2, 1)))
    features = SceneFeatures(4, spatial=True, scales=(0, GridDiffusion(9)))
    features.fit(np.tile(cube, (1, 2, 1)))  # compiled
    for rows in (5, 50):
        size = window_bytes(features, scene, rows)
        tracemalloc.start()
        features.fit_transform_points(scene, on_disk(tmp_path), window_bytes=size)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < size + 4 * scene.valid.size + quantiles.quantile_bytes(100)
    assert peak > size / 2


def test_features_in_a_file_are_not_counted_as_memory():
    shape, features = (20_000, 3_000, 200), SceneFeatures(spatial=True)
    costs = (feature_cost(features, shape, 180, on_disk=there) for there in (True, False))
    on_disk, in_memory = (cost.working for cost in costs)
    assert in_memory - on_disk == 4 * 40 * 20_000 * 3_000
    assert on_disk < 3 * 2**30
    more_rows = feature_cost(features, (40_000, 3_000, 200), 180, on_disk=True).working
    assert more_rows - on_disk == 8 * 20_000 * 3_000  # which pixels have data, and their labels


@pytest.mark.parametrize("spatial", [False, True])
def test_a_small_scene_costs_no_more_than_itself(spatial):
    """Working space is that of its rows, not that of a block or window of a larger one."""
    features = SceneFeatures(4, spatial=spatial)
    costs = (feature_cost(features, (rows, 3000, 8), 8, on_disk=True) for rows in (4, 8))
    few, more = (cost.working for cost in costs)
    assert more == pytest.approx(2 * few, rel=0.01)


def test_a_large_scene_costs_a_block_beside_its_features():
    def cost(rows, columns, *, on_disk=True):
        of_pixels = 8 * rows * columns
        shape = rows, columns, 100
        return feature_cost(SceneFeatures(4), shape, 100, on_disk=on_disk).working - of_pixels

    assert cost(10**6, 10) == cost(10**4, 1000) == cost(10**7, 10)
    assert cost(10, 10**7) == 10 * cost(10, 10**6)  # two rows are more than a block
    assert cost(10**7, 10, on_disk=False) == max(cost(10**7, 10), 4 * 4 * 10**8)


def test_a_window_that_is_too_small_for_a_row(cube):
    features = SceneFeatures(4, spatial=True)
    with pytest.raises(ParameterError, match=r"window_bytes = 1000: .* needs at least \d+ bytes"):
        features.fit_transform_points(cube, window_bytes=1000)


def test_other_bands_than_those_fitted_to_decide_which_pixels_have_features(cube):
    features = SceneFeatures(3).fit(cube)
    other = cube.copy()
    other[5, 5, 2] = np.nan  # not a good band there
    mask = np.arange(8) != 2
    points, valid = features.transform_points(Scene.from_array(other, band_mask=mask))
    assert not valid[5, 5]
    assert len(points) == valid.sum() == np.isfinite(cube[..., 0]).sum() - 1


def test_values_that_single_precision_cannot_square(cube):
    features = SceneFeatures(3).fit(cube)
    huge, signs = cube.copy(), np.sign(features.directions_[:, 0]).astype(np.float32)
    huge[3, 3] = 3e38
    with pytest.warns(UserWarning, match="taken for no data"):
        assert np.isnan(features.transform(huge * signs)[3 * cube.shape[1] + 3]).all()
    huge[3, 3] = 9e17  # a measurement for all that is known, but not one to be weighted so
    features.directions_ = features.directions_ * 1e22
    with pytest.raises(DataError, match="scale factor"):
        features.transform(huge * signs)


# What one pass says of the bands


def naive_survey(cube, asked, ignore):
    there = np.isfinite(cube) & (cube != ignore)
    used = asked & there.any(axis=(0, 1))
    valid = there[..., used].all(axis=2) & used.any()
    partial = there[..., used].any(axis=2) & ~valid
    lacking = np.where(used, (partial[..., None] & ~there).sum((0, 1)), 0)
    return there.any(axis=(0, 1)), valid, lacking


@pytest.mark.parametrize("ignore", [None, -1.0])
@pytest.mark.parametrize("seed", range(12))
def test_one_pass_says_what_several_say(seed, ignore):
    rng = np.random.default_rng(seed)
    cube = rng.integers(-1, 3, (7, 3, 4)).astype(float)
    cube[rng.random(cube.shape) < 0.1] = np.nan
    cube[: rng.integers(0, 8), :, rng.integers(4)] = np.nan  # filled late, or never
    cube[rng.integers(7)] = -1
    asked = rng.random(4) < 0.8
    filled, valid, lacking = naive_survey(cube, asked, ignore)
    for step in (1, 2, 7):
        survey = BandSurvey(cube.shape, asked, ignore)
        for start in range(0, 7, step):
            survey.add(slice(start, start + step), cube[start : start + step])
        np.testing.assert_array_equal(survey.filled, filled)
        np.testing.assert_array_equal(survey.valid, valid)
        np.testing.assert_array_equal(survey.lacking, lacking)
        used = asked & filled
        if valid.any():
            np.testing.assert_array_equal(survey.lowest[used], cube[valid].min(axis=0)[used])
            np.testing.assert_array_equal(survey.highest[used], cube[valid].max(axis=0)[used])
        else:
            assert survey.lowest is None


def test_a_scene_is_read_once_for_its_bands(tmp_path, cube, monkeypatch):
    np.save(tmp_path / "scene.npy", cube)
    scene = open_scene(tmp_path / "scene.npy")
    blocks = []
    add = BandSurvey.add
    monkeypatch.setattr(BandSurvey, "add", lambda *a: (blocks.append(a[1]), add(*a))[1])
    monkeypatch.setattr(BLOCKS, 3200)
    scene.usable_bands()
    scene.describe()
    assert len(blocks) == 9


# Files that change while they are read


def grow(path):
    with path.open("ab") as stream:
        stream.write(b"more")


CHANGES = {
    "cut": (lambda path: os.truncate(path, path.stat().st_size // 2), "was cut from"),
    "written": (lambda path: os.utime(path, (0, 0)), "was changed while it was read"),
    "grown": (grow, "was changed while it was read"),
    "removed": (os.unlink, "put the file back"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_while_it_is_read(tmp_path, cube, change):
    path = tmp_path / "scene.npy"
    np.save(path, cube)
    scene = open_scene(path)
    features = SceneFeatures(3).fit(scene)
    make_it, says = CHANGES[change]
    make_it(path)
    with pytest.raises(DataError, match=says):
        features.transform(scene)


def test_compressed_files_are_watched_too(tmp_path):
    path = write_tiff(tmp_path / "scene.tif")
    scene = open_scene(path)
    scene.usable_bands()
    os.utime(path, ns=(0, 0))
    with pytest.raises(DataError, match=r"scene\.tif: was changed while it was read"):
        scene.spectra()


def test_a_change_during_the_last_block_is_found(tmp_path, cube, monkeypatch):
    path = tmp_path / "scene.npy"
    np.save(path, cube)
    scene = open_scene(path)
    add = BandSurvey.add

    def add_and_change(self, rows, block):
        add(self, rows, block)
        os.utime(path, ns=(0, 0))

    monkeypatch.setattr(BandSurvey, "add", add_and_change)
    with pytest.raises(DataError, match="was changed"):
        scene.usable_bands()


# Quantiles and pictures of points


@pytest.mark.parametrize("quantile", [0.0001, 0.25, 0.7, 1.0])
@pytest.mark.parametrize("kept", [10**6, 10])
def test_a_streamed_quantile_is_the_sorted_one(rng, monkeypatch, quantile, kept):
    monkeypatch.setattr(quantiles, "_KEPT", kept)
    numbers = (rng.random(1000) ** 8 * 50).astype(np.float32)
    numbers[::7] = 0
    chunks = np.array_split(numbers, 13)
    place = min(int(quantile * 1000), 999)
    assert streamed_quantile(lambda: iter(chunks), quantile) == np.sort(numbers)[place]
    assert streamed_quantile(lambda: iter([]), quantile) == 0


@pytest.mark.parametrize("share", [0, 0.3, 1])
def test_points_are_placed_among_missing_pixels(rng, monkeypatch, share):
    monkeypatch.setattr(BLOCKS, 20)
    valid = rng.random((9, 4)) < share
    image = np.where(valid[..., None], rng.normal(size=(9, 4, 3)), np.nan)
    picture = PointPicture(image[valid], valid, fill=np.nan)
    assert (picture.shape, picture.ndim, picture.size, len(picture)) == ((9, 4, 3), 3, 108, 9)
    np.testing.assert_array_equal(picture[:], image)
    np.testing.assert_array_equal(picture[3:5], image[3:5])
    np.testing.assert_array_equal(picture.leading(2)[2:9], image[2:, :, :2])
    out = np.empty((36, 3))
    out[: valid.sum()] = image[valid]
    spread_out(out, valid)
    np.testing.assert_array_equal(out.reshape(9, 4, 3), image)


# How far features reach


def test_how_far_features_reach_is_read_in_parts_of_a_large_picture(monkeypatch):
    random = np.random.default_rng(0)
    image = random.normal(size=(600, 40, 3)).astype(np.float32)
    valid = random.random((600, 40)) > 0.1
    smoothing = GridDiffusion(4)
    expected = smoothing.weight_beyond(image, valid)
    asked = []

    def read(rows):
        asked.append(len(image[rows]))
        return image[rows]

    monkeypatch.setattr(BLOCKS, 2000)
    found = smoothing.weight_beyond(ComputedRaster(image.shape, image.dtype, read), valid)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert max(asked) < 600


def test_the_reach_of_features_is_that_of_their_components(cube):
    features = SceneFeatures(4, spatial=True).fit(cube)
    components = SceneFeatures(4).fit_transform(cube).reshape(90, 40, 4)
    valid = np.isfinite(cube[..., 0])
    expected = GridDiffusion().weight_beyond(components, valid)
    np.testing.assert_allclose(features.weight_beyond(cube), expected, atol=1e-5)
