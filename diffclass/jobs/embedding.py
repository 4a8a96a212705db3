"""Diffusion coordinates: what they cost, their picture and report."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from diffclass.embedding import DiffusionMap
from diffclass.graph import graph_costs
from diffclass.jobs.reports import RunCosts, RunReport, written_as
from diffclass.kernels import Gaussian
from diffclass.plots import BandwidthDisplay, EigenvaluesDisplay, new_figure
from diffclass.spectral import MOST_COMPONENTS, BandwidthCurve, eigenpairs_cost
from diffclass.system.costs import Cost, Forecast, Size
from diffclass.system.output import replacing


def embedding_costs(size: Size, model: DiffusionMap) -> dict[str, Cost]:
    """Return what a diffusion map of points costs, stage by stage."""
    most = MOST_COMPONENTS + 1 if isinstance(model.n_components, str) else model.n_components
    costs = graph_costs(size, model.kernel or Gaussian())
    return costs | {"eigenpairs": eigenpairs_cost(size, most + 1), "writing": Cost()}


def draw_map(
    path: str | os.PathLike[str],
    model: DiffusionMap,
    draw_points: Callable[[Any], None],
    *,
    overwrite: bool = False,
) -> None:
    """Draw coordinates (by ``draw_points``), spectrum and any bandwidth's curve as a PNG."""
    curve = model.bandwidth_curve_
    n_panels = 3 if curve is not None else 2
    figure = new_figure((5.5 * n_panels, 4.5), layout="constrained")
    axes = figure.subplots(1, n_panels)
    draw_points(axes[0])
    times = sorted({1, 16, 256, model.time_})
    EigenvaluesDisplay.from_estimator(model, times=times, ax=axes[1])
    if curve is not None:
        BandwidthDisplay(curve).plot(axes[2])
    with replacing(path, overwrite=overwrite, suffix=".png") as temporary:
        figure.savefig(temporary, dpi=100)


def _curve(curve: BandwidthCurve) -> dict[str, Any]:
    return {
        "criterion": curve.criterion,
        "epsilons": curve.epsilons.tolist(),
        "values": [None if value != value else float(value) for value in curve.values],
        "n_useful": curve.n_useful.tolist(),
        "in_reach": curve.in_reach.tolist(),
        "is_found": curve.is_found,
        "dimension": curve.dimension,
    }


@dataclass(frozen=True, eq=False)
class EmbeddingReport(RunReport):
    """What is known about an embedding besides its coordinates."""

    n_points: int
    n_without_data: int  # pixels or rows that were left out
    eigenvalues: tuple[float, ...]
    time: float  # in steps
    kind: str  # of diffusion distance
    epsilon: float | None  # bandwidth; None where each point has its own
    alpha: float
    n_neighbors: int | None  # of a point; None for a graph of one's own
    neighbor_recall: float | None  # share of the true neighbours that were found
    n_graph_components: int
    bandwidth_curve: BandwidthCurve | None = field(metadata=written_as(_curve))

    def lines(self) -> list[str]:
        """Return the report as lines to read."""
        eigenvalues = ", ".join(f"{value:.4f}" for value in self.eigenvalues)
        epsilon = "self-tuned" if self.epsilon is None else f"{self.epsilon:.4g}"
        if self.n_neighbors is None:
            graph, kernel = "a graph of one's own", ""
        else:
            graph, kernel = f"{self.n_neighbors} neighbours", f"epsilon {epsilon}, "
        lines = [
            f"{self.n_points} points ({self.n_without_data} without data), "
            f"{graph}, {self.n_graph_components} component(s)",
            f"{kernel}alpha {self.alpha:g}, time {self.time:g}, {self.kind}",
            f"eigenvalues {eigenvalues}",
        ]
        curve = self.bandwidth_curve
        if curve is not None and curve.dimension is not None:
            lines.append(f"dimension {curve.dimension:.2f}")
        return lines


def report_embedding(
    model: DiffusionMap,
    n_all: int,
    *,
    memory: Forecast | None = None,
    costs: RunCosts | None = None,
) -> EmbeddingReport:
    """Describe a fitted map of ``n_all`` points, with those that were left out."""
    n_points = len(model.operator_)
    return EmbeddingReport(
        n_points=n_points,
        n_without_data=n_all - n_points,
        eigenvalues=tuple(model.eigenvalues_.tolist()),
        time=model.time_,
        kind=model.kind,
        epsilon=model.epsilon_,
        alpha=model.alpha,
        n_neighbors=getattr(model, "n_neighbors_", None),
        neighbor_recall=model.graph_.recall,
        n_graph_components=model.operator_.n_connected_components,
        bandwidth_curve=model.bandwidth_curve_,
        memory=memory,
        costs=costs,
    )
