"""What is known about a scene's clusters: facts for programs, lines for people, a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diffclass.evaluation import ClusterScores
from diffclass.output import replacing
from diffclass_hyperspectral.io.labels import ClassTable
from diffclass_hyperspectral.io.libraries import require
from diffclass_hyperspectral.io.maps import new_figure
from diffclass_hyperspectral.io.readers import color_text
from diffclass_hyperspectral.workflows.clustering.clusters import (
    UNCLUSTERED,
    SceneClusters,
)
from diffclass_hyperspectral.workflows.reports import HIDDEN, Facts, RunCosts, RunReport


@dataclass(frozen=True, eq=False)
class ClusterFacts(Facts):
    """One cluster.

    Attributes
    ----------
    id, pixels, outliers : int
        Number, size, and how many of its pixels had been set aside.
    staying : float
        Probability that a step of the walk stays in the cluster.
    retention : float
        Probability that the walk is still there when clusters have mixed inside.
    mode : tuple of int or None
        Row and column of its mode, where modes were searched for.
    mean, standard_deviation : ndarray of shape (n_bands,)
        Of the spectra of its pixels.
    """

    id: int
    pixels: int
    outliers: int
    staying: float
    retention: float
    mode: tuple[int, int] | None
    mean: np.ndarray
    standard_deviation: np.ndarray

    def line(self) -> str:
        """Return the cluster as a line to read."""
        mode = "" if self.mode is None else f", mode at row {self.mode[0]}, column {self.mode[1]}"
        return (
            f"{self.id:>5}  {self.pixels} pixels ({self.outliers} outliers); a step stays with "
            f"probability {self.staying:.3f}, the walk until others have mixed {self.retention:.2f}"
            f"{mode}"
        )


@dataclass(frozen=True, eq=False)
class ClusterReport(RunReport):
    """What is known about a scene's clusters besides their map.

    Attributes
    ----------
    method : str
    reason : str
        Why there are so many.
    clusters : tuple of ClusterFacts
    n_without_data : int
        Pixels in no cluster.
    eigenvalues : tuple of float
        Of the walk, the first 1.
    n_clusters : int
    bands : ndarray of int of shape (n_bands,)
        Of the spectra, numbered from 0.
    wavelengths_nm : ndarray of shape (n_bands,) or None
    features : {"spectral", "spatial"}
    agreement : ClusterScores or None
        With the truth; None without one.
    truth : ClassTable or None
        Classes of that truth.
    """

    method: str
    reason: str
    clusters: tuple[ClusterFacts, ...]
    n_without_data: int
    eigenvalues: tuple[float, ...]
    n_clusters: int
    bands: np.ndarray
    wavelengths_nm: np.ndarray | None
    features: str
    agreement: ClusterScores | None = None
    truth: ClassTable | None = field(default=None, metadata=HIDDEN)

    def lines(self) -> list[str]:
        """Return the report as lines to read."""
        n_pixels = sum(cluster.pixels for cluster in self.clusters)
        lines = [
            f"{self.n_clusters} clusters of {n_pixels} pixels ({self.n_without_data} without "
            f"data): {self.reason}",
            *(cluster.line() for cluster in self.clusters),
        ]
        return lines if self.agreement is None else lines + self._agreement_lines(self.agreement)

    def _agreement_lines(self, agreement: ClusterScores) -> list[str]:
        scores = agreement.scores
        given = [f"{c} {self._class_name(k)}" for c, k in sorted(agreement.assignment.items())]
        return [
            f"clusters as classes, the best assignment: {', '.join(given)}",
            f"overall accuracy {scores.overall_accuracy:.2%}, average accuracy "
            f"{scores.average_accuracy:.2%}, kappa {scores.kappa:.3f} over "
            f"{int(scores.confusion.sum())} pixels of known class",
            f"normalised mutual information {agreement.mutual_information:.3f}, adjusted Rand "
            f"index {agreement.adjusted_rand:.3f}",
        ]

    def _class_name(self, class_id: int) -> str:
        if self.truth is None or class_id not in self.truth:
            return f"class {class_id}"
        return self.truth[class_id].name


def report_clusters(
    found: SceneClusters,
    *,
    agreement: ClusterScores | None = None,
    truth: ClassTable | None = None,
    costs: RunCosts | None = None,
) -> ClusterReport:
    """Describe a scene's clusters."""
    model, k = found.model, len(found.order)
    sizes, outliers = (
        np.bincount(ids, minlength=k + 1)[1:].tolist()
        for ids in (found.cluster_map.ravel(), found.cluster_map[found.outliers])
    )
    modes: Sequence[tuple[int, int] | None] = found.modes or [None] * k
    clusters = tuple(
        ClusterFacts(
            id=place + 1,
            pixels=sizes[place],
            outliers=outliers[place],
            staying=float(model.staying_[number]),
            retention=float(model.retention_[number]),
            mode=modes[place],
            mean=found.spectra.means[place],
            standard_deviation=found.spectra.deviations[place],
        )
        for place, number in enumerate(found.order)
    )
    return ClusterReport(
        method="kmeans" if found.modes is None else "modes",
        reason=model.reason_,
        clusters=clusters,
        n_without_data=int((found.cluster_map == UNCLUSTERED).sum()),
        eigenvalues=tuple(model.embedding_.eigenpairs_.eigenvalues.tolist()),
        n_clusters=k,
        bands=found.spectra.bands,
        wavelengths_nm=found.spectra.wavelengths,
        features="spatial" if found.features.spatial else "spectral",
        agreement=agreement,
        truth=truth,
        memory=found.memory,
        costs=costs,
    )


def draw_clusters(
    path: str | os.PathLike[str], found: SceneClusters, *, overwrite: bool = False
) -> None:
    """Draw the map of a scene's clusters and their mean spectra as a PNG."""
    require("matplotlib", extra="plots")
    from diffclass.plots import ClassMapDisplay, MeanSpectraDisplay

    names = {entry.id: entry.name for entry in found.table}
    colors = {entry.id: color_text(entry.color) for entry in found.table}
    style: dict[str, Any] = {
        "class_ids": list(names),
        "class_names": names,
        "class_colors": colors,
    }
    figure = new_figure(figsize=(13.5, max(4.8, 0.24 * len(names) + 1.2)), layout="constrained")
    axes = figure.subplots(1, 2)
    ClassMapDisplay(found.cluster_map, **style).plot(ax=axes[0], title="clusters")
    spectra = found.spectra
    MeanSpectraDisplay(
        spectra.means,
        bands=spectra.bands,
        wavelengths=spectra.wavelengths,
        deviations=spectra.deviations,
        **style,
    ).plot(ax=axes[1], legend=False, title=_spectra_title(len(names)))
    with replacing(path, overwrite=overwrite, suffix=".png") as temporary:
        figure.savefig(temporary, dpi=100)


def _spectra_title(n_clusters: int) -> str:
    from diffclass.plots.mean_spectra import MOST_SPREADS

    shaded = " and one standard deviation" if n_clusters <= MOST_SPREADS else ""
    return f"mean spectra{shaded}"
