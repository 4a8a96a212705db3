"""Detections against false alarms, one curve per detector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from diffclass.plots.display import Display
from diffclass.plots.palette import BLUE, DEFAULT_PALETTE, VERMILION

if TYPE_CHECKING:
    from diffclass.evaluation import DetectionCurve

_COLORS = (BLUE, VERMILION, DEFAULT_PALETTE[2], "0.3", DEFAULT_PALETTE[6], DEFAULT_PALETTE[0])
_STYLES = ("-", "--", "-.", ":", "-", "--")


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
    """

    def __init__(self, curves: Mapping[str, DetectionCurve]) -> None:
        self.curves = dict(curves)

    def _size(self, legend: bool) -> tuple[float, float]:
        return 5.6, 4.6

    def _draw(self, legend: bool) -> None:
        """Draw the curves, with the area under each in the legend."""
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
