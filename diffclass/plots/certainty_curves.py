"""Accuracy against certainty: whether points of high margin are right, and what "unknown" costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from diffclass.plots.display import Display
from diffclass.plots.palette import BLUE, SKY_BLUE

if TYPE_CHECKING:
    from diffclass.evaluation import ReliabilityCurve, ThresholdTable

_LEAST_GAP = 0.08  # between the shares of two thresholds that are written out


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
    """

    def __init__(
        self, curve: ReliabilityCurve, *, name: str = "margin", probability: bool = False
    ) -> None:
        self.curve = curve
        self.name = name
        self.probability = probability

    def _size(self, legend: bool) -> tuple[float, float]:
        return 5.4, 4.6

    def _draw(self, legend: bool) -> None:
        """Draw points at the bins' means, and bars for their extent and their intervals."""
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
        """Write the numbers that sum up the curve into the corner that it leaves free."""
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
    """

    def __init__(self, table: ThresholdTable) -> None:
        self.table = table

    def _size(self, legend: bool) -> tuple[float, float]:
        return 5.4, 4.6

    def _draw(self, legend: bool) -> None:
        """Draw accuracy against the share that keeps a class, and write the thresholds."""
        table = self.table
        (self.line_,) = self.ax_.plot(
            table.share, table.accuracy, color=BLUE, marker="o", markersize=4,
            label="accuracy of these, margin threshold beside",
        )  # fmt: skip
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
            self.ax_.annotate(
                f"{self.table.thresholds[i]:.2g}", (share, self.table.accuracy[i]),
                xytext=(5, 3), textcoords="offset points", ha="left", fontsize=8,
            )  # fmt: skip
