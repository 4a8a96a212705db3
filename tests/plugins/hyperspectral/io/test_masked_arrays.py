"""What is masked in an array is missing: in a scene, a mask, labels and written maps alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import (
    Scene,
    SceneFeatures,
    open_scene,
    read_labels,
    write_class_map,
    write_raster,
)

pytest.importorskip("rasterio")

EVERY_BAND = np.ones(3, dtype=bool)
LEFT = np.broadcast_to(np.arange(5) < 2, (4, 5))

pytestmark = pytest.mark.filterwarnings("ignore:.*(lack some bands|no pixel has data in band)")


@given(
    st.sampled_from(["u1", "i2", "u2", "i4", "u8", "f2", "f4", "f8", ">i2", ">f4"]),
    st.integers(0, 2**32 - 1),
    st.floats(0, 0.4),
)
def test_a_masked_scene_is_one_with_nan(kind, seed, share):
    rng = np.random.default_rng(seed)
    cube = rng.integers(1, 100, (4, 5, 3)).astype(kind)
    hidden = rng.random(cube.shape) < share
    as_nan = Scene.from_array(np.where(hidden, np.nan, cube.astype(float)))
    masked = Scene.from_array(np.ma.array(cube, mask=hidden))
    np.testing.assert_array_equal(masked.valid, as_nan.valid)
    np.testing.assert_array_equal(masked.empty_bands, as_nan.empty_bands)
    found, expected = (one.spectra(bands=EVERY_BAND) for one in (masked, as_nan))
    np.testing.assert_array_equal(found, expected)


def test_features_of_what_is_masked():
    cube = make_tissue_scene(48, 48).cube
    hidden = np.zeros(cube.shape, dtype=bool)
    hidden[3, 4] = True
    found = SceneFeatures().fit_transform(np.ma.array(cube, mask=hidden))
    assert np.flatnonzero(np.isnan(found).any(axis=1)).tolist() == [3 * 48 + 4]


@pytest.mark.parametrize("kind", ["u1", "i4", "f4", "?"])
def test_what_a_mask_does_not_say(kind):
    scene = Scene.from_array(np.arange(60.0).reshape(4, 5, 3))
    picture = np.ma.array(np.ones((4, 5), dtype=kind), mask=~LEFT)
    np.testing.assert_array_equal(scene.select(roi=picture).valid, LEFT)
    np.testing.assert_array_equal(scene.select(mask=picture).valid, ~LEFT)


@pytest.mark.parametrize("ending", [".tif", ".img", ".npy"])
def test_masked_maps_are_written_as_missing(tmp_path, ending):
    ids = np.ma.array(np.full((4, 5), 7, dtype=np.uint8), mask=~LEFT)
    write_class_map(tmp_path / f"map{ending}", ids)
    expected = np.where(LEFT, 7, 0)
    np.testing.assert_array_equal(read_labels(tmp_path / f"map{ending}").ids, expected)
    write_raster(tmp_path / f"margin{ending}", np.ma.array(np.ones((4, 5, 1)), mask=~LEFT))
    np.testing.assert_array_equal(open_scene(tmp_path / f"margin{ending}").valid, LEFT)
