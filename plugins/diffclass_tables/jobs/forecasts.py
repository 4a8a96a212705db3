"""How much memory and time jobs on rows will need, as is said before the start."""

from __future__ import annotations

from dataclasses import replace

from diffclass.classifier import DiffusionClassifier
from diffclass.graph import graph_costs
from diffclass.kernels import Kernel, check_kernel
from diffclass.label_diffusion import diffusion_costs
from diffclass.system.costs import Cost, Forecast, seconds_of
from diffclass_tables.rows import Rows


def forecast_classification(
    rows: Rows, classifier: DiffusionClassifier, n_classes: int
) -> Forecast:
    """Say what `classify_rows` will need."""
    size = rows.size(classifier.n_neighbors, n_classes)
    costs = rows.costs() | graph_costs(size, check_kernel(classifier.kernel or "shared"))
    costs |= diffusion_costs(
        size, warped=classifier.warp is not None, kept_classes=classifier.kept_classes
    )
    forecast = Forecast.of(costs | {"writing": Cost()})
    is_known = classifier.kernel is None and classifier.warp is None and classifier.device == "cpu"
    if not is_known or classifier.join_features:
        return forecast
    once = ["features", "neighbors", "affinities"]
    return replace(forecast, seconds=seconds_of(costs, n_fits=1, once=once))


def graph_forecast(rows: Rows, kernel: Kernel, n_neighbors: int) -> Forecast:
    """Say what a graph of rows will need."""
    costs = rows.costs() | graph_costs(rows.size(n_neighbors), kernel)
    return Forecast.of(costs | {"writing": Cost()})
