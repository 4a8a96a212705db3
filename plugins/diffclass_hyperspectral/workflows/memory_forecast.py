"""How much memory the work on a scene will need, and how much time, as is said before the start.

Each stage says what it holds, beside the code that allocates it; here their bytes are added to
what is held from earlier stages. With n pixels, p features, k neighbours, m edges and c classes
those are features (4 n p), the search's index, the operator and what the kernel keeps (8 m and
more), and for each pixel its place, number and label.

A scene that is mapped into memory or read in blocks counts with one block only. How
many edges points share is known only afterwards: m is what synthetic scenes have. The first run
of an installation compiles, which takes some 200 MB more while nothing is large yet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from diffclass.acquisition import N_PAIRS
from diffclass.blocks.durations import forecast_seconds
from diffclass.blocks.plan import BlockPlan
from diffclass.classifier import DiffusionClassifier
from diffclass.clustering import N_NEIGHBORS, DiffusionClustering
from diffclass.command_line.forecasts import MemoryForecast, base_bytes
from diffclass.embedding import DiffusionMap
from diffclass.kernels import DensityWeighted, Gaussian, SharedNeighbors
from diffclass.label_diffusion import diffusion
from diffclass.label_diffusion.left_out import left_out_bytes
from diffclass.neighbors import graph
from diffclass.operators.local_order import copy_bytes
from diffclass.operators.markov import operator_bytes
from diffclass.point_graph import BYTES_OF_A_POINT, building_bytes, held_bytes
from diffclass.relabel.columns import painting_bytes
from diffclass.spectral import eigenpairs
from diffclass.spectral.gap import MOST_COMPONENTS
from diffclass_hyperspectral.features.feature_memory import feature_bytes
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.readers.blocks import BlockArray
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.workflows.scene_models import SceneModel

# of a map's pixel: classes found and known, and what they are compared through
_BYTES_OF_A_LABEL, _BYTES_OF_A_CURVE = 60, 24
_WORTH_TIMING = 20_000_000  # features of all pixels: half a minute, of which a unit takes 1 %


def forecast_classification(
    scene: Scene,
    features: SceneFeatures,
    classifier: DiffusionClassifier,
    n_classes: int,
    *,
    suggesting: bool = False,
) -> MemoryForecast:
    """Say what `classify_scene` will need.

    Parameters
    ----------
    scene : Scene
    features : SceneFeatures
    classifier : DiffusionClassifier
        Neither needs to be fitted.
    n_classes : int
        Classes that are labelled.
    suggesting : bool, default=False
        Whether `suggest_pixels` follows.

    Returns
    -------
    MemoryForecast
        Within about a quarter on scenes of 100,000 pixels and more.
    """
    n, p = _size(scene, features)
    k, kernel = classifier.n_neighbors, classifier.kernel or SharedNeighbors()
    m = graph.expected_edges(n, k)
    warped = classifier.warp is not None
    held = held_bytes(n, p, k) + operator_bytes(m) + kernel.kept_bytes(m)
    scores = diffusion.result_bytes(n, n_classes) if warped or kernel.uses_scores else 0
    # a kernel that is shaped by posteriors has them from a first operator
    first = SharedNeighbors().kept_bytes(m) if kernel.uses_scores else 0
    stages: dict[str, float] = {"features": _of_features(scene, features)}
    making = building_bytes(n, p, k, kernel)
    stages |= {name: scores + first + size for name, size in making.items()}
    held += copy_bytes(n, m)
    diffusing = diffusion.diffusing_bytes(n, n_classes, warped=warped)
    stages["diffusion"] = scores + held + diffusing
    result = diffusion.result_bytes(n, n_classes)
    stages["calibration"] = scores + held + result + (0 if warped else left_out_bytes(n))
    if suggesting:
        stages["suggestions"] = scores + held + _suggesting_bytes(n, n_classes)
    stages["writing"] = scores + held + result
    return MemoryForecast.of(stages)


def forecast_blocks(
    scene: Scene,
    features: SceneFeatures,
    classifier: DiffusionClassifier,
    n_classes: int,
    plan: Callable[[int, int, int, int], BlockPlan],
    *,
    n_fits: int = 1,
    n_machines: int = 1,
) -> MemoryForecast:
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
        How often labels are diffused: once for each way in which some are held out.
    n_machines : int, default=1
        That share the work.

    Returns
    -------
    MemoryForecast
        Of this process, or of a worker, with the space on the scratch disk and an estimate of the
        time, for which a second or two of work is timed.
    """
    n, p = _size(scene, features)
    planned = plan(n, p, classifier.n_neighbors, n_classes)
    n_bands = int(scene.band_mask.sum())
    working = feature_bytes(features, scene.shape, n_bands, on_disk=True)
    stages = {"features": working, "graph and diffusion": planned.peak_bytes - base_bytes()}
    stages["writing"] = BYTES_OF_A_POINT * n
    found = MemoryForecast.of(stages)
    seconds = forecast_seconds(
        n, p, classifier.n_neighbors, n_classes,
        block_points=planned.block_points, n_bands=n_bands, is_spatial=features.spatial,
        n_fits=n_fits, n_machines=n_machines,
    )  # fmt: skip
    return replace(found, scratch_bytes=int(planned.scratch_bytes + 4 * n * p), seconds=seconds)


def classification_seconds(
    scene: Scene,
    features: SceneFeatures,
    classifier: DiffusionClassifier,
    n_classes: int,
    *,
    n_fits: int = 1,
) -> dict[str, float] | None:
    """Estimate how long classifying a scene in memory will take.

    Parameters
    ----------
    scene, features, classifier, n_classes, n_fits
        As in `forecast_blocks`.

    Returns
    -------
    dict of str to float or None
        As `forecast_seconds`; None where the run is too short to be worth the timing of a unit, or
        has parameters whose time is not known.
    """
    n, p = _size(scene, features)
    usual = classifier.kernel is None and classifier.warp is None and not classifier.join_features
    if n * p < _WORTH_TIMING or not usual or classifier.device != "cpu":
        return None
    return forecast_seconds(
        n, p, classifier.n_neighbors, n_classes, block_points=None,
        n_bands=int(scene.band_mask.sum()), is_spatial=features.spatial, n_fits=n_fits,
    )  # fmt: skip


def forecast_prediction(scene: Scene, model: SceneModel) -> MemoryForecast:
    """Say what `apply_model` will need, beside the model, which is loaded.

    Parameters
    ----------
    scene : Scene
    model : SceneModel

    Returns
    -------
    MemoryForecast
    """
    n, p = _size(scene, model.features)
    stages = {
        "features": _of_features(scene, model.features),
        "prediction": model.working_bytes(n, p),
        "writing": diffusion.result_bytes(n, len(model.classifier.classes_)),
    }
    return MemoryForecast.of(stages)


def forecast_embedding(
    scene: Scene, features: SceneFeatures, model: DiffusionMap
) -> MemoryForecast:
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
    MemoryForecast
        Within about a quarter on scenes of 100,000 pixels and more.
    """
    stages: dict[str, float] = {"features": _of_features(scene, features)}
    return MemoryForecast.of(stages | _of_embedding(*_size(scene, features), model))


def _of_embedding(n: int, p: int, model: DiffusionMap) -> dict[str, float]:
    k, kernel = model.n_neighbors, model.kernel or Gaussian()
    most = MOST_COMPONENTS + 1 if isinstance(model.n_components, str) else model.n_components
    m, n_pairs = graph.expected_edges(n, k), most + 1
    held = held_bytes(n, p, k) + operator_bytes(m) + kernel.kept_bytes(m)
    stages = building_bytes(n, p, k, kernel)
    stages["eigenpairs"] = held + eigenpairs.solving_bytes(n, m, n_pairs)
    stages["writing"] = held + eigenpairs.pairs_bytes(n, n_pairs)
    return stages


def forecast_points(n: int, n_features: int, model: DiffusionMap) -> MemoryForecast:
    """Say what embedding so many rows of a table will need; otherwise as `forecast_embedding`."""
    return MemoryForecast.of(_of_embedding(n, n_features, model))


def forecast_clustering(
    scene: Scene, features: SceneFeatures, model: DiffusionClustering
) -> MemoryForecast:
    """Say what `cluster_scene` will need.

    Parameters
    ----------
    scene : Scene
    features : SceneFeatures
    model : DiffusionClustering
        Neither need be fitted.

    Returns
    -------
    MemoryForecast
        Within about a quarter on scenes of 100,000 pixels and more.
    """
    n, p = _size(scene, features)
    k, kernel = N_NEIGHBORS, DensityWeighted(SharedNeighbors())
    asked = None if isinstance(model.n_clusters, str) else model.n_clusters
    m, n_pairs = graph.expected_edges(n, k), MOST_COMPONENTS + 2 if asked is None else asked + 1
    inliers = 4 * n * p  # a copy without the outliers
    held = inliers + held_bytes(n, p, k) + operator_bytes(m) + kernel.kept_bytes(m)
    stages: dict[str, float] = {"features": _of_features(scene, features)}
    stages |= {name: inliers + size for name, size in building_bytes(n, p, k, kernel).items()}
    stages["eigenpairs"] = held + eigenpairs.solving_bytes(n, m, n_pairs)
    kept = held + eigenpairs.pairs_bytes(n, n_pairs)
    stages["clusters"] = kept + 24 * n * n_pairs  # coordinates, and those of the search
    return MemoryForecast.of(stages | {"writing": kept + BYTES_OF_A_POINT * n})


def forecast_labelling(
    scene: Scene,
    features: SceneFeatures,
    n_neighbors: int,
    n_classes: int,
    *,
    most_points: int,
) -> MemoryForecast:
    """Say what a session of labelling a scene's pixels will need.

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
    MemoryForecast
    """
    (n, p), kernel = _size(scene, features), SharedNeighbors()
    making = _of_features(scene, features, on_disk=n > most_points)
    n = min(n, most_points)
    m = graph.expected_edges(n, n_neighbors)
    held = held_bytes(n, p, n_neighbors) + operator_bytes(m)
    stages: dict[str, float] = {"features": making}
    stages |= building_bytes(n, p, n_neighbors, kernel)
    return MemoryForecast.of(stages | {"maps": held + painting_bytes(n, m, n_classes)})


def forecast_evaluation(n_pixels: int, *, n_bands: int = 0) -> MemoryForecast:
    """Say what `evaluate_map` will need.

    Parameters
    ----------
    n_pixels : int
        Of the map.
    n_bands : int, default=0
        Of margins and probabilities together.

    Returns
    -------
    MemoryForecast
    """
    if not n_bands:
        return MemoryForecast.of({"scores": _BYTES_OF_A_LABEL * n_pixels})
    stages = {"scores": (_BYTES_OF_A_LABEL + _BYTES_OF_A_CURVE) * n_pixels}
    return MemoryForecast.of(stages | {"rasters": (BYTES_OF_A_POINT + 5 * n_bands) * n_pixels})


def forecast_anomalies(
    scene: Scene, method: str, n_neighbors: int, n_components: int
) -> MemoryForecast:
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
    MemoryForecast
    """
    (rows, columns, bands), n_bands = scene.shape, int(scene.band_mask.sum())
    n, block = rows * columns, 24 * max(2**20, columns * bands)  # floats of both precisions
    if method == "isolation-forest":
        return MemoryForecast.of({"spectra": 8 * n * n_bands + 8 * n, "writing": 16 * n})
    stages: dict[str, float] = {"covariance": block + 8 * n_bands**2}
    if method == "diffusion":
        p, kernel = min(n_components, n_bands), Gaussian(bandwidth="global")
        m = graph.expected_edges(n, n_neighbors)
        stages["components"] = block + 4 * n * p
        stages |= building_bytes(n, p, n_neighbors, kernel)
        held = held_bytes(n, p, n_neighbors) + operator_bytes(m)
        stages["distances"] = held + 16 * m + 16 * n  # squares of the affinities
    return MemoryForecast.of(stages | {"writing": 16 * n})


def _suggesting_bytes(n: int, n_classes: int) -> int:
    # three vectors of each eigenpair: its own, scaled by degrees, and weighed by the labels
    return 44 * n * n_classes + 8 * n * 3 * N_PAIRS


def _size(scene: Scene, features: SceneFeatures) -> tuple[int, int]:
    rows, columns, _ = scene.shape
    n = rows * columns if scene.region is None else int(np.count_nonzero(scene.region))
    return n, features.n_features(int(scene.band_mask.sum()))


def _of_features(scene: Scene, features: SceneFeatures, *, on_disk: bool = False) -> int:
    kept = scene.data.kept_bytes if isinstance(scene.data, BlockArray) else 0
    n_bands = int(scene.band_mask.sum())
    return kept + feature_bytes(features, scene.shape, n_bands, on_disk=on_disk)
