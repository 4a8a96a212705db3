"""Scenes in compressed files are read in blocks of rows and carry their coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass_hyperspectral import SceneFeatures, open_scene
from diffclass_hyperspectral.io.rasters import BlockArray

from .. import products
from ..writers import UTM, save_mat73
from .test_geotiff import CUBE, write_tiff


def write_scene(folder, kind):
    if kind == "mat73":
        return save_mat73(folder / "scene.mat", {"cube": CUBE})
    if kind == "tiff":
        return write_tiff(folder / "scene.tif")
    if kind in ("enmap", "sentinel2"):
        return getattr(products, f"write_{kind}")(folder)[1]
    getattr(products, f"write_{kind}")(folder / "scene.h5")
    return folder / "scene.h5"


@pytest.mark.filterwarnings("ignore:.* no pixel has data in band 4")  # of PACE
@pytest.mark.parametrize(
    "kind",
    ["emit", "prisma", "pace", "neon", "tanager", "enmap", "sentinel2", "tiff", "mat73"],
)
def test_opening_reads_nothing_and_blocks_give_the_same(tmp_path, kind, monkeypatch):
    path = write_scene(tmp_path, kind)
    asked = []
    checked = BlockArray._checked
    monkeypatch.setattr(
        BlockArray,
        "_checked",
        lambda self, *rows: (asked.append(rows), checked(self, *rows))[1],
    )
    monkeypatch.setattr("diffclass_hyperspectral.io.rasters.BLOCK_VALUES", 1)
    scene = open_scene(path)
    assert isinstance(scene.data, BlockArray)
    assert asked == []
    spectra = scene.spectra()
    whole = type(scene).from_array(
        np.asarray(scene.data), band_mask=scene.band_mask, ignore_value=scene.ignore_value,
        scale_factor=scene.scale_factor,
    )  # fmt: skip
    np.testing.assert_array_equal(spectra, whole.spectra())
    np.testing.assert_array_equal(scene.spectra(slice(1, 4)), whole.spectra(slice(1, 4)))
    np.testing.assert_array_equal(scene.spectra(slice(0, 6, 2)), whole.spectra(slice(0, 6, 2)))
    assert scene.describe()["memory_bytes"] == whole.describe()["memory_bytes"]


def test_features_of_a_scene_that_is_read_in_blocks(tmp_path):
    scene = open_scene(write_tiff(tmp_path / "scene.tif"))
    whole = type(scene).from_array(CUBE)
    np.testing.assert_allclose(
        SceneFeatures(3).fit_transform(scene), SceneFeatures(3).fit_transform(whole), rtol=1e-5
    )


def test_georeference(tmp_path):
    assert open_scene(write_scene(tmp_path, "emit")).georeference is None
    assert open_scene(write_scene(tmp_path, "tiff")).georeference == UTM
