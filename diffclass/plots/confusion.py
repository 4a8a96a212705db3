"""The confusion matrix as a picture, and a whole evaluation in one figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from diffclass.plots.certainty_curves import ReliabilityDisplay, ThresholdDisplay
from diffclass.plots.display import Display, lay_out, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from diffclass.evaluation import ReliabilityCurve, Scores, ThresholdTable

_LONGEST_NAME = 22  # letters
_LEAST_HEIGHT = 3.1  # of a curve, in inches


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
        self.texts_ = [
            self.ax_.text(
                column, row, f"{counts[row, column]}", ha="center", va="center",
                fontsize=8 if counts.shape[1] < 12 else 6,
                color="white" if shares[row, column] > 0.5 else "black",
            )
            for row, column in np.argwhere(counts).tolist()
        ]  # fmt: skip
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
    """Draw the confusion matrix and the curves of the certainty side by side.

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

    Returns
    -------
    matplotlib Figure
        Ready for ``savefig``.

    Raises
    ------
    ParameterError
        If matplotlib is missing.
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
    """Lay out the matrix and, beside it, the curves: stacked if the matrix is tall enough."""
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
