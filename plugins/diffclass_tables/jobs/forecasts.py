"""How much memory and time jobs on rows will need, as is said before the start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from diffclass.classifier import DiffusionClassifier
from diffclass.graph import graph_costs
from diffclass.kernels import Kernel, check_kernel
from diffclass.label_diffusion import diffusion_costs
from diffclass.system.costs import Cost, Forecast, Size, seconds_of
from diffclass_tables.features import points_cost
from diffclass_tables.io import Table
from diffclass_tables.rows import size_of


def forecast_rows(
    table: Table,
    costs: Callable[[Size], Mapping[str, Cost]],
    *,
    n_neighbors: int,
    n_components: int | None,
    n_classes: int = 0,
) -> tuple[Forecast, Mapping[str, Cost]]:
    """Say what a job will need, whose ``costs`` depend on the size of its points."""
    size = size_of(table, n_neighbors, n_components, n_classes)
    d = 1 if table.values is None else table.values.shape[1]
    found = {"features": points_cost(table.n_rows, d, n_components)} | dict(costs(size))
    return Forecast.of(found | {"writing": Cost()}), found


def forecast_classification(
    table: Table, classifier: DiffusionClassifier, n_classes: int, *, n_components: int | None
) -> Forecast:
    """Say what `classify_rows` will need; see `forecast_rows`."""
    kernel = check_kernel(classifier.kernel or "shared")

    def costs(size: Size) -> dict[str, Cost]:
        return graph_costs(size, kernel) | diffusion_costs(
            size, warped=classifier.warp is not None, kept_classes=classifier.kept_classes
        )

    forecast, found = forecast_rows(
        table, costs, n_neighbors=classifier.n_neighbors, n_components=n_components,
        n_classes=n_classes,
    )  # fmt: skip
    is_known = classifier.kernel is None and classifier.warp is None and classifier.device == "cpu"
    if not is_known or classifier.join_features:
        return forecast
    once = ["features", "neighbors", "affinities"]
    return replace(forecast, seconds=seconds_of(found, n_fits=1, once=once))


def graph_forecast(
    table: Table, kernel: Kernel, n_neighbors: int, n_components: int | None
) -> Forecast:
    """Say what a graph of rows will need."""
    return forecast_rows(
        table,
        lambda size: graph_costs(size, kernel),
        n_neighbors=n_neighbors,
        n_components=n_components,
    )[0]
