"""Classes without labels: clusters of a scene's pixels, their spectra, picture and report."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from diffclass.clustering import N_NEIGHBORS, DiffusionClustering, DiffusionModes
from diffclass.evaluation import ClusterScores, cluster_scores
from diffclass.exceptions import DataError, ParameterError
from diffclass.graph import BYTES_OF_A_POINT, graph_costs
from diffclass.jobs import HIDDEN, Facts, RunCosts, RunReport
from diffclass.kernels import DensityWeighted, SharedNeighbors
from diffclass.options import COUNT, check_options
from diffclass.plots import MOST_SPREADS, ClassMapDisplay, MeanSpectraDisplay, new_figure
from diffclass.spectral import MOST_COMPONENTS, eigenpairs_cost
from diffclass.system.costs import Cost, Forecast
from diffclass.system.libraries import require
from diffclass.system.output import replacing
from diffclass.system.progress import stage
from diffclass_hyperspectral.features.feature_costs import feature_costs, scene_size
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.labels import ClassTable, LabelImage
from diffclass_hyperspectral.io.rasters import row_blocks
from diffclass_hyperspectral.io.readers import SpectralLibrary, color_text
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.options import OPTIONS

UNCLUSTERED = 0


@dataclass(frozen=True, eq=False)
class SceneClusters:
    """Clusters of a scene's pixels, numbered from 1 by falling size.

    Attributes
    ----------
    cluster_map : ndarray of int of shape (rows, columns)
        0 without data.
    outliers : ndarray of bool of shape (rows, columns)
        Pixels that were set aside and go with the cluster of the nearest other one.
    order : ndarray of int of shape (n_clusters,)
        The model's number of cluster 1, 2, ...
    spectra : ClusterSpectra
    model, features : DiffusionClustering, SceneFeatures
        Fitted.
    memory : Forecast or None
        What the run was forecast to need.
    """

    cluster_map: np.ndarray
    outliers: np.ndarray
    order: np.ndarray
    spectra: ClusterSpectra
    model: DiffusionClustering
    features: SceneFeatures
    memory: Forecast | None = None

    @cached_property
    def table(self) -> ClassTable:
        """Names and colours for a map: cluster 1, cluster 2, ..."""
        ids = range(1, len(self.order) + 1)
        return ClassTable.from_ids(ids, names={i: f"cluster {i}" for i in ids})

    @property
    def modes(self) -> list[tuple[int, int]] | None:
        """Row and column of each cluster's mode, or None for other models."""
        if not isinstance(self.model, DiffusionModes):
            return None
        pixels = np.flatnonzero(self.cluster_map)[self.model.modes_[self.order]]
        rows, columns = np.unravel_index(pixels, self.cluster_map.shape)
        return list(zip(rows.tolist(), columns.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class ClusterSpectra:
    """Mean spectra of clusters.

    Attributes
    ----------
    means, deviations : ndarray of shape (n_clusters, n_bands)
        Over the pixels of each cluster, in the scene's units.
    bands : ndarray of int of shape (n_bands,)
        The bands in use, numbered from 0.
    wavelengths : ndarray of shape (n_bands,) or None
        In nanometres, where the scene states them.
    """

    means: np.ndarray
    deviations: np.ndarray
    bands: np.ndarray
    wavelengths: np.ndarray | None


def cluster_scene(
    scene: Scene,
    *,
    features: SceneFeatures | None = None,
    model: DiffusionClustering | None = None,
    before: Callable[[Forecast], object] | None = None,
) -> SceneClusters:
    """Find clusters of a scene's pixels.

    Parameters
    ----------
    scene : Scene
    features : SceneFeatures, optional
        Fitted here; spectral components by default.
    model : DiffusionClustering or DiffusionModes, optional
        Fitted here; k-means in diffusion coordinates by default, with the number of clusters that
        the spectrum suggests.
    before : callable, optional
        Called with the forecast of memory before the scene is read.

    Returns
    -------
    SceneClusters

    Raises
    ------
    DataError
        Where no pixel has data or every band is constant.
    ParameterError
        For parameters out of range, or more clusters than pixels with data.

    See Also
    --------
    classify_scene : With labels.
    find_anomalies : Single strange pixels instead of groups.
    DiffusionModes : As ``model``, where clusters are of any size and shape.

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import Scene, cluster_scene
    >>> scene = Scene.from_array(make_tissue_scene(48, 48, random_state=0).cube)
    >>> cluster_scene(scene, model=DiffusionClustering(3)).table.ids
    (1, 2, 3)
    """
    features = SceneFeatures() if features is None else features
    model = DiffusionClustering("auto") if model is None else model
    features.check_parameters()
    check_clustering(model, scene.shape[0] * scene.shape[1])
    memory = forecast_clustering(scene, features, model)
    if before is not None:
        before(memory)
    with stage("features"):
        points, valid = features.fit_transform_points(scene)
    check_clustering(model, len(points))
    model.fit(points)
    return _assembled(scene, valid.ravel(), model, features, memory)


def known_classes(truth: LabelImage, scene: Scene) -> np.ndarray:
    """Return the classes of a scene's pixels, after a check that clusters can be compared.

    Parameters
    ----------
    truth : LabelImage
        Of the scene's size; 0 is unknown.
    scene : Scene

    Returns
    -------
    ndarray of int of shape (rows, columns)

    Raises
    ------
    DataError
        If sizes or places differ, or no pixel with data has a class.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_hyperspectral import LabelImage, Scene, known_classes
    >>> scene = Scene.from_array(np.random.default_rng(0).random((2, 3, 4)))
    >>> known_classes(LabelImage.from_array(np.array([[0, 0, 2], [0, 1, -1]])), scene)
    array([[0, 0, 2],
           [0, 1, 0]], dtype=int32)
    """
    truth = truth.on(scene)
    if not truth.ids[scene.valid].any():
        raise DataError(
            f"{truth.path}: no pixel with data has a class; there is nothing to compare"
        )
    return truth.ids


def agreement(found: SceneClusters, truth: np.ndarray) -> ClusterScores:
    """Return how well clusters agree with the classes that are known (`known_classes`).

    See Also
    --------
    diffclass.evaluation.cluster_scores : For arrays.
    evaluate_map : For a map whose classes are those of the truth.

    Examples
    --------
    >>> from diffclass import DiffusionClustering
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import Scene, agreement, cluster_scene
    >>> tissue = make_tissue_scene(48, 48)
    >>> found = cluster_scene(Scene.from_array(tissue.cube), model=DiffusionClustering(3))
    >>> found = agreement(found, tissue.truth)
    >>> f"{found.scores.overall_accuracy:.0%} right, adjusted Rand {found.adjusted_rand:.1f}"
    '89% right, adjusted Rand 0.8'
    """
    known = (truth > 0) & (found.cluster_map != UNCLUSTERED)
    return cluster_scores(truth[known], found.cluster_map[known])


def mean_spectra(scene: Scene, cluster_map: np.ndarray, n_clusters: int) -> ClusterSpectra:
    """Return means and standard deviations of each cluster's spectra, read in blocks of rows.

    Parameters
    ----------
    scene : Scene
    cluster_map : ndarray of int of shape (rows, columns)
        1 to n_clusters; 0 for pixels to be left out.
    n_clusters : int

    Returns
    -------
    ClusterSpectra

    See Also
    --------
    diffclass.plots.MeanSpectraDisplay : Draws them.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_hyperspectral import Scene, mean_spectra
    >>> cube = np.array([[[1.0, 5], [3, 5], [4, 8]]])
    >>> found = mean_spectra(Scene.from_array(cube), np.array([[1, 1, 2]]), 2)
    >>> found.means.tolist(), found.deviations.tolist()
    ([[2.0, 5.0], [4.0, 8.0]], [[1.0, 0.0], [0.0, 0.0]])
    """
    check_options(OPTIONS, n_clusters=n_clusters)
    usable = scene.usable_bands()
    bands = np.flatnonzero(usable)
    sums, origin = np.zeros((2, n_clusters, len(bands))), np.zeros(0)
    for rows in row_blocks(scene.shape[0], scene.shape[1] * scene.n_bands):
        inside = cluster_map[rows].ravel()
        spectra = scene.spectra(rows, bands=usable)[inside > 0].astype(np.float64)
        if not len(spectra):
            continue
        origin = origin if len(origin) else spectra[0]  # near the means: squares keep digits
        member = np.eye(n_clusters)[:, inside[inside > 0] - 1]
        sums += np.stack([member @ (spectra - origin), member @ (spectra - origin) ** 2])
    sizes = np.bincount(cluster_map.ravel(), minlength=n_clusters + 1)[1:, None]
    means, squares = sums / sizes
    return ClusterSpectra(
        means=means + origin,
        deviations=np.sqrt(np.maximum(squares - means**2, 0)),
        bands=bands,
        wavelengths=None if scene.wavelengths is None else scene.wavelengths[bands],
    )


def library_of(scene: Scene, class_map: np.ndarray, table: ClassTable) -> SpectralLibrary:
    """Return the mean spectra of a map's classes, without 0, as a spectral library."""
    present, numbers = np.unique(np.maximum(class_map, 0), return_inverse=True)
    numbers = numbers.reshape(class_map.shape) + (0 if present[0] == 0 else 1)
    present = present[present > 0]
    if not len(present):
        raise DataError(f"{scene.path}: no pixel has a class; there are no spectra to write")
    found = mean_spectra(scene, numbers, len(present))
    names = tuple(table[int(i)].name for i in present)
    return SpectralLibrary(names, found.means, found.wavelengths)


def _assembled(
    scene: Scene,
    valid: np.ndarray,
    model: DiffusionClustering,
    features: SceneFeatures,
    memory: Forecast,
) -> SceneClusters:
    shape, k = scene.shape[:2], model.n_clusters_
    order = np.argsort(-np.bincount(model.labels_, minlength=k), kind="stable")
    ids = np.empty(k, dtype=np.int32)
    ids[order] = np.arange(1, k + 1)
    cluster_map = np.zeros(valid.shape, dtype=np.int32)
    cluster_map[valid] = ids[model.labels_]
    outliers = np.zeros(valid.shape, dtype=bool)
    outliers[valid] = model.outliers_
    cluster_map = cluster_map.reshape(shape)
    with stage("mean spectra"):
        spectra = mean_spectra(scene, cluster_map, k)
    return SceneClusters(
        cluster_map=cluster_map,
        outliers=outliers.reshape(shape),
        order=order,
        spectra=spectra,
        model=model,
        features=features,
        memory=memory,
    )


def forecast_clustering(
    scene: Scene, features: SceneFeatures, model: DiffusionClustering
) -> Forecast:
    """Say what `cluster_scene` will need; within about a quarter from 100,000 pixels on."""
    size = scene_size(scene, features, N_NEIGHBORS)
    asked = None if isinstance(model.n_clusters, str) else model.n_clusters
    n_pairs = MOST_COMPONENTS + 2 if asked is None else asked + 1
    inliers = 4 * size.points * size.features  # a copy without the outliers
    costs = feature_costs(scene, features, size.points)
    costs |= graph_costs(size, DensityWeighted(SharedNeighbors()))
    costs["neighbors"] += Cost(inliers, inliers)
    costs["eigenpairs"] = eigenpairs_cost(size, n_pairs)
    costs["clusters"] = Cost(24 * size.points * n_pairs)  # coordinates, and those of the search
    return Forecast.of(costs | {"writing": Cost(BYTES_OF_A_POINT * size.points)})


def check_clustering(model: DiffusionClustering, n_pixels: int) -> None:
    """Raise `ParameterError` for a number of clusters refused when fitted to that many pixels."""
    if isinstance(model.n_clusters, str):
        return  # checked with the points
    COUNT.check(model.n_clusters, "n_clusters")
    if model.n_clusters > n_pixels:
        raise ParameterError(
            f"{model.n_clusters} clusters were asked for, but only {n_pixels} pixels have data; "
            f"ask for at most {n_pixels}"
        )


@dataclass(frozen=True, eq=False)
class ClusterFacts(Facts):
    """One cluster."""

    id: int
    pixels: int
    outliers: int  # of its pixels, set aside at first
    staying: float  # probability that a step of the walk stays in the cluster
    retention: float  # that the walk is still there when clusters have mixed inside
    mode: tuple[int, int] | None  # row and column, where modes were searched for
    mean: np.ndarray  # spectrum (n_bands,)
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
    """What is known about a scene's clusters besides their map."""

    method: str
    reason: str  # why there are so many
    clusters: tuple[ClusterFacts, ...]
    n_without_data: int  # pixels in no cluster
    eigenvalues: tuple[float, ...]  # of the walk, the first 1
    n_clusters: int
    bands: np.ndarray  # of the spectra, numbered from 0
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
    names = {entry.id: entry.name for entry in found.table}
    colors = {entry.id: color_text(entry.color) for entry in found.table}
    style: dict[str, Any] = {
        "class_ids": list(names),
        "class_names": names,
        "class_colors": colors,
    }
    figure = new_figure((13.5, max(4.8, 0.24 * len(names) + 1.2)), layout="constrained")
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
    shaded = " and one standard deviation" if n_clusters <= MOST_SPREADS else ""
    return f"mean spectra{shaded}"
