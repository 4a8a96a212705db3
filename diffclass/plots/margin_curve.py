"""The mean margin against diffusion time, by which tau is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from diffclass.exceptions import DataError, ParameterError
from diffclass.plots.display import Display
from diffclass.plots.palette import BLUE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from diffclass.classifier import DiffusionClassifier


class MarginCurveDisplay(Display):
    """Mean margin and coverage against diffusion time, with the chosen time.

    Parameters
    ----------
    times : array-like of shape (n_times,), int, at least 1
        Diffusion times in steps, increasing.
    margin : array-like of shape (n_times,), 0 to 1
        Mean margin over the points at each time.
    coverage : array-like of shape (n_times,), 0 to 1, optional
        Share of the pairs of point and class that labels have reached.
    tau : int, optional
        The chosen time.

    Attributes
    ----------
    coverage_ax_, line_, coverage_line_, tau_line_
        What `plot` drew; None where there was nothing to draw.

    Raises
    ------
    DataError
        If the arrays differ in length.
    """

    def __init__(
        self,
        times: ArrayLike,
        margin: ArrayLike,
        coverage: ArrayLike | None = None,
        tau: float | None = None,
    ) -> None:
        self.times = np.asarray(times)
        self.margin = np.asarray(margin)
        self.coverage = None if coverage is None else np.asarray(coverage)
        self.tau = tau
        curves = [self.margin] + ([] if self.coverage is None else [self.coverage])
        if self.times.ndim != 1 or any(c.shape != self.times.shape for c in curves):
            raise DataError(
                f"times, margin and coverage must have one shape (n_times,), got "
                f"{self.times.shape} and {[c.shape for c in curves]}"
            )

    @classmethod
    def from_estimator(
        cls, clf: DiffusionClassifier, *, ax: Axes | None = None
    ) -> MarginCurveDisplay:
        """Draw the curve of a fitted classifier.

        Parameters
        ----------
        clf : DiffusionClassifier
            Fitted; ``margin_curve_`` with ``times``, ``margin``, ``coverage``, and ``tau_``.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        MarginCurveDisplay
            The display, drawn.

        Raises
        ------
        ParameterError
            If the classifier has no ``margin_curve_``.
        """
        curve = getattr(clf, "margin_curve_", None)
        if curve is None:
            raise ParameterError(
                f"{type(clf).__name__} has no margin_curve_: fit it first, with tau='margin'"
            )
        return cls(curve.times, curve.margin, curve.coverage, clf.tau_).plot(ax=ax)

    def _draw(self, legend: bool) -> None:
        (self.line_,) = self.ax_.plot(
            self.times, self.margin, color=BLUE, marker="o", markersize=4, label="mean margin"
        )
        self.ax_.set_xscale("log", base=2)
        self.ax_.set_xlabel("diffusion time t (steps)")
        self.ax_.set_ylabel("mean margin (probability, 0 to 1)")
        self.ax_.set_ylim(0, None)
        self.ax_.xaxis.set_major_formatter("{x:g}")
        self._plot_coverage()
        self.tau_line_ = None
        if self.tau is not None:
            self.tau_line_ = self.ax_.axvline(
                self.tau, color="0.25", linestyle="--", label=f"chosen time tau = {self.tau:g}"
            )
        lines = [self.line_, self.coverage_line_, self.tau_line_]
        self.legend_ = self._legend_above(lines, columns=3) if legend else None

    def _plot_coverage(self) -> None:
        """Draw the coverage on an axis of its own at the right."""
        self.coverage_ax_ = self.coverage_line_ = None
        if self.coverage is None:
            return
        self.coverage_ax_ = self.ax_.twinx()
        (self.coverage_line_,) = self.coverage_ax_.plot(
            self.times, self.coverage, color=VERMILION, marker="s", markersize=3, label="coverage"
        )
        self.coverage_ax_.set_ylabel("coverage (share reached, 0 to 1)")
        self.coverage_ax_.set_ylim(0, 1.05)
