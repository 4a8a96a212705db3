"""Classes without labels: clusters of a scene's pixels, their mean spectra, and any truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from diffclass.clustering import N_NEIGHBORS, DiffusionClustering
from diffclass.costs import Cost, Forecast
from diffclass.evaluation import ClusterScores, cluster_scores
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import DensityWeighted, SharedNeighbors
from diffclass.mode_clustering import DiffusionModes
from diffclass.point_graph import BYTES_OF_A_POINT, graph_costs
from diffclass.progress import stage
from diffclass.spectral import MOST_COMPONENTS, eigenpairs_cost
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.labels import ClassTable, LabelImage
from diffclass_hyperspectral.io.rasters import row_blocks
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.workflows.parameters import check_whole
from diffclass_hyperspectral.workflows.scene_costs import feature_costs, scene_size

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
    model : DiffusionClustering
        Fitted.
    features : SceneFeatures
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
    """
    truth = truth.on(scene)
    if not truth.ids[scene.valid].any():
        raise DataError(
            f"{truth.path}: no pixel with data has a class; there is nothing to compare"
        )
    return truth.ids


def agreement(found: SceneClusters, truth: np.ndarray) -> ClusterScores:
    """Return how well clusters agree with the classes that are known (`known_classes`)."""
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
    """
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
    """Say what `cluster_scene` will need.

    Parameters
    ----------
    scene : Scene
    features : SceneFeatures
    model : DiffusionClustering
        Neither need be fitted.

    Returns
    -------
    Forecast
        Within about a quarter on scenes of 100,000 pixels and more.
    """
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
    check_whole(model.n_clusters, "n_clusters", least=1)
    if model.n_clusters > n_pixels:
        raise ParameterError(
            f"{model.n_clusters} clusters were asked for, but only {n_pixels} pixels have data; "
            f"ask for at most {n_pixels}"
        )
