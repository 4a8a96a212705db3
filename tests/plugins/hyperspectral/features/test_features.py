"""Scene features: noise-adjusted components against spectral's, masks, scales."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import spectral
from scipy.ndimage import gaussian_filter
from threadpoolctl import threadpool_info

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import Scene, SceneFeatures


@pytest.fixture
def cube():
    rng = np.random.default_rng(2)
    smooth = gaussian_filter(rng.normal(size=(40, 30, 4)), (4, 4, 0)) * 20
    mixing = rng.normal(size=(4, 12))
    noise = rng.normal(size=(40, 30, 12)) * np.linspace(0.2, 1, 12)
    return (smooth @ mixing + noise + 50).astype(np.float32)


def test_components_are_spectrals(cube):
    features = SceneFeatures(5)
    points = features.fit_transform(cube)
    exact = cube.astype(float)
    right, below = np.diff(exact, axis=1).reshape(-1, 12), np.diff(exact, axis=0).reshape(-1, 12)
    covariance = (right.T @ right + below.T @ below) / (2 * (len(right) + len(below)))
    noise = spectral.GaussianStats(mean=np.zeros(12), cov=covariance)
    theirs = spectral.mnf(spectral.calc_stats(exact), noise)
    np.testing.assert_allclose(
        features.signal_to_noise_ + 1, theirs.napc.eigenvalues[:5], rtol=0.03
    )
    reduced = theirs.reduce(exact, num=5).reshape(-1, 5)
    for j in range(3):
        assert abs(np.corrcoef(points[:, j], reduced[:, j])[0, 1]) > 0.999


def test_noise_has_unit_variance_in_every_component(cube):
    image = SceneFeatures(5).fit_transform(cube).reshape(40, 30, 5)
    noise = np.diff(image, axis=1).reshape(-1, 5), np.diff(image, axis=0).reshape(-1, 5)
    variance = np.mean(np.concatenate(noise) ** 2, axis=0) / 2
    np.testing.assert_allclose(variance, 1, rtol=0.05)


@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("decades", [1, 4, 8])
def test_units_of_single_bands_change_nothing(cube, spatial, decades):
    """Reflectances, counts and metres may be bands of one scene."""
    gains = 10 ** np.random.default_rng(0).uniform(-decades, decades, cube.shape[2])
    found, expected = (
        SceneFeatures(5, spatial=spatial).fit_transform(one)
        for one in ((cube * gains).astype(np.float32), cube)
    )
    np.testing.assert_allclose(found, expected, atol=1e-2)


@pytest.mark.parametrize("exponent", range(-45, 19, 7))
def test_units_change_nothing_or_are_refused(cube, exponent):
    in_units = (cube * 10.0**exponent / 100).astype(np.float32)
    if exponent < -35:
        with pytest.raises(DataError, match="too large or too small for single precision"):
            SceneFeatures(5).fit_transform(in_units)
        return
    expected = SceneFeatures(5).fit_transform(cube)
    np.testing.assert_allclose(SceneFeatures(5).fit_transform(in_units), expected, atol=1e-2)


def test_spatial_scales(cube):
    features = SceneFeatures(5, spatial=True, scales=(0, 1.5), field_power=0)
    points = features.fit_transform(cube)
    assert points.shape == (1200, 10)
    for block in (points[:, :5], points[:, 5:]):
        assert np.mean(block**2) == pytest.approx(1, rel=1e-5)
    single = SceneFeatures(5).fit_transform(cube).reshape(40, 30, 5)
    smooth = gaussian_filter(single, (1.5, 1.5, 0), mode="nearest").reshape(-1, 5)
    np.testing.assert_allclose(
        points[:, 5:], smooth / np.sqrt(np.mean(smooth**2)), rtol=1e-3, atol=1e-4
    )
    np.testing.assert_allclose(features.transform(cube), points, atol=1e-5)


def test_positions_on_demand(cube):
    points = SceneFeatures(3, spatial=True, position_weight=0.5).fit_transform(cube)
    np.testing.assert_array_equal(points[:, -2:], np.argwhere(np.ones((40, 30))) * 0.5)


@pytest.mark.parametrize("spatial", [False, True])
def test_missing_pixels_are_nan_and_influence_nothing(cube, spatial):
    missing = np.zeros((40, 30), dtype=bool)
    missing[10:14, 5:9] = True
    missing[0, 0] = True
    once, other = cube.copy(), cube.copy()
    once[missing] = np.nan
    other[missing] = -9999
    first = SceneFeatures(4, spatial=spatial).fit_transform(once)
    scene = Scene.from_array(other, ignore_value=-9999.0)
    second = SceneFeatures(4, spatial=spatial).fit_transform(scene)
    np.testing.assert_array_equal(np.isnan(first).all(axis=1), missing.ravel())
    np.testing.assert_array_equal(np.isnan(first).any(axis=1), missing.ravel())
    np.testing.assert_allclose(first, second, atol=1e-4)


def test_smoothing_takes_the_weighted_mean_of_what_is_there(cube):
    cube[:7, :9] = cube[30, 20] = np.nan
    features = SceneFeatures(2, spatial=True, scales=(1.5,), field_power=0).fit(cube)
    found = features.transform(cube).reshape(40, 30, 2) * features.scales_[0]
    plain = SceneFeatures(2).fit_transform(cube)
    valid = np.isfinite(plain[:, 0])
    places = np.indices((40, 30)).reshape(2, -1).T
    for row, column in [(7, 9), (31, 20), (20, 12)]:
        away = np.abs(places - [row, column])
        weight = np.exp(-(away**2).sum(axis=1) / (2 * 1.5**2))
        weight *= (away <= 6).all(axis=1) & valid  # scipy cuts at four deviations
        expected = weight @ np.where(valid[:, None], plain, 0) / weight.sum()
        np.testing.assert_allclose(found[row, column], expected, rtol=1e-3, atol=1e-3)


def test_the_scales_are_those_of_the_scene_fitted_to(cube):
    features = SceneFeatures(3, spatial=True).fit(cube)
    scales = features.scales_.copy()
    features.transform(cube[:20, :20] * 2)
    np.testing.assert_array_equal(features.scales_, scales)


def test_noiseless_and_copied_bands_divide_by_nothing(cube):
    step = np.repeat(np.arange(40) // 20, 30).reshape(40, 30, 1)
    more = np.concatenate([cube, step, cube[..., :1]], axis=2)
    assert np.isfinite(SceneFeatures(14).fit_transform(more)).all()


@pytest.mark.filterwarnings("ignore:.* no pixel has data in band 6")
def test_useless_bands_are_left_out(cube):
    cube[..., 3] = 7
    cube[..., 5] = np.nan
    features = SceneFeatures(20).fit(cube)
    np.testing.assert_array_equal(np.flatnonzero(~features.bands_), [3, 5])
    assert features.n_components_ == 10


@pytest.mark.parametrize("shape", [(1, 60), (60, 1)])
def test_one_line(shape):
    cube = np.random.default_rng(0).normal(size=(*shape, 5))
    for spatial in (False, True):
        assert np.isfinite(SceneFeatures(3, spatial=spatial).fit_transform(cube)).all()


def test_large_scenes_take_a_sample_of_rows():
    rng = np.random.default_rng(1)
    cube = gaussian_filter(rng.normal(size=(400, 200, 6)), (3, 3, 0)).astype(np.float32)
    cube += rng.normal(size=cube.shape).astype(np.float32) * 0.01
    features = SceneFeatures(3).fit(cube)
    table = cube.reshape(-1, 6).astype(float)
    found = np.sqrt(np.diag(features.directions_.T @ np.cov(table.T) @ features.directions_))
    np.testing.assert_allclose(found, np.sqrt(features.signal_to_noise_ + 1), rtol=0.05)


@pytest.mark.parametrize("metric", ["euclidean", "angle"])
def test_small_matrices_do_not_wait_for_threads(cube, metric, monkeypatch):
    counts = []

    def seen(*arguments, **named):
        counts.extend(x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas")
        return eigh(*arguments, **named)

    eigh = scipy.linalg.eigh
    monkeypatch.setattr("scipy.linalg.eigh", seen)
    SceneFeatures(2, metric=metric).fit(cube)
    assert set(counts) == {1}


@pytest.mark.filterwarnings("ignore:.* lack some bands")
def test_bad_input(cube):
    features = SceneFeatures(3).fit(cube)
    with pytest.raises(DataError, match="11 bands; the features were fitted to 12"):
        features.transform(cube[..., :11])
    with pytest.raises(DataError, match="no pixel has data"):
        features.fit(np.full((4, 4, 3), np.nan))
    with pytest.raises(DataError, match="every band is constant"):
        features.fit(np.ones((4, 4, 3)))
    isolated = np.full((5, 5, 3), np.nan)
    isolated[::2, ::2] = np.random.default_rng(0).normal(size=(3, 3, 3))
    with pytest.raises(DataError, match="no two pixels"):
        features.fit(isolated)
    alike = np.array([[[1.0, 2], [1, 2], [np.nan, 0], [5, 1], [5, 1]]])
    with pytest.raises(DataError, match="all equal"):
        features.fit(alike)
    for parameters, named in [
        ({"n_components": 0}, "n_components"),
        ({"scales": (-1,)}, "sigma"),
        ({"scales": ()}, "scales"),
        ({"position_weight": -1}, "position_weight"),
        ({"field_power": -1}, "field_power"),
        ({"field_power": float("nan")}, "field_power"),
    ]:
        with pytest.raises(ParameterError, match=named):
            SceneFeatures(**{"spatial": True} | parameters).fit(cube)
