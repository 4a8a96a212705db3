"""How unlike the others each pixel of a scene is, and how well that finds known anomalies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from diffclass.anomaly import DiffusionAnomaly
from diffclass.costs import Cost, Forecast, Size
from diffclass.evaluation import DetectionCurve, detection_curve
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import Gaussian
from diffclass.point_graph import graph_costs
from diffclass.progress import stage
from diffclass_hyperspectral.features.moments import BandStatistics
from diffclass_hyperspectral.io.labels import LabelImage
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.workflows.parameters import check_neighbors

METHODS = ("diffusion", "rx", "isolation-forest")
_COMPONENTS = 30


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
    seed: int = 0,
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
    seed : int, default=0
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
    if method not in METHODS:
        raise ParameterError(f"method = {method!r}; possible: {', '.join(METHODS)}")
    model = DiffusionAnomaly(random_state=seed) if model is None else model
    if method == "diffusion":
        check_neighbors(model.n_neighbors, scene.shape[0] * scene.shape[1])
    memory = forecast_anomalies(scene, method, model.n_neighbors, _COMPONENTS)
    if before is not None:
        before(memory)
    found = _scores(scene, method, model, seed)
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
    """Return the ROC curve of scores, given which pixels are anomalies (`known_anomalies`)."""
    with_data = np.isfinite(found.scores)
    return detection_curve(marked[with_data], found.scores[with_data])


def _scores(scene: Scene, method: str, model: DiffusionAnomaly, seed: int) -> np.ndarray:
    if method == "isolation-forest":
        return _isolation(scene, seed)
    with stage("covariance"):
        statistics = BandStatistics.from_scene(scene)
    if method == "rx":
        with stage("RX"):
            return statistics.rx(scene)
    check_neighbors(model.n_neighbors, statistics.n_pixels)
    with stage("components"):
        points = statistics.whitened(scene, n_components=_COMPONENTS)
    return model.fit(points).scores_


def _isolation(scene: Scene, seed: int) -> np.ndarray:
    from sklearn.ensemble import IsolationForest

    bands = scene.usable_bands()
    spectra = scene.spectra(bands=bands)[scene.valid.ravel()]
    with stage("isolation forest"):
        return -IsolationForest(random_state=seed).fit(spectra).score_samples(spectra)


def forecast_anomalies(scene: Scene, method: str, n_neighbors: int, n_components: int) -> Forecast:
    """Say what `find_anomalies` will need.

    Parameters
    ----------
    scene : Scene
    method : str
        As for `find_anomalies`.
    n_neighbors, n_components : int
        Of the diffusion.

    Returns
    -------
    Forecast
    """
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
