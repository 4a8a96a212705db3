"""Diffusion coordinates of a scene: found, written and drawn."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import DiffusionMap
from diffclass.jobs import check_map, draw_map, embedding_costs
from diffclass.options import check_options
from diffclass.plots import stretch_contrast
from diffclass.system.costs import Forecast
from diffclass.system.progress import stage
from diffclass_hyperspectral.features.feature_costs import feature_costs, scene_size
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.maps import place_of, write_raster
from diffclass_hyperspectral.io.number_tables import write_table
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.options import OPTIONS


@dataclass(frozen=True, eq=False)
class EmbeddedScene:
    """Diffusion coordinates of a scene's pixels."""

    coordinates: np.ndarray  # (n, n_components); NaN where values are missing
    model: DiffusionMap  # fitted to the others
    scene: Scene
    memory: Forecast | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the scene."""
        rows, columns, _ = self.scene.shape
        return rows, columns

    @property
    def names(self) -> list[str]:
        """Names of the coordinates."""
        return [f"diffusion {i + 1}" for i in range(self.coordinates.shape[1])]


def embed_scene(
    scene: Scene,
    model: DiffusionMap,
    *,
    features: SceneFeatures | None = None,
    before: Callable[[Forecast], object] | None = None,
) -> EmbeddedScene:
    """Embed the pixels of a scene.

    Parameters
    ----------
    scene : Scene
    model : DiffusionMap
        Fitted here.
    features : SceneFeatures, optional
        Fitted here; spectral components by default.
    before : callable, optional
        Called with the forecast of memory before the scene is read.

    Returns
    -------
    EmbeddedScene

    Raises
    ------
    DataError
        Where no pixel has data or every band is constant.
    ParameterError
        As `DiffusionMap`.

    See Also
    --------
    DiffusionMap : The estimator, for arrays.
    cluster_scene : Groups in such coordinates.

    Examples
    --------
    >>> from diffclass import DiffusionMap
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import Scene, embed_scene
    >>> scene = Scene.from_array(make_tissue_scene(48, 48).cube)
    >>> embedded = embed_scene(scene, DiffusionMap(3))
    >>> embedded.coordinates.shape, embedded.names
    ((2304, 3), ['diffusion 1', 'diffusion 2', 'diffusion 3'])
    """
    features = SceneFeatures() if features is None else features
    features.check_parameters()
    check_map(model, scene.shape[0] * scene.shape[1])
    memory = forecast_embedding(scene, features, model)
    if before is not None:
        before(memory)
    with stage("features"):
        points = features.fit_transform(scene)
    valid = np.isfinite(points).all(axis=1)
    model.fit(points[valid])
    coordinates = np.full((len(points), model.n_components_), np.nan)
    coordinates[valid] = model.embedding_
    return EmbeddedScene(coordinates, model, scene, memory)


def write_coordinates(
    path: str | os.PathLike[str], embedded: EmbeddedScene, *, overwrite: bool = False
) -> None:
    """Write coordinates: ``.csv``, one row per pixel, or as `write_raster`.

    Raises
    ------
    ParameterError
        Where nothing can be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass import DiffusionMap
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import Scene, embed_scene, open_scene, write_coordinates
    >>> scene = Scene.from_array(make_tissue_scene(48, 48).cube)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_coordinates(Path(folder) / "map.img", embed_scene(scene, DiffusionMap(3)))
    ...     open_scene(Path(folder) / "map.img").shape
    (48, 48, 3)
    """
    check_options(OPTIONS, overwrite=overwrite)
    values = embedded.coordinates
    if Path(path).suffix.lower() == ".csv":
        places = np.indices(embedded.shape).reshape(2, -1).T
        columns = np.hstack([places, values])
        write_table(path, columns, ["row", "column", *embedded.names], overwrite=overwrite)
        return
    write_raster(
        path,
        values.reshape(*embedded.shape, -1),
        band_names=embedded.names,
        overwrite=overwrite,
        **place_of(embedded.scene, path),
    )


def draw_embedding(
    path: str | os.PathLike[str], embedded: EmbeddedScene, *, overwrite: bool = False
) -> None:
    """Draw coordinates, spectrum and, where it was chosen, the bandwidth's curve as a PNG."""
    draw_map(path, embedded.model, lambda axes: _draw_scene(axes, embedded), overwrite=overwrite)


def _draw_scene(axes: Any, embedded: EmbeddedScene) -> None:
    """Show up to three coordinates as red, green and blue; white has no data."""
    shown = embedded.coordinates[:, :3]
    known = ~np.isnan(shown[:, 0])
    planes = np.ones((len(shown), 3))
    planes[known] = 0
    planes[known, : shown.shape[1]] = stretch_contrast(shown[known])
    axes.imshow(planes.reshape(*embedded.shape, 3), interpolation="nearest")
    colors = ("red", "green", "blue")[: shown.shape[1]]
    named = ", ".join(f"{i + 1} {color}" for i, color in enumerate(colors))
    axes.set(
        title=f"diffusion coordinates: {named}", xlabel="column (pixels)", ylabel="row (pixels)"
    )


def forecast_embedding(scene: Scene, features: SceneFeatures, model: DiffusionMap) -> Forecast:
    """Say what embedding a scene's pixels will need; within about a quarter from 100,000 on."""
    size = scene_size(scene, features, model.n_neighbors)
    return Forecast.of(feature_costs(scene, features, size.points) | embedding_costs(size, model))
