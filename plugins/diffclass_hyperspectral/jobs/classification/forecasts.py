"""How much memory and time classifying a scene will need, as is said before the start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from diffclass.blocks import BlockPlan, scratch_costs
from diffclass.classifier import DiffusionClassifier
from diffclass.graph import BYTES_OF_A_POINT, graph_costs
from diffclass.jobs import suggestion_costs
from diffclass.kernels import SharedNeighbors, check_kernel
from diffclass.label_diffusion import RESULT_BYTES, diffusion_costs
from diffclass.system.costs import Cost, Forecast, Size, base_bytes, seconds_of
from diffclass_hyperspectral.features.feature_costs import feature_cost, feature_costs, scene_size
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.jobs.classification.models import SceneModel

_CLASS_BYTES = 4  # of a pixel in a map that is kept


def forecast_classification(
    scene: Scene,
    features: SceneFeatures,
    classifier: DiffusionClassifier,
    n_classes: int,
    *,
    n_fits: int = 1,
    second_seed: bool = False,
    suggesting: bool = False,
) -> Forecast:
    """Say what `classify_scene` will need; neither features nor classifier need be fitted.

    Labels are diffused ``n_fits`` times; ``second_seed``: after a graph with another seed;
    ``suggesting``: before `suggest_pixels`. Bytes are within about a quarter on scenes of 100,000
    pixels and more; the time is known of the default kernel, without suggestions.
    """
    size = scene_size(scene, features, classifier.n_neighbors, n_classes)
    kernel, warped = check_kernel(classifier.kernel or "shared"), classifier.warp is not None
    costs = feature_costs(scene, features, size.points) | graph_costs(size, kernel)
    values = size.points * n_classes
    if warped or kernel.uses_scores:  # of an earlier map
        costs["neighbors"] += Cost(RESULT_BYTES * values, RESULT_BYTES * values)
    if kernel.uses_scores:  # and the kernel that it came by, for new points
        kept = graph_costs(size, SharedNeighbors())["affinities"].kept - 8 * size.edges
        costs["neighbors"] += Cost(kept)
        costs["affinities"] += Cost(kept)
    costs |= diffusion_costs(size, warped=warped)
    is_known = classifier.kernel is None and not warped and not classifier.join_features
    if suggesting:
        costs |= suggestion_costs(size)
    found = Forecast.of(
        costs | {"writing": Cost()}, kept=_CLASS_BYTES * size.points if second_seed else 0.0
    )
    if not is_known or suggesting or classifier.device != "cpu":
        return found
    seconds = seconds_of(costs, n_fits=n_fits, once=["features", "neighbors", "affinities"])
    return replace(found, seconds=_with_second_seed(seconds, costs) if second_seed else seconds)


def forecast_blocks(
    scene: Scene,
    features: SceneFeatures,
    classifier: DiffusionClassifier,
    n_classes: int,
    plan: Callable[[Size], BlockPlan],
    *,
    n_fits: int = 1,
    second_seed: bool = False,
    n_machines: int = 1,
) -> Forecast:
    """Say what classifying a scene in blocks will need of each process, the scratch disk and time.

    ``n_machines`` share the work; of what they send each other only the scheduler's time counts.
    """
    size = scene_size(scene, features, classifier.n_neighbors, n_classes)
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
    taken = seconds_of(costs, n_fits=n_fits, once=once)
    seconds = {
        name: took / (1 if name in ("features", "maps") else n_machines)  # made by this process
        + n_fits * planned.scheduler_seconds.get(name, 0)
        for name, took in (_with_second_seed(taken, costs) if second_seed else taken).items()
    }
    on_disk = planned.scratch_bytes + 4 * size.points * size.features
    if second_seed:  # its operator stays, its posteriors, twice, and eight values of each pixel
        on_disk += costs["operator"].kept + 4 * (2 * size.classes + 8) * size.points
    return replace(found, scratch_bytes=int(on_disk), seconds=seconds)


def _with_second_seed(seconds: dict[str, float], costs: Mapping[str, Cost]) -> dict[str, float]:
    """Return the seconds of stages that are made once more, but for features and calibration."""
    return {
        name: took + (0 if name in ("features", "calibration") else costs[name].seconds)
        for name, took in seconds.items()
    }


def forecast_prediction(scene: Scene, model: SceneModel) -> Forecast:
    """Say what `apply_model` will need in addition to the loaded model."""
    size = scene_size(scene, model.features)
    making = feature_costs(scene, model.features, 0)
    answering = {"prediction": model.cost(size.points, size.features)}
    writing = {"writing": Cost(RESULT_BYTES * size.points * len(model.classifier.classes_))}
    return Forecast.of(making | answering | writing)
