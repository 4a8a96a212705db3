"""Diffusion coordinates of points: found, drawn and reported."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from diffclass.embedding import DiffusionMap
from diffclass.graph import graph_costs
from diffclass.jobs.parameters import check_map
from diffclass.jobs.point_set import PointSet
from diffclass.jobs.reports import PointsReport, RunCosts, written_as
from diffclass.kernels import Gaussian
from diffclass.plots import BandwidthDisplay, EigenvaluesDisplay, new_figure
from diffclass.spectral import MOST_COMPONENTS, BandwidthCurve, eigenpairs_cost
from diffclass.system.costs import Cost, Forecast
from diffclass.system.output import replacing


@dataclass(frozen=True, eq=False)
class Embedding:
    """Diffusion coordinates of points.

    Attributes
    ----------
    points : PointSet
    model : DiffusionMap
        Fitted.
    memory : Forecast or None
        What the run was forecast to need.
    """

    points: PointSet
    model: DiffusionMap
    memory: Forecast | None = None

    @cached_property
    def coordinates(self) -> np.ndarray:
        """Of all rows or pixels, float64 (..., n_components), NaN without data."""
        return self.points.placed(self.model.embedding_.astype(np.float64), np.nan)

    @property
    def names(self) -> list[str]:
        """Names of the coordinates."""
        return [f"diffusion {i + 1}" for i in range(self.model.embedding_.shape[1])]


def embed(
    points: PointSet,
    model: DiffusionMap | None = None,
    *,
    random_state: int = 0,
    before: Callable[[Forecast], object] | None = None,
) -> Embedding:
    """Find diffusion coordinates of points.

    Parameters
    ----------
    points : PointSet
        Such as ``Pixels`` of a scene or ``Rows`` of a table.
    model : DiffusionMap, optional
        Fitted here.
    random_state : int, default=0
        Of the default model.
    before : callable, optional
        Called with the forecast of memory before the points are made.

    Returns
    -------
    Embedding

    Raises
    ------
    DataError
        Where no points can be made.
    ParameterError
        As `diffclass.DiffusionMap`.

    See Also
    --------
    diffclass.DiffusionMap : The estimator, for arrays.
    cluster : Groups in such coordinates.

    Examples
    --------
    >>> from diffclass import DiffusionMap
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass.jobs import embed
    >>> from diffclass_hyperspectral import Pixels, Scene
    >>> scene = Scene.from_array(make_tissue_scene(48, 48).cube)
    >>> embedded = embed(Pixels(scene), DiffusionMap(3))
    >>> embedded.coordinates.shape, embedded.names
    ((48, 48, 3), ['diffusion 1', 'diffusion 2', 'diffusion 3'])
    """
    model = DiffusionMap(random_state=random_state) if model is None else model
    check_map(model, points.size().points)
    memory = forecast_embedding(points, model)
    if before is not None:
        before(memory)
    made = points.points
    if points.affinity is not None:
        model.set_params(affinity=points.affinity)
    return Embedding(points, model.fit(made), memory)


def forecast_embedding(points: PointSet, model: DiffusionMap) -> Forecast:
    """Say what `embed` will need; within about a quarter from 100,000 points on."""
    size = points.size(model.n_neighbors)
    most = MOST_COMPONENTS + 1 if isinstance(model.n_components, str) else model.n_components
    costs = points.costs() | graph_costs(size, model.kernel or Gaussian())
    return Forecast.of(costs | {"eigenpairs": eigenpairs_cost(size, most + 1), "writing": Cost()})


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
class EmbeddingReport(PointsReport):
    """What is known about an embedding besides its coordinates."""

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
            f"{self.counted} {self.without_data}, {graph}, {self.n_graph_components} component(s)",
            f"{kernel}alpha {self.alpha:g}, time {self.time:g}, {self.kind}",
            f"eigenvalues {eigenvalues}",
        ]
        curve = self.bandwidth_curve
        if curve is not None and curve.dimension is not None:
            lines.append(f"dimension {curve.dimension:.2f}")
        return lines


def report_embedding(found: Embedding, *, costs: RunCosts | None = None) -> EmbeddingReport:
    """Describe an embedding."""
    model = found.model
    return EmbeddingReport(
        eigenvalues=tuple(model.eigenvalues_.tolist()),
        time=model.time_,
        kind=model.kind,
        epsilon=model.epsilon_,
        alpha=model.alpha,
        n_neighbors=getattr(model, "n_neighbors_", None),
        neighbor_recall=model.graph_.recall,
        n_graph_components=model.operator_.n_connected_components,
        bandwidth_curve=model.bandwidth_curve_,
        points=found.points,
        memory=found.memory,
        costs=costs,
    )
