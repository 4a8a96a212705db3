"""Diffusion coordinates of a scene or a table: found, written, drawn and reported."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import BandwidthCurve, DiffusionMap
from diffclass.costs import Cost, Forecast, Size
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import Gaussian
from diffclass.libraries import require
from diffclass.output import replacing
from diffclass.plots import stretch_contrast
from diffclass.point_graph import graph_costs
from diffclass.progress import stage
from diffclass.reports import RunCosts, RunReport, written_as
from diffclass.spectral import MOST_COMPONENTS, eigenpairs_cost
from diffclass_hyperspectral.features.feature_costs import feature_costs, scene_size
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.maps import new_figure, place_of, write_raster
from diffclass_hyperspectral.io.scenes import Scene, open_scene
from diffclass_hyperspectral.io.tables import is_table, read_table, write_table
from diffclass_hyperspectral.workflows.parameters import check_whole

__all__ = [
    "draw_embedding",
    "embed_file",
    "report_embedding",
    "write_coordinates",
]

_MOST_ALPHA = 4
_LEAST_FLOAT, _INFINITY = 5e-324, float("inf")


@dataclass(frozen=True, eq=False)
class EmbeddedPoints:
    """Diffusion coordinates of a scene's pixels or a table's rows."""

    coordinates: np.ndarray  # (n, n_components); NaN where values are missing
    model: DiffusionMap  # fitted to the others
    scene: Scene | None = None  # None for a table
    memory: Forecast | None = None

    @property
    def shape(self) -> tuple[int, int] | None:
        """Rows and columns of the scene."""
        return None if self.scene is None else self.scene.shape[:2]

    @property
    def names(self) -> list[str]:
        """Names of the coordinates."""
        return [f"diffusion {i + 1}" for i in range(self.coordinates.shape[1])]


def embed_file(
    path: str | os.PathLike[str],
    model: DiffusionMap,
    *,
    features: SceneFeatures | None = None,
    opening: Mapping[str, Any] | None = None,
    before: Callable[[Forecast], object] | None = None,
) -> EmbeddedPoints:
    """Embed the pixels of a scene, or the rows of a table.

    Parameters
    ----------
    path : path-like
        As `open_scene` or `read_table`.
    model : DiffusionMap
        Fitted here.
    features : SceneFeatures, optional
        Of a scene; spectral components by default.
    opening : mapping, optional
        Options of `open_scene`.
    before : callable, optional
        Called with the forecast of memory before the graph is made.

    Returns
    -------
    EmbeddedPoints

    Raises
    ------
    DataError
        For files that cannot be read, or without a complete row.
    ParameterError
        As `DiffusionMap`.
    """
    if is_table(path):
        with stage("opening"):
            points, _ = read_table(path)
        check_map(model, len(points))
        memory = forecast_points(len(points), points.shape[1], model)
        if before is not None:
            before(memory)
        return _embedded(path, points, model, memory=memory)
    with stage("opening"):
        scene = open_scene(path, **(opening or {}))
    features = SceneFeatures() if features is None else features
    features.check_parameters()
    check_map(model, scene.shape[0] * scene.shape[1])
    memory = forecast_embedding(scene, features, model)
    if before is not None:
        before(memory)
    with stage("features"):
        points = features.fit_transform(scene)
    return _embedded(path, points, model, scene=scene, memory=memory)


def _embedded(
    path: str | os.PathLike[str],
    points: np.ndarray,
    model: DiffusionMap,
    *,
    memory: Forecast,
    scene: Scene | None = None,
) -> EmbeddedPoints:
    valid = np.isfinite(points).all(axis=1)
    if not valid.any():
        raise DataError(f"{path}: every row has a missing value; nothing can be embedded")
    model.fit(points[valid])
    coordinates = np.full((len(points), model.n_components_), np.nan)
    coordinates[valid] = model.embedding_
    return EmbeddedPoints(coordinates, model, scene, memory)


def write_coordinates(
    path: str | os.PathLike[str], embedded: EmbeddedPoints, *, overwrite: bool = False
) -> None:
    """Write coordinates: ``.npy``, ``.csv`` (one row per point), or ENVI and GeoTIFF for a scene.

    Raises
    ------
    ParameterError
        For ENVI without a scene, or where nothing can be written.
    """
    values, suffix = embedded.coordinates, Path(path).suffix.lower()
    if suffix == ".csv":
        write_table(path, *_with_places(embedded), overwrite=overwrite)
    elif embedded.scene is not None:
        write_raster(
            path,
            values.reshape(*embedded.scene.shape[:2], -1),
            band_names=embedded.names,
            overwrite=overwrite,
            **place_of(embedded.scene, path),
        )
    elif suffix == ".npy":
        with replacing(path, overwrite=overwrite, suffix=".npy") as temporary:
            np.save(temporary, values, allow_pickle=False)
    else:
        raise ParameterError(f"{path}: a table's coordinates are written as .npy or .csv")


def draw_embedding(
    path: str | os.PathLike[str], embedded: EmbeddedPoints, *, overwrite: bool = False
) -> None:
    """Draw coordinates, spectrum and, where it was chosen, the bandwidth's curve as a PNG."""
    require("matplotlib", extra="plots")
    from diffclass.plots import BandwidthDisplay, EigenvaluesDisplay, EmbeddingDisplay

    model, curve = embedded.model, embedded.model.bandwidth_curve_
    figure, axes = _panels(3 if curve is not None else 2)
    if embedded.shape is not None:
        _draw_scene(axes[0], embedded)
    else:
        shown = embedded.coordinates[np.isfinite(embedded.coordinates[:, 0])]
        components = (0, 1)[: shown.shape[1]]
        EmbeddingDisplay(shown, components=components).plot(axes[0])
    times = sorted({1, 16, 256, model.time_})
    EigenvaluesDisplay.from_estimator(model, times=times, ax=axes[1])
    if curve is not None:
        BandwidthDisplay(curve).plot(axes[2])
    with replacing(path, overwrite=overwrite, suffix=".png") as temporary:
        figure.savefig(temporary, dpi=100)


def _panels(n_panels: int) -> tuple[Any, Any]:
    figure = new_figure(figsize=(5.5 * n_panels, 4.5), layout="constrained")
    return figure, figure.subplots(1, n_panels)


def _draw_scene(axes: Any, embedded: EmbeddedPoints) -> None:
    """Show up to three coordinates as red, green and blue; white has no data."""
    shown = embedded.coordinates[:, :3]
    known = ~np.isnan(shown[:, 0])
    planes = np.ones((len(shown), 3))
    planes[known] = 0
    planes[known, : shown.shape[1]] = stretch_contrast(shown[known])
    assert embedded.shape is not None
    axes.imshow(planes.reshape(*embedded.shape, 3), interpolation="nearest")
    colors = ("red", "green", "blue")[: shown.shape[1]]
    named = ", ".join(f"{i + 1} {color}" for i, color in enumerate(colors))
    axes.set(
        title=f"diffusion coordinates: {named}", xlabel="column (pixels)", ylabel="row (pixels)"
    )


def _with_places(embedded: EmbeddedPoints) -> tuple[np.ndarray, list[str]]:
    """Coordinates, after each pixel's row and column."""
    if embedded.shape is None:
        return embedded.coordinates, embedded.names
    places = np.indices(embedded.shape).reshape(2, -1).T
    return np.hstack([places, embedded.coordinates]), ["row", "column", *embedded.names]


def forecast_embedding(scene: Scene, features: SceneFeatures, model: DiffusionMap) -> Forecast:
    """Say what embedding a scene's pixels will need; within about a quarter from 100,000 pixels on.

    A bandwidth that is chosen from the data may need more neighbours than the model asks for.
    """
    size = scene_size(scene, features, model.n_neighbors)
    return Forecast.of(feature_costs(scene, features, size.points) | _of_embedding(size, model))


def forecast_points(n: int, n_features: int, model: DiffusionMap) -> Forecast:
    """Say what embedding so many rows of a table will need; otherwise as `forecast_embedding`."""
    size = Size(n, n_features, model.n_neighbors)
    return Forecast.of(_of_embedding(size, model), kept=4 * n * n_features)


def _of_embedding(size: Size, model: DiffusionMap) -> dict[str, Cost]:
    most = MOST_COMPONENTS + 1 if isinstance(model.n_components, str) else model.n_components
    costs = graph_costs(size, model.kernel or Gaussian())
    return costs | {"eigenpairs": eigenpairs_cost(size, most + 1), "writing": Cost()}


def check_map(model: DiffusionMap, n_pixels: int) -> None:
    """Raise `ParameterError` for what an embedding would refuse when fitted to that many pixels."""
    if not isinstance(model.n_components, str):
        check_whole(model.n_components, "n_components", least=1)
        if model.n_components >= n_pixels:
            raise ParameterError(
                f"n_components = {model.n_components}; {n_pixels} points have at most "
                f"{n_pixels - 1} coordinates"
            )
    check_whole(model.n_neighbors, "n_neighbors", least=1)
    for name in ("alpha", "time", "bandwidth"):
        value = getattr(model, name)
        if isinstance(value, str) and name != "alpha":
            continue
        least = _LEAST_FLOAT if name == "bandwidth" else 0
        if not (isinstance(value, Real) and least <= float(value) < _INFINITY):
            bound = "above 0" if name == "bandwidth" else "at least 0"
            raise ParameterError(f"{name} = {value!r}; it has to be a number {bound}")
    if not isinstance(model.alpha, str) and model.alpha > _MOST_ALPHA:
        raise ParameterError(
            f"alpha = {model.alpha!r}; affinities are divided by densities to this power, which "
            f"beyond {_MOST_ALPHA} leaves only the emptiest points: take 0 to 1"
        )


def _curve(curve: BandwidthCurve) -> dict[str, Any]:
    return {
        "criterion": curve.criterion,
        "epsilons": curve.epsilons.tolist(),
        "values": [None if value != value else float(value) for value in curve.values],
        "n_useful": curve.n_useful.tolist(),
        "in_reach": curve.in_reach.tolist(),
        "is_found": curve.is_found,
        "dimension": curve.dimension,
    }


@dataclass(frozen=True, eq=False)
class EmbeddingReport(RunReport):
    """What is known about an embedding besides its coordinates."""

    n_points: int
    n_without_data: int  # pixels or rows that were left out
    eigenvalues: tuple[float, ...]
    time: float  # in steps
    epsilon: float | None  # bandwidth; None where each point has its own
    alpha: float
    n_neighbors: int
    neighbor_recall: float | None  # share of the true neighbours that were found
    n_graph_components: int
    bandwidth_curve: BandwidthCurve | None = field(metadata=written_as(_curve))

    def lines(self) -> list[str]:
        """Return the report as lines to read."""
        eigenvalues = ", ".join(f"{value:.4f}" for value in self.eigenvalues)
        epsilon = "self-tuned" if self.epsilon is None else f"{self.epsilon:.4g}"
        lines = [
            f"{self.n_points} points ({self.n_without_data} without data), "
            f"{self.n_neighbors} neighbours, {self.n_graph_components} component(s)",
            f"epsilon {epsilon}, alpha {self.alpha:g}, time {self.time:g}",
            f"eigenvalues {eigenvalues}",
        ]
        curve = self.bandwidth_curve
        if curve is not None and curve.dimension is not None:
            lines.append(f"dimension {curve.dimension:.2f}")
        return lines


def report_embedding(embedded: EmbeddedPoints, *, costs: RunCosts | None = None) -> EmbeddingReport:
    """Describe an embedding."""
    model = embedded.model
    n_points = len(model.operator_)
    return EmbeddingReport(
        n_points=n_points,
        n_without_data=len(embedded.coordinates) - n_points,
        eigenvalues=tuple(model.eigenvalues_.tolist()),
        time=model.time_,
        epsilon=model.epsilon_,
        alpha=model.alpha,
        n_neighbors=model.n_neighbors_,
        neighbor_recall=model.graph_.recall,
        n_graph_components=model.operator_.n_connected_components,
        bandwidth_curve=model.bandwidth_curve_,
        memory=embedded.memory,
        costs=costs,
    )
