"""Features in which near means a small spectral angle, or a high correlation."""

from __future__ import annotations

import numpy as np
import pytest
import spectral
from scipy.ndimage import gaussian_filter
from scipy.spatial.distance import cdist

from diffclass.command_line.main import run
from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral import Scene, SceneFeatures

ROWS, COLUMNS, BANDS = 24, 20, 30
METRICS = ("angle", "correlation")


@pytest.fixture
def cube():
    """Mixtures of three smooth spectra, some noise, and a brightness that changes all over."""
    rng = np.random.default_rng(5)
    ends = gaussian_filter(rng.random((3, BANDS)), (0, 3)) + 0.2
    shares = rng.dirichlet(np.ones(3), (ROWS, COLUMNS))
    bright = rng.uniform(200, 4000, (ROWS, COLUMNS, 1))
    noise = rng.normal(scale=0.003, size=(ROWS, COLUMNS, BANDS))
    return (bright * (shares @ ends + noise)).astype(np.float32)


def expected(metric, cube, members):
    """Distances by their definitions."""
    table, members = cube.reshape(-1, cube.shape[2]).astype(float), members.astype(float)
    if metric == "angle":
        angles = spectral.spectral_angles(cube.astype(float), members).reshape(len(table), -1)
        return 2 * np.sin(angles / 2)
    correlations = np.corrcoef(table, members)[: len(table), len(table) :]
    return np.sqrt(2 - 2 * np.minimum(correlations, 1))


@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_those_of_the_metric(cube, metric):
    features = SceneFeatures(metric=metric)
    points = features.fit_transform(cube)
    assert points.dtype == np.float32
    assert points.shape[1] == features.n_components_ <= BANDS
    chosen = np.arange(0, ROWS * COLUMNS, 37)
    found = cdist(points, points[chosen])
    exact = expected(metric, cube, cube.reshape(-1, BANDS)[chosen])
    # the spread that is left out is 1e-4 of the whole
    assert np.mean((found - exact) ** 2) < 2e-4 * np.mean(exact**2)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("metric", METRICS)
def test_nearest_neighbours_are_those_of_the_metric(cube, metric):
    points = SceneFeatures(metric=metric).fit_transform(cube)
    exact = expected(metric, cube, cube.reshape(-1, BANDS))
    found = np.argsort(cdist(points, points), axis=1)[:, :9]
    reach = np.sort(exact, axis=1)[:, 8]
    near = np.take_along_axis(exact, found, axis=1) <= reach[:, None] * 1.02 + 1e-6
    assert near.mean() > 0.98


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("spatial", [False, True])
def test_brightness_plays_no_part(cube, metric, spatial):
    first = SceneFeatures(metric=metric, spatial=spatial).fit_transform(cube)
    second = SceneFeatures(metric=metric, spatial=spatial).fit_transform(cube * np.float32(7.5))
    if not spatial:  # smoothing weighs bright pixels more
        bright = np.random.default_rng(0).uniform(0.2, 5, (ROWS, COLUMNS, 1)).astype(np.float32)
        second = SceneFeatures(metric=metric).fit_transform(cube * bright)
    some = slice(0, None, 41)
    np.testing.assert_allclose(
        cdist(first[some], first), cdist(second[some], second), rtol=1e-3, atol=1e-3
    )


def test_an_offset_plays_no_part_in_the_correlation(cube):
    offset = np.random.default_rng(1).uniform(0, 900, (ROWS, COLUMNS, 1)).astype(np.float32)
    first = SceneFeatures(metric="correlation").fit_transform(cube)
    second = SceneFeatures(metric="correlation").fit_transform(cube + offset)
    np.testing.assert_allclose(cdist(first, first), cdist(second, second), atol=2e-3)
    other = SceneFeatures(metric="angle").fit_transform(cube + offset)
    assert np.abs(cdist(first, first) - cdist(other, other)).max() > 0.1


@pytest.mark.parametrize("metric", METRICS)
def test_scales_are_smoothed_before_they_are_measured(cube, metric):
    features = SceneFeatures(metric=metric, spatial=True, scales=(0, 1.5))
    points = features.fit_transform(cube)
    k = features.n_components_
    smooth = gaussian_filter(cube, (1.5, 1.5, 0), mode="nearest")
    chosen = np.arange(0, ROWS * COLUMNS, 37)
    for j, image in enumerate((cube, smooth)):
        part = points[:, j * k : (j + 1) * k]
        found = cdist(part, part[chosen]) * features.scales_[j]
        exact = expected(metric, image, image.reshape(-1, BANDS)[chosen])
        assert np.mean((found - exact) ** 2) < 5e-4 * np.mean(exact**2)
        assert np.mean(part.var(axis=0, dtype=float)) == pytest.approx(1, rel=1e-3)
    np.testing.assert_allclose(features.transform(cube), points, atol=1e-4)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("spatial", [False, True])
def test_a_spectrum_without_a_direction_counts_as_missing(cube, metric, spatial):
    without = np.zeros((ROWS, COLUMNS), dtype=bool)
    without[3:5, 4:9] = without[20, 0] = True
    zero, missing, flat = cube.copy(), cube.copy(), cube.copy()
    zero[without], missing[without], flat[without] = 0, np.nan, 1234.567
    first = SceneFeatures(metric=metric, spatial=spatial).fit_transform(zero)
    second = SceneFeatures(metric=metric, spatial=spatial).fit_transform(missing)
    np.testing.assert_array_equal(np.isnan(first).any(axis=1), without.ravel())
    np.testing.assert_array_equal(np.isnan(first).all(axis=1), without.ravel())
    np.testing.assert_array_equal(first, second)
    third = SceneFeatures(metric=metric, spatial=spatial).fit_transform(flat)
    expected_missing = without.ravel() if metric == "correlation" else np.zeros(without.size, bool)
    np.testing.assert_array_equal(np.isnan(third).any(axis=1), expected_missing)


@pytest.mark.filterwarnings("ignore:.* no pixel has data in band 5")
@pytest.mark.parametrize("metric", METRICS)
def test_components_asked_for_and_bands_left_out(cube, metric):
    cube[..., 4] = np.nan
    features = SceneFeatures(3, metric=metric).fit(cube)
    assert features.n_components_ == 3
    assert features.directions_.shape == (BANDS - 1, 3)
    np.testing.assert_allclose(features.directions_.T @ features.directions_, np.eye(3), atol=1e-9)
    mask = np.ones(BANDS, dtype=bool)
    mask[10:] = False
    part = Scene.from_array(cube, band_mask=mask)
    points = SceneFeatures(metric=metric).fit_transform(part)
    good = cube[..., np.flatnonzero(mask & (np.arange(BANDS) != 4))]
    exact = expected(metric, good, good.reshape(-1, 9)[:1])
    np.testing.assert_allclose(cdist(points, points[:1]), exact, atol=0.02)


def test_blocks_of_rows_change_nothing(cube, monkeypatch):
    whole = SceneFeatures(metric="angle").fit_transform(cube)
    monkeypatch.setattr("diffclass_hyperspectral.io.rasters.BLOCK_VALUES", 1)
    rows = SceneFeatures(metric="angle").fit_transform(cube)
    np.testing.assert_allclose(cdist(whole[:50], whole), cdist(rows[:50], rows), atol=1e-3)


def test_bad_input(cube):
    with pytest.raises(ParameterError, match="metric = 'cosine'"):
        SceneFeatures(metric="cosine").fit(cube)
    ramp = np.zeros((6, 6, 4))
    ramp[...] = np.arange(36).reshape(6, 6, 1) + 1.0
    with pytest.raises(DataError, match="every spectrum is flat"):
        SceneFeatures(metric="correlation").fit(ramp)
    assert SceneFeatures(metric="angle").fit_transform(ramp).shape == (36, 1)  # all equal


# As options

PARTS = ("bands", "covariances", "directions", "projection")


@pytest.mark.parametrize("metric", METRICS)
def test_classify_by_a_metric(folder, works, capsys, metric):
    """Two materials, whose brightness differs more within them than between them."""
    rng = np.random.default_rng(3)
    truth = 1 + (np.arange(24)[:, None] // 12 + np.arange(20) // 10) % 2
    ends = np.array([np.linspace(1, 2, BANDS), np.linspace(2, 1, BANDS)])
    scene = ends[truth - 1] * rng.uniform(1, 30, (24, 20, 1))
    np.save("scene.npy", scene * rng.normal(1, 0.01, scene.shape))
    np.save("truth.npy", truth)
    words = ["--labels-per-class", "2", "--metric", metric, "--save", "scene.model"]
    report = works("classify", "scene.npy", "--labels", "truth.npy", "-o", "map.npy", *words)
    assert report["metric"] == metric
    assert report["n_components"] <= BANDS
    assert report["holdout"]["overall_accuracy"] == 1
    parts = {name for name in report["seconds"] if name.startswith("features: ")}
    assert parts == {f"features: {part}" for part in PARTS}
    assert sum(report["seconds"][part] for part in parts) <= report["seconds"]["features"]
    words = ["classify", "scene.npy", "--model", "scene.model", "--overwrite", "-o", "map.npy"]
    assert run(words) == 0
    assert "memory: about" in capsys.readouterr().err
    np.testing.assert_array_equal(np.load("map.npy"), truth)


def test_parts_of_the_features_are_timed(folder, capsys, cube):
    np.save("scene.npy", cube)
    np.save("ids.npy", 1 + np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) // 240)
    words = ["--labels", "ids.npy", "-o", "map.npy", "--features", "spatial", "-v"]
    assert run(["classify", "scene.npy", *words]) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("seconds: "))
    inside = line[line.index("features") :].split(")")[0]
    for part in (*PARTS, "smoothing"):
        assert f"{part} 0." in inside
    assert ": " not in inside
