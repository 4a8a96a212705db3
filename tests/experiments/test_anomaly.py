"""The experiment on anomaly detectors: its made scenes and its tables."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("spectral")

from experiments.anomaly import CHOOSING, REPORTING
from experiments.anomaly.scenes import FAST, detections, make_scene, table
from experiments.markdown import read_rows


@pytest.mark.parametrize("fraction", [1.0, 0.5])
def test_made_scenes_hide_twenty_pixels(fraction):
    scene, truth = make_scene(fraction, seed=0, side=30)
    again, _ = make_scene(fraction, seed=0, side=30)
    assert scene.shape == (30, 30, 50)
    assert truth.sum() == 20
    np.testing.assert_array_equal(scene.data, again.data)
    strange, common = scene.data.reshape(-1, 50)[truth], scene.data.reshape(-1, 50)[~truth]
    assert strange.std(axis=0).mean() < common.std(axis=0).mean()


def test_detectors_find_them():
    scene, truth = make_scene(0.5, seed=0, side=30)
    areas = {name: detections(scene, truth, FAST[name])[0].area for name in ("diffusion", "RX")}
    assert areas["diffusion"] > 0.95 > areas["RX"] > 0.8


def test_means_are_those_of_their_scenes():
    rows = read_rows("anomaly/scenes.csv")
    assert {row["scene"] for row in rows if row["half"] == "choosing"} == set(CHOOSING)
    assert {row["scene"] for row in rows if row["half"] == "reporting"} == set(REPORTING)
    head, _, first, *_ = table(rows)
    cells = dict(zip(head.split(" | "), first.split(" | "), strict=True))
    own = [float(row["area"]) for row in rows if row["method"] == "diffusion"]
    assert float(cells["mean of all |"].rstrip(" |")) == pytest.approx(np.mean(own), abs=6e-4)
