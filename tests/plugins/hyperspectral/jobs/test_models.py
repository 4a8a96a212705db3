"""Saved models on other scenes: units, bands and places they do not know, and files that lie."""

from __future__ import annotations

import zlib
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import loadmat

from diffclass.classifier import DiffusionClassifier
from diffclass.command_line.main import run
from diffclass.datasets import make_tissue_scene
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import SharedNeighbors
from diffclass_hyperspectral import (
    LabelImage,
    Scene,
    SceneFeatures,
    classify_scene,
    load_model,
    open_scene,
    open_tiles,
    read_labels,
    save_model,
)
from diffclass_hyperspectral.features.smoothing import GaussianSmoothing, GridDiffusion
from diffclass_hyperspectral.io.scenes import round_factor, unit_factor, value_levels
from diffclass_hyperspectral.jobs.classification.classifying import apply_model
from diffclass_hyperspectral.jobs.classification.models import matching_bands

TISSUE = make_tissue_scene(48, 48, random_state=0)
NM = np.linspace(450, 900, TISSUE.cube.shape[2])
LABELS = np.where(np.random.default_rng(0).random((48, 48)) < 0.05, TISSUE.truth, 0)


def scene_of(cube=TISSUE.cube, **facts):
    return Scene.from_array(cube, wavelengths=NM, **facts)


def fitted(cube=TISSUE.cube, *, features=None, **given):
    classifier = DiffusionClassifier(random_state=0, tau=16, **given)
    labels = LabelImage.from_array(LABELS)
    return classify_scene(scene_of(cube), labels, features=features, classifier=classifier).result


@pytest.fixture(scope="module")
def model():
    return fitted().model


def test_scenes_keep_all_classes():
    with pytest.raises(ParameterError, match="a scene keeps all"):
        fitted(kept_classes=2)


# --- units ---------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=80)
@given(
    st.floats(-6, 6), st.integers(1, 30), st.floats(0, 0.9), st.booleans(),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_any_factor_of_units_is_found(decades, n_bands, zeros, signed, seed):
    """Whatever the bands, zeros for missing pixels and signs: from 10 on, and not up to 3."""
    rng = np.random.default_rng(seed)
    spectra = rng.uniform(0.2, 1, size=(300, n_bands)) * rng.uniform(0.01, 1, size=n_bands)
    if signed:
        spectra *= rng.choice([-1, 1], size=spectra.shape)
    other = spectra[rng.permutation(300)[:200]] * 10**decades
    other[rng.random(len(other)) < zeros] = 0
    found = unit_factor(value_levels(other), value_levels(spectra))
    if abs(decades) <= np.log10(3):
        assert found is None
    elif abs(decades) >= 1 and zeros < 0.4:
        assert abs(np.log10(found) - decades) < 0.4
        if zeros < 0.2 and abs(decades - round(decades)) <= 0.2:  # zeros lower the median
            assert found == 10.0 ** round(decades)


def test_factors_to_read():
    texts = [round_factor(f) for f in (1e4, 9999.0, 250.4, 1e-4, 0.00123, 1e-12, 3e16, 7.0)]
    assert texts == ["10,000", "10,000", "250", "0.0001", "0.0012", "1e-12", "3e+16", "7"]


@pytest.mark.parametrize("factor", [1e-4, 1e-2, 0.1, 10, 255, 1e4])
@pytest.mark.parametrize("spatial", [False, True])
def test_other_units_are_refused_and_mended(factor, spatial):
    """By the factor that is named, the map is that of the scene in its own units."""
    known = fitted(features=SceneFeatures(spatial=spatial)).model
    expected = apply_model(scene_of(), known).class_map
    other = scene_of((TISSUE.cube * factor).astype(np.float32))
    with pytest.raises(DataError, match=r"times (larger|smaller)") as refused:
        apply_model(other, known)
    scale = float(str(refused.value).split("--scale ")[1].split(" ")[0])
    assert scale == pytest.approx(1 / factor, rel=0.02)
    found = apply_model(other.scaled(1 / factor), known).class_map
    # rounded pixels are not those that were fitted: they take a step to their neighbours
    assert (found == expected).mean() > 0.99


@pytest.mark.parametrize("metric", ["angle", "correlation"])
def test_shapes_of_spectra_have_no_units(metric):
    known = fitted(features=SceneFeatures(metric=metric)).model
    expected = apply_model(scene_of(), known).class_map
    found = apply_model(scene_of((TISSUE.cube * 1e4).astype(np.float32)), known).class_map
    assert (found == expected).mean() > 0.99


@pytest.mark.parametrize("factor", [0.6, 1.5])
def test_a_darker_scene_is_none_in_other_units(model, factor):
    assert model.features.unit_factor(scene_of(TISSUE.cube * np.float32(factor))) is None


def test_integers_and_floats_have_the_units_that_their_headers_state(model):
    counts = np.rint(TISSUE.cube * 10_000).astype(np.uint16)
    expected = apply_model(scene_of(), model).class_map
    found = apply_model(scene_of(counts, scale_factor=10_000.0), model).class_map
    assert (found == expected).mean() > 0.99
    with pytest.raises(DataError, match="about 10,000 times larger"):
        apply_model(scene_of(counts), model)
    with (
        pytest.warns(UserWarning, match="beyond the reach"),
        pytest.warns(UserWarning, match="times larger"),
    ):
        apply_model(scene_of(counts), model, check_units=False)


def test_scales_that_are_none():
    for factor in (0, -1, np.nan, np.inf):
        with pytest.raises(ParameterError, match="scale"):
            scene_of().scaled(factor)


def test_a_tile_without_its_scale_is_told_of():
    """In a mosaic too: of which the first one's units count."""
    counts = np.rint(TISSUE.cube * 10_000).astype(np.uint16)
    with pytest.warns(UserWarning, match="about 10,000 times larger than those of array"):
        open_tiles([scene_of(), scene_of(counts)])
    open_tiles([scene_of(), scene_of(counts, scale_factor=1e4), scene_of(counts).scaled(1e-4)])
    open_tiles([scene_of(), scene_of(np.full_like(TISSUE.cube, np.nan))])


@pytest.mark.data
def test_parts_of_real_scenes_have_one_unit(data_folder):
    jasper = loadmat(data_folder / "jasper_ridge" / "jasperRidge2_R198.mat")["Y"]
    salinas = loadmat(data_folder / "salinas_a" / "SalinasA_corrected.mat")["salinasA_corrected"]
    for cube in (jasper.T.reshape(100, 100, -1), salinas):
        parts = [cube[i : i + 10, j : j + 10] for i in range(0, 80, 10) for j in range(0, 80, 10)]
        levels = [value_levels(p.reshape(-1, cube.shape[2]).astype(float)) for p in parts]
        whole = value_levels(cube.reshape(-1, cube.shape[2]).astype(float))
        assert all(unit_factor(part, whole) is None for part in levels)
        assert all(unit_factor(a, b) is None for a in levels for b in levels[::5])
        assert all(unit_factor(part * 1e4, whole) is not None for part in levels)


# --- reach ---------------------------------------------------------------------------------------


def test_novelty_is_distance_in_units_of_the_neighbours_own(model):
    """As by a naive search; missing pixels have none."""
    cube = TISSUE.cube.copy()
    cube[2, 3] = np.nan
    cube[:, 40:] += 0.4 * np.linspace(-1, 1, cube.shape[2]) ** 2
    with pytest.warns(UserWarning, match="beyond the reach .* left unclassified"):
        result = apply_model(scene_of(cube), model)
    train = model.features.transform(scene_of())
    new = model.features.transform(scene_of(cube))
    valid = np.isfinite(new).all(axis=1)
    apart = np.linalg.norm(train[:, None] - train[None], axis=2)
    scales = np.sort(apart, axis=1)[:, 7]
    there = np.linalg.norm(new[valid][:, None] - train[None], axis=2)
    nearest = np.argsort(there, axis=1)[:, :12]
    expected = np.take_along_axis(there / scales, nearest, axis=1).min(axis=1)
    np.testing.assert_allclose(result.novelty.ravel()[valid], expected, rtol=2e-2, atol=2e-2)
    assert np.isnan(result.novelty[2, 3])
    sure = np.abs(expected - 5) > 0.2
    np.testing.assert_array_equal(
        (result.class_map.ravel()[valid] == 0)[sure], (expected > 5)[sure]
    )
    assert result.beyond_reach.sum() > 150
    part = result.part(slice(0, 10), slice(30, 48))
    assert part.n_unreached == result.n_unreached == 0
    np.testing.assert_array_equal(part.beyond_reach, result.beyond_reach[:10, 30:48])
    assert (part.class_map[part.beyond_reach] == 0).all()
    with pytest.warns(UserWarning, match="have the class of the nearest"):
        everywhere = apply_model(scene_of(cube), model, classify_all=True)
    assert (everywhere.class_map == 0).sum() == 1
    near = ~result.beyond_reach
    np.testing.assert_array_equal(everywhere.class_map[near], result.class_map[near])


@pytest.mark.data
def test_a_real_scene_in_other_units_or_from_elsewhere(data_folder):
    """Of a tile of the same kind next to nothing is left out, of another scene nearly all."""
    folder = data_folder / "salinas_a"
    cube = loadmat(folder / "SalinasA_corrected.mat")["salinasA_corrected"]
    labels = read_labels(folder / "SalinasA_gt.mat")
    scene = Scene.from_array(cube)
    known = classify_scene(scene, labels).result.model
    assert apply_model(Scene.from_array(cube[20:60, 20:60]), known).beyond_reach.mean() < 0.01
    with pytest.raises(DataError, match="about 10,000 times smaller"):
        apply_model(Scene.from_array(cube / 10_000), known)
    pines = loadmat(data_folder / "indian_pines" / "IP_200_M.mat")["data_M"].astype(np.float32)
    pines = np.concatenate([pines, pines[..., -4:]], axis=2) * 10
    with pytest.warns(UserWarning, match="beyond the reach"):
        found = apply_model(Scene.from_array(pines), known, check_units=False)
    assert (found.class_map > 0).mean() < 0.01


# --- bands ---------------------------------------------------------------------------------------


def test_features_beyond_what_numbers_can_hold_are_refused(tmp_path):
    """A file may claim any number that is finite; what is divided by it need not be."""
    model = fitted(features=SceneFeatures(4, spatial=True, scales=(0, 2.0))).model
    model.features.scales_ = model.features.scales_ * 1e-40
    loaded = load_model(save_model(tmp_path / "m", model))
    with (
        np.errstate(over="ignore"),
        pytest.raises(DataError, match="its features by this model are beyond what numbers"),
    ):
        loaded.answers(scene_of())


@given(
    st.lists(st.sampled_from([400.0, 410.0, 425.0, 430.5, 455.0, 500.0]), min_size=1, max_size=12),
    st.floats(-0.9, 0.9), st.data(),
)  # fmt: skip
def test_bands_of_one_wavelength_are_matched_in_their_order(wavelengths, share, data):
    """Where detectors overlap, and where wavelengths are rounded, bands share one."""
    own = np.array(wavelengths)
    gaps = np.diff(np.unique(own))
    shift = share * (gaps.min() if len(gaps) else 2.0) / 2
    others = np.array(data.draw(st.permutations(range(len(own)))))
    order = np.empty_like(others)  # any, but that bands of one wavelength stay in theirs
    for value in np.unique(own):
        places = own[others] == value
        order[places] = np.sort(others[places])
    model = SimpleNamespace(
        wavelengths=own, features=SimpleNamespace(bands_=np.ones(len(own), dtype=bool))
    )
    scene = Scene.from_array(np.ones((1, 1, len(own))), wavelengths=(own + shift)[order])
    np.testing.assert_array_equal(order[matching_bands(model, scene)], np.arange(len(own)))


def test_a_model_on_its_own_scene_makes_its_map():
    wavelengths = np.round(NM, -2)  # several bands have each
    scene = Scene.from_array(TISSUE.cube, wavelengths=wavelengths)
    classifier = DiffusionClassifier(random_state=0, tau=16)
    found = classify_scene(scene, LabelImage.from_array(LABELS), classifier=classifier).result
    np.testing.assert_array_equal(
        apply_model(scene, found.model).class_map,
        apply_model(Scene.from_array(TISSUE.cube), found.model).class_map,
    )


def test_bands_that_are_bad_in_the_other_scene(model):
    bad = np.ones(len(NM), dtype=bool)
    bad[[2, 5]] = False
    with pytest.warns(UserWarning, match=r"2 bands bad that the model was fitted to \(band 3, 6\)"):
        found = apply_model(scene_of(band_mask=bad), model)
    np.testing.assert_array_equal(found.class_map, apply_model(scene_of(), model).class_map)
    empty = TISSUE.cube.copy()
    empty[..., 5] = np.nan
    with (
        pytest.warns(UserWarning, match=r"band 6"),
        pytest.raises(DataError, match="no pixel has data in the bands that the model uses"),
    ):
        apply_model(scene_of(empty, band_mask=np.arange(len(NM)) != 5), model)


def test_values_that_mean_no_data(model):
    cube = TISSUE.cube.copy()
    cube[:4] = -9999
    found = apply_model(scene_of(cube, ignore_value=-9999.0), model)
    assert (found.class_map[:4] == 0).all()
    assert found.n_missing == 4 * 48
    assert np.isnan(found.novelty[:4]).all()
    with (
        pytest.warns(UserWarning, match="192 pixels are -9999 in all bands"),
        pytest.warns(UserWarning, match=r"8\.3% of the pixels lie beyond"),
    ):
        found = apply_model(scene_of(cube), model)
    assert (found.class_map[:4] == 0).all()


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "features",
    [
        SceneFeatures(), SceneFeatures(5, metric="angle"), SceneFeatures(spatial=True),
        SceneFeatures(np.int64(4), spatial=True, scales=[0, 1.5, GridDiffusion(8, bandwidth=0.5)]),
        SceneFeatures(spatial=True, scales=(GaussianSmoothing(2.0),), metric="correlation"),
        SceneFeatures(spatial=True, position_weight=0.01, field_power=0),
    ],
    ids=str,
)  # fmt: skip
def test_a_model_from_a_file_is_the_same(tmp_path, features):
    known = fitted(features=features).model
    save_model(tmp_path / "m", known)
    again = load_model(tmp_path / "m")
    first, second = (apply_model(scene_of(), each) for each in (known, again))
    np.testing.assert_array_equal(first.raw_posteriors[:], second.raw_posteriors[:])
    np.testing.assert_array_equal(first.novelty, second.novelty)
    np.testing.assert_array_equal(first.posteriors, second.posteriors)
    assert again.table == known.table
    np.testing.assert_array_equal(again.wavelengths, known.wavelengths)
    save_model(tmp_path / "n", again)
    third = apply_model(scene_of(), load_model(tmp_path / "n"))
    np.testing.assert_array_equal(third.raw_posteriors[:], first.raw_posteriors[:])


def test_a_model_of_many_labels_is_saved_with_their_curved_function(tmp_path):
    labels = np.where(np.arange(TISSUE.truth.size).reshape(TISSUE.truth.shape) % 7 == 0, 1, 0)
    known = classify_scene(scene_of(), LabelImage.from_array(labels * TISSUE.truth)).result.model
    save_model(tmp_path / "m", known)
    first, again = (apply_model(scene_of(), one) for one in (known, load_model(tmp_path / "m")))
    np.testing.assert_array_equal(first.posteriors, again.posteriors)


class _Own(GaussianSmoothing):
    pass


def test_models_with_the_users_own_parts_are_not_saved(tmp_path):
    known = fitted(features=SceneFeatures(spatial=True, scales=(_Own(1.0),))).model
    with pytest.raises(ParameterError, match="cannot be kept in a file"):
        save_model(tmp_path / "m", known)
    assert not list(tmp_path.iterdir())


def test_files_of_another_kind(tmp_path, model):
    place = tmp_path / "m"
    place.write_bytes(zlib.compress(b"\x80\x04\x95what joblib wrote before"))
    with pytest.raises(DataError, match="m: is damaged, or no diffclass scene model"):
        load_model(place)
    with pytest.raises(DataError, match="no such model file; make one with classify --save"):
        load_model(tmp_path / "nowhere")
    save_model(place, model, overwrite=True)
    with pytest.raises(ParameterError, match="exists"):
        save_model(place, model)


def test_by_the_command(folder, works, fails, capsys):
    np.save("scene.npy", TISSUE.cube)
    np.save("labels.npy", LABELS)
    np.save("counts.npy", np.rint(TISSUE.cube * 10_000).astype(np.uint16))
    far = TISSUE.cube.copy()
    far[:, 24:] = far[:, 24:] * np.linspace(0.5, 2, far.shape[2])
    np.save("far.npy", far)
    labelled = ("classify", "scene.npy", "--labels", "labels.npy", "-o")
    kept = ("--model", "m.model", "-o", "map.npy", "--overwrite")
    works(*labelled, "a.npy", "--save", "m.model")
    says = ["about 10,000 times larger", "--scale 0.0001"]
    fails("classify", "counts.npy", *kept, code=3, says=says)
    scaled = works("classify", "counts.npy", *kept, "--scale", "0.0001", "--report", "r.json")
    assert scaled["beyond_reach"] == 0
    assert (np.load("map.npy") == np.load("a.npy")).mean() > 0.97
    assert works("rerun", "r.json", "--into", "again")["same_result"]
    first = works("classify", "far.npy", *kept, "--novelty", "n.npy", "--report", "s.json")
    n_far = np.count_nonzero(np.load("n.npy") > 5)
    assert first["beyond_reach"] == first["unclassified"] == n_far > 100
    assert np.count_nonzero(np.load("map.npy") == 0) == n_far
    assert not first["beyond_classified"]
    second = works("classify", "far.npy", *kept, "--classify-all")
    assert (second["beyond_reach"], second["unclassified"]) == (n_far, 0)
    assert second["beyond_classified"]
    assert works("rerun", "s.json", "--into", "third")["same_result"]
    assert (folder / "third" / "n.npy").exists()
    fails(*labelled, "b.npy", "--novelty", "x.npy", code=2, says="no effect")
    fails("classify", "scene.npy", *kept, "--scale", "0", code=2)
    for more, says in (
        ([], f"{n_far:,} beyond the reach of the model's pixels"),
        (["--classify-all"], "their classes are guesses"),
    ):
        assert run(["classify", "far.npy", *kept, *more]) == 0
        assert says in capsys.readouterr().out
    assert open_scene("scene.npy").scale_factor == 1


def test_a_kernel_of_the_command_is_told_of_in_its_report(tmp_path):
    known = fitted(kernel=SharedNeighbors()).model
    save_model(tmp_path / "m", known)
    assert repr(load_model(tmp_path / "m").classifier) == repr(known.classifier)
