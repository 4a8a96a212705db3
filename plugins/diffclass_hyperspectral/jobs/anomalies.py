"""Scores of how unlike the others each pixel of a scene is: found, drawn and reported."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffclass.anomaly import DiffusionAnomaly
from diffclass.evaluation import DetectionCurve, detection_curve
from diffclass.exceptions import DataError
from diffclass.graph import graph_costs
from diffclass.jobs import RunCosts, RunReport, check_neighbors
from diffclass.kernels import Gaussian
from diffclass.options import check_options
from diffclass.plots import CompositeDisplay, DetectionDisplay, label_map_axes, new_figure
from diffclass.system.costs import Cost, Forecast, Size
from diffclass.system.output import replacing
from diffclass.system.progress import stage
from diffclass_hyperspectral.features.block_statistics import BandStatistics
from diffclass_hyperspectral.io.labels import LabelImage
from diffclass_hyperspectral.io.scenes import Scene, color_bands
from diffclass_hyperspectral.options import OPTIONS

_COMPONENTS = 30
NAMES = {"diffusion": "diffusion", "rx": "RX", "isolation-forest": "isolation forest"}
_LISTED = 10


@dataclass(frozen=True, eq=False)
class SceneAnomalies:
    """Scores of a scene's pixels.

    Attributes
    ----------
    scores : ndarray of shape (rows, columns)
        The higher, the less like the other pixels; NaN without data.
    method : str
    memory : Forecast or None
        What the run was forecast to need.
    """

    scores: np.ndarray
    method: str
    memory: Forecast | None = None

    def highest(self, n: int) -> list[tuple[int, int, float]]:
        """Return row, column and score of the n highest scores, the highest first."""
        order = np.argsort(-self.scores, axis=None, kind="stable")  # NaN last
        known = order[: min(n, int(np.isfinite(self.scores).sum()))]
        rows, columns = np.unravel_index(known, self.scores.shape)
        values = self.scores[rows, columns]
        return list(zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True))


def find_anomalies(
    scene: Scene,
    *,
    method: str = "diffusion",
    model: DiffusionAnomaly | None = None,
    random_state: int = 0,
    before: Callable[[Forecast], object] | None = None,
) -> SceneAnomalies:
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
    SceneAnomalies

    Raises
    ------
    DataError
        Where no pixel has data or every band is constant.
    ParameterError
        For an unknown method, or parameters that the model refuses.

    See Also
    --------
    DiffusionAnomaly : The estimator, for arrays.
    cluster_scene : Groups instead of single pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_hyperspectral import Scene, find_anomalies
    >>> cube = np.random.default_rng(0).normal(size=(20, 20, 5))
    >>> cube[3, 4] += 9
    >>> found = find_anomalies(Scene.from_array(cube))
    >>> found.highest(1)[0][:2]
    (3, 4)
    """
    check_options(OPTIONS, method=method, random_state=random_state)
    model = DiffusionAnomaly(random_state=random_state) if model is None else model
    if method == "diffusion":
        check_neighbors(model.n_neighbors, scene.shape[0] * scene.shape[1])
    memory = forecast_anomalies(scene, method, model.n_neighbors, _COMPONENTS)
    if before is not None:
        before(memory)
    found = _scores(scene, method, model, random_state)
    scores = np.full(scene.shape[:2], np.nan)
    scores[scene.valid] = found
    return SceneAnomalies(scores, method, memory)


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


def detection_of(found: SceneAnomalies, marked: np.ndarray) -> DetectionCurve:
    """Return the ROC curve of scores, given which pixels are anomalies (`known_anomalies`).

    See Also
    --------
    diffclass.evaluation.detection_curve : For arrays.
    diffclass.plots.DetectionDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_hyperspectral import Scene, detection_of, find_anomalies
    >>> cube = np.random.default_rng(0).normal(size=(20, 20, 5))
    >>> cube[3, 4] += 9
    >>> marked = np.zeros((20, 20), dtype=bool)
    >>> marked[3, 4] = True
    >>> detection_of(find_anomalies(Scene.from_array(cube)), marked).area
    1.0
    """
    with_data = np.isfinite(found.scores)
    return detection_curve(marked[with_data], found.scores[with_data])


def _scores(scene: Scene, method: str, model: DiffusionAnomaly, random_state: int) -> np.ndarray:
    if method == "isolation-forest":
        return _isolation(scene, random_state)
    with stage("covariance"):
        statistics = BandStatistics.from_scene(scene)
    if method == "rx":
        with stage("RX"):
            return statistics.rx(scene)
    check_neighbors(model.n_neighbors, statistics.n_pixels)
    with stage("components"):
        points = statistics.whitened(scene, n_components=_COMPONENTS)
    return model.fit(points).scores_


def _isolation(scene: Scene, random_state: int) -> np.ndarray:
    from sklearn.ensemble import IsolationForest

    bands = scene.usable_bands()
    spectra = scene.spectra(bands=bands)[scene.valid.ravel()]
    with stage("isolation forest"):
        return -IsolationForest(random_state=random_state).fit(spectra).score_samples(spectra)


def forecast_anomalies(scene: Scene, method: str, n_neighbors: int, n_components: int) -> Forecast:
    """Say what `find_anomalies` will need."""
    (rows, columns, bands), n_bands = scene.shape, int(scene.band_mask.sum())
    n, block = rows * columns, 24 * max(2**20, columns * bands)  # floats of both precisions
    writing = {"writing": Cost(16 * n)}
    if method == "isolation-forest":
        return Forecast.of({"spectra": Cost(8 * n * n_bands + 8 * n)} | writing)
    costs = {"covariance": Cost(block + 8 * n_bands**2)}
    if method == "diffusion":
        size = Size(n, min(n_components, n_bands), n_neighbors)
        points = 4 * n * size.features
        costs["components"] = Cost(block + points, points)
        costs |= graph_costs(size, Gaussian(bandwidth="global"))
        held = sum(cost.kept for cost in costs.values())  # until all distances are known
        costs["distances"] = Cost(16 * size.edges + 16 * n, -held)  # squares of the affinities
    return Forecast.of(costs | writing)


@dataclass(frozen=True, eq=False)
class AnomalyReport(RunReport):
    """What is known about a scene's anomalies besides their scores."""

    method: str
    n_pixels: int  # with a score
    n_without_data: int
    highest: list[dict[str, Any]]  # row, column, score; x and y if the scene tells
    detection: Mapping[str, DetectionCurve] | None = None  # by method, the asked one first

    def lines(self) -> list[str]:
        """Return the report as lines to read."""
        lines = [f"{self.n_pixels} pixels scored ({self.n_without_data} without data)"]
        for name, curve in (self.detection or {}).items():
            lines.append(
                f"{NAMES[name]}: area under the ROC curve {curve.area:.4f}; "
                f"{100 * curve.detected_at(0.01):.0f} % of {curve.n_anomalies} anomalies detected "
                "at 1 % false alarms"
            )
        lines.append("highest scores (row, column, counted from 0):")
        return lines + [
            f"  {pixel['row']:5} {pixel['column']:5}  {pixel['score']:.4g}"
            for pixel in self.highest
        ]


def report_anomalies(
    found: SceneAnomalies,
    scene: Scene,
    *,
    curves: Mapping[str, DetectionCurve] | None = None,
    costs: RunCosts | None = None,
) -> AnomalyReport:
    """Describe a scene's anomalies."""
    n_pixels = int(np.isfinite(found.scores).sum())
    return AnomalyReport(
        method=found.method,
        n_pixels=n_pixels,
        n_without_data=found.scores.size - n_pixels,
        highest=[_pixel_facts(scene, *pixel) for pixel in found.highest(_LISTED)],
        detection=curves or None,
        memory=found.memory,
        costs=costs,
    )


def draw_anomalies(
    path: str | os.PathLike[str],
    found: SceneAnomalies,
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
        DetectionDisplay({NAMES[name]: curve for name, curve in curves.items()}).plot(
            ax=axes[2], title="detection (ROC curve)"
        )
    with replacing(path, overwrite=overwrite, suffix=".png") as temporary:
        figure.savefig(temporary, dpi=100)


def _draw_scores(figure: Any, axes: Any, found: SceneAnomalies) -> None:
    """Show ranks: scores span orders of magnitude, in a different way for each method."""
    ranks = percentiles(found.scores)
    image = axes.imshow(-np.log10(1 - ranks), cmap="viridis", interpolation="nearest")
    bar = figure.colorbar(image, ax=axes, shrink=0.8)
    ticks = [t for t in range(7) if t <= float(np.nanmax(-np.log10(1 - ranks)))]
    bar.set_ticks(ticks, labels=["all pixels", *(f"1 in {10**t:,}" for t in ticks[1:])])
    bar.set_label("pixels with this score or more")
    axes.set_title(f"{NAMES[found.method]}: score")
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


def _pixel_facts(scene: Scene, row: int, column: int, score: float) -> dict[str, Any]:
    place = scene.centre(row, column)
    at = {} if place is None else {"x": place[0], "y": place[1]}
    return {"row": row, "column": column, "score": score, **at}
