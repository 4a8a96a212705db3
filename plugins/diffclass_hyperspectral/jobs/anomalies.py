"""Scores of how unlike the others each pixel of a scene is: by three methods, and drawn."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from diffclass.anomaly import DiffusionAnomaly
from diffclass.evaluation import DetectionCurve
from diffclass.exceptions import DataError
from diffclass.jobs import METHODS, Anomalies, MadePoints, find_anomalies
from diffclass.options import check_options
from diffclass.plots import CompositeDisplay, DetectionDisplay, label_map_axes, new_figure
from diffclass.system.costs import Cost, Forecast, Size
from diffclass.system.output import replacing
from diffclass.system.progress import stage
from diffclass_hyperspectral.features.block_statistics import BandStatistics
from diffclass_hyperspectral.io.labels import LabelImage
from diffclass_hyperspectral.io.scenes import Scene, color_bands
from diffclass_hyperspectral.options import OPTIONS
from diffclass_hyperspectral.pixels import ScenePoints

_COMPONENTS = 30


class Spectra(ScenePoints):
    """Pixels as points by all their usable bands."""

    features = "spectra"

    def size(self, n_neighbors: int = 0, n_classes: int = 0) -> Size:
        """Return what the costs of a job depend on."""
        rows, columns, _ = self.scene.shape
        return Size(rows * columns, int(self.scene.band_mask.sum()), n_neighbors, n_classes)

    def costs(self) -> dict[str, Cost]:
        """Return the costs of making the points."""
        size = self.size()
        return {"spectra": Cost(8 * size.points * (size.features + 1))}

    def make(self) -> MadePoints:
        """Make the points."""
        bands = self.scene.usable_bands()
        points = self._values(bands)
        facts = {
            "named_by": "row, column",
            "features": self.features,
            "n_features": int(bands.sum()),
            "left_out": [f"band {band + 1}" for band in np.flatnonzero(~bands)],
            "metric": "euclidean",
            "n_components": points.shape[1],
        }
        return MadePoints(points, self.scene.valid, facts)

    def _values(self, bands: np.ndarray) -> np.ndarray:
        return self.scene.spectra(bands=bands)[self.scene.valid.ravel()]


class WhitenedPixels(Spectra):
    """Pixels as points by 30 partly whitened components."""

    features = "partly whitened components"

    def size(self, n_neighbors: int = 0, n_classes: int = 0) -> Size:
        """Return what the costs of a job depend on."""
        size = super().size(n_neighbors, n_classes)
        return replace(size, features=min(_COMPONENTS, size.features))

    def costs(self) -> dict[str, Cost]:
        """Return the costs of making the points."""
        size, block = self.size(), self._block_bytes
        kept = 4 * size.points * size.features
        return {"covariance": self._covariance_cost, "components": Cost(block + kept, kept)}

    @property
    def _block_bytes(self) -> int:
        _, columns, bands = self.scene.shape
        return 24 * max(2**20, columns * bands)  # floats of both precisions

    @property
    def _covariance_cost(self) -> Cost:
        return Cost(self._block_bytes + 8 * int(self.scene.band_mask.sum()) ** 2)

    def _values(self, bands: np.ndarray) -> np.ndarray:
        statistics = self._statistics()
        with stage("components"):
            return statistics.whitened(self.scene, n_components=_COMPONENTS)

    def _statistics(self) -> BandStatistics:
        with stage("covariance"):
            return BandStatistics.from_scene(self.scene)


class RxDistances(WhitenedPixels):
    """Pixels by one number: their squared Mahalanobis distance from the mean, by `spectral`."""

    features = "distances from the mean"

    def costs(self) -> dict[str, Cost]:
        """Return the costs of making the points."""
        return {"covariance": self._covariance_cost}

    def _values(self, bands: np.ndarray) -> np.ndarray:
        statistics = self._statistics()
        with stage("RX"):
            return statistics.rx(self.scene)[:, None]


def scene_anomalies(
    scene: Scene,
    *,
    method: str = "diffusion",
    model: DiffusionAnomaly | None = None,
    random_state: int = 0,
    before: Callable[[Forecast], object] | None = None,
) -> Anomalies:
    """Score every pixel of a scene by how unlike the others its spectrum is.

    Parameters
    ----------
    scene : Scene
    method : {"diffusion", "rx", "isolation-forest"}, default="diffusion"
        "diffusion" is `DiffusionAnomaly` on 30 partly whitened components; "rx" the squared
        Mahalanobis distance from the mean, by `spectral`; "isolation-forest" scikit-learn's, on
        the spectra.
    model : DiffusionAnomaly, optional
        For "diffusion".
    random_state : int, default=0
        Of the other random choices.
    before : callable, optional
        Called with the forecast of memory before the scene is read.

    Returns
    -------
    Anomalies

    Raises
    ------
    DataError
        Where no pixel has data or every band is constant.
    ParameterError
        For an unknown method, or parameters that the model refuses.

    See Also
    --------
    DiffusionAnomaly : The estimator, for arrays.
    diffclass.jobs.find_anomalies : For points of any kind.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_hyperspectral import Scene, scene_anomalies
    >>> cube = np.random.default_rng(0).normal(size=(20, 20, 5))
    >>> cube[3, 4] += 9
    >>> found = scene_anomalies(Scene.from_array(cube))
    >>> pixel, score = found.highest(1)[0]
    >>> pixel["row"], pixel["column"]
    (3, 4)
    """
    check_options(OPTIONS, method=method, random_state=random_state)
    if method == "diffusion":
        points = WhitenedPixels(scene)
        return find_anomalies(points, model, random_state=random_state, before=before)
    made = RxDistances(scene) if method == "rx" else Spectra(scene)
    memory = Forecast.of(made.costs() | {"writing": Cost(16 * made.size().points)})
    if before is not None:
        before(memory)
    scores = made.points[:, 0] if method == "rx" else _isolation(made.points, random_state)
    placed = made.placed(np.asarray(scores, dtype=np.float64), np.nan)
    return Anomalies(made, placed, method, memory)


def _isolation(spectra: np.ndarray, random_state: int) -> np.ndarray:
    from sklearn.ensemble import IsolationForest

    # scikit-learn takes features that differ by less than 1e-7 for constant ones
    spectra = np.ldexp(spectra, -np.frexp(np.ptp(spectra, axis=0))[1])
    with stage("isolation forest"):
        return -IsolationForest(random_state=random_state).fit(spectra).score_samples(spectra)


def known_anomalies(truth: LabelImage, scene: Scene) -> np.ndarray:
    """Return which pixels of a scene are anomalies, after a check that scores can be compared.

    Parameters
    ----------
    truth : LabelImage
        Of the scene's size: 0 is background, all other ids are anomalies.
    scene : Scene

    Returns
    -------
    ndarray of bool of shape (rows, columns)

    Raises
    ------
    DataError
        If it does not lie on the scene, or none or all of the pixels with data are anomalies.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_hyperspectral import LabelImage, Scene, known_anomalies
    >>> scene = Scene.from_array(np.random.default_rng(0).random((2, 3, 4)))
    >>> known_anomalies(LabelImage.from_array(np.array([[0, 0, 2], [0, 1, 0]])), scene)
    array([[False, False,  True],
           [False,  True, False]])
    """
    marked = truth.on(scene).ids > 0
    with_data = marked[scene.valid]
    if not with_data.any() or with_data.all():
        share = "all" if with_data.any() else "none"
        raise DataError(
            f"{truth.path} marks {share} of the {with_data.size} pixels with data as anomalies; "
            "it has to be 0 for the background and above 0 for anomalies, with some of both"
        )
    return marked


def draw_anomalies(
    path: str | os.PathLike[str],
    found: Anomalies,
    scene: Scene,
    *,
    truth: np.ndarray | None = None,
    curves: Mapping[str, DetectionCurve] | None = None,
    overwrite: bool = False,
) -> None:
    """Draw the scene, its scores and, with a truth, that and the ROC curves by method as a PNG."""
    n_panels = 3 if curves else 2
    figure = new_figure((5.2 * n_panels, 4.8), layout=None)
    figure.set_layout_engine("constrained", w_pad=0.12)
    axes = figure.subplots(1, n_panels)
    CompositeDisplay(_colors(scene), bands=(0, 1, 2)).plot(ax=axes[0], title="scene")
    _draw_scores(figure, axes[1], found)
    if truth is not None and truth.any() and min(truth.shape) > 1:
        axes[0].contour(truth, levels=[0.5], colors="red", linewidths=1.0)
        axes[0].set_title("scene, known anomalies outlined")
    if curves:
        DetectionDisplay({METHODS[name]: curve for name, curve in curves.items()}).plot(
            ax=axes[2], title="detection (ROC curve)"
        )
    with replacing(path, overwrite=overwrite, suffix=".png") as temporary:
        figure.savefig(temporary, dpi=100)


def _draw_scores(figure: Any, axes: Any, found: Anomalies) -> None:
    """Show ranks: scores span orders of magnitude, in a different way for each method."""
    ranks = percentiles(found.scores)
    image = axes.imshow(-np.log10(1 - ranks), cmap="viridis", interpolation="nearest")
    bar = figure.colorbar(image, ax=axes, shrink=0.8)
    ticks = [t for t in range(7) if t <= float(np.nanmax(-np.log10(1 - ranks)))]
    bar.set_ticks(ticks, labels=["all pixels", *(f"1 in {10**t:,}" for t in ticks[1:])])
    bar.set_label("pixels with this score or more")
    axes.set_title(f"{METHODS[found.method]}: score")
    label_map_axes(axes)


def percentiles(scores: np.ndarray) -> np.ndarray:
    """Return the share of pixels that score lower, 0 to 1 (not reached); NaN without data."""
    known = np.isfinite(scores)
    ordered = np.sort(scores[known])
    shares = np.full(scores.shape, np.nan)
    shares[known] = np.searchsorted(ordered, scores[known], side="left") / len(ordered)
    return shares


def _colors(scene: Scene) -> np.ndarray:
    """Read the bands of true colour, or what stands for them."""
    planes = []
    for band in color_bands(scene):
        only = np.zeros(scene.n_bands, dtype=bool)
        only[band] = True
        planes.append(scene.spectra(bands=only).reshape(scene.shape[:2]))
    return np.stack(planes, axis=-1)
