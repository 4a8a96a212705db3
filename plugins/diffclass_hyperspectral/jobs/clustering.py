"""What clusters of pixels have besides: mean spectra, a library of them, a picture."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffclass.exceptions import DataError
from diffclass.jobs import ClusterReport, Clusters, RunCosts, report_clusters
from diffclass.options import check_options
from diffclass.plots import MOST_SPREADS, ClassMapDisplay, MeanSpectraDisplay, new_figure
from diffclass.system.libraries import require
from diffclass.system.output import replacing
from diffclass_hyperspectral.io.labels import ClassTable, LabelImage
from diffclass_hyperspectral.io.rasters import row_blocks
from diffclass_hyperspectral.io.readers import SpectralLibrary, color_text
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.options import OPTIONS


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


def table_of(found: Clusters) -> ClassTable:
    """Return names and colours for a map: cluster 1, cluster 2, ..."""
    ids = range(1, len(found.order) + 1)
    return ClassTable.from_ids(ids, names={i: f"cluster {i}" for i in ids})


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

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_hyperspectral import LabelImage, Scene, known_classes
    >>> scene = Scene.from_array(np.random.default_rng(0).random((2, 3, 4)))
    >>> known_classes(LabelImage.from_array(np.array([[0, 0, 2], [0, 1, -1]])), scene)
    array([[0, 0, 2],
           [0, 1, 0]], dtype=int32)
    """
    truth = truth.on(scene)
    if not truth.ids[scene.valid].any():
        raise DataError(
            f"{truth.path}: no pixel with data has a class; there is nothing to compare"
        )
    return truth.ids


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

    See Also
    --------
    diffclass.plots.MeanSpectraDisplay : Draws them.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_hyperspectral import Scene, mean_spectra
    >>> cube = np.array([[[1.0, 5], [3, 5], [4, 8]]])
    >>> found = mean_spectra(Scene.from_array(cube), np.array([[1, 1, 2]]), 2)
    >>> found.means.tolist(), found.deviations.tolist()
    ([[2.0, 5.0], [4.0, 8.0]], [[1.0, 0.0], [0.0, 0.0]])
    """
    check_options(OPTIONS, n_clusters=n_clusters)
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


def library_of(scene: Scene, class_map: np.ndarray, table: ClassTable) -> SpectralLibrary:
    """Return the mean spectra of a map's classes, without 0, as a spectral library."""
    present, numbers = np.unique(np.maximum(class_map, 0), return_inverse=True)
    numbers = numbers.reshape(class_map.shape) + (0 if present[0] == 0 else 1)
    present = present[present > 0]
    if not len(present):
        raise DataError(f"{scene.path}: no pixel has a class; there are no spectra to write")
    found = mean_spectra(scene, numbers, len(present))
    names = tuple(table[int(i)].name for i in present)
    return SpectralLibrary(names, found.means, found.wavelengths)


def report_scene_clusters(
    found: Clusters,
    spectra: ClusterSpectra,
    *,
    truth: LabelImage | None = None,
    known: np.ndarray | None = None,
    costs: RunCosts | None = None,
) -> ClusterReport:
    """Describe clusters of pixels and their spectra, and how they agree with ``known`` classes."""
    rows = zip(spectra.means, spectra.deviations, strict=True)
    return report_clusters(
        found,
        truth=known,
        class_names=None if truth is None else {entry.id: entry.name for entry in truth.table},
        costs=costs,
        more={"bands": spectra.bands, "wavelengths_nm": spectra.wavelengths},
        more_of_each=[{"mean": mean, "standard_deviation": spread} for mean, spread in rows],
    )


def draw_clusters(
    path: str | os.PathLike[str],
    found: Clusters,
    spectra: ClusterSpectra,
    *,
    overwrite: bool = False,
) -> None:
    """Draw the map of a scene's clusters and their mean spectra as a PNG."""
    require("matplotlib", extra="plots")
    table = table_of(found)
    names = {entry.id: entry.name for entry in table}
    colors = {entry.id: color_text(entry.color) for entry in table}
    style: dict[str, Any] = {
        "class_ids": list(names),
        "class_names": names,
        "class_colors": colors,
    }
    figure = new_figure((13.5, max(4.8, 0.24 * len(names) + 1.2)), layout="constrained")
    axes = figure.subplots(1, 2)
    ClassMapDisplay(found.numbers, **style).plot(ax=axes[0], title="clusters")
    MeanSpectraDisplay(
        spectra.means,
        bands=spectra.bands,
        wavelengths=spectra.wavelengths,
        deviations=spectra.deviations,
        **style,
    ).plot(ax=axes[1], legend=False, title=_spectra_title(len(names)))
    with replacing(path, overwrite=overwrite, suffix=".png") as temporary:
        figure.savefig(temporary, dpi=100)


def _spectra_title(n_clusters: int) -> str:
    shaded = " and one standard deviation" if n_clusters <= MOST_SPREADS else ""
    return f"mean spectra{shaded}"
