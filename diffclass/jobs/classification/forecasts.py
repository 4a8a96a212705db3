"""How much memory and time a classification will need, as is said before the start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from diffclass.blocks import BlockPlan, scratch_costs
from diffclass.classifier import DiffusionClassifier
from diffclass.graph import BYTES_OF_A_POINT, graph_costs
from diffclass.jobs.point_set import PointSet
from diffclass.kernels import SharedNeighbors, check_kernel
from diffclass.label_diffusion import RESULT_BYTES, diffusion_costs
from diffclass.label_diffusion.feature_opinion import opinion_cost
from diffclass.system.costs import Cost, Forecast, base_bytes, seconds_of

_CLASS_BYTES = 4  # of a point in a map that is kept
_JOINED_BYTES = 12  # of a point and class: posteriors in single precision, values in double
_ONCE = ("features", "cells", "neighbors", "affinities")  # whatever labels are held out
_NOT_REPEATED = ("features", "calibration")  # with a second seed


def classification_costs(
    points: PointSet, classifier: DiffusionClassifier, n_classes: int
) -> dict[str, Cost]:
    """Return what making points, their graph and the diffusion of labels cost, by stage."""
    size = points.size(classifier.n_neighbors, n_classes)
    kernel, warped = check_kernel(classifier.kernel or "shared"), classifier.warp is not None
    costs = points.costs() | graph_costs(size, kernel)
    if warped or kernel.uses_scores:  # of an earlier map
        values = RESULT_BYTES * size.points * n_classes
        costs["neighbors"] += Cost(values, values)
    if kernel.uses_scores:  # and the kernel that it came by, for new points
        kept = graph_costs(size, SharedNeighbors())["affinities"].kept - 8 * size.edges
        costs["neighbors"] += Cost(kept)
        costs["affinities"] += Cost(kept)
    costs |= diffusion_costs(size, warped=warped, kept_classes=classifier.kept_classes)
    if classifier.joins_features:
        joined = _JOINED_BYTES * size.points * n_classes
        costs["calibration"] += Cost(joined, joined) + opinion_cost(size)
    return costs


def forecast_classification(
    points: PointSet,
    classifier: DiffusionClassifier,
    n_classes: int,
    *,
    n_fits: int = 1,
    second_seed: bool = False,
) -> Forecast:
    """Say what classifying points in memory will need; nothing need be made or fitted.

    Labels are diffused ``n_fits`` times; ``second_seed``: after a graph with another seed. Bytes
    are within about a quarter for 100,000 points and more; the time is known of the default kernel.
    """
    costs = classification_costs(points, classifier, n_classes)
    kept = _CLASS_BYTES * points.size().points if second_seed else 0.0
    found = Forecast.of(costs | {"writing": Cost()}, kept=kept)
    is_usual = classifier.kernel is None and classifier.warp is None
    if not is_usual or classifier.device != "cpu":
        return found
    seconds = seconds_of(costs, n_fits=n_fits, once=_ONCE)
    return replace(found, seconds=_with_second_seed(seconds, costs) if second_seed else seconds)


def forecast_blocks(
    points: PointSet,
    classifier: DiffusionClassifier,
    n_classes: int,
    plan: BlockPlan,
    *,
    n_fits: int = 1,
    second_seed: bool = False,
    n_machines: int = 1,
) -> Forecast:
    """Say what classifying points in blocks will need of each process, the scratch disk and time.

    ``n_machines`` share the work; of what they send each other only the scheduler's time counts.
    """
    size, making = points.size(classifier.n_neighbors, n_classes), points.costs()
    found = Forecast.of(
        making
        | {
            "graph and diffusion": Cost(plan.peak_bytes - base_bytes()),
            "writing": Cost(BYTES_OF_A_POINT * size.points),
        }
    )
    costs = making | scratch_costs(size, plan.block_points)
    taken = seconds_of(costs, n_fits=n_fits, once=_ONCE)
    seconds = {
        name: took / (1 if name in (*making, "maps") else n_machines)  # made by this process
        + n_fits * plan.scheduler_seconds.get(name, 0)
        for name, took in (_with_second_seed(taken, costs) if second_seed else taken).items()
    }
    on_disk = plan.scratch_bytes + 4 * size.points * size.features
    if second_seed:  # its operator stays, its posteriors, twice, and eight values of each point
        on_disk += costs["operator"].kept + 4 * (2 * size.classes + 8) * size.points
    return replace(found, scratch_bytes=int(on_disk), seconds=seconds)


def _with_second_seed(seconds: dict[str, float], costs: Mapping[str, Cost]) -> dict[str, float]:
    """Return the seconds of stages, of which most are made once more."""
    return {
        name: took + (0 if name in _NOT_REPEATED else costs[name].seconds)
        for name, took in seconds.items()
    }
