"""Pictures of the scene and spectra to draw."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from diffclass.exceptions import ParameterError
from diffclass_hyperspectral import Scene, open_scene
from diffclass_hyperspectral.io.scenes import color_bands
from diffclass_relabel.queries.answers import class_spectra, spectrum_at
from diffclass_relabel.queries.backdrops import (
    Contrast,
    Pictures,
    calmed,
    preset_labels,
)
from diffclass_relabel.workspace.scenes import fingerprint_of

from ..conftest import HOLES


def read_png(content):
    return np.array(Image.open(io.BytesIO(content)))


def test_bands_are_stretched_and_holes_transparent(workspace):
    picture = read_png(Pictures(workspace).png("", "2,2,2"))
    assert picture.shape == (*workspace.shape, 4)
    assert sorted(map(tuple, np.argwhere(picture[..., 3] == 0))) == HOLES
    values = workspace.scene.data[..., 2][workspace.scene.valid]
    low, high = np.percentile(values, [2, 98])
    wanted = np.rint((values - low) / (high - low) * 255).clip(0, 255)
    np.testing.assert_allclose(picture[workspace.scene.valid][:, 1], wanted, atol=1)
    assert np.array_equal(picture[..., 0], picture[..., 2])


def test_bands_are_stretched_by_hand(workspace):
    values = workspace.scene.data[..., 2][workspace.scene.valid]
    low, high = np.percentile(values, [20, 70])
    contrast = Contrast.parsed(f"{low}:{high},0:{high},{low}:9e9", "0")
    picture = read_png(Pictures(workspace).png("", "2,2,2", contrast))[workspace.scene.valid]
    for channel, (least, most) in enumerate(contrast.limits):
        wanted = np.rint((values - least) / (most - least) * 255).clip(0, 255)
        np.testing.assert_allclose(picture[:, channel], wanted, atol=1)
    calm = Contrast.parsed(f"{low}:{high},0:{high},{low}:9e9", None)
    picture = read_png(Pictures(workspace).png("", "2,2,2", calm))[workspace.scene.valid]
    assert colorfulness(picture[:, :3]) < 34


@pytest.mark.parametrize(
    "limits", ["", "1:2", "1:2,3:4", "1:2,3:4,5", "a:b,1:2,3:4", "2:1,1:2,1:2", "0:inf,0:1,0:1"]
)
def test_limits_that_are_none(limits):
    with pytest.raises(ParameterError, match="limits"):
        Contrast.parsed(limits, None)


@pytest.mark.parametrize(("preset", "bands"), [("mnf", None), ("true", "2,3,2")])
def test_histograms(workspace, preset, bands):
    found = Pictures(workspace).histograms(preset, bands)
    assert len(found) == 3
    column = workspace.features[:, 1] if bands is None else workspace.scene.data[..., 3]
    values = column if bands is None else column[workspace.scene.valid]
    np.testing.assert_allclose(found[1]["percentiles"], np.percentile(values, range(101)))
    edges = np.linspace(found[1]["low"], found[1]["high"], len(found[1]["counts"]) + 1)
    assert found[1]["counts"] == np.histogram(values, edges)[0].tolist()


def colorfulness(colors):
    """Return M of Hasler and Suesstrunk (2003), of colours 0 to 255."""
    red, green, blue = colors.reshape(-1, 3).astype(float).T
    a, b = red - green, (red + green) / 2 - blue
    return np.hypot(a.std(), b.std()) + 0.3 * np.hypot(a.mean(), b.mean())


def test_no_picture_is_lurid(workspace):
    noise = np.random.default_rng(0).random((500, 3))
    assert colorfulness(255 * noise) > 90
    quiet = calmed(noise)
    assert colorfulness(255 * quiet) == pytest.approx(33)
    luma = [0.299, 0.587, 0.114]
    np.testing.assert_allclose(quiet @ luma, noise @ luma)
    np.testing.assert_array_equal(calmed(quiet * 0.5), quiet * 0.5)
    for picture in ("true", "false", "mnf"):
        drawn = read_png(Pictures(workspace).png(picture))
        assert colorfulness(drawn[workspace.scene.valid][:, :3]) < 34


def test_guessed_bands_go_by_their_numbers(workspace):
    assert preset_labels(workspace.scene)["true"] == "True colour"
    data = np.arange(60.0).reshape(2, 3, 10) ** 2
    assert preset_labels(Scene.from_array(data)) == {
        "true": "Bands 4, 3, 2",
        "false": "Bands 6, 4, 3",
        "mnf": "First MNF components",
    }
    infrared = Scene.from_array(data, wavelengths=np.linspace(1000, 2500, 10))
    assert preset_labels(infrared)["true"] == "Bands 1, 1, 1"
    photograph = Scene.from_array(data[..., :3])  # has no three bands for another picture
    assert preset_labels(photograph) == {"true": "Bands 1, 2, 3", "mnf": "First MNF components"}


@pytest.mark.parametrize(("n", "true", "false"), [(4, (2, 1, 0), (3, 2, 1)),
                                                  (5, (2, 1, 0), (4, 2, 1)),
                                                  (6, (2, 1, 0), (3, 2, 1)),
                                                  (7, (2, 1, 0), (4, 2, 1)),
                                                  (8, (2, 1, 0), (4, 2, 1))])  # fmt: skip
def test_a_few_bands_are_each_shown_once(n, true, false):
    scene = Scene.from_array(np.arange(6.0 * n).reshape(2, 3, n) ** 2)
    assert (color_bands(scene, "true"), color_bands(scene, "false")) == (true, false)


def test_bands_of_known_names_need_no_wavelengths():
    data = np.arange(24.0).reshape(2, 3, 4) ** 2
    scene = Scene.from_array(data, band_names=("NIR", "Blue", "Green", "Red"))
    assert color_bands(scene, "true") == (3, 2, 1)
    assert preset_labels(scene)["true"] == "True colour"
    part = scene.select(bands="1-3")  # without its red one
    assert color_bands(part, "true") == (0, 1, 2)


@pytest.mark.parametrize("preset", ["true", "false", "mnf"])
def test_presets(workspace, preset):
    picture = read_png(Pictures(workspace).png(preset))
    assert picture.shape == (*workspace.shape, 4)
    assert picture[..., :3].std(axis=(0, 1)).min() > 20


def test_bands_of_presets(workspace):
    wavelengths = workspace.scene.wavelengths
    red, green, blue = wavelengths[list(color_bands(workspace.scene, "true"))]
    assert red > green > blue
    unknown = Scene.from_array(np.arange(60.0).reshape(2, 3, 10) ** 2)
    assert len(set(color_bands(unknown, "true"))) == 3
    assert color_bands(Scene.from_array(np.arange(6.0).reshape(2, 3, 1)), "false") == (0, 0, 0)


def test_a_band_without_contrast(workspace):
    class Flat:
        scene = Scene.from_array(np.dstack([np.ones((4, 5)), np.arange(20).reshape(4, 5)]))
        shape = (4, 5)

    assert set(read_png(Pictures(Flat).png("", "0,0,0"))[..., 0].ravel()) == {128}


@pytest.mark.parametrize(
    "text", ["1,2,3,", "a", "", "1,2", "-1,2,3", "1,2,12", "1" * 50, "\u0661,1,1"]
)
def test_bands_that_are_none(workspace, text):
    with pytest.raises(ParameterError, match="bands"):
        Pictures(workspace).png("true", text)


def test_no_such_preset(workspace):
    with pytest.raises(ParameterError, match="no preset"):
        Pictures(workspace).png("../etc")


def test_spectrum(workspace):
    values = spectrum_at(workspace.scene, 55)
    assert values[11] is None  # the bad band
    np.testing.assert_allclose(values[:11], workspace.scene.data[1, 5, :11], atol=1e-6)
    assert spectrum_at(workspace.scene, 0) == [None] * 12


def test_class_spectra(workspace, tissue):
    found = class_spectra(workspace.scene, tissue.labels)
    assert [one["class"] for one in found] == [1, 2, 3]
    where = np.flatnonzero(tissue.labels.ravel() == 2)
    where = where[:: -(-len(where) // 200)]
    spectra = workspace.scene.data.reshape(-1, 12)[where, :11]
    assert found[1]["count"] == len(where)
    np.testing.assert_allclose(found[1]["mean"][:11], spectra.mean(axis=0), rtol=1e-4)
    low, high = np.percentile(spectra, [10, 90], axis=0)
    np.testing.assert_allclose(found[1]["low"][:11], low, rtol=1e-4)
    np.testing.assert_allclose(found[1]["high"][:11], high, rtol=1e-4)
    assert found[1]["mean"][11] is None  # the bad band
    assert class_spectra(workspace.scene, np.zeros_like(tissue.labels)) == []


def test_fingerprint_is_of_the_values(scene_folder, workspace, tissue, tmp_path):
    scene = workspace.scene
    assert fingerprint_of(open_scene(scene_folder / "scene.img")) == workspace.fingerprint
    facts = {"band_mask": scene.band_mask, "ignore_value": -1.0}
    copy = np.array(scene.data)
    assert fingerprint_of(Scene.from_array(copy, **facts)) == workspace.fingerprint
    swapped = copy.astype(">f4")
    assert fingerprint_of(Scene.from_array(swapped, **facts)) == workspace.fingerprint
    assert fingerprint_of(Scene.from_array(copy)) != workspace.fingerprint
    copy[3, 3, 3] = np.nextafter(copy[3, 3, 3], np.float32(9))
    assert fingerprint_of(Scene.from_array(copy, **facts)) != workspace.fingerprint
