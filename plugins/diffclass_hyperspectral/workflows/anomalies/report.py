"""What is known about a scene's anomalies: facts for programs, lines for people, a picture."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffclass.evaluation import DetectionCurve
from diffclass.output import replacing
from diffclass_hyperspectral.io.maps import new_figure
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.workflows.anomalies.scores import SceneAnomalies
from diffclass_hyperspectral.workflows.reports import RunCosts, RunReport

NAMES = {"diffusion": "diffusion", "rx": "RX", "isolation-forest": "isolation forest"}
_LISTED = 10


@dataclass(frozen=True, eq=False)
class AnomalyReport(RunReport):
    """What is known about a scene's anomalies besides their scores.

    Attributes
    ----------
    method : str
    n_pixels, n_without_data : int
        Pixels with a score, and without.
    highest : list of dict
        Row, column, score and, where the scene tells, x and y of the ten highest scores.
    detection : mapping of str to DetectionCurve or None
        By method, the asked one first; None without a truth.
    """

    method: str
    n_pixels: int
    n_without_data: int
    highest: list[dict[str, Any]]
    detection: Mapping[str, DetectionCurve] | None = None

    def lines(self) -> list[str]:
        """Return the report as lines to read."""
        lines = [f"{self.n_pixels} pixels scored ({self.n_without_data} without data)"]
        for name, curve in (self.detection or {}).items():
            lines.append(
                f"{NAMES[name]}: area under the ROC curve {curve.area:.4f}; "
                f"{100 * curve.detected_at(0.01):.0f} % of {curve.n_anomalies} anomalies detected "
                "at 1 % false alarms"
            )
        lines.append("highest scores (row, column, counted from 0):")
        return lines + [
            f"  {pixel['row']:5} {pixel['column']:5}  {pixel['score']:.4g}"
            for pixel in self.highest
        ]


def report_anomalies(
    found: SceneAnomalies,
    scene: Scene,
    *,
    curves: Mapping[str, DetectionCurve] | None = None,
    costs: RunCosts | None = None,
) -> AnomalyReport:
    """Describe a scene's anomalies."""
    n_pixels = int(np.isfinite(found.scores).sum())
    return AnomalyReport(
        method=found.method,
        n_pixels=n_pixels,
        n_without_data=found.scores.size - n_pixels,
        highest=[_placed(scene, *pixel) for pixel in found.highest(_LISTED)],
        detection=curves or None,
        memory=found.memory,
        costs=costs,
    )


def draw_anomalies(
    path: str | os.PathLike[str],
    found: SceneAnomalies,
    scene: Scene,
    *,
    truth: np.ndarray | None = None,
    curves: Mapping[str, DetectionCurve] | None = None,
    overwrite: bool = False,
) -> None:
    """Draw the scene, its scores and, with a truth, the ROC curves as a PNG.

    Parameters
    ----------
    path : path-like
    found : SceneAnomalies
    scene : Scene
    truth : ndarray of bool of shape (rows, columns), optional
        Known anomalies, outlined in the scene.
    curves : mapping of str to DetectionCurve, optional
        By method.
    overwrite : bool, default=False
        Whether a file that exists may be replaced.
    """
    from diffclass.plots import CompositeDisplay, DetectionDisplay

    n_panels = 3 if curves else 2
    figure = new_figure(figsize=(5.2 * n_panels, 4.8))
    figure.set_layout_engine("constrained", w_pad=0.12)
    axes = figure.subplots(1, n_panels)
    CompositeDisplay(_three_bands(scene), bands=(0, 1, 2)).plot(ax=axes[0], title="scene")
    _draw_scores(figure, axes[1], found)
    if truth is not None and truth.any() and min(truth.shape) > 1:
        axes[0].contour(truth, levels=[0.5], colors="red", linewidths=1.0)
        axes[0].set_title("scene, known anomalies outlined")
    if curves:
        DetectionDisplay({NAMES[name]: curve for name, curve in curves.items()}).plot(
            ax=axes[2], title="detection (ROC curve)"
        )
    with replacing(path, overwrite=overwrite, suffix=".png") as temporary:
        figure.savefig(temporary, dpi=100)


def _draw_scores(figure: Any, axes: Any, found: SceneAnomalies) -> None:
    """Show ranks: scores span orders of magnitude, in a different way for each method."""
    from diffclass.plots.axes import label_map_axes

    ranks = percentiles(found.scores)
    image = axes.imshow(-np.log10(1 - ranks), cmap="viridis", interpolation="nearest")
    bar = figure.colorbar(image, ax=axes, shrink=0.8)
    ticks = [t for t in range(7) if t <= float(np.nanmax(-np.log10(1 - ranks)))]
    bar.set_ticks(ticks, labels=["all pixels", *(f"1 in {10**t:,}" for t in ticks[1:])])
    bar.set_label("pixels with this score or more")
    axes.set_title(f"{NAMES[found.method]}: score")
    label_map_axes(axes)


def percentiles(scores: np.ndarray) -> np.ndarray:
    """Return the share of pixels that score lower, 0 to 1 (not reached); NaN without data."""
    known = np.isfinite(scores)
    ordered = np.sort(scores[known])
    shares = np.full(scores.shape, np.nan)
    shares[known] = np.searchsorted(ordered, scores[known], side="left") / len(ordered)
    return shares


def _three_bands(scene: Scene) -> np.ndarray:
    """Read three bands over the usable spectrum, as red, green and blue."""
    usable = np.flatnonzero(scene.usable_bands())
    chosen = [usable[round(share * (len(usable) - 1))] for share in (0.8, 0.45, 0.15)]
    planes = []
    for band in chosen:
        only = np.zeros(scene.n_bands, dtype=bool)
        only[band] = True
        planes.append(scene.spectra(bands=only).reshape(scene.shape[:2]))
    return np.stack(planes, axis=-1)


def _placed(scene: Scene, row: int, column: int, score: float) -> dict[str, Any]:
    place = scene.centre(row, column)
    at = {} if place is None else {"x": place[0], "y": place[1]}
    return {"row": row, "column": column, "score": score, **at}
