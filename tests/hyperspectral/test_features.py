"""Scene features: against spectral's MNF, with masks, at several scales."""

from __future__ import annotations

import numpy as np
import pytest
import spectral
from scipy.ndimage import gaussian_filter

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import Scene, SceneFeatures


def smooth_pictures(rows, columns, n, rng):
    pictures = gaussian_filter(rng.normal(size=(rows, columns, n)), (5, 5, 0), mode="wrap")
    return pictures / pictures.std(axis=(0, 1))


@pytest.fixture(scope="module")
def cube():
    """Four smooth pictures of falling strength in 12 bands whose noise differs."""
    rng = np.random.default_rng(11)
    pictures = smooth_pictures(48, 48, 4, rng) * [12.0, 6.0, 3.0, 1.5]
    mixing = np.linalg.qr(rng.normal(size=(12, 4)))[0].T
    noise = rng.normal(size=(48, 48, 12)) * np.linspace(0.2, 0.6, 12)
    return pictures @ mixing + noise + 50


@pytest.fixture
def holed(cube):
    """The cube with a missing corner, a missing pixel and one that lacks a single band."""
    holed = cube.astype(np.float32)
    holed[:7, :9] = np.nan
    holed[30, 30] = np.nan
    holed[20, 5, 3] = np.nan
    return holed


def spectral_mnf(cube):
    signal = spectral.calc_stats(cube)
    noise = [spectral.noise_from_diffs(cube, direction) for direction in ("right", "lower")]
    covariance = (noise[0].cov + noise[1].cov) / 2  # as many pairs each way: a square picture
    noise = spectral.GaussianStats(mean=signal.mean, cov=covariance)
    found = spectral.mnf(signal, noise)
    directions = noise.sqrt_inv_cov @ found.napc.eigenvectors
    return found.napc.eigenvalues - 1, (cube.reshape(-1, 12) - signal.mean) @ directions


def test_components_are_those_of_spectral(cube):
    features = SceneFeatures(4)
    found = features.fit_transform(cube)
    ratios, scores = spectral_mnf(cube)
    np.testing.assert_allclose(features.signal_to_noise_, ratios[:4], rtol=2e-3)
    signs = np.sign((found * scores[:, :4]).sum(axis=0))
    np.testing.assert_allclose(found * signs, scores[:, :4], atol=0.02 * scores[:, 0].std())
    assert found.dtype == np.float32


def test_all_components_have_noise_one_and_fall_in_strength(cube):
    found = SceneFeatures(99).fit_transform(cube).reshape(48, 48, -1).astype(float)
    assert found.shape[2] == 12
    differences = [np.diff(found, axis=axis).reshape(-1, 12) for axis in (0, 1)]
    table = np.concatenate(differences)
    np.testing.assert_allclose(table.T @ table / (2 * len(table)), np.eye(12), atol=1e-3)
    variances = found.reshape(-1, 12).var(axis=0)
    assert (np.diff(variances) < 1e-3).all()


def test_components_know_no_units_of_the_bands(cube):
    scaled = cube * np.linspace(1, 20, 12) - 7
    a, b = SceneFeatures(4).fit_transform(cube), SceneFeatures(4).fit_transform(scaled)
    np.testing.assert_allclose(np.abs(a), np.abs(b), atol=0.02)


@pytest.mark.parametrize("spatial", [False, True])
def test_the_same_scene_again_gives_the_same(cube, holed, spatial):
    for scene in (cube, holed):
        features = SceneFeatures(3, spatial=spatial, position_weight=0.01)
        fitted = features.fit_transform(scene)
        np.testing.assert_array_equal(fitted, features.transform(scene))
        again = SceneFeatures(3, spatial=spatial, position_weight=0.01).fit(scene)
        np.testing.assert_array_equal(fitted, again.transform(Scene.from_array(scene)))


@pytest.mark.parametrize("spatial", [False, True])
def test_missing_pixels_are_rows_of_nan(holed, spatial):
    found = SceneFeatures(3, spatial=spatial, position_weight=0.01).fit_transform(holed)
    missing = np.isnan(holed).any(axis=2).ravel()
    assert np.isnan(found[missing]).all()
    assert np.isfinite(found[~missing]).all()


@pytest.mark.parametrize("spatial", [False, True])
def test_missing_pixels_influence_nothing(holed, spatial):
    missing = np.isnan(holed).any(axis=2)
    other = holed.copy()
    other[missing] = -9999  # now missing because the header says so
    features = [SceneFeatures(3, spatial=spatial) for _ in range(2)]
    a = features[0].fit_transform(holed)
    b = features[1].fit_transform(Scene.from_array(other, ignore_value=-9999.0))
    np.testing.assert_array_equal(a, b)


def test_smoothing_takes_the_mean_of_what_is_there(holed):
    features = SceneFeatures(2, spatial=True, sigmas=(1.5,)).fit(holed)
    found = features.transform(holed).reshape(48, 48, 2) * features.scales_[0]
    plain = SceneFeatures(2).fit_transform(holed).reshape(48, 48, 2)
    valid = np.isfinite(plain[..., 0])
    reach = np.indices((48, 48)).reshape(2, -1).T
    for row, column in [(7, 9), (31, 30), (20, 25)]:
        away = np.abs(reach - [row, column])
        weight = np.exp(-(away**2).sum(axis=1) / (2 * 1.5**2))
        weight *= (away <= 6).all(axis=1) & valid.ravel()  # scipy cuts at four deviations
        filled = np.where(valid[..., None], plain, 0).reshape(-1, 2)
        expected = weight @ filled / weight.sum()
        np.testing.assert_allclose(found[row, column], expected, rtol=1e-3, atol=1e-3)


def test_a_constant_picture_of_valid_pixels_stays_constant_at_the_holes(holed):
    features = SceneFeatures(3, spatial=True, sigmas=(0, 2)).fit(holed)
    flat = np.where(np.isnan(holed), np.nan, np.float32(50))
    found = features.transform(flat)
    found = found[np.isfinite(found[:, 0])]
    np.testing.assert_allclose(found, np.broadcast_to(found[0], found.shape), atol=1e-4)


@pytest.mark.parametrize(
    ("sigmas", "weight", "columns"), [((0, 1, 2), 0.0, 12), ((0, 1), 0.5, 10), ((3,), 0.0, 4)]
)
def test_columns_and_scales(cube, sigmas, weight, columns):
    features = SceneFeatures(4, spatial=True, sigmas=sigmas, position_weight=weight)
    found = features.fit_transform(cube)
    assert found.shape == (48 * 48, columns)
    for j in range(len(sigmas)):
        block = found[:, 4 * j : 4 * j + 4].astype(float)
        assert np.mean(block**2) == pytest.approx(1, rel=1e-4)
    if weight:
        np.testing.assert_allclose(found[:, -2:], np.argwhere(np.ones((48, 48))) * weight)


def test_scales_are_those_of_the_scene_fitted_to(cube):
    features = SceneFeatures(3, spatial=True).fit(cube)
    scales = features.scales_.copy()
    features.transform(cube[:20, :20] * 2)
    np.testing.assert_array_equal(features.scales_, scales)


def test_a_scene_of_one_row(cube):
    for scene in (cube[:1], cube[:, :1]):
        found = SceneFeatures(3, spatial=True).fit_transform(scene)
        assert found.shape == (48, 9)
        assert np.isfinite(found).all()


def test_blocks_of_rows_change_nothing(cube):
    tall = np.concatenate([cube] * 3)  # more than one block of rows
    features = SceneFeatures(3).fit(cube)
    np.testing.assert_allclose(
        features.transform(tall), np.tile(features.transform(cube), (3, 1)), atol=1e-4
    )


def test_large_scenes_are_sampled_by_whole_rows():
    rng = np.random.default_rng(2)
    cube = smooth_pictures(400, 160, 2, rng) @ rng.normal(size=(2, 5)) * 5
    cube += rng.normal(size=cube.shape)
    features = SceneFeatures(2).fit(cube)
    found = features.transform(cube).reshape(400, 160, 2).astype(float)
    assert np.mean(np.diff(found, axis=1) ** 2) / 2 == pytest.approx(1, rel=0.03)
    np.testing.assert_allclose(features.mean_, cube.mean(axis=(0, 1)), atol=0.5)


def test_bands_without_news_are_left_out(cube):
    more = np.concatenate([cube, np.full((48, 48, 1), 3.0), np.full((48, 48, 1), np.nan)], axis=2)
    features = SceneFeatures(4)
    np.testing.assert_array_equal(
        features.fit_transform(more), SceneFeatures(4).fit_transform(cube)
    )
    assert features.bands_.tolist() == [True] * 12 + [False] * 2


def test_a_noiseless_band_and_a_copied_one_divide_by_nothing(cube):
    ramp = np.repeat(np.arange(48) // 24, 48).reshape(48, 48, 1) * 1.0
    found = SceneFeatures(14).fit_transform(np.concatenate([cube, ramp, cube[..., :1]], axis=2))
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": 2.5}, "n_components"),
        ({"spatial": True, "sigmas": ()}, "sigmas"),
        ({"spatial": True, "sigmas": (0, -1)}, "sigmas"),
        ({"position_weight": -0.1}, "position_weight"),
    ],
)
def test_bad_parameters(cube, parameters, word):
    with pytest.raises(ParameterError, match=word):
        SceneFeatures(**parameters).fit(cube)


def checkerboard(values):
    """A picture in which no two pixels with data touch."""
    scene = np.full((6, 6, 3), np.nan)
    scene[::2, ::2] = values
    return scene


@pytest.mark.parametrize(
    ("scene", "word"),
    [
        (np.full((4, 4, 3), np.nan), "no pixel has data"),
        (np.ones((4, 4, 3)), "constant"),
        (checkerboard(np.random.default_rng(0).normal(size=(3, 3, 3))), "touch"),
        (np.array([[[1.0, 2], [1, 2], [np.nan, 0], [5, 1], [5, 1]]]), "alike"),
    ],
)
def test_scenes_of_which_nothing_can_be_learnt(scene, word):
    with pytest.raises(DataError, match=word):
        SceneFeatures().fit(scene)


def test_a_scene_with_other_bands(cube):
    features = SceneFeatures(3).fit(cube)
    with pytest.raises(DataError, match="11 bands"):
        features.transform(cube[..., :11])
