"""Options of commands that find clusters, anomalies or points to label, of any kind of input."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from diffclass.command_line.option_groups import (
    FILE_OR_WORD,
    option,
    report_option,
    variable_option,
)
from diffclass.options import COUNT, OneOf, Whole

if TYPE_CHECKING:
    from diffclass.anomaly import DiffusionAnomaly
    from diffclass.clustering import DiffusionClustering


@dataclass(frozen=True)
class ClusterOptions:
    """How many clusters, and how they are found."""

    clusters: int | None = option(
        "Number of clusters; by default the one before the widest gap of the walk's spectrum.",
        short="-k",
        of=Whole(2, or_none=True),
    )
    method: str = option(
        "How clusters are found in diffusion coordinates. kmeans: around means. modes: around "
        "dense points that are far from denser ones (LUND).",
        of=OneOf(("kmeans", "modes")),
        default="kmeans",
    )
    truth: str | None = option(
        "Known classes, as classify's labels: prints how well the clusters agree with them, after "
        "the best assignment of clusters to classes.",
        type=FILE_OR_WORD,
    )
    report: Path | None = report_option()

    def model(self, random_state: int) -> DiffusionClustering:
        """Return what finds the clusters."""
        from diffclass import DiffusionClustering, DiffusionModes

        made = DiffusionModes if self.method == "modes" else DiffusionClustering
        return made("auto" if self.clusters is None else self.clusters, random_state=random_state)


@dataclass(frozen=True)
class AnomalyOptions:
    """The graph and the walk whose distance from equilibrium is the score."""

    neighbors: int = option(
        "Of diffusion: neighbours of a point in the graph; more than anomalies that are alike.",
        of=COUNT,
        default=32,
    )
    time: int = option(
        "Of diffusion: steps of the walk. More find groups of anomalies that are alike, and "
        "lose mixtures.",
        of=COUNT,
        default=1,
    )
    truth: str | None = option(
        "Known anomalies, as classify's labels; 0 and empty are none: prints the area under the "
        "ROC curve, of scenes also that of RX.",
        type=FILE_OR_WORD,
    )
    report: Path | None = report_option()

    def model(self, random_state: int) -> DiffusionAnomaly:
        """Return what scores the points."""
        from diffclass import DiffusionAnomaly

        return DiffusionAnomaly(
            n_neighbors=self.neighbors, time=self.time, random_state=random_state
        )


@dataclass(frozen=True)
class SuggestOptions:
    """How many points to label, and by which rule."""

    number: int = option(
        "How many; best as many as will be labelled at once.", short="-n", of=COUNT, default=10
    )
    rule: str = option(
        "coverage: what stands for many others in doubt. margin: where classes are close.",
        of=OneOf("diffclass.acquisition:RULES"),
        default="coverage",
    )
    label_variable: str | None = variable_option("label file")
    report: Path | None = report_option()
