"""How much memory the work on a scene will need, and how much time, as is said before the start.

Each chapter says what its stages cost (`diffclass.costs`); here the stages of a job are put
together. A scene that is mapped into memory or read in blocks counts with one block only. The first
run of an installation compiles, which takes some 200 MB more while nothing is large yet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from diffclass.acquisition import N_PAIRS
from diffclass.blocks.costs import scratch_costs
from diffclass.blocks.plan import BlockPlan
from diffclass.classifier import DiffusionClassifier
from diffclass.clustering import N_NEIGHBORS, DiffusionClustering
from diffclass.costs import Cost, Forecast, Size, base_bytes, seconds_of
from diffclass.embedding import DiffusionMap
from diffclass.kernels import DensityWeighted, Gaussian, SharedNeighbors, check_kernel
from diffclass.label_diffusion.costs import RESULT, diffusion_costs
from diffclass.point_graph import BYTES_OF_A_POINT, graph_costs
from diffclass.relabel.columns import painting_cost
from diffclass.spectral import MOST_COMPONENTS, eigenpairs_cost
from diffclass_hyperspectral.features.feature_costs import feature_cost
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.readers.blocks import BlockArray
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.workflows.scene_models import SceneModel

# of a map's pixel: classes found and known, and what they are compared through
_BYTES_OF_A_LABEL, _BYTES_OF_A_CURVE = 60, 24


def forecast_classification(
    scene: Scene,
    features: SceneFeatures,
    classifier: DiffusionClassifier,
    n_classes: int,
    *,
    n_fits: int = 1,
    suggesting: bool = False,
) -> Forecast:
    """Say what `classify_scene` will need.

    Parameters
    ----------
    scene : Scene
    features : SceneFeatures
    classifier : DiffusionClassifier
        Neither needs to be fitted.
    n_classes : int
        Classes that are labelled.
    n_fits : int, default=1
        How often labels are diffused: once for each way in which some are held out.
    suggesting : bool, default=False
        Whether `suggest_pixels` follows.

    Returns
    -------
    Forecast
        Bytes within about a quarter on scenes of 100,000 pixels and more. The time is told where
        it is known: of the default kernel, without suggestions.
    """
    size = _size(scene, features, classifier.n_neighbors, n_classes)
    kernel, warped = check_kernel(classifier.kernel or "shared"), classifier.warp is not None
    costs = _of_features(scene, features, size.points) | graph_costs(size, kernel)
    values = size.points * n_classes
    if warped or kernel.uses_scores:  # of an earlier map
        costs["neighbors"] += Cost(RESULT * values, RESULT * values)
    if kernel.uses_scores:  # and the kernel that it came by, for new points
        kept = graph_costs(size, SharedNeighbors())["affinities"].kept - 8 * size.edges
        costs["neighbors"] += Cost(kept)
        costs["affinities"] += Cost(kept)
    costs |= diffusion_costs(size, warped=warped)
    is_known = classifier.kernel is None and not warped and not classifier.join_features
    if suggesting:
        # three vectors of each eigenpair: its own, scaled by degrees, and weighed by the labels
        costs["suggestions"] = Cost((44 - RESULT) * values + 8 * size.points * 3 * N_PAIRS)
    found = Forecast.of(costs | {"writing": Cost()})
    if not is_known or suggesting or classifier.device != "cpu":
        return found
    return replace(found, seconds=seconds_of(costs, n_fits=n_fits, once=["features"]))


def forecast_blocks(
    scene: Scene,
    features: SceneFeatures,
    classifier: DiffusionClassifier,
    n_classes: int,
    plan: Callable[[Size], BlockPlan],
    *,
    n_fits: int = 1,
    n_machines: int = 1,
) -> Forecast:
    """Say what classifying a scene in blocks will need.

    Parameters
    ----------
    scene : Scene
    features : SceneFeatures
    classifier : DiffusionClassifier
        Neither needs to be fitted.
    n_classes : int
    plan : callable
        `BlockRun.plan`.
    n_fits : int, default=1
        As in `forecast_classification`.
    n_machines : int, default=1
        That share the work. Processes of one machine share its cores, and gain nothing here.

    Returns
    -------
    Forecast
        Of this process, or of a worker, with the space on the scratch disk and the time.
    """
    size = _size(scene, features, classifier.n_neighbors, n_classes)
    planned = plan(size)
    making = feature_cost(features, scene.shape, int(scene.band_mask.sum()), on_disk=True)
    found = Forecast.of(
        {
            "features": making,
            "graph and diffusion": Cost(planned.peak_bytes - base_bytes()),
            "writing": Cost(BYTES_OF_A_POINT * size.points),
        }
    )
    once = ["features", "cells", "neighbors", "affinities"]
    costs = {"features": making} | scratch_costs(size, planned.block_points)
    seconds = {
        name: took / (1 if name in ("features", "maps") else n_machines)  # made by this process
        for name, took in seconds_of(costs, n_fits=n_fits, once=once).items()
    }
    on_disk = int(planned.scratch_bytes + 4 * size.points * size.features)
    return replace(found, scratch_bytes=on_disk, seconds=seconds)


def forecast_prediction(scene: Scene, model: SceneModel) -> Forecast:
    """Say what `apply_model` will need, beside the model, which is loaded.

    Parameters
    ----------
    scene : Scene
    model : SceneModel

    Returns
    -------
    Forecast
    """
    size = _size(scene, model.features)
    making = _of_features(scene, model.features, 0)
    answering = {"prediction": model.cost(size.points, size.features)}
    writing = {"writing": Cost(RESULT * size.points * len(model.classifier.classes_))}
    return Forecast.of(making | answering | writing)


def forecast_embedding(scene: Scene, features: SceneFeatures, model: DiffusionMap) -> Forecast:
    """Say what embedding a scene's pixels will need.

    Parameters
    ----------
    scene : Scene
    features : SceneFeatures
    model : DiffusionMap
        Neither need be fitted. A bandwidth that is chosen from the data ("semigroup", "slope")
        may need more neighbours than it asks for.

    Returns
    -------
    Forecast
        Within about a quarter on scenes of 100,000 pixels and more.
    """
    size = _size(scene, features, model.n_neighbors)
    return Forecast.of(_of_features(scene, features, size.points) | _of_embedding(size, model))


def forecast_points(n: int, n_features: int, model: DiffusionMap) -> Forecast:
    """Say what embedding so many rows of a table will need; otherwise as `forecast_embedding`."""
    size = Size(n, n_features, model.n_neighbors)
    return Forecast.of(_of_embedding(size, model), kept=4 * n * n_features)


def _of_embedding(size: Size, model: DiffusionMap) -> dict[str, Cost]:
    most = MOST_COMPONENTS + 1 if isinstance(model.n_components, str) else model.n_components
    costs = graph_costs(size, model.kernel or Gaussian())
    return costs | {"eigenpairs": eigenpairs_cost(size, most + 1), "writing": Cost()}


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
    size = _size(scene, features, N_NEIGHBORS)
    asked = None if isinstance(model.n_clusters, str) else model.n_clusters
    n_pairs = MOST_COMPONENTS + 2 if asked is None else asked + 1
    inliers = 4 * size.points * size.features  # a copy without the outliers
    costs = _of_features(scene, features, size.points)
    costs |= graph_costs(size, DensityWeighted(SharedNeighbors()))
    costs["neighbors"] += Cost(inliers, inliers)
    costs["eigenpairs"] = eigenpairs_cost(size, n_pairs)
    costs["clusters"] = Cost(24 * size.points * n_pairs)  # coordinates, and those of the search
    return Forecast.of(costs | {"writing": Cost(BYTES_OF_A_POINT * size.points)})


def labelling_costs(
    scene: Scene,
    features: SceneFeatures,
    n_neighbors: int,
    n_classes: int,
    *,
    most_points: int,
) -> dict[str, Cost]:
    """Return what a session of labelling a scene's pixels costs.

    Parameters
    ----------
    scene : Scene
    features : SceneFeatures
        Need not be fitted.
    n_neighbors, n_classes : int
    most_points : int
        Of the graph; in larger scenes points are blocks of pixels, whose features lie on a file.

    Returns
    -------
    dict of str to Cost
        Of "features", "neighbors", "affinities" and "maps".
    """
    size = _size(scene, features, n_neighbors, n_classes)
    is_large = size.points > most_points
    size = replace(size, points=min(size.points, most_points))
    costs = _of_features(scene, features, size.points, on_disk=is_large)
    costs |= graph_costs(size, SharedNeighbors(), extends=False)
    return costs | {"maps": painting_cost(size)}


def forecast_evaluation(n_pixels: int, *, n_bands: int = 0) -> Forecast:
    """Say what `evaluate_map` will need.

    Parameters
    ----------
    n_pixels : int
        Of the map.
    n_bands : int, default=0
        Of margins and probabilities together.

    Returns
    -------
    Forecast
    """
    if not n_bands:
        return Forecast.of({"scores": Cost(_BYTES_OF_A_LABEL * n_pixels)})
    scores = Cost((_BYTES_OF_A_LABEL + _BYTES_OF_A_CURVE) * n_pixels)
    rasters = Cost((BYTES_OF_A_POINT + 5 * n_bands) * n_pixels)
    return Forecast.of({"scores": scores, "rasters": rasters})


def forecast_anomalies(scene: Scene, method: str, n_neighbors: int, n_components: int) -> Forecast:
    """Say what `find_anomalies` will need.

    Parameters
    ----------
    scene : Scene
    method : str
        As for `find_anomalies`.
    n_neighbors, n_components : int
        Of the diffusion.

    Returns
    -------
    Forecast
    """
    (rows, columns, bands), n_bands = scene.shape, int(scene.band_mask.sum())
    n, block = rows * columns, 24 * max(2**20, columns * bands)  # floats of both precisions
    writing = {"writing": Cost(16 * n)}
    if method == "isolation-forest":
        return Forecast.of({"spectra": Cost(8 * n * n_bands + 8 * n)} | writing)
    costs = {"covariance": Cost(block + 8 * n_bands**2)}
    if method == "diffusion":
        size = Size(n, min(n_components, n_bands), n_neighbors)
        points = 4 * n * size.features
        costs["components"] = Cost(block + points, points)
        costs |= graph_costs(size, Gaussian(bandwidth="global"))
        held = sum(cost.kept for cost in costs.values())  # until all distances are known
        costs["distances"] = Cost(16 * size.edges + 16 * n, -held)  # squares of the affinities
    return Forecast.of(costs | writing)


def _size(scene: Scene, features: SceneFeatures, n_neighbors: int = 0, n_classes: int = 0) -> Size:
    rows, columns, _ = scene.shape
    n = rows * columns if scene.region is None else int(np.count_nonzero(scene.region))
    return Size(n, features.n_features(int(scene.band_mask.sum())), n_neighbors, n_classes)


def _of_features(
    scene: Scene, features: SceneFeatures, n_points: int, *, on_disk: bool = False
) -> dict[str, Cost]:
    """Return the cost of the features, of which those of the points are kept."""
    piece = scene.data.kept_bytes if isinstance(scene.data, BlockArray) else 0
    n_bands = int(scene.band_mask.sum())
    kept = 4 * n_points * features.n_features(n_bands)
    making = feature_cost(features, scene.shape, n_bands, on_disk=on_disk)
    return {"features": making + Cost(piece, kept)}
