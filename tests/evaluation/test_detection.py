"""The ROC curve of scores, against scikit-learn's and by hand, and its picture."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from diffclass import DataError
from diffclass.evaluation import detection_curve
from tests.drawings import assert_everything_inside


def test_ties_count_one_half():
    curve = detection_curve([1, 0, 1, 0], [2.0, 2.0, 2.0, 2.0])
    assert curve.area == 0.5
    np.testing.assert_array_equal(curve.false_alarms, [0, 1])
    np.testing.assert_array_equal(curve.detected, [0, 1])


@pytest.mark.parametrize("n_values", [5, 10_000])
def test_area_is_scikit_learns(rng, n_values):
    truth = rng.random(500) < 0.1
    scores = rng.integers(n_values, size=500) + truth
    assert detection_curve(truth, scores).area == pytest.approx(roc_auc_score(truth, scores))


def test_detected_at_a_share_of_false_alarms():
    curve = detection_curve([1, 0, 1, 0, 0, 0], [6.0, 5, 4, 3, 2, 1])
    assert [curve.detected_at(share) for share in (0, 0.24, 0.25, 1)] == [0.5, 0.5, 1, 1]
    assert curve.to_dict()["n_anomalies"] == 2


@pytest.mark.parametrize(
    ("truth", "scores", "says"),
    [
        ([0, 0], [1.0, 2], "0 of 2 points are anomalies"),
        ([1, 1], [1.0, 2], "2 of 2 points are anomalies"),
        ([0, 1], [1.0, np.nan], "finite"),
        ([0, 1, 1], [1.0, 2], "shape"),
    ],
)
def test_refuses(truth, scores, says):
    with pytest.raises(DataError, match=says):
        detection_curve(truth, scores)


def test_the_picture_names_each_detector(rng):
    pytest.importorskip("matplotlib")
    from diffclass.plots import DetectionDisplay

    truth = rng.random(300) < 0.1
    curves = {
        name: detection_curve(truth, shift * truth + rng.normal(size=300))
        for name, shift in [("good", 3), ("poor", 0.5)]
    }
    display = DetectionDisplay(curves).plot(title="two detectors")
    words = [text.get_text() for text in display.legend_.get_texts()]
    assert words == [f"{name}, area {curve.area:.3f}" for name, curve in curves.items()]
    assert_everything_inside(display.figure_)
