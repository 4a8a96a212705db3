"""Diffusion coordinates of a scene's pixels: written and drawn."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.jobs import Embedding, draw_map
from diffclass.options import check_options
from diffclass.plots import stretch_contrast
from diffclass_hyperspectral.io.maps import place_of, write_raster
from diffclass_hyperspectral.io.number_tables import write_table
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.options import OPTIONS


def write_coordinates(
    path: str | os.PathLike[str], embedded: Embedding, scene: Scene, *, overwrite: bool = False
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
    >>> from diffclass.jobs import embed
    >>> from diffclass_hyperspectral import Pixels, Scene, open_scene, write_coordinates
    >>> scene = Scene.from_array(make_tissue_scene(48, 48).cube)
    >>> embedded = embed(Pixels(scene), DiffusionMap(3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_coordinates(Path(folder) / "map.img", embedded, scene)
    ...     open_scene(Path(folder) / "map.img").shape
    (48, 48, 3)
    """
    check_options(OPTIONS, overwrite=overwrite)
    values = embedded.coordinates
    if Path(path).suffix.lower() == ".csv":
        places = np.indices(values.shape[:2]).reshape(2, -1).T
        columns = np.hstack([places, values.reshape(len(places), -1)])
        write_table(path, columns, ["row", "column", *embedded.names], overwrite=overwrite)
        return
    write_raster(
        path,
        values,
        band_names=embedded.names,
        overwrite=overwrite,
        **place_of(scene, path),
    )


def draw_embedding(
    path: str | os.PathLike[str], embedded: Embedding, *, overwrite: bool = False
) -> None:
    """Draw coordinates, spectrum and, where it was chosen, the bandwidth's curve as a PNG."""
    draw_map(path, embedded.model, lambda axes: _draw_scene(axes, embedded), overwrite=overwrite)


def _draw_scene(axes: Any, embedded: Embedding) -> None:
    """Show up to three coordinates as red, green and blue; white has no data."""
    shown = embedded.coordinates[..., :3]
    known = embedded.points.valid
    planes = np.ones((*known.shape, 3))
    planes[known] = 0
    planes[known, : shown.shape[-1]] = stretch_contrast(shown[known])
    axes.imshow(planes, interpolation="nearest")
    colors = ("red", "green", "blue")[: shown.shape[-1]]
    named = ", ".join(f"{i + 1} {color}" for i, color in enumerate(colors))
    axes.set(
        title=f"diffusion coordinates: {named}", xlabel="column (pixels)", ylabel="row (pixels)"
    )
