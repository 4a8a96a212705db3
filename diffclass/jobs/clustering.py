"""Classes without labels: clusters of points, and how well they agree with known classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from diffclass.clustering import N_NEIGHBORS, DiffusionClustering, DiffusionModes
from diffclass.embedding import DiffusionMap
from diffclass.evaluation import ClusterScores, cluster_scores
from diffclass.exceptions import DataError, ParameterError
from diffclass.graph import BYTES_OF_A_POINT, graph_costs
from diffclass.jobs.parameters import check_company
from diffclass.jobs.point_set import PointSet
from diffclass.jobs.reports import IF_KNOWN, MERGED, Facts, PointsReport, RunCosts
from diffclass.kernels import DensityWeighted, SharedNeighbors
from diffclass.options import COUNT
from diffclass.spectral import MOST_COMPONENTS, eigenpairs_cost
from diffclass.system.costs import Cost, Forecast


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of points, numbered from 1 by falling size.

    Attributes
    ----------
    points : PointSet
    model : DiffusionClustering
        Fitted.
    memory : Forecast or None
        What the run was forecast to need.
    """

    points: PointSet
    model: DiffusionClustering
    memory: Forecast | None = None

    @cached_property
    def order(self) -> np.ndarray:
        """The model's number of cluster 1, 2, ..., int (n_clusters,)."""
        sizes = np.bincount(self.model.labels_, minlength=self.model.n_clusters_)
        return np.argsort(-sizes, kind="stable")

    @cached_property
    def numbers(self) -> np.ndarray:
        """Cluster of every row or pixel, int32, in the shape of `PointSet.valid`; 0 for none."""
        ids = np.empty(len(self.order), dtype=np.int32)
        ids[self.order] = np.arange(1, len(self.order) + 1)
        return self.points.placed(ids[self.model.labels_], 0)

    @cached_property
    def outliers(self) -> np.ndarray:
        """Those that were set aside and go with the cluster of the nearest other point, bool."""
        return self.points.placed(self.model.outliers_, False)

    @property
    def modes(self) -> list[dict[str, Any]] | None:
        """What each cluster's mode is called, or None for other models."""
        if not isinstance(self.model, DiffusionModes):
            return None
        return self.points.names(self.model.modes_[self.order])


def cluster(
    points: PointSet,
    model: DiffusionClustering | None = None,
    *,
    random_state: int = 0,
    before: Callable[[Forecast], object] | None = None,
) -> Clusters:
    """Find clusters of points.

    Parameters
    ----------
    points : PointSet
        Such as ``Pixels`` of a scene or ``Rows`` of a table.
    model : DiffusionClustering or DiffusionModes, optional
        Fitted here; k-means in diffusion coordinates by default, with the number of clusters that
        the spectrum suggests.
    random_state : int, default=0
        Of the default model.
    before : callable, optional
        Called with the forecast of memory before the points are made.

    Returns
    -------
    Clusters

    Raises
    ------
    DataError
        Where no points can be made.
    ParameterError
        For parameters out of range, or more clusters than points.

    See Also
    --------
    find_anomalies : Single strange points instead of groups.
    diffclass.DiffusionModes : As ``model``, where clusters are of any size and shape.

    Examples
    --------
    >>> from diffclass import DiffusionClustering
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass.jobs import cluster
    >>> from diffclass_hyperspectral import Pixels, Scene
    >>> pixels = Pixels(Scene.from_array(make_tissue_scene(48, 48, random_state=0).cube))
    >>> found = cluster(pixels, DiffusionClustering(3))
    >>> found.numbers.shape, sorted(set(found.numbers.ravel().tolist()))
    ((48, 48), [1, 2, 3])
    """
    model = DiffusionClustering("auto", random_state=random_state) if model is None else model
    check_clustering(model, points.size().points, points.noun)
    memory = forecast_clustering(points, model)
    if before is not None:
        before(memory)
    made = points.points
    check_clustering(model, made.shape[0], points.noun)
    if points.affinity is not None:
        of_graph = DiffusionMap("auto", affinity=points.affinity, time="relaxation")
        model.set_params(embedding=of_graph)
    return Clusters(points, model.fit(made), memory)


def forecast_clustering(points: PointSet, model: DiffusionClustering) -> Forecast:
    """Say what `cluster` will need; within about a quarter from 100,000 points on."""
    size = points.size(N_NEIGHBORS)
    asked = None if isinstance(model.n_clusters, str) else model.n_clusters
    n_pairs = MOST_COMPONENTS + 2 if asked is None else asked + 1
    inliers = 4 * size.points * size.features  # a copy without the outliers
    costs = points.costs() | graph_costs(size, DensityWeighted(SharedNeighbors()))
    costs["neighbors"] += Cost(inliers, inliers)
    costs["eigenpairs"] = eigenpairs_cost(size, n_pairs)
    costs["clusters"] = Cost(24 * size.points * n_pairs)  # coordinates, and those of the search
    return Forecast.of(costs | {"writing": Cost(BYTES_OF_A_POINT * size.points)})


def check_clustering(model: DiffusionClustering, n_points: int, noun: str) -> None:
    """Raise `ParameterError` for a number of clusters refused when fitted to that many points."""
    check_company(n_points)
    if isinstance(model.n_clusters, str):
        return  # checked with the points
    COUNT.check(model.n_clusters, "n_clusters")
    if model.n_clusters > n_points:
        raise ParameterError(
            f"{model.n_clusters} clusters were asked for, but only {n_points} {noun} have data; "
            f"ask for at most {n_points}"
        )


def agreement(found: Clusters, truth: np.ndarray) -> ClusterScores:
    """Return how well clusters agree with classes that are known.

    Parameters
    ----------
    found : Clusters
    truth : ndarray of int
        Of all rows or pixels, in the shape of `PointSet.valid`; 0 is unknown.

    Raises
    ------
    DataError
        Where no point has a known class.

    See Also
    --------
    diffclass.evaluation.cluster_scores : For arrays.

    Examples
    --------
    >>> from diffclass import DiffusionClustering
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass.jobs import agreement, cluster
    >>> from diffclass_hyperspectral import Pixels, Scene
    >>> tissue = make_tissue_scene(48, 48)
    >>> found = cluster(Pixels(Scene.from_array(tissue.cube)), DiffusionClustering(3))
    >>> found = agreement(found, tissue.truth)
    >>> f"{found.scores.overall_accuracy:.0%} right, adjusted Rand {found.adjusted_rand:.1f}"
    '89% right, adjusted Rand 0.8'
    """
    known = (truth > 0) & (found.numbers > 0)
    if not known.any():
        raise DataError(
            f"{found.points.path}: none of its {found.points.noun} with data has a known class; "
            "there is nothing to compare"
        )
    return cluster_scores(truth[known], found.numbers[known])


@dataclass(frozen=True, eq=False)
class ClusterFacts(Facts):
    """One cluster."""

    id: int
    n_points: int
    outliers: int  # of its points, set aside at first
    staying: float  # probability that a step of the walk stays in the cluster
    retention: float  # that the walk is still there when clusters have mixed inside
    mode: Mapping[str, Any] | None  # what it is called, where modes were searched for
    more: Mapping[str, Any] = field(default_factory=dict, metadata=MERGED)


@dataclass(frozen=True, eq=False)
class ClusterReport(PointsReport):
    """What is known about clusters besides which points they have."""

    method: str
    reason: str  # why there are so many
    clusters: tuple[ClusterFacts, ...]
    eigenvalues: tuple[float, ...]  # of the walk, the first 1
    n_clusters: int
    agreement: ClusterScores | None = None
    class_names: Mapping[int, str] | None = field(default=None, metadata=IF_KNOWN)

    def lines(self) -> list[str]:
        """Return the report as lines to read."""
        lines = [
            f"{self.n_clusters} clusters of {self.counted} {self.without_data}: {self.reason}",
            *(self._line(one) for one in self.clusters),
        ]
        return lines if self.agreement is None else lines + self._agreement_lines(self.agreement)

    def _line(self, one: ClusterFacts) -> str:
        mode = "" if one.mode is None else f", mode at {self.points.in_words(one.mode)}"
        return (
            f"{one.id:>5}  {one.n_points} {self.points.noun} ({one.outliers} outliers); a step "
            f"stays with probability {one.staying:.3f}, the walk until others have mixed "
            f"{one.retention:.2f}{mode}"
        )

    def _agreement_lines(self, agreement: ClusterScores) -> list[str]:
        scores = agreement.scores
        names = self.class_names or {}
        given = [
            f"{number} {names.get(class_id, f'class {class_id}')}"
            for number, class_id in sorted(agreement.assignment.items())
        ]
        return [
            f"clusters as classes, the best assignment: {', '.join(given)}",
            f"overall accuracy {scores.overall_accuracy:.2%}, average accuracy "
            f"{scores.average_accuracy:.2%}, kappa {scores.kappa:.3f} over "
            f"{int(scores.confusion.sum())} {self.points.noun} of known class",
            f"normalised mutual information {agreement.mutual_information:.3f}, adjusted Rand "
            f"index {agreement.adjusted_rand:.3f}",
        ]


def report_clusters(
    found: Clusters,
    *,
    truth: np.ndarray | None = None,
    class_names: Mapping[int, str] | None = None,
    costs: RunCosts | None = None,
    more: Mapping[str, Any] | None = None,
    more_of_each: Sequence[Mapping[str, Any]] | None = None,
) -> ClusterReport:
    """Describe clusters, with the facts that one kind of input alone has (``more``)."""
    model, k = found.model, len(found.order)
    sizes, outliers = (
        np.bincount(ids, minlength=k + 1)[1:].tolist()
        for ids in (found.numbers.ravel(), found.numbers[found.outliers])
    )
    modes = found.modes
    clusters = tuple(
        ClusterFacts(
            id=place + 1,
            n_points=sizes[place],
            outliers=outliers[place],
            staying=float(model.staying_[number]),
            retention=float(model.retention_[number]),
            mode=None if modes is None else modes[place],
            more={} if more_of_each is None else more_of_each[place],
        )
        for place, number in enumerate(found.order)
    )
    return ClusterReport(
        method="kmeans" if modes is None else "modes",
        reason=model.reason_,
        clusters=clusters,
        eigenvalues=tuple(model.embedding_.eigenpairs_.eigenvalues.tolist()),
        n_clusters=k,
        agreement=None if truth is None else agreement(found, truth),
        class_names=class_names,
        points=found.points,
        more=more or {},
        memory=found.memory,
        costs=costs,
    )
