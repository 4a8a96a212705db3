"""The report of an embedding: facts for programs, lines for people."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from diffclass import BandwidthCurve
from diffclass_hyperspectral.workflows.embedding.coordinates import EmbeddedPoints
from diffclass_hyperspectral.workflows.reports import RunCosts, RunReport, written_as


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
    """What is known about an embedding besides its coordinates.

    Attributes
    ----------
    n_points, n_without_data : int
        Embedded points, and pixels or rows that were left out.
    eigenvalues : tuple of float
    time : float
        In steps.
    epsilon : float or None
        Bandwidth; None where each point has its own.
    alpha : float
        Density exponent.
    n_neighbors : int
    neighbor_recall : float or None
        Share of the true neighbours that the search found.
    n_graph_components : int
    bandwidth_curve : BandwidthCurve or None
        From which epsilon was chosen.
    """

    n_points: int
    n_without_data: int
    eigenvalues: tuple[float, ...]
    time: float
    epsilon: float | None
    alpha: float
    n_neighbors: int
    neighbor_recall: float | None
    n_graph_components: int
    bandwidth_curve: BandwidthCurve | None = field(metadata=written_as(_curve))

    def lines(self) -> list[str]:
        """Return the report as lines to read."""
        eigenvalues = ", ".join(f"{value:.4f}" for value in self.eigenvalues)
        epsilon = "self-tuned" if self.epsilon is None else f"{self.epsilon:.4g}"
        lines = [
            f"{self.n_points} points ({self.n_without_data} without data), "
            f"{self.n_neighbors} neighbours, {self.n_graph_components} component(s)",
            f"epsilon {epsilon}, alpha {self.alpha:g}, time {self.time:g}",
            f"eigenvalues {eigenvalues}",
        ]
        curve = self.bandwidth_curve
        if curve is not None and curve.dimension is not None:
            lines.append(f"dimension {curve.dimension:.2f}")
        return lines


def report_embedding(embedded: EmbeddedPoints, *, costs: RunCosts | None = None) -> EmbeddingReport:
    """Describe an embedding."""
    model = embedded.model
    n_points = len(model.operator_)
    return EmbeddingReport(
        n_points=n_points,
        n_without_data=len(embedded.coordinates) - n_points,
        eigenvalues=tuple(model.eigenvalues_.tolist()),
        time=model.time_,
        epsilon=model.epsilon_,
        alpha=model.alpha,
        n_neighbors=model.n_neighbors_,
        neighbor_recall=model.graph_.recall,
        n_graph_components=model.operator_.n_connected_components,
        bandwidth_curve=model.bandwidth_curve_,
        memory=embedded.memory,
        costs=costs,
    )
