"""How good a map or a detector is: confusion, certainty, thresholds, detections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from diffclass.plots.display import (
    BLUE,
    DEFAULT_PALETTE,
    SKY_BLUE,
    VERMILION,
    Display,
    lay_out,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from diffclass.evaluation import DetectionCurve, ReliabilityCurve, Scores, ThresholdTable

_LEAST_GAP = 0.08  # between the shares of two thresholds that are written out
_COLORS = (BLUE, VERMILION, DEFAULT_PALETTE[2], "0.3", DEFAULT_PALETTE[6], DEFAULT_PALETTE[0])
_STYLES = ("-", "--", "-.", ":", "-", "--")
_LONGEST_NAME = 22  # letters
_LEAST_HEIGHT = 3.1  # of a curve, in inches


class ReliabilityDisplay(Display):
    """Share of right points in bins of equal counts, by their certainty.

    Parameters
    ----------
    curve : ReliabilityCurve
        From `diffclass.evaluation.reliability_curve`.
    name : str, default="margin"
        Name of the certainty.
    probability : bool, default=False
        Whether the certainty should equal the accuracy: draws the diagonal and states the expected
        calibration error.

    Attributes
    ----------
    errors_, diagonal_, legend_
        What `plot` drew; None where there was nothing to draw.

    See Also
    --------
    ThresholdDisplay : What a threshold on the certainty leaves.
    ConfusionDisplay : Which classes are taken for which.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.evaluation import reliability_curve
    >>> from diffclass.plots import ReliabilityDisplay
    >>> rng = np.random.default_rng(0)
    >>> probability = rng.uniform(0.5, 1, size=1000)
    >>> curve = reliability_curve(rng.random(1000) < probability, probability)
    >>> display = ReliabilityDisplay(curve, name="probability", probability=True).plot()
    >>> print(display.ax_.texts[0].get_text())
    1,000 points
    calibration error 0.031
    area under ROC 0.704
    """

    size = (5.4, 4.6)

    def __init__(
        self, curve: ReliabilityCurve, *, name: str = "margin", probability: bool = False
    ) -> None:
        self.curve = curve
        self.name = name
        self.probability = probability

    def _draw(self, legend: bool) -> None:
        curve = self.curve
        heights = np.vstack([curve.accuracy - curve.lower, curve.upper - curve.accuracy])
        widths = np.abs(curve.edges.T - curve.certainty)
        self.errors_ = self.ax_.errorbar(
            curve.certainty, curve.accuracy, yerr=heights.clip(0), xerr=widths,
            color=BLUE, ecolor=SKY_BLUE, marker="o", markersize=4, elinewidth=1.2,
            label=f"share right, {curve.level:.0%} interval",
        )  # fmt: skip
        self.diagonal_ = None
        if self.probability:
            (self.diagonal_,) = self.ax_.plot(
                [0, 1], [0, 1], color="0.25", linestyle="--", label="calibrated"
            )
        self.ax_.set_xlabel(f"{self.name} (0 to 1)")
        self.ax_.set_ylabel("share right (0 to 1)")
        self.ax_.set_ylim(-0.02, 1.02)
        self._write_summary()
        handles = [self.errors_, self.diagonal_]
        self.legend_ = self._legend_above(handles, columns=2) if legend else None

    def _write_summary(self) -> None:
        """Write the numbers into the corner that the curve leaves free."""
        text = f"{self.curve.counts.sum():,} points"
        if self.probability:
            text += f"\ncalibration error {self.curve.expected_calibration_error:.3f}"
        if not np.isnan(self.curve.auc):
            text += f"\narea under ROC {self.curve.auc:.3f}"
        self.ax_.text(
            0.97, 0.03, text, transform=self.ax_.transAxes, ha="right", va="bottom", fontsize=9
        )


class ThresholdDisplay(Display):
    """Accuracy of the points that keep a class, against their share, where others are "unknown".

    Parameters
    ----------
    table : ThresholdTable
        From `diffclass.evaluation.threshold_table`.

    Attributes
    ----------
    line_, band_, legend_
        What `plot` drew.

    See Also
    --------
    ReliabilityDisplay : The accuracy at each certainty, not above it.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.evaluation import threshold_table
    >>> from diffclass.plots import ThresholdDisplay
    >>> rng = np.random.default_rng(0)
    >>> margin = rng.random(1000)
    >>> right = rng.random(1000) < 0.5 + margin / 2
    >>> table = threshold_table(right, margin, thresholds=[0, 0.5, 0.9])
    >>> display = ThresholdDisplay(table).plot()
    >>> [text.get_text() for text in display.ax_.texts], display.line_.get_ydata().round(2)
    (['0', '0.5', '0.9'], array([0.76, 0.87, 0.98]))
    """

    size = (5.4, 4.6)

    def __init__(self, table: ThresholdTable) -> None:
        self.table = table

    def _draw(self, legend: bool) -> None:
        table = self.table
        label = "accuracy of these, labelled by margin threshold"
        (self.line_,) = self.ax_.plot(
            table.share, table.accuracy, color=BLUE, marker="o", markersize=4, label=label
        )
        self.band_ = self.ax_.fill_between(
            table.share, table.lower, table.upper, color=SKY_BLUE, alpha=0.3, linewidth=0
        )
        self._write_thresholds()
        self.ax_.set_xlabel("share of pixels that keep a class (0 to 1)")
        self.ax_.set_ylabel("accuracy of these (0 to 1)")
        self.ax_.set_xlim(-0.03, 1.15)
        self.ax_.margins(y=0.12)
        self.legend_ = self._legend_above([self.line_], columns=1) if legend else None

    def _write_thresholds(self) -> None:
        """Write the thresholds of points that are far enough apart to be read."""
        last = np.inf
        for i, share in enumerate(self.table.share):
            if abs(last - share) < _LEAST_GAP or np.isnan(self.table.accuracy[i]):
                continue
            last = share
            text, place = f"{self.table.thresholds[i]:.2g}", (share, self.table.accuracy[i])
            look: dict[str, Any] = {"textcoords": "offset points", "ha": "left", "fontsize": 8}
            self.ax_.annotate(text, place, xytext=(5, 3), **look)


class DetectionDisplay(Display):
    """Share of anomalies detected against the share of false alarms, on a logarithmic axis.

    Parameters
    ----------
    curves : mapping of str to DetectionCurve
        By the name of the detector.

    Attributes
    ----------
    lines_, legend_
        What `plot` drew.

    See Also
    --------
    ReliabilityDisplay : For maps of classes, by their certainty.

    Examples
    --------
    >>> from diffclass.evaluation import detection_curve
    >>> from diffclass.plots import DetectionDisplay
    >>> strange = [False, False, True, False, True]
    >>> curves = {"good": detection_curve(strange, [1, 2, 8, 3, 9]),
    ...           "poor": detection_curve(strange, [1, 9, 8, 3, 2])}
    >>> display = DetectionDisplay(curves).plot()
    >>> [text.get_text() for text in display.legend_.get_texts()]
    ['good, area 1.000', 'poor, area 0.500']
    """

    size = (5.6, 4.6)

    def __init__(self, curves: Mapping[str, DetectionCurve]) -> None:
        self.curves = dict(curves)

    def _draw(self, legend: bool) -> None:
        least = min((1 / curve.n_others for curve in self.curves.values()), default=1e-4)
        self.lines_ = [
            self.ax_.step(
                curve.false_alarms.clip(least / 2),
                curve.detected,
                where="post",
                color=_COLORS[i % len(_COLORS)],
                linestyle=_STYLES[i % len(_STYLES)],
                label=f"{name}, area {curve.area:.3f}",
            )[0]
            for i, (name, curve) in enumerate(self.curves.items())
        ]
        self.ax_.set_xscale("log")
        self.ax_.set(
            xlim=(least / 2, 1),
            ylim=(0, 1.02),
            xlabel="false alarms (share of other pixels)",
            ylabel="detected (share of anomalies)",
        )
        self.ax_.grid(color="0.9")
        self.legend_ = self._legend_above(self.lines_, columns=2) if legend else None

    def _set_title(self, title: str) -> None:
        """Write the title above the legend, which has two columns."""
        self.ax_.set_title(title, pad=10 + 16 * -(-len(self.lines_) // 2))


class ConfusionDisplay(Display):
    """Counts of true against given classes, shaded by their share of the true class.

    Parameters
    ----------
    scores : Scores
        From `diffclass.evaluation.classification_scores`.
    class_names : mapping of class to str, optional
        Names written at the axes; the classes themselves by default.

    Attributes
    ----------
    image_, texts_
        What `plot` drew.

    See Also
    --------
    plot_evaluation : With the curves of the certainty beside it.

    Examples
    --------
    >>> from diffclass.evaluation import classification_scores
    >>> from diffclass.plots import ConfusionDisplay
    >>> scores = classification_scores([1, 1, 1, 2, 2], [1, 1, 2, 2, 2])
    >>> display = ConfusionDisplay(scores, class_names={1: "corn", 2: "soy"}).plot()
    >>> [text.get_text() for text in display.texts_], display.ax_.get_yticklabels()[0].get_text()
    (['2', '1', '2'], '1  corn')
    """

    def __init__(self, scores: Scores, *, class_names: Mapping[Any, str] | None = None) -> None:
        self.scores = scores
        self.class_names = dict(class_names or {})

    def _size(self, legend: bool) -> tuple[float, float]:
        side = confusion_side(self.scores)
        return side + 2.2, side + 1.4

    def _draw(self, legend: bool) -> None:
        """Draw one row per true class; classes that do not occur have no row."""
        occurs = self.scores.confusion.sum(axis=1) > 0
        counts = self.scores.confusion[occurs]
        shares = counts / counts.sum(axis=1, keepdims=True)
        self.image_ = self.ax_.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        self._name_axes(self.scores.classes[occurs].tolist(), self.scores.classes.tolist())
        size = 8 if counts.shape[1] < 12 else 6
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
        self.texts_ = []
        for row, column in np.argwhere(counts).tolist():
            color = "white" if shares[row, column] > 0.5 else "black"
            text = f"{counts[row, column]}"
            self.texts_.append(self.ax_.text(column, row, text, color=color, **look))
        if legend:
            label = "share of the true class (0 to 1)"
            self.figure_.colorbar(self.image_, ax=self.ax_, label=label)

    def _name_axes(self, rows: list[Any], columns: list[Any]) -> None:
        self.ax_.set_yticks(range(len(rows)), [self._named(value) for value in rows], fontsize=8)
        self.ax_.set_xticks(range(len(columns)), [str(value) for value in columns], fontsize=8)
        self.ax_.set_xlabel("class given")
        self.ax_.set_ylabel("true class")

    def _named(self, value: Any) -> str:
        name = self.class_names.get(value, "").replace("$", r"\$")
        short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 3] + "..."
        return f"{value}  {short}".strip()


def confusion_side(scores: Scores) -> float:
    """Return the side of a confusion matrix in inches at which its numbers can be read."""
    return float(np.clip(0.5 * len(scores.classes), 3.4, 12.0))


def plot_evaluation(
    scores: Scores,
    *,
    class_names: Mapping[Any, str] | None = None,
    margin: ReliabilityCurve | None = None,
    thresholds: ThresholdTable | None = None,
    probability: ReliabilityCurve | None = None,
) -> Figure:
    """Draw the confusion matrix and the curves of the certainty in one figure.

    Parameters
    ----------
    scores : Scores
        Drawn as the confusion matrix.
    class_names : mapping of class to str, optional
        As in `ConfusionDisplay`.
    margin, probability : ReliabilityCurve, optional
        Accuracy against the margin and against the probability of the class given.
    thresholds : ThresholdTable, optional
        Accuracy against the share that keeps a class.

    See Also
    --------
    ConfusionDisplay : The matrix alone, on axes of your own.
    plot_side_by_side : The maps themselves.

    Examples
    --------
    >>> from diffclass.evaluation import classification_scores
    >>> from diffclass.plots import plot_evaluation
    >>> scores = classification_scores([1, 1, 1, 2, 2], [1, 1, 2, 2, 2])
    >>> figure = plot_evaluation(scores, class_names={1: "corn", 2: "soy"})
    >>> figure.axes[0].get_title()
    'overall accuracy 80.0%, average 83.3%, kappa 0.615'
    """
    displays: list[Any] = [ConfusionDisplay(scores, class_names=class_names)]
    if margin is not None:
        displays.append(ReliabilityDisplay(margin))
    if probability is not None:
        displays.append(ReliabilityDisplay(probability, name="probability", probability=True))
    if thresholds is not None:
        displays.append(ThresholdDisplay(thresholds))
    figure, axes = _places(confusion_side(scores), len(displays) - 1)
    for ax, display in zip(axes, displays, strict=True):
        display.plot(ax=ax)
    axes[0].set_title(
        f"overall accuracy {scores.overall_accuracy:.1%}, average {scores.average_accuracy:.1%}, "
        f"kappa {scores.kappa:.3f}",
        fontsize=10,
    )
    lay_out(figure)
    return figure


def _places(side: float, n_curves: int) -> tuple[Figure, list[Axes]]:
    """Lay out the matrix and, at its right, the curves: stacked if the matrix is tall enough."""
    height = max(side + 1.4, 4.2)
    stacked = n_curves > 0 and height / n_curves >= _LEAST_HEIGHT
    n_rows, n_columns = (n_curves, 1) if stacked else (1, n_curves)
    widths = [side + 2.2] + [4.6] * n_columns
    figure = new_figure((sum(widths), height))
    layout: Any = figure.get_layout_engine()
    layout.set(wspace=0.08)
    grid = figure.add_gridspec(max(n_rows, 1), 1 + n_columns, width_ratios=widths)
    curves = [grid[row, 1 + column] for row in range(n_rows) for column in range(n_columns)]
    return figure, [figure.add_subplot(place) for place in [grid[:, 0], *curves]]
