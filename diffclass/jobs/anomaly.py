"""Scores of how unlike the others each point is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from diffclass.anomaly import DiffusionAnomaly
from diffclass.evaluation import DetectionCurve, detection_curve
from diffclass.exceptions import ParameterError
from diffclass.graph import graph_costs
from diffclass.jobs.parameters import check_model_neighbors, take_neighbors
from diffclass.jobs.point_set import PointSet
from diffclass.jobs.reports import PointsReport, RunCosts
from diffclass.kernels import Gaussian
from diffclass.system.costs import Cost, Forecast

METHODS = {"diffusion": "diffusion", "rx": "RX", "isolation-forest": "isolation forest"}
_LISTED = 10


@dataclass(frozen=True, eq=False)
class Anomalies:
    """Scores of points.

    Attributes
    ----------
    points : PointSet
    scores : ndarray of float64
        Of all rows or pixels, in the shape of `PointSet.valid`: the higher, the less like the
        others; NaN without data.
    method : str
        Of `METHODS`.
    memory : Forecast or None
        What the run was forecast to need.
    """

    points: PointSet
    scores: np.ndarray
    method: str = "diffusion"
    memory: Forecast | None = None

    def highest(self, n: int) -> list[tuple[dict[str, Any], float]]:
        """Return names and scores of the n highest scores, the highest first."""
        order = np.argsort(-self.scores, axis=None, kind="stable")  # NaN last
        known = order[: min(n, int(np.isfinite(self.scores).sum()))].tolist()
        return [(self.points.name(number), float(self.scores.flat[number])) for number in known]


def find_anomalies(
    points: PointSet,
    model: DiffusionAnomaly | None = None,
    *,
    random_state: int = 0,
    before: Callable[[Forecast], object] | None = None,
) -> Anomalies:
    """Score every point by how unlike the others it is.

    Parameters
    ----------
    points : PointSet
        Such as ``Rows`` of a table.
    model : DiffusionAnomaly, optional
        Fitted here.
    random_state : int, default=0
        Of the default model.
    before : callable, optional
        Called with the forecast of memory before the points are made.

    Returns
    -------
    Anomalies

    Raises
    ------
    DataError
        Where no points can be made.
    ParameterError
        For parameters that the model refuses, and for a graph in place of points.

    See Also
    --------
    diffclass.DiffusionAnomaly : The estimator, for arrays.
    cluster : Groups instead of single points.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from diffclass.jobs import find_anomalies
    >>> from diffclass_tables import Rows, open_table
    >>> values = np.random.default_rng(0).normal(size=(300, 3))
    >>> values[[7, 70]] = [[9, 9, 9], [np.nan, 0, 0]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "vectors.npy", values)
    ...     found = find_anomalies(Rows(open_table(Path(folder) / "vectors.npy")))
    >>> found.highest(1)[0][0], float(found.scores[70])
    ({'id': 7}, nan)
    """
    model = DiffusionAnomaly(random_state=random_state) if model is None else model
    check_model_neighbors(model, points.size().points)
    memory = forecast_anomalies(points, model)
    if before is not None:
        before(memory)
    made = points.points
    if points.affinity is not None:
        raise ParameterError("anomalies are found among features; leave --graph out")
    take_neighbors(model, len(made))
    scores = model.fit(made).scores_.astype(np.float64)
    return Anomalies(points, points.placed(scores, np.nan), memory=memory)


def forecast_anomalies(points: PointSet, model: DiffusionAnomaly) -> Forecast:
    """Say what `find_anomalies` will need."""
    size = points.size(model.n_neighbors)
    costs = points.costs() | graph_costs(size, Gaussian(bandwidth="global"))
    held = sum(cost.kept for cost in costs.values())  # until all distances are known
    costs["distances"] = Cost(16 * size.edges + 16 * size.points, -held)  # affinities squared
    return Forecast.of(costs | {"writing": Cost(16 * size.points)})


def detection_of(found: Anomalies, marked: np.ndarray) -> DetectionCurve:
    """Return the ROC curve of scores.

    Parameters
    ----------
    found : Anomalies
    marked : ndarray of bool
        Which rows or pixels are anomalies, in the shape of `PointSet.valid`.

    Raises
    ------
    DataError
        Where none or all of the points are.

    See Also
    --------
    diffclass.evaluation.detection_curve : For arrays.
    diffclass.plots.DetectionDisplay : Draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.jobs import detection_of
    >>> from diffclass_hyperspectral import Scene, scene_anomalies
    >>> cube = np.random.default_rng(0).normal(size=(20, 20, 5))
    >>> cube[3, 4] += 9
    >>> marked = np.zeros((20, 20), dtype=bool)
    >>> marked[3, 4] = True
    >>> detection_of(scene_anomalies(Scene.from_array(cube)), marked).area
    1.0
    """
    with_data = np.isfinite(found.scores)
    return detection_curve(marked[with_data], found.scores[with_data])


@dataclass(frozen=True, eq=False)
class AnomalyReport(PointsReport):
    """What is known about anomalies besides their scores."""

    method: str
    highest: tuple[Mapping[str, Any], ...]  # what each is called, and its score
    detection: Mapping[str, DetectionCurve] | None = None  # by method, the asked one first

    def lines(self) -> list[str]:
        """Return the report as lines to read."""
        lines = [f"{self.counted} scored {self.without_data}"]
        for name, curve in (self.detection or {}).items():
            lines.append(
                f"{METHODS[name]}: area under the ROC curve {curve.area:.4f}; "
                f"{100 * curve.detected_at(0.01):.0f} % of {curve.n_anomalies} anomalies detected "
                "at 1 % false alarms"
            )
        lines.append(f"the {len(self.highest)} {self.points.noun} that are least like the others:")
        return lines + [
            f"{one['score']:>12.4g}  {self.points.in_words(one)}" for one in self.highest
        ]


def report_anomalies(
    found: Anomalies,
    *,
    curves: Mapping[str, DetectionCurve] | None = None,
    costs: RunCosts | None = None,
) -> AnomalyReport:
    """Describe anomalies."""
    return AnomalyReport(
        method=found.method,
        highest=tuple(name | {"score": score} for name, score in found.highest(_LISTED)),
        detection=curves or None,
        points=found.points,
        memory=found.memory,
        costs=costs,
    )
