"""What the displays of scores and certainties draw."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.evaluation import (
    classification_scores,
    detection_curve,
    reliability_curve,
    threshold_table,
)
from tests.drawings import assert_everything_inside, legend_texts

pytest.importorskip("matplotlib")

from diffclass.plots import (
    ConfusionDisplay,
    DetectionDisplay,
    ReliabilityDisplay,
    ThresholdDisplay,
    plot_evaluation,
)


@pytest.fixture
def sample(rng):
    truth, margin = rng.choice([1, 2, 7], 800), rng.random(800)
    right = rng.random(800) < 0.5 + margin / 2
    return truth, np.where(right, truth, rng.choice([0, 1, 2, 7], 800)), margin


def test_reliability_draws_the_curve(sample):
    truth, found, margin = sample
    curve = reliability_curve(truth == found, margin)
    display = ReliabilityDisplay(curve).plot()
    line = display.errors_.lines[0]
    np.testing.assert_allclose(line.get_xydata(), np.c_[curve.certainty, curve.accuracy])
    assert display.diagonal_ is None
    words = " ".join(text.get_text() for text in display.ax_.texts)
    assert f"{curve.auc:.3f}" in words
    assert "calibration" not in words
    assert_everything_inside(display.figure_)


def test_a_probability_has_a_diagonal_and_its_error(sample):
    truth, found, margin = sample
    right = truth == found
    curve = reliability_curve(right, margin, n_bins=5)
    display = ReliabilityDisplay(curve, name="probability", probability=True).plot()
    np.testing.assert_array_equal(display.diagonal_.get_xydata(), [[0, 0], [1, 1]])
    error = curve.expected_calibration_error
    assert f"{error:.3f}" in display.ax_.texts[0].get_text()
    assert display.ax_.get_xlabel() == "probability (0 to 1)"


def test_thresholds_draw_share_and_accuracy(sample):
    truth, found, margin = sample
    table = threshold_table(truth == found, margin, thresholds=[0, 0.5, 2])
    display = ThresholdDisplay(table).plot()
    np.testing.assert_allclose(display.line_.get_xydata(), np.c_[table.share, table.accuracy])
    assert [text.get_text() for text in display.ax_.texts] == ["0", "0.5"]  # nothing is left at 2
    assert_everything_inside(display.figure_)


def test_confusion_writes_the_counts(sample):
    truth, found, _ = sample
    scores = classification_scores(truth, found)
    display = ConfusionDisplay(scores, class_names={1: "water $", 7: "a very long name of a class"})
    display.plot()
    written = sorted(int(text.get_text()) for text in display.texts_)
    assert written == sorted(scores.confusion[scores.confusion > 0].tolist())
    rows = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert rows == ["1  water \\$", "2", "7  a very long name of..."]  # 0 is never true
    assert_everything_inside(display.figure_)


@pytest.mark.parametrize("n_classes", [2, 16])
def test_the_whole_evaluation_fits_in_its_figure(n_classes, rng):
    truth = rng.integers(1, n_classes + 1, 500)
    found = np.where(rng.random(500) < 0.7, truth, rng.integers(1, n_classes + 1, 500))
    right, margin = truth == found, rng.random(500)
    figure = plot_evaluation(
        classification_scores(truth, found),
        class_names={i: f"class number {i}" for i in range(20)},
        margin=reliability_curve(right, margin),
        probability=reliability_curve(right, margin),
        thresholds=threshold_table(right, margin),
    )
    assert_everything_inside(figure)
    assert len(figure.axes) == 5
    names = {axes.get_xlabel(): len(axes.get_lines()) for axes in figure.axes}
    # only a probability is compared with the diagonal
    assert names["probability (0 to 1)"] == names["margin (0 to 1)"] + 1
    assert len(plot_evaluation(classification_scores(truth, truth)).axes) == 2


def test_the_picture_names_each_detector(rng):
    truth = rng.random(300) < 0.1
    curves = {
        name: detection_curve(truth, shift * truth + rng.normal(size=300))
        for name, shift in [("good", 3), ("poor", 0.5)]
    }
    display = DetectionDisplay(curves).plot(title="two detectors")
    assert legend_texts(display) == [
        f"{name}, area {curve.area:.3f}" for name, curve in curves.items()
    ]
    assert_everything_inside(display.figure_)
